//! Error handlers of codecs that the trace registers: compiled code registers them, and C finds them during the trace.
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::process::Handler;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What the names stood for before C ran.
type Before<'py> = Vec<(String, Option<Bound<'py, PyAny>>)>;

impl<'py> Tracer<'py> {
    /// `_codecs.register_error(name, handler)`; `None`: C says what is wrong with the arguments.
    pub(crate) fn register_error(&mut self, function: &Bound<'py, PyAny>, args: &Arguments) -> Traced<Option<ValueId>> {
        let ([name, value], true) = (args.positional.as_slice(), args.keywords.is_empty()) else { return Ok(None) };
        let (given, value) = (*name, *value);
        let Some(name) = self.known_str(given).filter(|name| !name.contains('\0')) else { return Ok(None) };
        // C takes its own handlers for what it finds under their names.
        if crate::trace::process::codec_errors::is_handler_of_c(&name) {
            return unsupported("error handler of CPython's own is replaced", name);
        }
        // C that waits for the trace may look for it before it is there.
        if self.state.nesting > 0 {
            return unsupported("error handler is registered while C waits", name);
        }
        let native = self.called_back(value)?;
        if !native.is_callable() {
            return Ok(None);
        }
        self.registry()?;
        let before = match self.registered(&name) {
            Some(before) => Some(before),
            None => self.import("_codecs", "lookup_error")?.call1((&name,)).ok().map(|before| self.constant(before)),
        };
        self.before_overwriting(before)?;
        let callable = self.constant(function.clone());
        self.state.effects.push(Effect::Call { callable, args: vec![given, value] });
        self.state.handlers.retain(|handler| handler.name != name);
        self.state.handlers.push(Handler { name, value, native: native.unbind() });
        Ok(Some(self.none()))
    }

    /// The handler that the trace has registered under a name.
    pub(crate) fn registered(&self, name: &str) -> Option<ValueId> {
        self.state.handlers.iter().find(|handler| handler.name == name).map(|handler| handler.value)
    }

    /// The table of handlers, which only C names.
    fn registry(&self) -> Traced<Bound<'py, PyDict>> {
        let found = self.state.shared_caches.codec_tables.error_handlers(self.py);
        let found = found.or_else(|error| internal(error.to_string()))?;
        found.map_or_else(|| unsupported("table of error handlers", "it is not where it was"), Ok)
    }

    /// Before C runs: what the trace has registered is registered.
    pub(crate) fn put_handlers(&self) -> Before<'py> {
        if self.state.handlers.is_empty() {
            return Vec::new();
        }
        let Ok(registry) = self.registry() else { return Vec::new() };
        let put = |handler: &Handler| {
            let before = registry.get_item(&handler.name).ok().flatten();
            let _ = registry.set_item(&handler.name, &handler.native);
            (handler.name.clone(), before)
        };
        self.state.handlers.iter().map(put).collect()
    }

    /// After it has run: the table is as it was.
    pub(crate) fn take_handlers(&self, before: Before<'py>) {
        if before.is_empty() {
            return;
        }
        let waiting = PyErr::take(self.py);
        if let Ok(registry) = self.registry() {
            for (name, before) in before {
                let _ = match before {
                    Some(before) => registry.set_item(name, before),
                    None => registry.del_item(name),
                };
            }
        }
        if let Some(waiting) = waiting {
            waiting.restore(self.py);
        }
    }
}
