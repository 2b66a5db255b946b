//! Binds what a lookup found: functions become methods, descriptors answer through `__get__`.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::names::name;
use crate::trace::attribute::descriptors::DESCRIPTORS;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    /// A non-data descriptor found on a class, bound to an instance.
    pub(crate) fn bind(&mut self, found: ValueId, object: ValueId, class: &Bound<'py, PyType>) -> Traced<ValueId> {
        let Some(descriptor) = self.at_hand(found) else { return Ok(found) };
        match &*types::c_name(&descriptor.get_type()) {
            "function" | "method_descriptor" | "wrapper_descriptor" | "functools._lru_cache_wrapper" => {
                Ok(self.bound_method(found, object))
            }
            // CPython: `method_descr_get`: it is bound already.
            "method" => Ok(found),
            "staticmethod" => {
                let inner =
                    descriptor.getattr(intern!(self.py, "__func__")).or_else(|error| self.raise_error(error))?;
                Ok(self.absorb_static(inner))
            }
            "classmethod" => {
                let inner =
                    descriptor.getattr(intern!(self.py, "__func__")).or_else(|error| self.raise_error(error))?;
                let inner = self.absorb_static(inner);
                let class = self.constant(class.clone().into_any());
                self.bind_inner(inner, class)
            }
            "classmethod_descriptor" => {
                let bound = descriptor
                    .call_method1(name!("__get__"), (self.py.None(), class))
                    .or_else(|error| self.raise_error(error))?;
                Ok(self.constant(bound))
            }
            // CPython: `instancemethod_descr_get`.
            "instancemethod" => {
                let inner =
                    descriptor.getattr(intern!(self.py, "__func__")).or_else(|error| self.raise_error(error))?;
                let inner = self.absorb_static(inner);
                self.bind_inner(inner, object)
            }
            _ => self.bind_other(found, &descriptor, object, class),
        }
    }

    pub(crate) fn bind_inner(&mut self, inner: ValueId, receiver: ValueId) -> Traced<ValueId> {
        Ok(self.bound_method(inner, receiver))
    }

    pub(crate) fn bind_other(
        &mut self,
        found: ValueId,
        descriptor: &Bound<'py, PyAny>,
        object: ValueId,
        class: &Bound<'py, PyType>,
    ) -> Traced<ValueId> {
        let kind = descriptor.get_type();
        let Some(get) = self.lookup(&kind, "__get__") else { return Ok(found) };
        if matches!(&*types::c_name(&kind), "getset_descriptor" | "member_descriptor")
            && let Some(value) = self.read_member_of(found, object)?
        {
            return Ok(value);
        }
        if is_c_type(&kind) && !DESCRIPTORS.contains(&&*types::c_name(&kind)) {
            return unsupported("C descriptor", types::name(&kind));
        }
        let get = self.absorb_static(get);
        let class = self.constant(class.clone().into_any());
        self.call(get, Arguments::positional(vec![found, object, class]))
    }
}
