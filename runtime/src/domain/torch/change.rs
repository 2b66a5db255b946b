//! Operations that change a tensor in place: the graph runs them where the program does, on the tensor itself.
use super::by_rule::relaid::RELAYING;
use super::examples::layout::{layout_of, repeats};
use super::examples::placed::place_of;
use super::examples::site::unplaced;
use super::examples::sketch::Sketch;
use super::examples::unheard::{may_require_gradients, requires_gradients};
use super::functions::leaves::{DETACH, REQUIRES};
use super::functions::outputs::FUSED;
use super::graph_break::{CallResult, fault, refused_change, stop};
use super::meta::{Meta, fails};
use super::own::{ADDRESS_OF, OFFSET_OF};
use super::quantised::is_conversion;
use super::undo::effects::{AS_SUBCLASS, OBSERVES};
use crate::domain::{Answer, Gives, Operand};
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

/// Those that change what a tensor is, not only what it holds, or have effects on other objects.
pub(super) const REFUSED: &[&str] = &[
    "set_",
    "resize_",
    "resize_as_",
    "retain_grad",
    "share_memory_",
    "rename_",
    "apply_",
    "map_",
    "map2_",
    "backward",
    "__delitem__",
    "set",
];

/// How names of operations begin that do something to each tensor of a list.
const EACH: &str = "_foreach_";

/// The operand that gets the result.
pub(super) const OUT: &str = "out";

/// Whether an operand is a tensor without elements.
fn is_empty(operand: &Operand<'_>) -> bool {
    let Operand::Graph { example, .. } = operand else { return false };
    layout_of(example).is_none_or(|layout| layout.sizes.contains(&0))
}

/// Whether an operation of this name makes or takes quantised tensors.
fn is_quantised(name: &str) -> bool {
    (name.contains("quantize_per_") || name.contains("quantized") || name == "quantize_dynamic")
        && !name.contains("fake_quantize")
}

/// Whether an operation of this name changes its first operand.
pub(super) fn changes(name: &str) -> bool {
    let in_place = name.ends_with('_') && !name.ends_with("__");
    let operator = name.starts_with("__i") && !matches!(name, "__invert__" | "__index__" | "__int__");
    in_place || operator || name == "__setitem__"
}

