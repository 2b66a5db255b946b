//! Attributes behind `super()`. CPython: `super_getattro`, `do_super_lookup`.
use crate::ffi::types;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PySuper, PyType};

impl<'py> Tracer<'py> {
    /// `super(class, receiver).name`: what is found, and the receiver it must be called with. CPython: `do_super_lookup`.
    pub(crate) fn super_lookup(
        &mut self,
        class: &Bound<'py, PyType>,
        receiver: ValueId,
        name: &str,
    ) -> Traced<(ValueId, Option<ValueId>)> {
        match self.found_above(class, receiver, name)? {
            Some(found) => Ok(found),
            None => {
                let object = self.make_super(class.clone(), receiver);
                self.raise_missing_attribute(object, &self.py.get_type::<PySuper>(), name)
            }
        }
    }

    pub(crate) fn found_above(
        &mut self,
        class: &Bound<'py, PyType>,
        receiver: ValueId,
        name: &str,
    ) -> Traced<Option<(ValueId, Option<ValueId>)>> {
        // CPython: `supercheck`; from a class, descriptors are bound as on a class.
        let as_class = self.known(receiver).and_then(|object| object.cast_into::<PyType>().ok());
        let as_class = as_class.filter(|object| types::is_subtype(object, class));
        let start = match &as_class {
            Some(object) => object.clone(),
            None => self.class_of(receiver)?,
        };
        if !types::is_subtype(&start, class) {
            return unsupported("super() of an object that is no instance of the class", name);
        }
        self.rely_on_class(&start);
        let Some(mro) = types::mro(&start) else {
            return unsupported("class whose order of bases is being made", name);
        };
        let after = mro.iter().skip_while(|base| !base.is(class)).skip(1);
        for base in after {
            let held = base.getattr(intern!(self.py, "__dict__")).and_then(|dict| dict.get_item(name));
            let Ok(found) = held else { continue };
            let found = self.unmask(found);
            if as_class.is_some() {
                return self.bind_to_class(found, receiver, &start, name).map(|value| Some(self.unbound(value)));
            }
            let kind = types::c_name(&found.get_type()).into_owned();
            let value = self.absorb_static(found.clone());
            let found = match kind.as_str() {
                "function" | "method_descriptor" | "wrapper_descriptor" => Ok((value, Some(receiver))),
                "builtin_function_or_method" | "builtin_method" => Ok((value, None)),
                "property" => self.read_descriptor(found, receiver, &start, name).map(|value| (value, None)),
                "getset_descriptor" | "member_descriptor" => unsupported("super() to a C attribute", name),
                _ => self.bind(value, receiver, &start).map(|value| self.unbound(value)),
            };
            return found.map(Some);
        }
        Ok(None)
    }

    /// A bound method in its two parts.
    pub(crate) fn unbound(&self, value: ValueId) -> (ValueId, Option<ValueId>) {
        match self.value(value) {
            Value::New(New::Method { function, receiver }) => (*function, Some(*receiver)),
            _ => (value, None),
        }
    }
}
