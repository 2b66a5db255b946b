//! Python functions that are called while tracing: their results depend on known arguments alone, and they write nothing but a cache.
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};

/// Module and name of the functions, and why they may be.
pub(crate) const FOLDED: &[(&str, &str, &str)] = &[
    ("re", "_compile", "a pattern is compiled from its text and flags; the caches of the module keep it"),
    ("encodings", "search_function", "a codec is found by its name; the interpreter keeps it"),
    ("copyreg", "_slotnames", "the names of slots along the MRO; the class keeps them"),
];

impl<'py> Tracer<'py> {
    /// The result of a folded function; `None`: the call is traced.
    pub(crate) fn call_folded(
        &mut self,
        function: &Bound<'py, PyAny>,
        qualname: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if !args.keywords.is_empty() || !self.is_folded(function, qualname)? {
            return Ok(None);
        }
        let mut natives = Vec::with_capacity(args.positional.len());
        for (index, value) in args.positional.iter().enumerate() {
            let known = match self.known(*value) {
                Some(known) => Some(known),
                None => self.unchanging(*value)?,
            };
            match known {
                Some(known) if index > 0 || is_text(&known) || is_plain_class(&known) => natives.push(known),
                _ => return Ok(None),
            }
        }
        if qualname == "_compile" && natives.get(1).is_some_and(prints) {
            return Ok(None);
        }
        let natives = PyTuple::new(self.py, natives).or_else(|error| self.raise_error(error))?;
        let (result, warned) = self.with_warnings_as_errors(|| function.call1(natives));
        if warned {
            return Ok(None);
        }
        match result {
            Ok(result) => Ok(Some(self.absorb_static(result))),
            Err(error) => self.raise_error(error),
        }
    }

    fn is_folded(&self, function: &Bound<'py, PyAny>, qualname: &str) -> Traced<bool> {
        let Some((module, name, _)) = FOLDED.iter().find(|(_, name, _)| *name == qualname) else { return Ok(false) };
        Ok(self.import(module, name)?.is(function))
    }
}

/// `re.DEBUG`: the pattern is printed.
fn prints(flags: &Bound<'_, PyAny>) -> bool {
    const DEBUG: u32 = 128;
    flags
        .call_method0(name!("__index__"))
        .and_then(|flags| flags.extract::<u32>())
        .is_ok_and(|flags| flags & DEBUG != 0)
}

fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyBytes>()
}

/// A class whose metaclass adds nothing to how C reads and writes its attributes.
fn is_plain_class(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyType>().is_ok_and(|class| class.get_type().is(class.py().get_type::<PyType>()))
}
