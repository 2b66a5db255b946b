//! The state of the thread that changes what operations of PyTorch give, and the guard on it.
use super::duals::Duals;
use super::function_modes::{FunctionModes, are_any_aside};
use crate::domain::Operand;
use crate::ffi::libtorch::{ModeWords, modes};
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// What the state of the condition is written as.
pub(in crate::domain::torch) const MODES: &str = "modes of PyTorch";

/// Questions about the thread whose answers the guards watch too.
pub(in crate::domain::torch) const QUESTIONS: &[&str] = &["_is_tracing", "_get_tracing_state"];

/// Modules of `torch._C`, functions there, and what they are called with.
const ABSENT: &[(&str, &str, &[bool])] = &[("_autograd", "_top_saved_tensors_default_hooks", &[true])];

/// The state of the thread that changes what operations give: grad and inference mode, autocast, default dtype, overriding modes.
#[derive(Debug)]
pub(in crate::domain::torch) struct Ambient {
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
    /// Tensors with tangents, of forward-mode differentiation.
    duals: Duals,
    /// Tells whether classes take over calls with their instances.
    overrides_on: Py<PyAny>,
    /// Tells whether operations choose their types by themselves.
    autocast: Py<PyAny>,
    /// The kinds of kernels that the thread passed over whenever they did not: those that choose are among them.
    without_autocast: AtomicU64,
    /// Whether they do on a kind of device, and what it is that they choose there.
    autocast_on: [Py<PyAny>; 2],
    /// Gives the device that is beside the CPU, or the CPU.
    accelerator: Option<Py<PyAny>>,
}

impl Ambient {
    /// For this PyTorch.
    pub(in crate::domain::torch) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
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
        for name in ["_is_torch_function_enabled", "_is_torch_function_all_disabled"] {
            questions.push(native.getattr(name)?.unbind());
        }
        let overrides_on = native.getattr(name!("_is_torch_function_enabled"))?.unbind();
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
        let autocast_on = [name!("is_autocast_enabled"), name!("get_autocast_dtype")];
        let [enabled, dtype] = autocast_on.map(|name| module.getattr(name).map(Bound::unbind));
        let accelerator = native.getattr_opt(name!("_get_accelerator"))?.map(Bound::unbind);
        Ok(Self {
            questions,
            function_modes,
            dispatch_modes,
            absent,
            transforms,
            untransformed,
            duals: Duals::new(module)?,
            overrides_on,
            autocast,
            without_autocast: AtomicU64::new(u64::MAX),
            autocast_on: [enabled?, dtype?],
            accelerator,
        })
    }

    fn answers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut answers =
            self.questions.iter().map(|question| question.bind(py).call0()).collect::<PyResult<Vec<_>>>()?;
        answers.push(self.function_modes.then(py)?.answer.into_any());
        if self.is_autocast(py)? {
            answers.push(self.autocast_choices(py)?.into_any());
        }
        PyTuple::new(py, answers)
    }

    /// Whether operations choose their types on the CPU and on the device beside it, and which.
    fn autocast_choices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut kinds = vec!["cpu".into_pyobject(py)?.into_any()];
        if let Some(accelerator) = &self.accelerator {
            kinds.push(accelerator.bind(py).call0()?.getattr(name!("type"))?);
        }
        let asked = kinds.iter().flat_map(|kind| self.autocast_on.each_ref().map(|question| (question, kind)));
        let choices = asked.map(|(question, kind)| question.bind(py).call1((kind,)));
        PyTuple::new(py, choices.collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether the answers are these.
    fn answers_are(&self, then: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let py = then.py();
        let same = |now: Bound<'_, PyAny>, index: usize| {
            let then = then.get_borrowed_item(index)?;
            Ok::<bool, PyErr>(now.is(&*then) || now.eq(&*then)?)
        };
        for (index, question) in self.questions.iter().enumerate() {
            if !same(question.bind(py).call0()?, index)? {
                return Ok(false);
            }
        }
        let count = self.questions.len();
        if !same(self.function_modes.then(py)?.answer.into_any(), count)? {
            return Ok(false);
        }
        // One of the questions is whether operations choose their types: then there is one answer more.
        Ok(then.len() == count + 1 || same(self.autocast_choices(py)?.into_any(), count + 1)?)
    }

    /// Whether no hooks look at what operations save.
    fn is_unhooked(&self, py: Python<'_>) -> PyResult<bool> {
        for (question, args) in &self.absent {
            if question.bind(py).call1(args.bind(py))?.is_truthy()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a `TorchDispatchMode` sees operations where they are dispatched.
    pub(in crate::domain::torch) fn is_watched(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.dispatch_modes.bind(py).call0()?.extract::<usize>()? != 0)
    }

    /// Whether classes take over calls with their instances.
    pub(in crate::domain::torch) fn overrides_are_on(&self, py: Python<'_>) -> PyResult<bool> {
        self.overrides_on.bind(py).call0()?.is_truthy()
    }

    /// Whether operations choose their types by themselves.
    pub(in crate::domain::torch) fn is_autocast(&self, py: Python<'_>) -> PyResult<bool> {
        if modes::passes_over(py, self.without_autocast.load(Relaxed)) == Some(true) {
            return Ok(false);
        }
        let is_on = self.autocast.bind(py).call0()?.is_truthy()?;
        if !is_on && let Some(kinds) = modes::passed_over(py) {
            self.without_autocast.fetch_and(kinds, Relaxed);
        }
        Ok(is_on)
    }

    /// The modes that see functions of PyTorch being called.
    pub(in crate::domain::torch) fn function_modes(&self) -> &FunctionModes {
        &self.function_modes
    }

    /// Whether operations do what their names say: no `TorchFunctionMode` or `TorchDispatchMode` is active, nor what else looks at them;
    /// but for modes that say where new tensors are put.
    pub(in crate::domain::torch) fn plain(&self, py: Python<'_>) -> PyResult<bool> {
        // Each operation asks: mostly words of the thread tell.
        Ok(ModeWords::see_nothing(py)
            || self.is_unhooked(py)?
                && self.dispatch_modes.bind(py).call0()?.extract::<usize>()? == 0
                && self.function_modes.are_plain(py)?)
    }

    /// Whether nothing sees operations where they are dispatched, and nothing transforms functions.
    fn is_unseen(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.transforms.bind(py).call0()?.is_none()
            && self.is_unhooked(py)?
            && self.dispatch_modes.bind(py).call0()?.extract::<usize>()? == 0)
    }

    /// The same where the trace has transformed nothing yet: nobody else transforms the function that is traced.
    pub(in crate::domain::torch) fn plain_at_start(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.transforms.bind(py).call0()?.is_none() && self.plain(py)? && !self.duals.may_come_from_outside(py)?)
    }

    /// Tensors with tangents.
    pub(in crate::domain::torch) const fn duals(&self) -> &Duals {
        &self.duals
    }

    /// Whether no function is being transformed, and no mode is active.
    pub(in crate::domain::torch) fn outside_is_plain(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!self.is_transforming(py)? && self.function_modes.count(py)?.extract::<usize>()? == 0)
    }

    /// Whether a function is being transformed.
    pub(in crate::domain::torch) fn is_transforming(&self, py: Python<'_>) -> PyResult<bool> {
        modes::is_transforming(py).map_or_else(|| Ok(!self.transforms.bind(py).call0()?.is_none()), Ok)
    }

    /// Whether all transforms that are under way are `vmap`.
    pub(in crate::domain::torch) fn is_only_mapping(&self, py: Python<'_>) -> PyResult<bool> {
        let module = crate::ffi::modules::import(py, "torch._C._functorch")?;
        let stack = module.getattr(name!("get_interpreter_stack"))?.call0()?;
        if stack.is_none() {
            return Ok(false);
        }
        let vmap = module.getattr(name!("TransformType"))?.getattr(name!("Vmap"))?;
        for level in stack.try_iter()? {
            if !level?.call_method0(name!("key"))?.eq(&vmap)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a function is being transformed, or an operand has a tangent.
    pub(in crate::domain::torch) fn are_wrapped(&self, py: Python<'_>, args: &[Operand<'_>]) -> PyResult<bool> {
        Ok(self.is_transforming(py)? || self.duals.are_among(py, args)?)
    }

    /// A context, entered, in which the transforms that are under way leave operations alone; `None` where there are none.
    pub(in crate::domain::torch) fn outside_transforms<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.transforms.bind(py).call0()?.is_none() {
            return Ok(None);
        }
        let context = self.untransformed.bind(py).call0()?;
        context.call_method0(name!("__enter__"))?;
        Ok(Some(context))
    }
}

