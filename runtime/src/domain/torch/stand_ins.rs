//! Tensors on the `meta` device that stand for tensors of the graph where PyTorch is asked.
use super::examples::empty_like::{empty_like, outside_inference, with_grad};
use super::examples::history;
use super::examples::place::Place;
use super::examples::sketch::{Sketch, constants};
use super::graph_break::{fault, heard_without_contents};
use super::library::Torch;
use crate::domain::unheard;
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyTuple};
use std::sync::atomic::Ordering::Relaxed;

/// The objects that stand for the operands of a call.
pub(super) struct StandIns<'py> {
    pub(super) positional: Vec<Bound<'py, PyAny>>,
    pub(super) named: Bound<'py, PyDict>,
}

impl<'py> StandIns<'py> {
    /// The one that is given by this name.
    pub(super) fn named(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.named.as_any().get_item(name)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = Bound<'py, PyAny>> {
        self.positional.iter().cloned().chain(self.named.values().iter().collect::<Vec<_>>())
    }

    /// Calls `target` with them.
    pub(super) fn run(&self, target: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let positional = PyTuple::new(target.py(), &self.positional)?;
        let called = target.call(&positional, (!self.named.is_empty()).then_some(&self.named));
        match called {
            Err(error) if self.takes_numbers() && error.value(target.py()).str()?.to_string_lossy().contains(READ) => {
                target.call(positional, Some(&self.with_numbers()?))
            }
            called => called,
        }
    }

    fn takes_numbers(&self) -> bool {
        FACTORS.iter().any(|name| self.named.contains(name).unwrap_or(false))
    }

    /// The named ones, with a number in the place of a factor that is a tensor without dimensions: the operation reads it.
    fn with_numbers(&self) -> PyResult<Bound<'py, PyDict>> {
        let named = self.named.copy()?;
        for name in FACTORS {
            let Some(factor) = named.get_item(name)? else { continue };
            let is = |attribute| factor.getattr_opt(attribute)?.map_or(Ok(false), |told| told.is_truthy());
            let is_number = factor.getattr_opt("shape")?.is_some_and(|shape| shape.len().is_ok_and(|rank| rank == 0));
            if is_number && !is("requires_grad")? {
                let is_real = factor.getattr("dtype")?.getattr("is_floating_point")?.is_truthy()?;
                let one = if is_real { PyFloat::new(named.py(), 1.0).into_any() } else { factor.clone() };
                named.set_item(name, one)?;
            }
        }
        Ok(named)
    }
}

/// Factors that decide contents alone.
pub(super) const FACTORS: &[&str] = &["alpha", "beta", "value"];

/// What PyTorch says where an operation needs the number that a tensor without contents holds.
const READ: &str = "item() cannot be called on meta tensors";

/// The attribute of what stands for a tensor of the `meta` device from outside.
const OUTSIDE: &str = "_slotrt_outside";

/// Whether it stands for such a tensor.
pub(super) fn is_outside(example: &Bound<'_, PyAny>) -> bool {
    example.getattr_opt(OUTSIDE).is_ok_and(|outside| outside.is_some())
}

/// The device of tensors without contents.
const META: &str = "meta";

impl Sketch {
    /// The tensor on the `meta` device that stands for it, one and the same at all times.
    pub(super) fn stand_in<'py>(&self, torch: &Torch, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self.stand_in.get_or_try_init(py, || self.make(torch, py).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    fn make<'py>(&self, torch: &Torch, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let module = torch.module.bind(py);
        let shape = PyTuple::new(py, constants(&self.tensor.shape))?;
        let strides = PyTuple::new(py, constants(&self.tensor.strides))?;
        if let Some(view) = &self.view {
            let base = stand_in(torch, view.base.bind(py))?;
            return with_grad(module, view.with_grad, || base.call_method1(name!("as_strided"), (&shape, &strides)));
        }
        let named = PyDict::new(py);
        named.set_item(name!("dtype"), module.getattr(self.tensor.dtype.name())?)?;
        named.set_item(name!("device"), name!("meta"))?;
        let requires_grad = self.requires_grad.load(Relaxed);
        // Under a transform it could not begin to require gradients later.
        named.set_item(name!("requires_grad"), requires_grad)?;
        let made = module.getattr(name!("empty_strided"))?.call((shape, strides), Some(&named))?;
        if !requires_grad || self.is_root() {
            return Ok(made);
        }
        let made = with_grad(module, true, || made.call_method0(name!("clone")))?;
        history::begins_at(&made)?;
        Ok(made)
    }
}

/// A tensor on the `meta` device with the metadata of `example`.
pub(super) fn stand_in<'py>(torch: &Torch, example: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = example.py();
    let sketch = example.cast::<Sketch>().ok().map(Bound::get);
    if let Some(known) = sketch.and_then(|sketch| sketch.known_stand_in(py)) {
        return Ok(known);
    }
    let _quiet = Quiet::about([example]);
    if sketch.is_none() && example.getattr(name!("is_meta"))?.is_truthy()? {
        return Ok(example.clone());
    }
    let make = || match sketch {
        Some(sketch) => sketch.stand_in(torch, py),
        None => empty_like(torch.module.bind(py), example, META),
    };
    let is_older = match sketch {
        Some(sketch) => sketch.requires_grad(py) && !sketch.is_root(),
        None => !example.call_method0(name!("is_inference"))?.is_truthy()?,
    };
    unheard(|| match is_older {
        true => outside_transforms(torch, py, || outside_inference(torch.module.bind(py), make)),
        false => outside_transforms(torch, py, make),
    })
}

/// Does something that transforms leave alone: what a transform makes is wrapped for its level; what comes from outside, or was made
/// before, is not.
fn outside_transforms<T>(torch: &Torch, py: Python<'_>, act: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let outside = torch.ambient.outside_transforms(py)?;
    let done = act();
    if let Some(outside) = outside {
        let none = py.None();
        outside.call_method1(name!("__exit__"), (&none, &none, &none))?;
    }
    done
}

impl Torch {
    /// What stands for a tensor from outside: it itself, but for one of the `meta` device, which nothing tells from what stands for one.
    pub(super) fn example_of_input<'py>(&self, tensor: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let _quiet = Quiet::about([tensor]);
        let is_meta = || tensor.getattr(name!("is_meta"))?.is_truthy();
        match is_meta().map_err(|error| fault(&error))? {
            false => Ok(tensor.clone()),
            true if self.has_override(&tensor.get_type()) => Err(heard_without_contents(&tensor.get_type())),
            true => outside_transforms(self, tensor.py(), || self.view_like(tensor)).map_err(|error| fault(&error)),
        }
    }

    /// A view: what becomes of one in place is not asked of it.
    fn view_like<'py>(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let module = self.module.bind(tensor.py());
        let like = empty_like(module, tensor, META)?;
        let made = with_grad(module, true, || match tensor.getattr(name!("is_leaf"))?.is_truthy()? {
            true => {
                let view = like.call_method0(name!("detach"))?.call_method1(name!("view_as"), (&like,))?;
                view.call_method1(name!("requires_grad_"), (tensor.getattr(name!("requires_grad"))?,))
            }
            false => like.call_method1(name!("view_as"), (&like,)),
        })?;
        if let Some(place) = Place::named(&tensor.getattr(name!("device"))?) {
            place.tell(&made)?;
        }
        made.setattr(OUTSIDE, true)?;
        history::begins_at(&made)?;
        Ok(made)
    }
}