impl<'py> Meta<'_, 'py> {
    /// An operation by its name: one that makes something new, or one that changes its first operand.
    pub(super) fn perform(
        &self,
        name: &str,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let is_no_result = |(name, value): &(String, Operand<'_>)| {
            name == OUT && matches!(value, Operand::Known(value) if value.is_none())
        };
        if kwargs.iter().any(is_no_result) {
            let others: Vec<_> = kwargs.iter().filter(|named| !is_no_result(named)).cloned().collect();
            return self.perform(name, target, args, &others);
        }
        if is_conversion(name) {
            return self.convert(name, target, args, kwargs);
        }
        if is_quantised(name) {
            let why = "The `meta` device gives a plain tensor instead.";
            return Err(stop("operation that makes a quantised tensor", name, why));
        }
        if RELAYING.contains(&name) {
            return self.relay(name, &target, args, kwargs);
        }
        if REFUSED.contains(&name) {
            return Err(refused_change(name, "It changes what the tensor is, or objects beside it."));
        }
        if name == OBSERVES && args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(is_empty) {
            return Err(refused_change(name, "It gives operands without elements other sizes."));
        }
        if let Some(made) = self.tensor_of(name, &target, args, kwargs) {
            return made;
        }
        match args.first() {
            Some(tensor @ Operand::Graph { .. }) if name == "data_ptr" && args.len() == 1 && kwargs.is_empty() => {
                self.of_object(ADDRESS_OF, tensor)
            }
            Some(tensor @ Operand::Graph { .. })
                if name == "storage_offset" && args.len() == 1 && kwargs.is_empty() =>
            {
                self.of_object(OFFSET_OF, tensor)
            }
            Some(Operand::Graph { .. }) if name == REQUIRES => self.torch.require_gradients(self, target, args, kwargs),
            Some(Operand::Graph { .. }) if name == DETACH => self.torch.detach_in_place(self, target, args),
            Some(Operand::Graph { value, example, .. })
                if name == "cpu"
                    && args.len() == 1
                    && kwargs.is_empty()
                    && place_of(example).is_some_and(|place| place.is_cpu()) =>
            {
                Ok(Answer::Same(*value))
            }
            Some(Operand::Graph { example, .. }) if name == "get_device" && args.len() == 1 && kwargs.is_empty() => {
                let index = place_of(example).ok_or_else(unplaced)?.index();
                Ok(Answer::Constant(pyo3::types::PyInt::new(self.py, index).into_any()))
            }
            Some(Operand::Graph { example, .. }) if name == "numpy" && self.torch.is_tensor(example) => {
                self.array_of(target, example, args, kwargs)
            }
            Some(Operand::Graph { example, .. }) if name == AS_SUBCLASS && kwargs.is_empty() => {
                self.as_class(target, example, args)
            }
            _ if kwargs.iter().any(|(name, _)| name == OUT) => {
                self.write(&target, args, kwargs, &[], &[OUT.to_owned()])
            }
            _ if name.starts_with(EACH) && changes(name) => self.write(&target, args, kwargs, &[0], &[]),
            _ if name.starts_with(FUSED) && changes(name) => {
                let places = self.torch.places_written(self.py, name).map_err(|error| fault(&error))?;
                self.write(&target, args, kwargs, &places, &[])
            }
            Some(Operand::Graph { example, .. }) if name == "type" && args.len() == 1 && kwargs.is_empty() => {
                self.torch.type_name(self, example)
            }
            _ if name == "to" => self.record(target, &self.placed(args)?, kwargs),
            _ if !changes(name) => self.record(target, args, kwargs),
            Some(Operand::Graph { example, .. }) if repeats(example) => {
                Err(refused_change(name, "Elements of it are one in memory: most operations refuse to write there."))
            }
            _ => self.change(name, target, args, kwargs),
        }
    }

    /// An operation that changes its first operand.
    pub(super) fn change(
        &self,
        name: &str,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let Some(Operand::Graph { value, example, .. }) = args.first() else {
            return Err(refused_change(name, "What it changes is no tensor of the graph."));
        };
        self.refuse_modes()?;
        self.refuse_beyond_gradients(name, [example], args, kwargs)?;
        let (example, gives) = match self.changed_by_rule(&target, args, kwargs) {
            // Only an assignment to items gives nothing.
            true => (example.clone(), name != "__setitem__"),
            false => self.changed(name, &target, &by_first(name, args), kwargs, example)?,
        };
        let (args, kwargs) = (args.to_vec(), kwargs.to_vec());
        let gives = if gives { Gives::Operand(*value) } else { Gives::Nothing };
        Ok(Answer::Change { target, args, kwargs, example, changes: vec![*value], gives })
    }

    /// Breaks where PyTorch may tell a tensor that can have no gradient that it requires one, as it does not tell one without contents: then
    /// whatever uses it raises.
    pub(super) fn refuse_beyond_gradients<'a>(
        &self,
        name: &str,
        written: impl IntoIterator<Item = &'a Bound<'py, PyAny>>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<(), Box<Break>>
    where
        'py: 'a,
    {
        let mut written = written.into_iter();
        if written.all(|example| may_require_gradients(example)) || !self.torch.keeps_gradients(self.py) {
            return Ok(());
        }
        match args
            .iter()
            .chain(kwargs.iter().map(|(_, value)| value))
            .any(|operand| operand.any_example(&requires_gradients))
        {
            true => Err(refused_change(name, "What can have no gradient may come to require one.")),
            false => Ok(()),
        }
    }

    /// What stands for the operand after the change, and whether the operation gives the operand.
    pub(super) fn changed(
        &self,
        name: &str,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        example: &Bound<'py, PyAny>,
    ) -> Result<(Bound<'py, PyAny>, bool), Box<Break>> {
        let operands = self.stand_ins(args, kwargs)?;
        let Some(operand) = operands.positional.first().cloned() else {
            return Err(refused_change(name, "It has no operand."));
        };
        if !self.holds_result(&operands.positional).map_err(|error| fault(&error))?
            && self.is_elementwise_change(name)?
        {
            return Err(refused_change(name, "The result is of numbers that the operand does not hold."));
        }
        let metadata = || super::metadata::metadata(&operand).map_err(|error| fault(&error));
        let before = metadata()?;
        // Changes in place are not cast: they need no stand-ins that are.
        let gives = self.call_on(target, &operands).map_err(|error| fails(target, &error))?;
        let is_same = metadata()?.eq(&before).map_err(|error| fault(&error))?;
        // A tensor of the graph shows in its stand-in what has become of it, and one from outside has one from then on; a view of another does
        // not.
        let shows = match example.cast::<Sketch>() {
            Ok(sketch) => !is_same && self.begins_gradients(sketch.get(), &operand).map_err(|error| fault(&error))?,
            Err(_) if operand.is(example) => !is_view(&operand),
            Err(_) => !is_same && self.begins_outside(example, &operand).map_err(|error| fault(&error))?,
        };
        if !is_same && !shows {
            return Err(refused_change(name, "Another tensor would come to require gradients with it."));
        }
        let example = if example.is_instance_of::<Sketch>() { example.clone() } else { operand.clone() };
        match gives.is_none() {
            true => Ok((example, false)),
            false if gives.is(&operand) => Ok((example, true)),
            false => Err(refused_change(name, "It gives another object.")),
        }
    }
}

