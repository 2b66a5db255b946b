//! What makes another leaf to gradients of a tensor: `tensor.requires_grad_(…)`, `tensor.requires_grad = …`, `tensor.detach_()`, `tensor.data = …`,
//! `torch.nn.Parameter(…)`.
pub(in crate::domain::torch) mod data;
mod parameters;

use self::data::set_data;
use crate::domain::torch::bases::base_outside;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::{Extent, Sketch, is_viewed};
use crate::domain::torch::graph_break::{CallResult, fault, refused_change};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{MODULE, is_named};
use crate::domain::torch::shapes::Tensor;
use crate::domain::torch::stand_ins::is_outside;
use crate::domain::torch::undo::effects::SET_REQUIRES_GRAD;
use crate::domain::{Answer, Domain, Gives, Operand};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyModule};

/// The method that begins or ends gradients.
pub(in crate::domain::torch) const REQUIRES: &str = "requires_grad_";

/// The method that forgets what a tensor was computed from.
pub(in crate::domain::torch) const DETACH: &str = "detach_";

/// The function that sets an attribute that C looks at; `None`: it is another attribute.
pub(in crate::domain::torch) fn setter<'py>(py: Python<'py>, attribute: &str) -> Option<Bound<'py, PyAny>> {
    match attribute {
        "data" => set_data(py).ok(),
        "requires_grad" => set_requires_grad(py).ok(),
        _ => None,
    }
}

/// The function that sets the attribute.
fn set_requires_grad(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    crate::ffi::modules::import(py, MODULE)?.getattr(SET_REQUIRES_GRAD)
}

/// Whether it is that function.
pub(in crate::domain::torch) fn is_set_requires_grad(callable: &Bound<'_, PyAny>) -> bool {
    is_named(callable, SET_REQUIRES_GRAD)
}

/// A tensor, as far as gradients are concerned.
struct Leaf<'a, 'py> {
    example: &'a Bound<'py, PyAny>,
    tensor: Tensor<Extent>,
    is_leaf: bool,
    /// Whether no other tensor changes with it in ways that nobody knows.
    is_apart: bool,
    /// Whether the graph has made it.
    is_made: bool,
    /// The method that is called.
    name: &'a str,
}

