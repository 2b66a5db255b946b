//! `gc.is_tracked`, where neither the collector nor C changes what it says while the object lives.
use crate::ffi::{flag, types};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::has_c_base;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet, PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// What the model of `gc.is_tracked` gives; `None`: it depends on when the collector ran, or on how C made the object.
    pub(crate) fn is_tracked(&mut self, args: &Arguments) -> Traced<Option<ValueId>> {
        let ([value], true) = (args.positional.as_slice(), args.keywords.is_empty()) else { return Ok(None) };
        let class = self.class_of(*value)?;
        let tracked = match self.always_tracked(&class) {
            None if class.is(self.py.get_type::<PyTuple>()) => self.holds_tracked(*value)?.then_some(true),
            tracked => tracked,
        };
        if tracked.is_some() && !types::is_c_type(&class) {
            self.rely_on_class(&class);
        }
        Ok(tracked.map(|tracked| self.boolean(tracked)))
    }

    /// Whether the collector knows each object of the class from its beginning to its end, or none of them.
    fn always_tracked(&self, class: &Bound<'py, PyType>) -> Option<bool> {
        if self.domain_of(class).is_some() {
            return None;
        }
        if !types::has(class, flag::HAVE_GC) {
            return Some(false);
        }
        let is_plain = class.is(self.py.get_type::<PyList>()) || class.is(self.py.get_type::<PySet>());
        let of_python = !types::is_c_type(class) && !has_c_base(class);
        (is_plain || of_python).then_some(true)
    }

    /// The collector lets go of tuples, but of none with such an item.
    fn holds_tracked(&mut self, tuple: ValueId) -> Traced<bool> {
        for item in self.list_of(tuple, None)? {
            let class = self.class_of(item)?;
            if self.always_tracked(&class) == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
