//! `__bases__` of a class that the trace made is set: C does it, and the classes of proxies follow. CPython: `type_set_bases`.
use crate::ffi::types;
use crate::names::name;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// Sets the bases of a class that the trace made. C gets the classes themselves, and calls `mro()` of metaclasses of Python code.
    pub(super) fn set_bases(&mut self, class: &Bound<'py, PyType>, bases: ValueId) -> Traced<()> {
        if !self.class_of(bases)?.is(self.py.get_type::<PyTuple>()) {
            return unsupported("class whose bases are set to something that is no tuple", types::name(class));
        }
        let bases = self.real_classes(bases)?;
        for base in bases.cast::<PyTuple>().into_iter().flatten() {
            match base.cast_into::<PyType>() {
                Ok(base) => self.rely_on_class(&base),
                Err(_) => {
                    return unsupported("class whose bases are set to something else than classes", types::name(class));
                }
            }
        }
        let plain = self.import("builtins", "type")?.getattr(name!("__setattr__"));
        let plain = plain.or_else(|error| self.raise_error(error))?;
        let done = self.with_callbacks(|| plain.call1((class, name!("__bases__"), bases)));
        if self.state.pending.is_none() {
            // Also where `mro()` of a class below has raised: what went before may stand.
            self.follow_bases(class)?;
        }
        self.after_native(done, &[]).map(drop)
    }
}
