//! The parts of a cache's key: which arguments it compares, and how.
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_definition, is_scalar};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// What C hashes for an argument.
pub(crate) struct Part<'py> {
    pub(crate) object: Bound<'py, PyAny>,
    /// It is an object of the trace's own, which no cache knows.
    pub(crate) new: bool,
    /// It is a class that ends with the trace.
    pub(crate) lost: bool,
}

impl<'py> Tracer<'py> {
    /// What C hashes for the arguments; `None` where one runs Python code for it.
    pub(crate) fn parts(&mut self, args: &Arguments) -> Traced<Option<Vec<Part<'py>>>> {
        let values: Vec<_> =
            args.positional.iter().copied().chain(args.keywords.iter().map(|(_, value)| *value)).collect();
        values.into_iter().map(|value| self.part(value)).collect()
    }

    pub(crate) fn part(&mut self, value: ValueId) -> Traced<Option<Part<'py>>> {
        let known = self.known(value).filter(|known| is_scalar(known) || is_definition(known));
        let own = self.owned(value);
        let Some(object) = known.or_else(|| own.clone()).or_else(|| self.real(value)) else { return Ok(None) };
        if is_scalar(&object) {
            return Ok(Some(Part { object, new: false, lost: false }));
        }
        let new = own.is_some();
        if object.is_exact_instance_of::<PyTuple>() {
            return self.part_of_tuple(value, &object);
        }
        if let Some((referent, None)) = self.referent(&object)
            && types::is_c_class(&object.get_type(), "weakref.ReferenceType")
        {
            let Some(part) = self.part(referent)? else { return Ok(None) };
            let reference = self.import("_weakref", "ref")?;
            let object = reference.call1((&part.object,)).or_else(|error| self.raise_error(error))?;
            return Ok(Some(Part { object, ..part }));
        }
        let class = self.class_of(value)?;
        let unhashable = ["list", "dict", "set", "bytearray"].contains(&&*types::c_name(&class));
        if !unhashable && !self.is_hashed_by_address(&class)? {
            return Ok(None);
        }
        if !new && !unhashable && self.same_object(value).is_none() {
            return Ok(None);
        }
        let lost = new && object.is_instance_of::<PyType>();
        Ok(Some(Part { object, new, lost }))
    }

    pub(crate) fn part_of_tuple(&mut self, value: ValueId, tuple: &Bound<'py, PyAny>) -> Traced<Option<Part<'py>>> {
        let tuple = match self.owned(value) {
            Some(_) => Some(tuple.clone()),
            None => self.private_copy(value)?,
        };
        let Some(tuple) = tuple.and_then(|tuple| tuple.cast_into::<PyTuple>().ok()) else { return Ok(None) };
        let (mut objects, mut new, mut lost) = (Vec::new(), false, false);
        for item in tuple.iter() {
            let item = self.absorb(item);
            let Some(part) = self.part(item)? else { return Ok(None) };
            objects.push(part.object);
            new |= part.new;
            lost |= part.lost;
        }
        let object = PyTuple::new(self.py, objects).or_else(|error| internal(error.to_string()))?.into_any();
        Ok(Some(Part { object, new, lost }))
    }

    /// Whether objects of the class are equal to themselves alone.
    pub(crate) fn is_hashed_by_address(&mut self, class: &Bound<'py, PyType>) -> Traced<bool> {
        let base = self.import("builtins", "object")?;
        for name in ["__hash__", "__eq__"] {
            let plain = base.getattr(name).or_else(|error| self.raise_error(error))?;
            if !self.lookup(class, name).is_some_and(|found| found.is(&plain)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
