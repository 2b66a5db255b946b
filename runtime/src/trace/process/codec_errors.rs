//! Error handlers of codecs, which C finds by name: handlers of the program are traced, and guards ask that a name still stands for its handler.
use crate::ffi::types::is_c_type;
use crate::ffi::{callee, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyFunction, PyString};

/// Classes of C whose objects are made of text and the name of a handler, or keep such a name in `errors`.
const DECODING: &[&str] = &["str", "bytes", "bytearray", "_io.TextIOWrapper", "_io.IncrementalNewlineDecoder"];

/// What C says where there is no handler; its name follows.
const UNKNOWN: &str = "unknown error handler name '";

/// What a guard compares with the table of handlers.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Registered {
    name: String,
    /// `None`: there was none.
    handler: Option<Py<PyAny>>,
}

#[pymethods]
impl Registered {
    /// Whether the name stands for what it stood for.
    fn __call__(&self, lookup_error: &Bound<'_, PyAny>) -> bool {
        match (&self.handler, lookup_error.call1((&self.name,))) {
            (Some(then), Ok(now)) => now.is(then),
            (then, now) => then.is_none() && now.is_err(),
        }
    }
}

impl<'py> Tracer<'py> {
    /// Before C works on text: guards the handlers of the program whose names it is given.
    pub(crate) fn rely_on_handlers(
        &mut self,
        callable: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
    ) -> Traced<()> {
        let keeps = callee::owner_of(callable).is_some_and(|owner| keeps_handler(&types::c_name(&owner)));
        if !keeps && !takes_handler(callable, name) {
            return Ok(());
        }
        let keywords = args.keywords.iter().map(|(_, value)| *value);
        let mut given: Vec<_> =
            args.positional.iter().copied().chain(keywords).filter_map(|id| self.text(id)).collect();
        if let Some(receiver) = args.positional.first().filter(|_| keeps).and_then(|first| self.owned(*first)) {
            let kept = receiver.getattr(name!("errors")).ok().and_then(|kept| kept.cast_into_exact::<PyString>().ok());
            given.extend(kept);
        }
        given.iter().try_for_each(|text| self.rely_on_handler(text))
    }

    /// The text, if it is some, known or not: one that is no handler's name asks no guard.
    fn text(&self, value: ValueId) -> Option<Bound<'py, PyString>> {
        self.at_hand(value)?.cast_into_exact().ok()
    }

    fn rely_on_handler(&mut self, text: &Bound<'py, PyString>) -> Traced<()> {
        let Ok(name) = text.to_str().map(String::from) else { return Ok(()) };
        if self.registered(&name).is_some() {
            return Ok(());
        }
        let lookup_error = self.import("_codecs", "lookup_error")?;
        let Ok(handler) = lookup_error.call1((text,)) else { return Ok(()) };
        // Those of CPython itself are there from the start, and C need not look for them.
        if handler.is_exact_instance_of::<PyCFunction>() && is_handler_of_c(&name) {
            return Ok(());
        }
        if types::is_c_class(&handler.get_type(), "method") {
            let receiver = handler.getattr(name!("__self__")).or_else(|error| internal(error.to_string()))?;
            self.constant(receiver);
        } else if is_c_type(&handler.get_type())
            && !handler.is_exact_instance_of::<PyFunction>()
            && !handler.is_exact_instance_of::<PyCFunction>()
        {
            return unsupported("error handler that is no function", name);
        }
        self.constant(handler.clone());
        self.guard_handler(&lookup_error, name, Some(handler.unbind()))
    }

    fn guard_handler(
        &mut self,
        lookup_error: &Bound<'py, PyAny>,
        name: String,
        handler: Option<Py<PyAny>>,
    ) -> Traced<()> {
        let check = Bound::new(self.py, Registered { name, handler }).or_else(|error| internal(error.to_string()))?;
        let source = Source::constant(lookup_error);
        self.guard(source, Check::Call(check.into_any().unbind()), "C looked for an error handler of codecs");
        Ok(())
    }

    /// Guards that there is no such handler where C says so.
    pub(crate) fn rely_on_no_handler(&mut self, error: &PyErr) -> Traced<()> {
        if !error.get_type(self.py).is(self.py.get_type::<pyo3::exceptions::PyLookupError>()) {
            return Ok(());
        }
        let said = types::text(error.value(self.py));
        let Some(name) = said.strip_prefix(UNKNOWN).and_then(|rest| rest.strip_suffix('\'')) else { return Ok(()) };
        let lookup_error = self.import("_codecs", "lookup_error")?;
        self.guard_handler(&lookup_error, name.to_owned(), None)
    }
}

/// Whether CPython itself has a handler of this name.
pub(crate) fn is_handler_of_c(name: &str) -> bool {
    const OWN: &[&str] = &[
        "strict",
        "ignore",
        "replace",
        "xmlcharrefreplace",
        "backslashreplace",
        "namereplace",
        "surrogatepass",
        "surrogateescape",
    ];
    OWN.contains(&name)
}

/// Whether objects of a class of C keep the name of a handler.
fn keeps_handler(class: &str) -> bool {
    class.starts_with("_multibytecodec.") || class == "_io.TextIOWrapper"
}

/// Whether a callable of C takes the name of a handler.
fn takes_handler(callable: &Bound<'_, PyAny>, name: &str) -> bool {
    let of = |class: &str| DECODING.contains(&class) || keeps_handler(class);
    match callable.cast::<pyo3::types::PyType>() {
        Ok(class) => of(&types::c_name(class)),
        Err(_) if matches!(name, "encode" | "decode") => true,
        Err(_) if matches!(name, "__new__" | "__init__") => {
            let owner = callee::owner_of(callable).or_else(|| callee::receiver_of(callable)?.cast_into().ok());
            owner.is_some_and(|owner| of(&types::c_name(&owner)))
        }
        Err(_) => callee::module_of(callable) == "_codecs",
    }
}
