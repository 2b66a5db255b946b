//! The rules of shapes, and the objects of PyTorch that they have names for.
use crate::domain::NodeEffects;
use crate::domain::torch::examples::site::ATTENTION;
use crate::domain::torch::examples::sketch::{Extent, Sketch};
use crate::domain::torch::shapes::{Dtype, MemoryFormat, Modes, Rulebook, Size, Tensor};
use crate::domain::torch::thread::below::BelowGradients;
use crate::ffi::libtorch::Quiet;
use crate::ffi::libtorch::modes;
use crate::names::name;
use crate::symbol::SymbolicSize;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple};
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// The rules, and the objects of PyTorch that they have names for.
#[derive(Debug)]
pub(in crate::domain::torch) struct Rules {
    pub(in crate::domain::torch) book: Rulebook<Extent>,
    /// The same rules over symbolic sizes.
    pub(in crate::domain::torch) symbolic_book: Rulebook<SymbolicSize>,
    dtypes: Vec<(Py<PyAny>, Dtype)>,
    pub(in crate::domain::torch) formats: Vec<(Py<PyAny>, MemoryFormat)>,
    strided: Py<PyAny>,
    is_grad_enabled: Py<PyAny>,
    pub(in crate::domain::torch) below_gradients: BelowGradients,
    default_dtype: Py<PyAny>,
    /// What it gave last, and the number that PyTorch has for that.
    last_default: Mutex<Option<(i8, Dtype)>>,
    flash_attention: Py<PyAny>,
    pub(in crate::domain::torch) getattr: Py<PyAny>,
    /// What operations do, by name.
    pub(in crate::domain::torch) effects: Mutex<FxHashMap<String, NodeEffects>>,
    /// Whether PyTorch has a kernel for a call, by operation and types of operands.
    pub(in crate::domain::torch) kernels: Mutex<FxHashMap<String, bool>>,
    /// How often rules said what an operation gives, and how often PyTorch was asked.
    counts: Mutex<FxHashMap<String, [u64; 2]>>,
}

fn truth(py: Python<'_>, question: &Py<PyAny>) -> Option<bool> {
    question.bind(py).call0().and_then(|answer| answer.is_truthy()).ok()
}

