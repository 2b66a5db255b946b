//! Says whether somebody can see the variables of the outermost frame after its end.
use crate::ffi::surviving_frames;
use crate::guard::source::Source;
use crate::guard::unobserved;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::ValueSet;

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
        self.guard_once(none, GuardRequest::OBSERVED, source, unobserved::check(), "the frame's variables end with it");
        false
    }
}
