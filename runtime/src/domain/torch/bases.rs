//! What a tensor is a view of.
use super::examples::sketch::Sketch;
use super::library::Torch;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;

/// The attribute that holds it.
pub(super) const BASE: &str = "_base";

/// What a tensor from outside is a view of; itself, where it is none.
pub(in crate::domain::torch) fn base_outside<'py>(tensor: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let _quiet = Quiet::about([tensor]);
    let base = tensor.getattr(name!("_base")).ok().filter(|base| !base.is_none());
    base.unwrap_or_else(|| tensor.clone())
}

impl Torch {
    /// What a tensor of the graph is a view of: the example of another one, or a tensor from outside, which may be a view itself; `Some(None)`: it
    /// is no view. `None`: nobody knows.
    pub(super) fn base_of_example<'py>(&self, example: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
        let py = example.py();
        let class = self.class_of_example(example);
        let is_plain = class.is(&self.tensor) || class.is(&self.parameter);
        // What inference mode makes has views that are none.
        let inference = self.module.bind(py).call_method0(name!("is_inference_mode_enabled"));
        let is_odd = || inference.and_then(|on| on.is_truthy()).unwrap_or(true);
        if !is_plain || is_odd() || self.ambient.is_transforming(py).unwrap_or(true) {
            return None;
        }
        let Some(view) = &example.cast::<Sketch>().ok()?.get().view else { return Some(None) };
        let base = view.base.bind(py).clone();
        if base.is_instance_of::<Sketch>() {
            return Some(Some(base));
        }
        let _quiet = Quiet::about([&base]);
        let is = |question| base.call_method0(question).and_then(|answer: Bound<'_, PyAny>| answer.is_truthy());
        (!is(name!("is_inference")).unwrap_or(true)).then_some(Some(base))
    }
}
