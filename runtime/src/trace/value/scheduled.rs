//! Numbers in dicts from outside that a library sets anew between calls: they are symbolic from the first trace on.
use crate::ffi::types;
use crate::guard::source::Source;
use crate::trace::state::tracer::Tracer;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};

impl<'py> Tracer<'py> {
    /// Notes such a number.
    pub(super) fn note_scheduled(&mut self, found: &Bound<'py, PyAny>, path: &Source) {
        let (Source::DictItem(_, key), true) = (path, found.is_exact_instance_of::<PyFloat>()) else { return };
        let (Ok(name), Some(place)) = (key.0.bind(self.py).cast::<PyString>(), self.state.places.last()) else {
            return;
        };
        let (name, function) = (types::text(name), place.function.bind(self.py));
        if self.state.domains.iter().any(|domain| domain.is_scheduled(function, &name)) {
            self.state.numbers.scheduled.insert(path.key());
        }
    }
}
