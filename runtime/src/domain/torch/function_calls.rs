//! Operations, and calls of functions of PyTorch's: what they are to a trace.
use super::examples::open::has_open;
use super::functions::allowed::refuse_loud_script;
use super::functions::context_modes::{context_mode, is_context_mode, is_switch, switch};
use super::functions::device_modes::is_of_device;
use super::functions::devices;
use super::functions::enums::{enum_answer, is_of_enum};
use super::functions::kinds::{COUNTED, OVERRIDES, PLAIN, is_plain, is_question};
use super::functions::leaves::data::{CAN_TAKE, is_set_data};
use super::functions::leaves::is_set_requires_grad;
use super::functions::random_state::is_of_random_state;
use super::functions::type_names::is_instance_check;
use super::graph_break::{CallResult, fault, stop};
use super::library::Torch;
use super::meta::Meta;
use super::own::{BYTES_OF, STORAGE_ADDRESS_OF, is_named, is_through_hook};
use super::taken::classes::is_unwrapped;
use super::thread::ambient::QUESTIONS;
use super::thread::modes;
use crate::domain::torch::named::{is_allowed, is_script};
use crate::domain::{Answer, Callee, Operand};
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;

impl Torch {
    /// What an operation is to a trace.
    pub(super) fn answer_to<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        if let Callee::Function(function) = callee
            && self.makes_wrappers(function)
        {
            return meta.wrapper(function, args, kwargs);
        }
        let asks_for_classes =
            matches!(callee, Callee::Function(function) if OVERRIDES.contains(&&*callee::name_of(function)));
        if !asks_for_classes && args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_open) {
            return self.call_on_open(meta, callee, args, kwargs);
        }
        meta.refuse_scalars(callee, args, kwargs)?;
        match callee {
            Callee::Slot(slot) => self.slot(meta, slot, args),
            Callee::Function(function) => self.function(meta, function, args, kwargs),
            Callee::Method(name) => {
                let method = match name.as_str() {
                    // What users of FX graphs know to have an effect.
                    "__setitem__" => self.operator.bind(meta.py).getattr(name!("setitem")),
                    _ => self.tensor.bind(meta.py).getattr(interned(meta.py, name)),
                };
                let method = method.map_err(|error| fault(&error))?;
                meta.perform(name, method, args, kwargs)
            }
            Callee::GetAttr(name) => self.attribute(meta, name, args),
        }
    }

    /// A call of a function that the domain claims.
    pub(super) fn function<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        if self.is_operator(function) {
            return self.operator(meta, function, args, kwargs);
        }
        if is_script(function) {
            refuse_loud_script(function)?;
        }
        if is_allowed(function) || is_through_hook(function) {
            return meta.record(function.clone(), args, kwargs);
        }
        if let Some(own) = [STORAGE_ADDRESS_OF, BYTES_OF].into_iter().find(|own| is_named(function, own))
            && let [tensor] = args
        {
            return meta.of_object(own, tensor);
        }
        if is_of_random_state(function) {
            return self.random_state(meta, function, args, kwargs);
        }
        if is_set_data(function) {
            return self.set_data(meta, function, args);
        }
        if is_set_requires_grad(function) {
            return self.require_gradients(meta, function.clone(), args, kwargs);
        }
        if self.applies(function) {
            return self.apply(meta, function, args, kwargs);
        }
        if self.is_constructor(function) {
            return self.constructed(meta, function, args, kwargs);
        }
        if self.makes_parameters(function) {
            return self.parameter_of(meta, args, kwargs);
        }
        if is_context_mode(function) {
            return context_mode(function, args);
        }
        if devices::asks_for_device(function) {
            return devices::answer(function, args, kwargs);
        }
        if self.is_of_transforms(function) {
            return self.transform(meta, function, args, kwargs);
        }
        if self.is_grad(function) {
            return self.grad(meta, function, args, kwargs);
        }
        if self.is_backward(function) {
            return self.backward(meta, function, args, kwargs);
        }
        if is_unwrapped(function) && args.is_empty() && kwargs.is_empty() {
            return function.call0().map(Answer::Constant).map_err(|error| fault(&error));
        }
        if is_switch(function) {
            return switch(function, args);
        }
        if is_of_device(function) {
            return self.on_device(meta, function, args);
        }
        if self.is_setting(function) {
            return self.set(meta, function, args, kwargs);
        }
        if is_of_enum(function) {
            return enum_answer(function, args);
        }
        if is_instance_check(function) {
            return self.is_of_type(meta, function, args);
        }
        let name = callee::name_of(function);
        if name == CAN_TAKE {
            return self.can_take_data(meta.py, args);
        }
        if name == COUNTED {
            return count(function, args);
        }
        if OVERRIDES.contains(&&*name) {
            let answer = self.is_taken_over(meta.py, &name, args)?;
            meta.refuse_modes()?;
            return Ok(Answer::Constant(pyo3::types::PyBool::new(meta.py, answer).to_owned().into_any()));
        }
        if QUESTIONS.contains(&&*name) && args.is_empty() {
            return match function.call0() {
                Ok(answer) if !answer.is_truthy().unwrap_or(true) => Ok(Answer::Constant(answer)),
                _ => Err(stop("another tracer is at work", name, "Its calls are left as they are.")),
            };
        }
        let settles = modes::is_setter(&name) || is_question(&name);
        if kwargs.is_empty()
            && settles
            && let Ok(args) = args.iter().map(|arg| meta.folded(arg)).collect::<Result<Vec<_>, _>>()
        {
            if modes::is_setter(&name) {
                meta.refuse_modes()?;
                return modes::change(self.module.bind(meta.py), &name, function, args);
            }
            if is_question(&name) {
                return Ok(Answer::Guarded(function.clone(), args));
            }
        }
        if is_plain(function) || PLAIN.contains(&&*name) {
            return meta.fold(function, args, kwargs);
        }
        let on_device = self.with_device(function, kwargs).map_err(|error| fault(&error))?;
        meta.perform(&name, function.clone(), args, on_device.as_deref().unwrap_or(kwargs))
    }
}

/// What is counted when the trace is made needs not be counted again.
fn count<'py>(function: &Bound<'py, PyAny>, args: &[Operand<'py>]) -> CallResult<'py> {
    match args {
        [Operand::Known(what)] => Ok(function.call1((what,)).map_or_else(Answer::Raised, Answer::Constant)),
        _ => Err(stop("unsupported form of a PyTorch call", COUNTED, "It counts what a text names.")),
    }
}
