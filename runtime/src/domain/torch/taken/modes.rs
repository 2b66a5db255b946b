//! Modes that see functions of PyTorch being called, as a trace goes through them: `TorchFunctionMode`.
use crate::domain::torch::functions::context_modes::{is_context_mode, is_switch};
use crate::domain::torch::functions::enums::is_of_enum;
use crate::domain::torch::functions::kinds::{COUNTED, OVERRIDES, is_class_of_devices, is_plain, is_question};
use crate::domain::torch::functions::type_names::is_instance_check;
use crate::domain::torch::graph_break::stop;
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::is_allowed;
use crate::domain::torch::taken::classes::is_unwrapped;
use crate::domain::torch::thread::ambient::QUESTIONS;
use crate::domain::torch::thread::function_modes::set_aside;
use crate::domain::torch::thread::kept_modes::KeptModes;
use crate::domain::torch::thread::modes;
use crate::domain::{Callee, HandedOver, ModeChange, ModeStep, TakingModes};
use crate::ffi::callee;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};
use std::any::Any;

/// Questions about modes, which no mode sees.
const UNSEEN: &[&str] = &[
    "_is_fwd_grad_enabled",
    "_is_torch_function_all_disabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_len_torch_function_stack",
    "is_grad_enabled",
    "is_inference_mode_enabled",
];

/// Parts of transforms of functions that call what modes see.
const SEEN_WITHIN: &[&str] = &["_make_dual", "_unpack_dual", "_set_tensor_requires_grad", "_maybe_load_decompositions"];

const MODULE: &str = "slotrt._torch_modes";

impl TakingModes for Torch {
    fn set_aside(&self, py: Python<'_>) -> PyResult<Option<Box<dyn Any>>> {
        Ok(self.ambient.function_modes().set_aside(py)?.map(|aside| Box::new(aside) as _))
    }

    fn keep(&self, py: Python<'_>) -> PyResult<Box<dyn Any>> {
        KeptModes::now(self.module.bind(py)).map(|kept| Box::new(kept) as _)
    }

    fn outer<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        set_aside(py)
    }

    fn are_of_trace(&self, py: Python<'_>, count: usize) -> bool {
        self.ambient.function_modes().are_markers(py, count).unwrap_or(false)
    }

    fn step(&self, function: &Bound<'_, PyAny>) -> Option<ModeStep> {
        let modes = self.ambient.function_modes();
        let [push, pop] = modes.steps(function.py());
        match function {
            _ if function.is(&push) => Some(ModeStep::Begin),
            _ if function.is(&pop) => Some(ModeStep::End),
            _ if function.is(modes.getter()) => Some(ModeStep::Get),
            _ => None,
        }
    }

    fn marker<'py>(&self, py: Python<'py>, begins: bool) -> PyResult<ModeChange<'py>> {
        let module = crate::ffi::modules::import(py, MODULE)?;
        let (begin, end) = (module.getattr(name!("begin_marker"))?, module.getattr(name!("end_marker"))?);
        let (set, undo) = if begins { (begin, end) } else { (end, begin) };
        let native = self.module.bind(py).getattr(name!("_C"))?;
        let questions = ["_len_torch_function_stack", "_is_torch_function_mode_enabled"];
        let questions = questions.iter().map(|question| Ok((native.getattr(*question)?, Vec::new())));
        Ok(ModeChange {
            undo: Some((undo, Vec::new())),
            follows: true,
            questions: questions.collect::<PyResult<_>>()?,
            ..ModeChange::new((set, Vec::new()))
        })
    }

    fn take_over(&self, py: Python<'_>) -> bool {
        self.modes_are_on(py)
    }

    fn see(&self, callee: &Callee<'_>) -> Result<bool, Box<Break>> {
        match callee {
            Callee::Slot(_) | Callee::Method(_) | Callee::GetAttr(_) => Ok(true),
            Callee::Function(function) => self.is_seen(function),
        }
    }

    fn handed<'py>(
        &self,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
        kwargs: &Bound<'py, PyDict>,
    ) -> Result<Option<HandedOver<'py>>, Box<Break>> {
        self.handed_by("handed_to_mode", callee, args, kwargs)
    }

    fn functions<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 4]> {
        let [begin, end] = self.ambient.function_modes().steps(py);
        let module = crate::ffi::modules::import(py, MODULE)?;
        Ok([begin, end, module.getattr(name!("set_aside"))?, module.getattr(name!("put_back"))?])
    }
}

impl Torch {
    /// Whether modes see functions of PyTorch being called.
    pub(in crate::domain::torch) fn modes_are_on(&self, py: Python<'_>) -> bool {
        let asked =
            || self.module.bind(py).getattr(name!("_C"))?.call_method0(name!("_is_torch_function_mode_enabled"));
        asked().is_ok_and(|on| on.is_truthy().unwrap_or(true))
    }

    /// Whether modes see calls of a function that the domain claims; breaks where nobody has looked.
    fn is_seen(&self, function: &Bound<'_, PyAny>) -> Result<bool, Box<Break>> {
        let own = callee::name_of(function);
        let is_unseen = is_plain(function) && !is_class_of_devices(function)
            || is_switch(function)
            || is_unwrapped(function)
            || is_of_enum(function)
            || is_instance_check(function)
            || is_context_mode(function)
            || self.step(function).is_some()
            || self.is_of_transforms(function) && !SEEN_WITHIN.contains(&&*own)
            || OVERRIDES.contains(&&*own)
            || QUESTIONS.contains(&&*own)
            || own == COUNTED
            || UNSEEN.contains(&&*own);
        if is_unseen {
            return Ok(false);
        }
        let is_python = function.is_exact_instance_of::<PyFunction>();
        if is_python
            || is_allowed(function)
            || modes::is_setter(&own)
            || is_question(&own)
            || self.is_of_transforms(function)
        {
            let why = "Modes may see such calls.";
            return Err(stop("call while a mode takes over calls", own, why));
        }
        Ok(true)
    }
}
