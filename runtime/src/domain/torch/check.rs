//! Guards on tensors and on PyTorch's modes.
use super::device_modes::FunctionModes;
use super::metadata::metadata;
use super::symbols::open_sizes;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple, PyType};
use std::sync::Arc;

/// Questions about the thread whose answers the guards watch too.
pub(super) const QUESTIONS: &[&str] = &["_is_tracing", "_get_tracing_state"];

/// Modules of `torch._C`, functions there, and what they are called with.
const ABSENT: &[(&str, &str, &[bool])] = &[("_autograd", "_top_saved_tensors_default_hooks", &[true])];

/// The state of the thread that changes what operations give: grad and inference mode, autocast, default dtype, overriding modes.
#[derive(Debug)]
pub(super) struct Ambient {
    questions: Vec<Py<PyAny>>,
    function_modes: FunctionModes,
    /// Gives the number of modes that see operations where they are dispatched.
    dispatch_modes: Py<PyAny>,
    /// Give `None` while nothing else looks at operations or changes what they are: transforms of functions, hooks on saved tensors.
    absent: Vec<(Py<PyAny>, Py<PyTuple>)>,
    /// Gives `None` while no function is being transformed.
    transforms: Py<PyAny>,
    /// A context in which nothing is transformed.
    untransformed: Py<PyAny>,
    /// Tells whether operations choose their types by themselves.
    autocast: Py<PyAny>,
    /// What it is that they choose, on the CPU.
    autocast_dtype: Py<PyAny>,
}

impl Ambient {
    /// For this PyTorch.
    pub(super) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let (py, native) = (module.py(), module.getattr(name!("_C"))?);
        let names = ["is_grad_enabled", "is_inference_mode_enabled", "is_autocast_cache_enabled", "get_default_dtype"];
        let mut questions = Vec::new();
        for name in names {
            questions.push(module.getattr(name)?.unbind());
        }
        questions.push(native.getattr(name!("_is_any_autocast_enabled"))?.unbind());
        for name in QUESTIONS {
            questions.push(native.getattr(*name)?.unbind());
        }
        let function_modes = FunctionModes::new(&native)?;
        let dispatch_modes = native.getattr(name!("_len_torch_dispatch_stack"))?.unbind();
        let mut absent = Vec::new();
        for (room, name, args) in ABSENT {
            // Not in every PyTorch.
            let Ok(question) = native.getattr(*room).and_then(|room| room.getattr(*name)) else { continue };
            absent.push((question.unbind(), PyTuple::new(py, *args)?.unbind()));
        }
        let transforms = native.getattr(name!("_functorch"))?.getattr(name!("peek_interpreter_stack"))?.unbind();
        let untransformed = native.getattr(name!("_DisableFuncTorch"))?.unbind();
        let autocast = native.getattr(name!("_is_any_autocast_enabled"))?.unbind();
        let autocast_dtype = module.getattr(name!("get_autocast_dtype"))?.unbind();
        Ok(Self {
            questions,
            function_modes,
            dispatch_modes,
            absent,
            transforms,
            untransformed,
            autocast,
            autocast_dtype,
        })
    }

    fn answers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut answers =
            self.questions.iter().map(|question| question.bind(py).call0()).collect::<PyResult<Vec<_>>>()?;
        answers.push(self.function_modes.count(py)?);
        if self.is_autocast(py)? {
            answers.push(self.autocast_dtype.bind(py).call1(("cpu",))?);
        }
        PyTuple::new(py, answers)
    }

    /// Whether operations choose their types by themselves.
    pub(super) fn is_autocast(&self, py: Python<'_>) -> PyResult<bool> {
        self.autocast.bind(py).call0()?.is_truthy()
    }

    /// The modes that see functions of PyTorch being called.
    pub(super) fn function_modes(&self) -> &FunctionModes {
        &self.function_modes
    }

    /// Whether operations do what their names say: no `TorchFunctionMode` or `TorchDispatchMode` is active, nor what else looks at them;
    /// but for a mode that puts new tensors where they are put without it.
    pub(super) fn plain(&self, py: Python<'_>) -> PyResult<bool> {
        for (question, args) in &self.absent {
            if question.bind(py).call1(args.bind(py))?.is_truthy()? {
                return Ok(false);
            }
        }
        Ok(self.dispatch_modes.bind(py).call0()?.extract::<usize>()? == 0 && self.function_modes.are_plain(py)?)
    }

    /// The same where the trace has transformed nothing yet: nobody else transforms the function that is traced.
    pub(super) fn plain_at_start(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.transforms.bind(py).call0()?.is_none() && self.plain(py)?)
    }

    /// Whether no function is being transformed, and no mode is active.
    pub(super) fn outside_is_plain(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!self.is_transforming(py)? && self.function_modes.count(py)?.extract::<usize>()? == 0)
    }

    /// Whether a function is being transformed.
    pub(super) fn is_transforming(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!self.transforms.bind(py).call0()?.is_none())
    }

    /// A context, entered, in which the transforms that are under way leave operations alone; `None` where there are none.
    pub(super) fn outside_transforms<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.transforms.bind(py).call0()?.is_none() {
            return Ok(None);
        }
        let context = self.untransformed.bind(py).call0()?;
        context.call_method0(name!("__enter__"))?;
        Ok(Some(context))
    }
}

