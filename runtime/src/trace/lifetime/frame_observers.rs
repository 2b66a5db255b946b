//! Says whether somebody can see the variables of the outermost frame after its end.
use crate::ffi::surviving_frames;
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::ValueSet;
use pyo3::prelude::*;

/// Nobody waits for the variables of the frame that a continuation goes on for.
#[derive(Debug)]
struct Unobserved;

impl DomainCheck for Unobserved {
    fn holds(&self, _value: &Bound<'_, PyAny>) -> bool {
        !surviving_frames::exist()
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn describe(&self) -> String {
        "nobody keeps the frame".to_owned()
    }
}

impl Tracer<'_> {
    /// Whether a traceback among the values that leave names the outermost frame, or the object of the frame that it goes on for
    /// is kept by somebody.
    pub(crate) fn is_observed(&mut self, leaving: &ValueSet) -> bool {
        if leaving.iter().any(|id| self.names_outermost(id)) {
            return true;
        }
        if !self.state.outer_code.as_ref().is_some_and(|code| code.is_continuation(self.py)) {
            return false;
        }
        if surviving_frames::exist() {
            return true;
        }
        let none = self.none();
        let source = Source::constant(self.py.None().bind(self.py));
        let check = Check::Domain(Box::new(Unobserved));
        self.guard_once(none, GuardRequest::OBSERVED, source, check, "the frame's variables end with it");
        false
    }
}
