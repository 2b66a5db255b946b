//! Functions of PyTorch's that call functions of the program: those with gradients of their own, which a graph calls as a whole.
use crate::domain::torch::library::Torch;
use crate::domain::torch::thread::modes;
use crate::domain::{Answer, ModeChange, PlainForward, Rehearsal};
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyType};

impl Torch {
    /// How a trace goes through what the callable calls.
    pub(in crate::domain::torch) fn rehearsal_of<'py>(&self, callable: &Bound<'py, PyAny>) -> Option<Rehearsal<'py>> {
        match &*callee::name_of(callable) {
            "apply" => self.custom_gradient(callable).ok().flatten(),
            name => self.higher_order(callable, name).map(Rehearsal::HigherOrder),
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
        let backward = class.getattr(name!("backward"))?;
        let backward = (!backward.is(&base.getattr(name!("backward"))?)).then_some(backward);
        let context = crate::ffi::modules::import(py, "slotrt._torch_functions")?.getattr(name!("Context"))?;
        let enabled = self.module.bind(py).getattr(name!("is_grad_enabled"))?.call0()?;
        let off = self.gradients(PyBool::new(py, false).to_owned().into_any())?;
        let back = self.gradients(enabled)?;
        let plain = self.plain_forward(&class)?;
        let made = |(off, back)| Rehearsal::Gradient { forward, set_up, backward, context, off, back, plain };
        Ok(off.zip(back).map(made))
    }

    /// Whether such a class does nothing but `forward` where no argument needs gradients: within `vmap`, where the rule comes from `forward`.
    fn plain_forward(&self, class: &Bound<'_, PyType>) -> PyResult<PlainForward> {
        let py = class.py();
        if self.ambient.duals().may_come_from_outside(py)? {
            return Ok(PlainForward::No);
        }
        Ok(match self.ambient.is_transforming(py)? {
            false => PlainForward::Yes,
            true if self.ambient.is_only_mapping(py)? && class.getattr(name!("generate_vmap_rule"))?.is_truthy()? => {
                PlainForward::OfIntegers
            }
            true => PlainForward::No,
        })
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
}
