//! What the domain keeps about tensors of the graph whose metadata a rule has worked out; tensors of PyTorch's stand for them where it is
//! asked.
use super::place::Place;
use crate::domain::torch::shapes::{Sizes, Tensor};
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The `__array_priority__` of tensors.
pub(super) const PRIORITY: f64 = 1000.0;

/// The kind of sizes that traces have.
pub(in crate::domain::torch) type Extent = i64;

/// A tensor of the graph: what is known of it without PyTorch.
#[pyclass(frozen, module = "slotrt")]
#[allow(missing_debug_implementations)]
pub(in crate::domain::torch) struct Sketch {
    pub(in crate::domain::torch) tensor: Tensor<Extent>,
    /// Its class, if that is derived from `Tensor`.
    pub(in crate::domain::torch) class: Option<Py<PyType>>,
    pub(in crate::domain::torch) place: Place,
    /// Whether it requires gradients by itself: as it was made, or since a change in place.
    pub(in crate::domain::torch) requires_grad: AtomicBool,
    pub(in crate::domain::torch) view: Option<View>,
    /// Whether the program let it begin to require gradients: nothing is behind them.
    is_root: bool,
    /// Whether the graph has views of it.
    has_views: AtomicBool,
    /// Whether the graph has views of it that gradients do not know how to follow.
    has_loose_views: AtomicBool,
    /// The tensor on the `meta` device that stands for it.
    pub(in crate::domain::torch) stand_in: PyOnceLock<Py<PyAny>>,
}

/// What a sketch is a view of.
#[derive(Debug)]
pub(in crate::domain::torch) struct View {
    /// A sketch that is no view, or a tensor.
    pub(in crate::domain::torch) base: Py<PyAny>,
    /// Whether it was made where gradients are kept.
    pub(in crate::domain::torch) with_grad: bool,
}

/// What a tensor on the `meta` device that stands for one of the graph is told when the graph gets a view of it.
const VIEWED: &str = "_slotrt_viewed";

/// Tells it. A tensor from outside is left as it is.
fn note_view(base: &Bound<'_, PyAny>) {
    let _quiet = Quiet::about([base]);
    let stands = || base.getattr(name!("is_meta"))?.is_truthy();
    if stands().unwrap_or(false) {
        // One that takes no attributes is seen as it stands.
        drop(base.setattr(VIEWED, true));
    }
}

/// Whether the graph has views of what such a tensor stands for.
pub(in crate::domain::torch) fn is_viewed(stand_in: &Bound<'_, PyAny>) -> bool {
    stand_in.getattr_opt(VIEWED).map_or(true, |viewed| viewed.is_some())
}

impl Sketch {
    /// A tensor that the graph makes.
    pub(in crate::domain::torch) fn fresh(tensor: Tensor<Extent>, place: &Place) -> Self {
        let requires_grad = AtomicBool::new(tensor.requires_grad);
        let [has_views, has_loose_views] = [false, false].map(AtomicBool::new);
        let (stand_in, place, is_root) = (PyOnceLock::new(), place.clone(), false);
        Self { tensor, class: None, place, requires_grad, view: None, is_root, has_views, has_loose_views, stand_in }
    }

    /// A leaf, whether it requires gradients or not.
    pub(in crate::domain::torch) fn leaf(tensor: Tensor<Extent>, place: &Place) -> Self {
        Self { is_root: tensor.requires_grad, ..Self::fresh(tensor, place) }
    }

    /// A view of what `operand` is an example of. `loose`: one of several, or made where no gradients are kept.
    pub(in crate::domain::torch) fn view(
        operand: &Bound<'_, PyAny>,
        tensor: Tensor<Extent>,
        place: &Place,
        with_grad: bool,
        loose: bool,
    ) -> Self {
        let sketch = operand.cast::<Self>().ok().map(Bound::get);
        let base = match sketch.and_then(|sketch| sketch.view.as_ref()) {
            Some(view) => view.base.clone_ref(operand.py()),
            None => operand.clone().unbind(),
        };
        match base.bind(operand.py()).cast::<Self>() {
            Ok(base) => {
                base.get().has_views.store(true, Relaxed);
                base.get().has_loose_views.fetch_or(loose, Relaxed);
            }
            Err(_) => note_view(base.bind(operand.py())),
        }
        Self { view: Some(View { base, with_grad }), ..Self::fresh(tensor, place) }
    }

    /// The same, as an instance of a class derived from `Tensor`.
    pub(in crate::domain::torch) fn of_class(self, class: Option<Py<PyType>>) -> Self {
        Self { class, ..self }
    }

    /// Its metadata as they are now.
    pub(in crate::domain::torch) fn tensor(&self, py: Python<'_>) -> Tensor<Extent> {
        Tensor { requires_grad: self.requires_grad(py), ..self.tensor.clone() }
    }

    /// What no change in place changes.
    pub(in crate::domain::torch) fn fixed(&self) -> &Tensor<Extent> {
        &self.tensor
    }

