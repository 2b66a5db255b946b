//! Tensors on the `meta` device that stand for tensors of the graph where PyTorch is asked.
use super::examples::empty_like::empty_like;
use super::examples::history;
use super::examples::sketch::{Sketch, constants};
use super::library::Torch;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyTuple};
use std::sync::atomic::Ordering::Relaxed;

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
        let made = module.getattr(name!("empty_strided"))?.call((shape, strides), Some(&named))?;
        if !self.requires_grad.load(Relaxed) {
            return Ok(made);
        }
        made.call_method1(name!("requires_grad_"), (true,))?;
        let made = with_grad(module, true, || made.call_method0(name!("clone")))?;
        history::begins_at(&made)?;
        Ok(made)
    }
}

/// Does something where gradients are kept, or are not, and puts back what was.
fn with_grad<'py, T>(torch: &Bound<'py, PyModule>, enabled: bool, act: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let before = torch.getattr(name!("is_grad_enabled"))?.call0()?;
    let set = torch.getattr(name!("_C"))?.getattr(name!("_set_grad_enabled"))?;
    set.call1((enabled,))?;
    let done = act();
    set.call1((before,))?;
    done
}

/// A tensor on the `meta` device with the metadata of `example`.
pub(super) fn stand_in<'py>(torch: &Torch, example: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = example.py();
    let sketch = example.cast::<Sketch>().ok().map(Bound::get);
    if let Some(known) = sketch.and_then(|sketch| sketch.known_stand_in(py)) {
        return Ok(known);
    }
    if sketch.is_none() && example.getattr(name!("is_meta"))?.is_truthy()? {
        return Ok(example.clone());
    }
    // What a transform makes is wrapped for its level; what comes from outside, or was made before, is not.
    let outside = torch.ambient.outside_transforms(py)?;
    let made = match sketch {
        Some(sketch) => sketch.stand_in(torch, py),
        None => empty_like(torch.module.bind(py), example, "meta"),
    };
    if let Some(outside) = outside {
        let none = py.None();
        outside.call_method1(name!("__exit__"), (&none, &none, &none))?;
    }
    made
}
