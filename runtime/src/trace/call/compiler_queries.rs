//! Functions by which programs ask whether a compiler runs them: the one thing that code in a trace is told.
use crate::ffi::callee;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// The function of this library: it is one of C, and gives `False` where it runs.
const QUERY: &str = "is_compiling";

/// How functions are called that tell a compiler something of an argument.
const MARKS: &str = "mark_";

impl<'py> Tracer<'py> {
    /// What a function gives that asks for a compiler: `True`, mostly; `None`: it is another.
    pub(crate) fn compiler_query(
        &mut self,
        function: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
    ) -> Option<ValueId> {
        let without_arguments = args.positional.is_empty() && args.keywords.is_empty();
        if !without_arguments && !name.starts_with(MARKS) {
            return None;
        }
        if name == QUERY && is_own(function) {
            return Some(self.boolean(true));
        }
        let caller = self.state.places.last().map(|place| place.function.bind(self.py).clone());
        let mut answers =
            self.state.domains.iter().map(|domain| domain.told_of_compiler(function, name, caller.as_ref()));
        answers.find_map(|answer| answer).map(|answer| self.absorb_static(answer))
    }
}

fn is_own(function: &Bound<'_, PyAny>) -> bool {
    function.is_exact_instance_of::<PyCFunction>() && callee::module_of(function) == "slotrt._slotrt"
}