/// Exact class, dtype, shape, strides, `requires_grad`, whether it is a leaf; a strided tensor on the CPU.
#[derive(Debug)]
pub(super) struct TensorCheck {
    class: Py<PyType>,
    metadata: Py<PyTuple>,
    text: String,
}

impl TensorCheck {
    /// For tensors like `example`; `None` where such tensors are not recorded.
    pub(super) fn new(example: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let strided = example.getattr(name!("layout"))?.str()?.to_str()? == "torch.strided";
        let cpu = example.getattr(name!("device"))?.getattr(name!("type"))?.str()?.to_str()? == "cpu";
        if !strided || !cpu || example.getattr(name!("is_quantized"))?.is_truthy()? {
            return Ok(None);
        }
        let metadata = metadata(example)?;
        let text = format!(
            "(dtype, shape, strides, requires_grad, device, layout, is_conj, is_neg, is_leaf) == {}",
            metadata.repr()?
        );
        let metadata = metadata.unbind();
        Ok(Some(Self { class: example.get_type().unbind(), metadata, text }))
    }

    fn agrees(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        metadata(value)?.eq(self.metadata.bind(value.py()))
    }
}

impl DomainCheck for TensorCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        value.get_type().is(&self.class) && self.agrees(value).unwrap_or(false)
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| {
            self.class.is(&other.class) && self.metadata.bind(py).eq(other.metadata.bind(py)).unwrap_or(false)
        })
    }

    fn other_sizes(&self, value: &Bound<'_, PyAny>) -> Vec<usize> {
        match value.get_type().is(&self.class) {
            true => open_sizes::other_sizes(value, self.metadata.bind(value.py())).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    fn now(&self, value: &Bound<'_, PyAny>) -> Option<String> {
        if !value.get_type().is(&self.class) {
            return None;
        }
        Self::new(value).ok().flatten().map(|now| now.text)
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}

/// PyTorch's modes as they were; no value is looked at.
#[derive(Debug)]
pub(super) struct SameModes {
    ambient: Arc<Ambient>,
    answers: Py<PyTuple>,
}

impl SameModes {
    /// As they are now; `None` where one is active that overrides operations.
    pub(super) fn new(py: Python<'_>, ambient: Arc<Ambient>) -> PyResult<Option<Self>> {
        if !ambient.plain_at_start(py)? {
            return Ok(None);
        }
        let answers = ambient.answers(py)?.unbind();
        Ok(Some(Self { ambient, answers }))
    }

    fn agrees(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.ambient.plain_at_start(py)? && self.ambient.answers(py)?.eq(self.answers.bind(py))?)
    }
}

impl DomainCheck for SameModes {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        self.agrees(value.py()).unwrap_or(false)
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| {
            Arc::ptr_eq(&self.ambient, &other.ambient)
                && self.answers.bind(py).eq(other.answers.bind(py)).unwrap_or(false)
        })
    }

    fn describe(&self) -> String {
        "grad, inference and autocast modes, default dtype as they were; nothing overrides operations".to_owned()
    }
}
