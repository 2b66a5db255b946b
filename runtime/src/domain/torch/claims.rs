//! Which calls are the domain's.
use super::functions::context_modes::{is_context_mode, is_switch};
use super::functions::device_modes::is_of_device;
use super::functions::devices;
use super::functions::enums::is_of_enum;
use super::functions::kinds::{COUNTED, OVERRIDES, is_plain, is_question};
use super::functions::leaves::data::is_set_data;
use super::functions::leaves::is_set_requires_grad;
use super::functions::random_state::is_of_random_state;
use super::functions::type_names::is_instance_check;
use super::library::Torch;
use super::own::is_through_hook;
use super::taken::classes::is_unwrapped;
use super::thread::ambient::QUESTIONS;
use super::thread::modes;
use crate::domain::TakingModes;
use crate::domain::torch::named::is_allowed;
use crate::ffi::{callee, types};
use crate::names::{interned, name};
use pyo3::prelude::*;

/// Modules of C functions that work on tensors alone.
const MODULES: &[&str] = &["torch._C._nn", "torch._C._linalg", "torch._C._fft", "torch._C._special"];

impl Torch {
    /// Whether calls of a callable are the domain's, whatever the arguments.
    pub(super) fn claims_call_of(&self, callable: &Bound<'_, PyAny>) -> bool {
        let is_object =
            || is_plain(callable) || is_of_device(callable) || is_switch(callable) || is_instance_check(callable);
        // A method of tensors is claimed with its first argument.
        if types::is_c_class(&callable.get_type(), "method_descriptor") {
            return is_object();
        }
        let is_python = |callable| {
            self.is_grad(callable)
                || self.is_backward(callable)
                || self.is_of_transforms(callable)
                || self.is_setting(callable)
        };
        if is_object()
            || is_unwrapped(callable)
            || is_of_enum(callable)
            || self.is_operator(callable)
            || is_allowed(callable)
            || is_python(callable)
            || is_context_mode(callable)
            || is_through_hook(callable)
            || devices::asks_for_device(callable)
            || is_of_random_state(callable)
            || is_set_data(callable)
            || is_set_requires_grad(callable)
            || self.is_constructor(callable)
            || self.makes_parameters(callable)
            || self.makes_wrappers(callable)
            || self.gives_memory(callable)
            || self.step(callable).is_some()
        {
            return true;
        }
        if !types::is_c_class(&callable.get_type(), "builtin_function_or_method") {
            return false;
        }
        let own = callee::name_of(callable);
        // Static methods of a C class do not say whose they are.
        let functions = self.functions.bind(callable.py());
        let is_own = || types::own(functions, &interned(callable.py(), &own)).is_some();
        if functions.getattr(&*own).is_ok_and(|known| known.is(callable)) && is_own() {
            return true;
        }
        let native = self.module.bind(callable.py()).getattr(name!("_C"));
        if (QUESTIONS.contains(&&*own) || own == COUNTED)
            && native.and_then(|native| native.getattr(&*own)).is_ok_and(|known| known.is(callable))
        {
            return true;
        }
        let Some(owner) = callee::receiver_of(callable) else { return false };
        let module = callee::name_of(&owner);
        MODULES.contains(&&*module)
            || (module == "torch._C"
                && (OVERRIDES.contains(&&*own) || own == COUNTED || is_question(&own) || modes::is_setter(&own)))
    }
}
