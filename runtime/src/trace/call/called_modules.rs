//! Which modules of the program are being called: a backend is told of each node which of them it belongs to.
use crate::ffi::callee;
use crate::graph::CalledModule;
use crate::guard::source::Source;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Runs a call of a Python function; where that calls a module, what is recorded meanwhile belongs to it.
    pub(crate) fn within_module(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Arguments,
        run: impl FnOnce(&mut Self) -> Traced<ValueId>,
    ) -> Traced<ValueId> {
        let Some(called) = self.called_module(function, args) else { return run(self) };
        self.state.called_modules.push(called);
        let result = run(self);
        self.state.called_modules.pop();
        result
    }

    /// The module that the function calls, where a backend wants to know.
    fn called_module(&self, function: &Bound<'py, PyAny>, args: &Arguments) -> Option<(Arc<CalledModule>, Py<PyAny>)> {
        let domains = self.state.backend.then_some(&self.state.domains)?;
        let domain = domains.iter().find(|domain| domain.calls_module(function))?;
        let value = *args.positional.first()?;
        let module = self.real(value)?;
        let outer = self.state.called_modules.last().map(|(known, outer)| (outer.bind(self.py), &*known.path));
        let path = outer.and_then(|(outer, path)| domain.path_of_module(outer, path, &module));
        let path = path
            .or_else(|| self.name_of_source(&self.source(value)?))
            .unwrap_or_else(|| callee::name_of(&module.get_type()).into());
        let called = CalledModule { path, class: module.get_type().unbind(), address: module.as_ptr() as usize };
        Some((Arc::new(called), module.unbind()))
    }

    /// The name of what comes from a variable, as PyTorch's tools write it.
    fn name_of_source(&self, source: &Source) -> Option<String> {
        let local = |slot: usize| Some(format!("L['{}']", self.state.outer_code.as_ref()?.locals.get(slot)?.name));
        match source {
            Source::Local(slot) => local(*slot as usize),
            Source::Free(index) => local(self.state.outer_code.as_ref()?.first_free() + *index as usize),
            Source::Global(name) => Some(format!("G['{name}']")),
            Source::Attr(base, name) | Source::OwnAttr(base, name) => {
                Some(format!("{}.{name}", self.name_of_source(base)?))
            }
            Source::Cell(base) => self.name_of_source(base),
            _ => None,
        }
    }
}
