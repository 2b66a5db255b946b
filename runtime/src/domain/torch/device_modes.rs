//! `with torch.device("cpu")`: a mode that says where new tensors are put. It changes nothing where they are put there anyway.
use super::examples::place::is_cpu;
use super::graph_break::{CallResult, fault, stop};
use super::library::Torch;
use super::meta::Meta;
use crate::domain::{Answer, ModeChange, Operand};
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;

/// Whether it is what a `with` statement calls of a device.
pub(super) fn is_of_device(callable: &Bound<'_, PyAny>) -> bool {
    types::c_name(&callable.get_type()) == "method_descriptor"
        && callee::owner_of(callable).is_some_and(|owner| types::c_name(&owner) == "torch.device")
        && matches!(&*callee::name_of(callable), "__enter__" | "__exit__")
}

impl Torch {
    /// Begins or ends a mode that puts new tensors on a device.
    pub(super) fn on_device<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        let Some(Operand::Known(device)) = args.first().filter(|_| matches!(args.len(), 1 | 4)) else {
            return Err(stop("unsupported form of a PyTorch call", "torch.device", "It begins or ends a mode."));
        };
        if !is_cpu(device) {
            let why = "Only new CPU tensors are recorded.";
            return Err(stop("mode that puts new tensors elsewhere", types::text(device), why));
        }
        meta.refuse_modes()?;
        self.device_mode(function, device).map_err(|error| fault(&error))
    }

    fn device_mode<'py>(&self, function: &Bound<'py, PyAny>, device: &Bound<'py, PyAny>) -> PyResult<Answer<'py>> {
        let (py, begins) = (function.py(), callee::name_of(function) == "__enter__");
        // Methods of C have no names that FX could write.
        let functions = py.import("slotrt._torch_functions")?;
        let begin = (functions.getattr(name!("begin_device"))?, vec![device.clone()]);
        let end = (functions.getattr(name!("end_device"))?, vec![device.clone()]);
        let (set, undo) = if begins { (begin, end) } else { (end, begin) };
        let keep = functions.getattr(name!("put_back_devices"))?;
        let restore = Some((keep, vec![device.clone(), self.ambient.function_modes().count(py)?]));
        Ok(Answer::ModeChange(Box::new(ModeChange {
            set,
            named: Vec::new(),
            undo: Some(undo),
            restore,
            questions: Vec::new(),
        })))
    }
}