impl Torch {
    /// `tensor.requires_grad_(requires)`, and `set_requires_grad(tensor, requires)`.
    pub(in crate::domain::torch) fn require_gradients<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let is_method = callee::name_of(&target) == REQUIRES;
        let value = args.get(1).or_else(|| kwargs.iter().find(|(name, _)| name == "requires_grad").map(|(_, on)| on));
        let on = match value {
            None if is_method && kwargs.is_empty() => true,
            Some(Operand::Known(on)) if args.len() + kwargs.len() == 2 => match on.cast::<PyBool>() {
                Ok(on) => on.is_true(),
                Err(_) => return Err(refused_change(REQUIRES, "It takes a truth.")),
            },
            _ => return Err(refused_change(REQUIRES, "It takes a truth.")),
        };
        let leaf = self.leaf(meta, REQUIRES, args)?;
        if leaf.tensor.requires_grad == on && (is_method || leaf.is_leaf) {
            return same(args);
        }
        if !leaf.is_leaf || on && !leaf.tensor.dtype.is_float() {
            return Err(refused_change(REQUIRES, "PyTorch refuses it."));
        }
        let target = if leaf.is_made { target } else { set_requires_grad(meta.py).map_err(|error| fault(&error))? };
        let flag = Operand::Known(PyBool::new(meta.py, on).to_owned().into_any());
        self.becomes(meta, leaf, on, target, [args[0].clone(), flag].to_vec())
    }

    /// `tensor.detach_()`.
    pub(in crate::domain::torch) fn detach_in_place<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        let leaf = self.leaf(meta, DETACH, args)?;
        match leaf.is_made && args.len() == 1 {
            true => self.becomes(meta, leaf, false, target, args.to_vec()),
            false => Err(refused_change(DETACH, "A tensor from outside would forget what it was computed from.")),
        }
    }

    /// What is known of the operand that is to be another leaf.
    fn leaf<'a, 'py>(
        &self,
        meta: &Meta<'_, 'py>,
        name: &'a str,
        args: &'a [Operand<'py>],
    ) -> Result<Leaf<'a, 'py>, Box<Break>> {
        let Some(Operand::Graph { example, .. }) = args.first() else {
            return Err(refused_change(name, "What it changes is no tensor of the graph."));
        };
        meta.refuse_modes()?;
        let truth = |answer: PyResult<Bound<'py, PyAny>>| answer.and_then(|answer| answer.is_truthy());
        let inference = truth(self.module.bind(meta.py).call_method0(name!("is_inference_mode_enabled")));
        if inference.unwrap_or(true) || self.ambient.is_transforming(meta.py).unwrap_or(true) {
            return Err(refused_change(name, "A mode or a transform decides what it does."));
        }
        let _quiet = Quiet::about([example]);
        let Some(tensor) = self.rules.metadata(example).filter(|_| !self.takes_over(&self.class_of(example))) else {
            return Err(refused_change(name, "No rule knows the tensor."));
        };
        let ask = |answer| truth(answer).unwrap_or(true);
        let (is_leaf, is_apart, is_made) = match example.cast::<Sketch>().map(Bound::get) {
            Ok(sketch) => (sketch.is_leaf(meta.py), sketch.is_apart(), true),
            Err(_) if is_outside(example) => (false, false, true),
            Err(_) if ask(example.getattr(name!("is_meta"))) => {
                let is_alone = has_memory_alone(self.module.bind(meta.py), example).unwrap_or(false);
                (false, is_alone && !is_viewed(example) && !ask(example.call_method0(name!("_is_view"))), true)
            }
            Err(_) => {
                let is_leaf = truth(example.getattr(name!("is_leaf"))).unwrap_or(false);
                let is_inference = ask(example.call_method0(name!("is_inference")));
                (is_leaf, !is_inference && !ask(example.call_method0(name!("_is_view"))), false)
            }
        };
        Ok(Leaf { example, tensor, is_leaf, is_apart, is_made, name })
    }

    fn becomes<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        leaf: Leaf<'_, 'py>,
        requires_grad: bool,
        target: Bound<'py, PyAny>,
        args: Vec<Operand<'py>>,
    ) -> CallResult<'py> {
        let Some((Operand::Graph { value, .. }, place)) = args.first().zip(place_of(leaf.example)) else {
            return Err(refused_change(leaf.name, "Nobody tells where it is."));
        };
        if !leaf.is_apart {
            return Err(refused_change(leaf.name, "Other tensors would change with it, or PyTorch refuses it."));
        }
        let class = self.class_of(leaf.example);
        let class = (!class.is(&self.tensor)).then(|| class.unbind());
        let sketch = Sketch::leaf(Tensor { requires_grad, ..leaf.tensor }, &place).of_class(class);
        let example = Bound::new(meta.py, sketch).map_err(|error| fault(&error))?.into_any();
        let (value, kwargs) = (*value, Vec::new());
        Ok(Answer::Change { target, args, kwargs, example, changes: vec![value], gives: Gives::Became(value) })
    }

    /// Whether gradients of a tensor begin and end with those of another one from outside: one is a view of the other, or both are of a third.
    pub(in crate::domain::torch) fn has_base_of(&self, example: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
        if example.is(object) {
            return false;
        }
        let base = base_outside(object);
        if let Ok(sketch) = example.cast::<Sketch>() {
            return sketch.get().view.as_ref().is_some_and(|view| base_outside(view.base.bind(object.py())).is(&base));
        }
        if !self.is_tensor(example) {
            return false;
        }
        let _quiet = Quiet::about([example]);
        let is = |answer: PyResult<Bound<'_, PyAny>>| answer.and_then(|answer| answer.is_truthy()).unwrap_or(true);
        match is(example.call_method0(name!("_is_view"))) {
            true => is(example.getattr(name!("is_meta"))) || base_outside(example).is(&base),
            false => example.is(&base),
        }
    }
}

/// Whether nothing else is in the memory of a tensor that PyTorch has given for one of the graph: no views of it, and nothing that shares it
/// in ways that gradients do not follow.
fn has_memory_alone(torch: &Bound<'_, PyModule>, stand_in: &Bound<'_, PyAny>) -> PyResult<bool> {
    let count = torch.getattr(name!("_C"))?.getattr(name!("_storage_Use_Count"))?;
    let users = |tensor: &Bound<'_, PyAny>| {
        let storage = tensor.call_method0(name!("untyped_storage"))?;
        count.call1((storage.getattr(name!("_cdata"))?,))?.extract::<usize>()
    };
    let alone = torch.getattr(name!("empty_like"))?.call1((stand_in,))?;
    Ok(users(stand_in)? == users(&alone)?)
}

fn same<'py>(args: &[Operand<'py>]) -> CallResult<'py> {
    match args.first() {
        Some(Operand::Graph { value, .. }) => Ok(Answer::Same(*value)),
        _ => Err(refused_change(REQUIRES, "What it changes is no tensor of the graph.")),
    }
}