    /// A view requires gradients where its base does.
    pub(in crate::domain::torch) fn requires_grad(&self, py: Python<'_>) -> bool {
        self.requires_grad.load(Relaxed) || self.base_requires_grad(py)
    }

    fn base_requires_grad(&self, py: Python<'_>) -> bool {
        let Some(view) = &self.view else { return false };
        match view.base.bind(py).cast::<Self>() {
            Ok(base) => base.get().requires_grad(py),
            // Those from outside do not begin to require gradients in a trace.
            Err(_) => false,
        }
    }

    /// Whether no operation is behind its gradients.
    pub(in crate::domain::torch) fn is_leaf(&self, py: Python<'_>) -> bool {
        match &self.view {
            Some(view) => !(view.with_grad && self.requires_grad(py)),
            None => self.is_root || !self.requires_grad(py),
        }
    }

    /// Whether the program let it begin to require gradients.
    pub(in crate::domain::torch) fn is_root(&self) -> bool {
        self.is_root
    }

    /// Whether it is no view, and the graph has none of it.
    pub(in crate::domain::torch) fn is_apart(&self) -> bool {
        self.view.is_none() && !self.has_views.load(Relaxed)
    }

    /// The same, of the plain class, with another layout.
    pub(in crate::domain::torch) fn relaid(&self, py: Python<'_>, tensor: Tensor<Extent>) -> Self {
        let view = self.view.as_ref().map(|view| View { base: view.base.clone_ref(py), ..*view });
        let requires_grad = AtomicBool::new(self.requires_grad.load(Relaxed));
        Self { requires_grad, view, is_root: self.is_root, ..Self::fresh(tensor, &self.place) }
    }

    /// Whether it may get another layout in place: PyTorch refuses that of leaves, and of views that it cannot follow; and gradients of views
    /// of it would follow what it was.
    pub(in crate::domain::torch) fn may_be_relaid(&self, py: Python<'_>, keeps_gradients: bool) -> bool {
        if self.has_views.load(Relaxed) {
            return false;
        }
        if !self.requires_grad(py) {
            return true;
        }
        let is_followed = |base: &Self| !base.is_leaf(py) && !base.has_loose_views.load(Relaxed);
        let base_is_followed =
            |view: &View| view.base.bind(py).cast::<Self>().is_ok_and(|base| is_followed(base.get()));
        keeps_gradients && !self.is_leaf(py) && self.view.as_ref().is_none_or(base_is_followed)
    }

    /// Whether it is a view.
    pub(in crate::domain::torch) fn is_view(&self) -> bool {
        self.view.is_some()
    }

    /// From now on it requires gradients; `false` where other tensors would with it in ways that are not known.
    pub(in crate::domain::torch) fn begin_gradients(&self) -> bool {
        let alone = self.view.is_none() && !self.has_loose_views.load(Relaxed);
        if alone {
            self.requires_grad.store(true, Relaxed);
        }
        alone
    }

    /// The stand-in, if PyTorch has been asked with it.
    pub(in crate::domain::torch) fn known_stand_in<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.stand_in.get(py).map(|made| made.bind(py).clone())
    }

    /// `Tensor[torch.float32, [2, 3]]`.
    pub(in crate::domain::torch) fn describe(&self) -> String {
        // Each node has such a text.
        let mut text = String::with_capacity(64);
        text.extend(["Tensor[torch.", self.tensor.dtype.name(), ", ["]);
        for (index, size) in self.tensor.shape.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            // Nothing fails that writes to a text.
            write!(text, "{size}").unwrap_or_default();
        }
        text.push(']');
        if !self.place.is_cpu() {
            text.extend([", ", &self.place.text()]);
        }
        text.push(']');
        text
    }
}

/// What those ask who ask a tensor.
#[pymethods]
impl Sketch {
    /// How tensors rank among what numpy's operators meet.
    #[getter]
    fn __array_priority__(&self) -> PyResult<f64> {
        match self.class {
            None => Ok(PRIORITY),
            Some(_) => Err(PyAttributeError::new_err("__array_priority__")),
        }
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let sizes = PyTuple::new(py, constants(&self.tensor.shape))?;
        crate::ffi::modules::import(py, "torch")?.getattr(name!("Size"))?.call1((sizes,))
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::ffi::modules::import(py, "torch")?.getattr(self.tensor.dtype.name())
    }

    #[getter(requires_grad)]
    fn python_requires_grad(&self, py: Python<'_>) -> bool {
        self.requires_grad(py)
    }

    #[getter(is_leaf)]
    fn python_is_leaf(&self, py: Python<'_>) -> bool {
        self.is_leaf(py)
    }

    #[pyo3(name = "_is_view")]
    fn python_is_view(&self) -> bool {
        self.is_view()
    }

    /// Nobody has its contents.
    #[getter]
    fn is_meta(&self) -> bool {
        true
    }
}

pub(in crate::domain::torch) fn constants(sizes: &Sizes<Extent>) -> impl ExactSizeIterator<Item = i64> {
    sizes.iter().copied()
}
