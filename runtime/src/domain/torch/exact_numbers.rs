//! Members of enumerations of integers, and other instances of classes derived from `int`: PyTorch's C takes the integer in them, whatever
//! the class has in Python.
use super::library::Torch;
use crate::domain::{Callee, Operand};
use crate::ffi::types;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use std::borrow::Cow;

impl Torch {
    /// The operands, with integers in the places of such objects; as they are where Python code gets them.
    pub(super) fn exact_numbers<'a, 'py>(
        &self,
        callee: &Callee<'py>,
        args: &'a [Operand<'py>],
    ) -> Cow<'a, [Operand<'py>]> {
        match is_of_c(callee) && args.iter().any(|arg| self.has_derived(arg)) {
            true => Cow::Owned(args.iter().map(|arg| self.exact(arg)).collect()),
            false => Cow::Borrowed(args),
        }
    }

    /// The same of those that are given by name.
    pub(super) fn exact_options<'a, 'py>(
        &self,
        callee: &Callee<'py>,
        kwargs: &'a [(String, Operand<'py>)],
    ) -> Cow<'a, [(String, Operand<'py>)]> {
        match is_of_c(callee) && kwargs.iter().any(|(_, value)| self.has_derived(value)) {
            true => Cow::Owned(kwargs.iter().map(|(name, value)| (name.clone(), self.exact(value))).collect()),
            false => Cow::Borrowed(kwargs),
        }
    }

    fn has_derived(&self, operand: &Operand<'_>) -> bool {
        match operand {
            Operand::Known(object) => self.is_derived(object),
            Operand::Tuple(items) | Operand::List(items) => items.iter().any(|item| self.has_derived(item)),
            Operand::Slice(bounds) => bounds.iter().any(|bound| self.has_derived(bound)),
            Operand::Graph { .. } | Operand::Number { .. } | Operand::Foreign(_) => false,
        }
    }

    /// Whether it is of a class derived from `int` that takes over no calls, nor makes attributes as they are asked for.
    fn is_derived(&self, object: &Bound<'_, PyAny>) -> bool {
        if !object.is_instance_of::<PyInt>() || object.is_exact_instance_of::<PyInt>() {
            return false;
        }
        let class = object.get_type();
        let makes = |name: &str| {
            let found = types::lookup(&class, &interned(class.py(), name));
            found.is_some_and(|found| types::c_name(&found.get_type()) != "wrapper_descriptor")
        };
        !types::is_c_type(&class)
            && !makes("__getattr__")
            && !makes("__getattribute__")
            && types::lookup(&class, &interned(class.py(), "__torch_function__")).is_none()
    }

    fn exact<'py>(&self, operand: &Operand<'py>) -> Operand<'py> {
        let all = |items: &[Operand<'py>]| items.iter().map(|item| self.exact(item)).collect();
        match operand {
            Operand::Known(object) if self.is_derived(object) => {
                let class = object.py().get_type::<PyInt>();
                let number = class.getattr(name!("__index__")).and_then(|index| index.call1((object,)));
                number.map_or_else(|_| operand.clone(), Operand::Known)
            }
            Operand::Tuple(items) => Operand::Tuple(all(items)),
            Operand::List(items) => Operand::List(all(items)),
            Operand::Slice(bounds) => Operand::Slice(Box::new([0, 1, 2].map(|place| self.exact(&bounds[place])))),
            _ => operand.clone(),
        }
    }
}

fn is_of_c(callee: &Callee<'_>) -> bool {
    let Callee::Function(function) = callee else { return true };
    matches!(
        &*types::c_name(&function.get_type()),
        "builtin_function_or_method" | "method_descriptor" | "wrapper_descriptor" | "getset_descriptor"
    )
}
