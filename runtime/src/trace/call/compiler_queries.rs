//! Functions by which programs ask whether a compiler runs them: the one thing that code in a trace is told.
use crate::ffi::callee;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// The function of this library: it is one of C, and gives `False` where it runs.
const QUERY: &str = "is_compiling";

impl<'py> Tracer<'py> {
    /// `True`, if the function is one that asks for a compiler; `None`: it is another.
    pub(crate) fn compiler_query(
        &mut self,
        function: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
    ) -> Option<ValueId> {
        let without_arguments = args.positional.is_empty() && args.keywords.is_empty();
        let asks = without_arguments
            && (name == QUERY && is_own(function)
                || self.state.domains.iter().any(|domain| domain.asks_for_compiler(function, name)));
        asks.then(|| self.boolean(true))
    }
}

fn is_own(function: &Bound<'_, PyAny>) -> bool {
    function.is_exact_instance_of::<PyCFunction>() && callee::module_of(function) == "slotrt._slotrt"
}