impl<'py> Meta<'_, 'py> {
    /// Whether the first of two operands holds what comes of both: kernels of the `meta` device do not always ask.
    fn holds_result(&self, operands: &[Bound<'py, PyAny>]) -> PyResult<bool> {
        let [first, other] = operands else { return Ok(true) };
        let is_number = other.is_instance_of::<PyFloat>() || other.is_instance_of::<PyComplex>();
        if !is_number && !self.torch.is_tensor(other) {
            return Ok(true);
        }
        let module = self.torch.module.bind(self.py);
        let made = module.getattr(name!("result_type"))?.call1((first, other))?;
        module.getattr(name!("can_cast"))?.call1((made, first.getattr(name!("dtype"))?))?.is_truthy()
    }

    /// Whether nothing has become of a sketch but that it requires gradients, as the tensor that stands for it does.
    fn begins_gradients(&self, sketch: &Sketch, operand: &Bound<'py, PyAny>) -> PyResult<bool> {
        let (known, now) = (sketch.fixed(), self.torch.rules.metadata(operand));
        let kept = now.is_some_and(|now| {
            now.requires_grad && now.dtype == known.dtype && now.shape == known.shape && now.strides == known.strides
        });
        Ok(kept && !is_view(operand) && sketch.begin_gradients())
    }
}

impl<'py> Meta<'_, 'py> {
    /// Whether nothing has become of a leaf from outside but that it requires gradients, as the tensor that stands for it does, which is told
    /// where it is.
    fn begins_outside(&self, example: &Bound<'py, PyAny>, operand: &Bound<'py, PyAny>) -> PyResult<bool> {
        let _quiet = Quiet::about([example, operand]);
        let metadata = |tensor| self.torch.rules.metadata(tensor);
        let (Some(known), Some(now), Some(place)) = (metadata(example), metadata(operand), place_of(example)) else {
            return Ok(false);
        };
        let kept = now.dtype == known.dtype && now.shape == known.shape && now.strides == known.strides;
        let is_plain = example.get_type().is(&self.torch.tensor) && !is_view(example) && !is_view(operand);
        if !kept || !is_plain || known.requires_grad || !now.requires_grad {
            return Ok(false);
        }
        place.tell(operand).map(|()| true)
    }
}

fn is_view(tensor: &Bound<'_, PyAny>) -> bool {
    tensor.call_method0(name!("_is_view")).and_then(|view| view.is_truthy()).unwrap_or(true)
}

/// The operands of a change, for what stands for tensors: of an index that is a tensor without dimensions only the number matters, and all
/// change the same metadata.
fn by_first<'py>(name: &str, args: &[Operand<'py>]) -> Vec<Operand<'py>> {
    let mut args = args.to_vec();
    if let ("__setitem__", Some(index)) = (name, args.get_mut(1)) {
        *index = first(index);
    }
    args
}

/// An index with plain numbers in the place of those that are tensors without dimensions.
fn first<'py>(index: &Operand<'py>) -> Operand<'py> {
    match index {
        Operand::Graph { example, .. } => number_like(example).map_or_else(|| index.clone(), Operand::Known),
        Operand::Tuple(items) => Operand::Tuple(items.iter().map(first).collect()),
        other => other.clone(),
    }
}

/// A number of the kind that a tensor without dimensions holds; `None`: it is no index of that kind.
fn number_like<'py>(example: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let (py, _quiet) = (example.py(), Quiet::about([example]));
    if example.getattr(name!("shape")).ok()?.len().ok()? != 0 {
        return None;
    }
    match &*crate::ffi::types::text(&example.getattr(name!("dtype")).ok()?) {
        "torch.int64" | "torch.int32" | "torch.int16" | "torch.int8" => Some(PyInt::new(py, 0_i64).into_any()),
        "torch.bool" => Some(PyBool::new(py, true).to_owned().into_any()),
        _ => None,
    }
}
