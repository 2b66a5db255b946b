//! Functions of PyTorch's that call functions of the program: those with gradients of their own, which a graph calls as a whole.
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::metadata::metadata;
use crate::domain::torch::own::{IN_PLACE, MODULE, is_named};
use crate::domain::torch::stand_ins::StandIns;
use crate::domain::torch::thread::modes;
use crate::domain::{Answer, ModeChange, Operand, PlainForward, Rehearsal};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyType};

/// The method that calls a function with gradients of its own.
const APPLY: &str = "apply";

fn refused() -> Box<Break> {
    stop("function with gradients of its own", APPLY, "It changes what an argument is.")
}

impl<'py> Meta<'_, 'py> {
    /// Calls a function with what stands for operands. What the program draws of random numbers there is put back.
    pub(in crate::domain::torch) fn call_on(
        &self,
        target: &Bound<'py, PyAny>,
        operands: &StandIns<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.torch.runs_program(target) {
            true => self.keeping_random(|| operands.run(target)),
            false => operands.run(target),
        }
    }
}

impl Torch {
    /// Whether a call runs code of the program, or may.
    pub(in crate::domain::torch) fn runs_program(&self, target: &Bound<'_, PyAny>) -> bool {
        self.applies(target) || is_named(target, IN_PLACE) || self.is_of_program(target)
    }

    /// A call of such a function: one that changes arguments, or one that makes something new.
    pub(in crate::domain::torch) fn apply<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        apply: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let changed = self.changed_by(meta, apply, args, kwargs)?;
        if changed.is_empty() {
            let answer = meta.record(apply.clone(), args, kwargs)?;
            return match &answer {
                Answer::Same(_) => Err(refused()),
                Answer::Parts { itself, .. } if itself.iter().any(Option::is_some) => Err(refused()),
                _ => Ok(answer),
            };
        }
        let target = crate::ffi::modules::import(meta.py, MODULE).and_then(|functions| functions.getattr(IN_PLACE));
        let args: Vec<_> = [Operand::Known(apply.clone())].into_iter().chain(args.iter().cloned()).collect();
        meta.write(&target.map_err(|error| fault(&error))?, &args, kwargs, &changed, &[])
    }

    /// Which arguments it changes, counted from one.
    fn changed_by<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        apply: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<Vec<usize>, Box<Break>> {
        let Ok(operands) = meta.stand_ins(args, kwargs) else { return Ok(Vec::new()) };
        let known = || {
            let of = |object: &Bound<'py, PyAny>| {
                let _quiet = Quiet::about([object]);
                let known = || Ok((object.getattr(name!("_version"))?.extract::<u64>()?, metadata(object)?));
                self.is_tensor(object).then(known).transpose()
            };
            operands.positional.iter().map(of).collect::<PyResult<Vec<_>>>()
        };
        let before = known().map_err(|error| fault(&error))?;
        if meta.call_on(apply, &operands).is_err() {
            return Ok(Vec::new());
        }
        let mut changed = Vec::new();
        for (place, pair) in before.iter().zip(known().map_err(|error| fault(&error))?).enumerate() {
            let (Some((version, kind)), Some((now, kind_now))) = pair else { continue };
            if *version != now {
                changed.push(place + 1);
            }
            if !kind.eq(&kind_now).map_err(|error| fault(&error))? {
                return Err(refused());
            }
        }
        Ok(changed)
    }

    /// How a trace goes through what the callable calls.
    pub(in crate::domain::torch) fn rehearsal_of<'py>(&self, callable: &Bound<'py, PyAny>) -> Option<Rehearsal<'py>> {
        match &*callee::name_of(callable) {
            APPLY => self.custom_gradient(callable).ok().flatten(),
            name => self.higher_order(callable, name).map(Rehearsal::HigherOrder),
        }
    }

    /// Whether it is the `apply` of such a function.
    pub(in crate::domain::torch) fn applies(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.class_applied(callable).is_ok_and(|class| class.is_some())
    }

    /// The class whose `apply` it is, if that is derived from `torch.autograd.Function`, and that base.
    fn class_applied<'py>(
        &self,
        callable: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyType>, Bound<'py, PyAny>)>> {
        if callee::name_of(callable) != APPLY {
            return Ok(None);
        }
        let Some(class) = callee::receiver_of(callable).and_then(|class| class.cast_into::<PyType>().ok()) else {
            return Ok(None);
        };
        let base = self.module.bind(callable.py()).getattr(name!("autograd"))?.getattr(name!("Function"))?;
        Ok(class.is_subclass(&base)?.then_some((class, base)))
    }

    /// `apply` of a class derived from `torch.autograd.Function`.
    fn custom_gradient<'py>(&self, callable: &Bound<'py, PyAny>) -> PyResult<Option<Rehearsal<'py>>> {
        let py = callable.py();
        let Some((class, base)) = self.class_applied(callable)? else { return Ok(None) };
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
