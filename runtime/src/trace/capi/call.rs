//! Calling slot functions: generated body, domain, or the real function on private objects.
use super::SlotFunction;
use crate::domain::Callee;
use crate::semantics::dispatch;
use crate::trace::signal::{Traced, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;

/// Arguments of a slot function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operands {
    Unary(ValueId),
    Binary(ValueId, ValueId),
    Ternary(ValueId, ValueId, Option<ValueId>),
    Index(ValueId, isize),
    Compare(ValueId, ValueId, i32),
}

impl Operands {
    fn values(self) -> Vec<ValueId> {
        match self {
            Self::Unary(v) | Self::Index(v, _) => vec![v],
            Self::Binary(v, w) | Self::Compare(v, w, _) => vec![v, w],
            Self::Ternary(v, w, z) => [v, w].into_iter().chain(z).collect(),
        }
    }
}

impl<'py> Tracer<'py> {
    /// Calls the function in a slot.
    pub(super) fn call_slot(&mut self, function: &SlotFunction, operands: Operands) -> Traced<ValueId> {
        if (function.name.starts_with("slot_") || function.name == "object_richcompare")
            && let Some(id) = function.id
        {
            let generated = match operands {
                Operands::Unary(v) => dispatch::unaryfunc(self, id, &v),
                Operands::Binary(v, w) => dispatch::binaryfunc(self, id, &v, &w),
                Operands::Ternary(v, w, Some(z)) => dispatch::ternaryfunc(self, id, &v, &w, Some(&z)),
                Operands::Ternary(v, w, None) => dispatch::ternaryfunc(self, id, &v, &w, None),
                Operands::Index(v, n) => dispatch::ssizeargfunc(self, id, &v, n),
                Operands::Compare(v, w, op) => dispatch::richcmpfunc(self, id, &v, &w, op),
            };
            if let Some(result) = generated {
                return result;
            }
            return unsupported("slot function without a translation", function.name);
        }
        self.state.route.push(function.name.to_owned());
        self.call_c_slot(function, operands)
    }

    fn call_c_slot(&mut self, function: &SlotFunction, operands: Operands) -> Traced<ValueId> {
        let values = operands.values();
        let slot = function.slot.map_or("", generated::slots::Slot::name);
        for value in values.iter().take(2) {
            let class = self.class_of(*value)?;
            let Some(domain) = self.domain_of(&class) else { continue };
            let own = function.slot.map(|slot| self.slot_function(&class, slot)).transpose()?.flatten();
            if own.is_none_or(|own| own.pointer != function.pointer) {
                continue;
            }
            let mut args = values.clone();
            match operands {
                Operands::Index(_, n) => args.push(self.integer(n)),
                Operands::Compare(_, _, op) => args.push(self.integer(op as isize)),
                _ => {}
            }
            return self.call_domain(&domain, Callee::Slot(slot), &args, &[]);
        }
        self.call_real_slot(function, operands, &values)
    }

    pub(super) fn integer(&mut self, value: isize) -> ValueId {
        let object = pyo3::types::PyInt::new(self.py, value).into_any();
        self.constant(object)
    }

    /// The real C function on private objects.
    fn call_real_slot(&mut self, function: &SlotFunction, operands: Operands, values: &[ValueId]) -> Traced<ValueId> {
        if function.name.starts_with("slot_") || function.pointer == 0 {
            return unsupported("slot function without a translation", function.name);
        }
        let mut natives = Vec::new();
        let weak = self.any_weak(values);
        for value in values {
            let class = self.class_of(*value)?;
            let native = if weak || self.known(*value).is_some() || self.owned(*value).is_none() {
                self.native(*value)?
            } else {
                self.receiver(*value)?
            };
            let token = native.is_instance_of::<crate::trace::token::Token>();
            if token && crate::ffi::types::flags(&class) & (0b11_1111 << 24) != 0 {
                natives.push(self.unchanging_operand(function, *value, &class)?);
                continue;
            }
            if token && self.domain_of(&class).is_none() && !self.state.generators.contains_key(value) {
                let holder = function.slot.map(|slot| self.slot_function(&class, slot)).transpose()?.flatten();
                if holder.is_some_and(|held| held.pointer == function.pointer) {
                    return unsupported(
                        "C function on an object from outside",
                        format!("{} of {}", function.name, crate::ffi::types::name(&class)),
                    );
                }
            }
            natives.push(native);
        }
        let pointer = function.pointer;
        let result = self.with_callbacks(|| {
            crate::ffi::slots::call(
                pointer,
                &natives,
                match operands {
                    Operands::Unary(_) => crate::ffi::slots::Signature::Unary,
                    Operands::Binary(..) => crate::ffi::slots::Signature::Binary,
                    Operands::Ternary(..) => crate::ffi::slots::Signature::Ternary,
                    Operands::Index(_, n) => crate::ffi::slots::Signature::Index(n),
                    Operands::Compare(_, _, op) => crate::ffi::slots::Signature::Compare(op),
                },
            )
        });
        self.after_native(result, &natives)
    }

    /// An operand from outside of a class that derives from a builtin: C may have it if nothing of it changes.
    pub(super) fn unchanging_operand(
        &mut self,
        function: &SlotFunction,
        value: ValueId,
        class: &Bound<'py, pyo3::types::PyType>,
    ) -> Traced<Bound<'py, PyAny>> {
        let base = crate::trace::known::scalar_base(class);
        let of_base = match (base, function.slot) {
            (Some(base), Some(slot)) => self.slot_function(&base, slot)?,
            _ => None,
        };
        if of_base.is_some_and(|of_base| of_base.pointer == function.pointer)
            && let Some(object) = self.unchanging(value)?
        {
            return Ok(object);
        }
        unsupported(
            "C function on an object from outside",
            format!("{} of {}", function.name, crate::ffi::types::name(class)),
        )
    }
}
