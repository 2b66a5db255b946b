//! `list[int]` and the like. CPython: `Objects/genericaliasobject.c`.
use crate::ffi::types;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// `_Py_make_parameters` passes classes over, and asks anything else for its `__parameters__`: proxies of classes, too.
    pub(crate) fn refuse_generic_classes(&mut self, values: &[ValueId]) -> Traced<()> {
        let mut given: Vec<_> = values.iter().filter_map(|value| self.at_hand(*value)).collect();
        while let Some(object) = given.pop() {
            if let Ok(items) = object.cast_exact::<PyTuple>() {
                given.extend(items.iter().map(|item| {
                    let value = self.value_of_proxy(&item);
                    value.and_then(|value| self.at_hand(value)).unwrap_or(item)
                }));
            }
            let Ok(class) = object.cast::<PyType>() else { continue };
            if !types::is_c_type(class) && self.lookup(class, "__parameters__").is_some() {
                return unsupported("alias of a class that has parameters", types::name(class));
            }
        }
        Ok(())
    }
}
