//! `with torch.device("cuda")`: a mode that says where new tensors are put. What makes one in the graph is told so.
use crate::domain::torch::examples::place::{Place, is_device};
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::module_of;
use crate::domain::torch::thread::function_modes;
use crate::domain::{Answer, ModeChange, Operand};
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;

/// Whether it is what a `with` statement calls of a device.
pub(in crate::domain::torch) fn is_of_device(callable: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&callable.get_type(), "method_descriptor")
        && callee::owner_of(callable).is_some_and(|owner| types::is_c_class(&owner, "torch.device"))
        && matches!(&*callee::name_of(callable), "__enter__" | "__exit__")
}

/// What hands functions of Python to modes, where it is, and what does the same where modes say nothing but where new tensors are put.
const HANDS_OVER: &str = "handle_torch_function";
const OVERRIDES: &str = "torch.overrides";
const WITHOUT: &str = "without_device";

impl Torch {
    /// What a trace goes through in the place of a function that hands others to such a mode.
    pub(in crate::domain::torch) fn without_device<'py>(
        &self,
        function: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, PyAny>> {
        let hands_over =
            callee::name_of(function) == HANDS_OVER && module_of(function).is_some_and(|module| module == OVERRIDES);
        if !hands_over || !self.ambient.function_modes().are_only_devices(function.py()).unwrap_or(false) {
            return None;
        }
        crate::ffi::modules::import(function.py(), "slotrt._torch_modes").ok()?.getattr(WITHOUT).ok()
    }

    /// Begins or ends a mode that puts new tensors on a device.
    pub(in crate::domain::torch) fn on_device<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        let Some(Operand::Known(device)) = args.first().filter(|_| matches!(args.len(), 1 | 4)) else {
            return Err(stop("unsupported form of a PyTorch call", "torch.device", "It begins or ends a mode."));
        };
        if !is_device(device) {
            return Err(stop("unsupported form of a PyTorch call", types::text(device), "It is no device."));
        }
        meta.refuse_modes()?;
        if !self.ambient.function_modes().are_devices(meta.py).map_err(|error| fault(&error))? {
            return Err(crate::domain::torch::meta::overridden());
        }
        self.device_mode(function, device).map_err(|error| fault(&error))
    }

    fn device_mode<'py>(&self, function: &Bound<'py, PyAny>, device: &Bound<'py, PyAny>) -> PyResult<Answer<'py>> {
        let (py, begins) = (function.py(), callee::name_of(function) == "__enter__");
        // Methods of C have no names that FX could write.
        function_modes::leave();
        let functions = crate::ffi::modules::import(py, "slotrt._torch_functions")?;
        let begin = (functions.getattr(name!("begin_device"))?, vec![device.clone()]);
        let end = (functions.getattr(name!("end_device"))?, vec![device.clone()]);
        let (set, undo) = if begins { (begin, end) } else { (end, begin) };
        let question = self.module.bind(py).getattr(name!("_C"))?.getattr(name!("_len_torch_function_stack"))?;
        Ok(Answer::ModeChange(Box::new(ModeChange {
            undo: Some(undo),
            follows: true,
            questions: vec![(question, Vec::new())],
            ..ModeChange::new(set)
        })))
    }

    /// The keywords of a call that makes a tensor, with the device that modes put it on.
    pub(in crate::domain::torch) fn with_device<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        kwargs: &[(String, Operand<'py>)],
    ) -> PyResult<Option<Vec<(String, Operand<'py>)>>> {
        const DEVICE: &str = "device";
        let py = function.py();
        let modes = self.ambient.function_modes();
        let device = match modes.device(py)? {
            Some(device) => device,
            // A mode that the trace has ended is active for the graph.
            None if modes.were_left() && modes.are_devices(py)? => Place::default().object(py)?,
            None => return Ok(None),
        };
        let says_none = |value: &Operand<'py>| matches!(value, Operand::Known(object) if object.is_none());
        let is_said = kwargs.iter().any(|(name, value)| name == DEVICE && !says_none(value));
        let makers =
            || crate::ffi::modules::import(py, "torch.utils._device")?.call_method0(name!("_device_constructors"));
        if is_said || !makers()?.contains(function)? {
            return Ok(None);
        }
        let others = kwargs.iter().filter(|(name, _)| name != DEVICE).cloned();
        Ok(Some(others.chain([(DEVICE.to_owned(), Operand::Known(device))]).collect()))
    }
}
