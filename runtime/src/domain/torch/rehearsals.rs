//! Functions of PyTorch's that call functions of the program, and that a graph calls as a whole: custom gradients, checkpoints.
use super::library::Torch;
use super::meta::Meta;
use super::modes;
use crate::domain::{Answer, ModeChange, Operand, Rehearsal};
use crate::ffi::{callee, modules};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyType};

/// Options of a checkpoint that say nothing of what is called.
const OPTIONS: &[&str] = &["use_reentrant", "preserve_rng_state", "debug", "early_stop", "determinism_check"];

impl Torch {
    /// How a trace goes through what the callable calls.
    pub(super) fn rehearsal_of<'py>(&self, callable: &Bound<'py, PyAny>) -> Option<Rehearsal<'py>> {
        match &*callee::name_of(callable) {
            "apply" => self.custom_gradient(callable).ok().flatten(),
            "checkpoint" => self.checkpoint(callable).ok().flatten(),
            _ => None,
        }
    }

    /// `apply` of a class derived from `torch.autograd.Function`.
    fn custom_gradient<'py>(&self, callable: &Bound<'py, PyAny>) -> PyResult<Option<Rehearsal<'py>>> {
        let py = callable.py();
        let Some(class) = callee::receiver_of(callable).and_then(|class| class.cast_into::<PyType>().ok()) else {
            return Ok(None);
        };
        let base = self.module.bind(py).getattr(name!("autograd"))?.getattr(name!("Function"))?;
        if !class.is_subclass(&base)? {
            return Ok(None);
        }
        let forward = class.getattr(name!("forward"))?;
        let set_up = class.getattr(name!("setup_context"))?;
        let set_up = (!set_up.is(&base.getattr(name!("setup_context"))?)).then_some(set_up);
        let context = py.import("slotrt._torch_functions")?.getattr(name!("Context"))?;
        let enabled = self.module.bind(py).getattr(name!("is_grad_enabled"))?.call0()?;
        let off = self.gradients(PyBool::new(py, false).to_owned().into_any())?;
        let back = self.gradients(enabled)?;
        Ok(off.zip(back).map(|(off, back)| Rehearsal::Gradient { forward, set_up, context, off, back }))
    }

    /// What switches gradients on or off.
    fn gradients<'py>(&self, on: Bound<'py, PyAny>) -> PyResult<Option<Box<ModeChange<'py>>>> {
        let (module, name) = (self.module.bind(on.py()), "_set_grad_enabled");
        let function = module.getattr(name!("_C"))?.getattr(interned(on.py(), name))?;
        Ok(match modes::change(module, name, &function, vec![on]) {
            Ok(Answer::ModeChange(change)) => Some(change),
            _ => None,
        })
    }

    /// `torch.utils.checkpoint.checkpoint`.
    fn checkpoint<'py>(&self, callable: &Bound<'py, PyAny>) -> PyResult<Option<Rehearsal<'py>>> {
        let py = callable.py();
        let Some(room) = modules::imported(&PyString::intern(py, "torch.utils.checkpoint")) else { return Ok(None) };
        let is_it = room.getattr(name!("checkpoint"))?.is(callable);
        let caller = py.import("slotrt._torch_functions")?.getattr(name!("Caller"))?;
        Ok(is_it.then_some(Rehearsal::Call { caller, options: OPTIONS }))
    }

    /// The call of a checkpoint, if what it calls gives tensors like these: it gives the same.
    pub(super) fn checkpointed<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        options: &[(String, Operand<'py>)],
        example: Bound<'py, PyAny>,
    ) -> Option<Answer<'py>> {
        meta.refuse_modes().ok()?;
        let given = options.iter().find(|(name, _)| name == "use_reentrant");
        let Some((_, Operand::Known(reentrant))) = given else { return None };
        let reentrant = reentrant.cast::<PyBool>().ok()?.is_true();
        let needs = |tensor: &Bound<'py, PyAny>| tensor.getattr(name!("requires_grad")).ok()?.is_truthy().ok();
        let is_needed = |arg: &Operand<'py>| match arg {
            Operand::Graph { example, .. } => needs(example) == Some(true),
            _ => false,
        };
        // The older kind warns where no argument needs gradients, and gives what needs some only where one does.
        if reentrant && !(args.iter().any(is_needed) && needs(&example) == Some(true)) {
            return None;
        }
        meta.answer(target, args, options, &[], example).ok()
    }
}