/// PyTorch's modes as they were; no value is looked at.
#[derive(Debug)]
pub(in crate::domain::torch) struct SameModes {
    ambient: Arc<Ambient>,
    answers: Py<PyTuple>,
    /// Modes of the program's own whose addresses are among the answers.
    modes: Vec<Py<PyAny>>,
    /// The words of such modes, once they were found, if nothing sees operations, and they do not choose their types.
    words: OnceLock<ModeWords>,
}

impl SameModes {
    /// As they are now; `None` where one is active that overrides operations.
    pub(in crate::domain::torch) fn new(py: Python<'_>, ambient: Arc<Ambient>) -> PyResult<Option<Self>> {
        if !ambient.plain_at_start(py)? {
            return Ok(None);
        }
        ambient.function_modes.begin();
        let answers = ambient.answers(py)?.unbind();
        let modes = ambient.function_modes.then(py)?.own;
        Ok(Some(Self { ambient, answers, modes, words: OnceLock::new() }))
    }

    /// With these answers.
    pub(in crate::domain::torch) fn of_state(ambient: Arc<Ambient>, state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let answers = state.cast::<PyTuple>()?.clone().unbind();
        Ok(Self { ambient, answers, modes: Vec::new(), words: OnceLock::new() })
    }

    fn agrees(&self, py: Python<'_>) -> PyResult<bool> {
        // The words of the thread do not tell of modes that are set aside.
        let is_told_by_words = !are_any_aside();
        if is_told_by_words && self.words.get().is_some_and(|words| words.hold(py)) {
            return Ok(true);
        }
        // The answers tell of modes that see functions called.
        let agrees = self.ambient.is_unseen(py)? && self.ambient.answers_are(self.answers.bind(py))?;
        if agrees
            && is_told_by_words
            && self.words.get().is_none()
            && !self.ambient.is_autocast(py)?
            && let Some(now) = ModeWords::of_thread(py).filter(ModeWords::are_plain)
        {
            self.words.get_or_init(|| now);
        }
        Ok(agrees)
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

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        // Modes of the program's own are in no other process.
        self.modes.is_empty().then(|| (MODES, self.answers.bind(py).clone().into_any()))
    }

    fn describe(&self) -> String {
        "grad, inference and autocast modes, default dtype as they were; nothing overrides operations".to_owned()
    }
}