impl Rules {
    /// For this PyTorch.
    pub(in crate::domain::torch) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let object = |name: &str| module.getattr(name).map(Bound::unbind);
        let mut dtypes = Vec::new();
        for (dtype, name) in Dtype::ALL {
            dtypes.push((object(name)?, dtype));
        }
        let formats = vec![
            (object("contiguous_format")?, MemoryFormat::Contiguous),
            (object("channels_last")?, MemoryFormat::ChannelsLast),
            (object("channels_last_3d")?, MemoryFormat::ChannelsLast3d),
            (object("preserve_format")?, MemoryFormat::Preserve),
        ];
        Ok(Self {
            book: Rulebook::default(),
            symbolic_book: Rulebook::default(),
            dtypes,
            formats,
            strided: object("strided")?,
            is_grad_enabled: object("is_grad_enabled")?,
            below_gradients: BelowGradients::new(module)?,
            default_dtype: object("get_default_dtype")?,
            last_default: Mutex::default(),
            flash_attention: module.getattr(name!("_C"))?.getattr(name!("_get_flash_sdp_enabled"))?.unbind(),
            getattr: crate::ffi::modules::import(module.py(), "builtins")?.getattr(name!("getattr"))?.unbind(),
            effects: Mutex::default(),
            kernels: Mutex::default(),
            counts: Mutex::default(),
        })
    }

    /// By operation, in the order of their names: by rule, and asked.
    pub(in crate::domain::torch) fn counts(&self) -> Vec<(String, [u64; 2])> {
        let counts = self.counts.lock().map(|counts| counts.clone()).unwrap_or_default();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        counts
    }

    /// Begins to count anew.
    pub(in crate::domain::torch) fn reset_counts(&self) {
        if let Ok(mut counts) = self.counts.lock() {
            counts.clear();
        }
    }

    pub(in crate::domain::torch) fn count(&self, name: &str, by_rule: bool) {
        let Ok(mut counts) = self.counts.lock() else { return };
        if !counts.contains_key(name) {
            counts.insert(name.to_owned(), [0; 2]);
        }
        if let Some(count) = counts.get_mut(name) {
            count[usize::from(!by_rule)] += 1;
        }
    }

    pub(in crate::domain::torch) fn dtype(&self, object: &Bound<'_, PyAny>) -> Option<Dtype> {
        self.dtypes.iter().find(|(known, _)| object.is(known)).map(|(_, dtype)| *dtype)
    }

    /// The object of PyTorch's for a type.
    pub(in crate::domain::torch) fn dtype_object<'py>(
        &self,
        py: Python<'py>,
        dtype: Dtype,
    ) -> Option<Bound<'py, PyAny>> {
        self.dtypes.iter().find(|(_, known)| *known == dtype).map(|(object, _)| object.bind(py).clone())
    }

    /// What operations depend on besides their operands, but for how they attend.
    pub(in crate::domain::torch) fn modes(&self, py: Python<'_>) -> Option<Modes> {
        let is_recorded = modes::records_gradients(py).or_else(|| truth(py, &self.is_grad_enabled))?;
        let grad = is_recorded && !self.below_gradients.is_now(py).ok()?;
        Some(Modes { grad, flash_attention: false, default_dtype: self.default_dtype(py)? })
    }

    /// What an operation of this name depends on.
    pub(in crate::domain::torch) fn modes_of(&self, py: Python<'_>, name: &str) -> Option<Modes> {
        let flash_attention = name == ATTENTION && truth(py, &self.flash_attention)?;
        Some(Modes { flash_attention, ..self.modes(py)? })
    }

    fn default_dtype(&self, py: Python<'_>) -> Option<Dtype> {
        let number = modes::default_dtype(py);
        let last = || self.last_default.lock().ok().and_then(|last| *last);
        if let Some(number) = number
            && let Some((_, dtype)) = last().filter(|(known, _)| *known == number)
        {
            return Some(dtype);
        }
        let dtype = self.dtype(&self.default_dtype.bind(py).call0().ok()?)?;
        if let Ok(mut last) = self.last_default.lock() {
            *last = number.map(|number| (number, dtype));
        }
        Some(dtype)
    }

    /// Whether gradients allow a change of a tensor in place: what they follow must be no leaf, nor a view of anything.
    pub(in crate::domain::torch) fn may_change(&self, tensor: &Bound<'_, PyAny>, modes: Modes) -> bool {
        let (py, _quiet) = (tensor.py(), Quiet::about([tensor]));
        let truth = |value: PyResult<Bound<'_, PyAny>>| value.and_then(|value| value.is_truthy()).unwrap_or(true);
        let [followed, leaf, view] = match tensor.cast::<Sketch>().map(Bound::get) {
            Ok(sketch) => [sketch.requires_grad(py), sketch.is_leaf(py), sketch.is_view()],
            Err(_) => [
                truth(tensor.getattr(name!("requires_grad"))),
                truth(tensor.getattr(name!("is_leaf"))),
                truth(tensor.call_method0(name!("_is_view"))),
            ],
        };
        !modes.grad || !followed || !leaf && !view
    }

    /// The metadata of a tensor; `None` where it is of a kind that rules do not know.
    pub(in crate::domain::torch) fn metadata(&self, tensor: &Bound<'_, PyAny>) -> Option<Tensor<Extent>> {
        if let Ok(sketch) = tensor.cast::<Sketch>() {
            return Some(sketch.get().tensor(tensor.py()));
        }
        let _quiet = Quiet::about([tensor]);
        let truth = |name| tensor.getattr(name).and_then(|truth: Bound<'_, PyAny>| truth.is_truthy()).ok();
        let plain = tensor.getattr(name!("layout")).ok()?.is(&self.strided)
            && !tensor.call_method0(name!("is_neg")).ok()?.is_truthy().ok()?;
        if !plain {
            return None;
        }
        let sizes = |sizes: Bound<'_, PyAny>| -> Option<_> {
            sizes.cast::<PyTuple>().ok()?.iter().map(|size| size.extract::<i64>().ok().map(Extent::of)).collect()
        };
        Some(Tensor {
            dtype: self.dtype(&tensor.getattr(name!("dtype")).ok()?)?,
            shape: sizes(tensor.getattr(name!("shape")).ok()?)?,
            strides: sizes(tensor.call_method0(name!("stride")).ok()?)?,
            requires_grad: truth(name!("requires_grad"))?,
        })
    }
}
