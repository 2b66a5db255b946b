//! Names of classes and functions in messages: they can change without a new version tag, so a message that quotes one needs a guard.
use crate::ffi::{inspect, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::release;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The message of an exception that C, or what stands for it here, has made says the names of classes that the trace relies on.
    pub(crate) fn rely_on_names_in(&mut self, exception: ValueId) -> Traced<()> {
        let texts = self.owned(exception).map(|exception| texts(&exception)).unwrap_or_default();
        if texts.is_empty() {
            return Ok(());
        }
        let mut known: Vec<&Bound<'py, PyType>> = Vec::new();
        for guard in &self.state.guards {
            let class = match &guard.check {
                Check::TypeIs(class) | Check::TypeUnchanged(class, _) => class.bind(self.py).cast().ok(),
                Check::Is(object) => object.bind(self.py).cast().ok(),
                _ => None,
            };
            if let Some(class) = class
                && !types::is_immutable(class)
                && !known.iter().any(|known| known.is(class))
            {
                known.push(class);
            }
        }
        let is_said = |name: &str| texts.iter().any(|text| contains(text.as_bytes(), name.as_bytes()));
        for class in known.into_iter().cloned().collect::<Vec<_>>() {
            if is_said(&types::last_name(&class)) {
                self.rely_on_name(&class, "__name__")?;
            }
            // C's formats `%T` and `%N`.
            if class.fully_qualified_name().is_ok_and(|name| {
                let name = types::text(&name);
                (release::NAMES_CLASS_AND_METHOD || name.contains('.')) && is_said(&name)
            }) {
                self.rely_on_name(&class, "__qualname__")?;
            }
        }
        Ok(())
    }

    /// An error of a call says what the function is called.
    pub(crate) fn rely_on_qualname(&mut self, function: &Bound<'py, PyAny>) {
        let known = self.state.identity.get(&(function.as_ptr() as usize)).copied();
        let (Some(value), Ok(name)) = (known, function.getattr(intern!(self.py, "__qualname__"))) else { return };
        if let Some(source) = self.source(value) {
            let source = Source::Attr(Arc::new(source), "__qualname__".into());
            self.guard_once(
                value,
                GuardRequest::QUALNAME,
                source,
                Check::Equals(name.unbind()),
                "a message says the function's name",
            );
        }
    }
}

/// Whether one short text holds another: `str::contains` prepares for long ones.
fn contains(text: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else { return true };
    text.windows(part.len()).any(|at| at[0] == *first && at == part)
}

/// The texts among the arguments of an exception.
fn texts(exception: &Bound<'_, PyAny>) -> Vec<String> {
    let args = inspect::exception_args(exception);
    let args = args.iter().flatten();
    args.filter(|arg| arg.is_exact_instance_of::<PyString>()).map(|arg| types::text(&arg)).collect()
}
