//! Codecs that C looks up by name: those of the library come from tables and modules of its own; where a program has registered functions that
//! find others, what they do is not part of a trace, for C keeps what they give.
use crate::ffi::{callee, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple, PyType};

/// What C says where there is no codec; its name follows.
const UNKNOWN: &str = "unknown encoding: ";

/// What a guard compares the search path with.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct LibraryAlone {
    search: Py<PyAny>,
}

#[pymethods]
impl LibraryAlone {
    /// Whether no function but the library's finds codecs.
    fn __call__(&self, path: &Bound<'_, PyList>) -> bool {
        is_alone(path, self.search.bind(path.py()))
    }
}

impl<'py> Tracer<'py> {
    /// Before C works on text: a codec that it may look for is the library's.
    pub(crate) fn rely_on_codec(&mut self, callable: &Bound<'py, PyAny>, name: &str, args: &Arguments) -> Traced<()> {
        let Some(at) = takes_encoding(callable, name) else { return Ok(()) };
        let named = args.keywords.iter().find(|(keyword, _)| keyword == "encoding").map(|(_, value)| *value);
        let Some(encoding) = args.positional.get(at).copied().or(named) else { return Ok(()) };
        let text = self.at_hand(encoding).and_then(|text| text.cast_into_exact::<PyString>().ok());
        let Some(text) = text.and_then(|text| text.to_str().map(String::from).ok()) else { return Ok(()) };
        let (search, path) = self.codec_search()?;
        if is_alone(&path, &search) {
            return self.know_codec(&text);
        }
        // It imports modules of the library, and keeps what it finds.
        let normal = text.to_lowercase().replace(' ', "_");
        let (found, _) = self.with_warnings_as_errors(|| search.call1((normal,)));
        match found.is_ok_and(|found| !found.is_none()) {
            true => self.know_codec(&text),
            false => unsupported("codec that is not the library's", text),
        }
    }

    /// Objects whose methods a codec of the library is made of are from outside: C gets them by itself.
    fn know_codec(&mut self, encoding: &str) -> Traced<()> {
        let lookup = self.import("_codecs", "lookup")?;
        let (found, _) = self.with_warnings_as_errors(|| lookup.call1((encoding,)));
        let Some(functions) = found.ok().and_then(|found| found.cast_into::<PyTuple>().ok()) else { return Ok(()) };
        for function in functions.iter().filter(|function| types::is_c_class(&function.get_type(), "method")) {
            if let Ok(receiver) = function.getattr(name!("__self__")) {
                self.constant(receiver);
            }
        }
        Ok(())
    }

    /// Guards that there is no such codec where C says so.
    pub(crate) fn rely_on_no_codec(&mut self, error: &PyErr) -> Traced<()> {
        let is_missing = error.get_type(self.py).is(self.py.get_type::<PyLookupError>())
            && types::text(error.value(self.py)).starts_with(UNKNOWN);
        if !is_missing {
            return Ok(());
        }
        let (search, path) = self.codec_search()?;
        let check = Bound::new(self.py, LibraryAlone { search: search.unbind() });
        let check = Check::Call(check.or_else(|error| internal(error.to_string()))?.into_any().unbind());
        self.guard(Source::constant(&path), check, "C looked for a codec that there is none of");
        Ok(())
    }

    /// The library's function that finds codecs, and the search path.
    fn codec_search(&self) -> Traced<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
        let search = self.import("encodings", "search_function")?;
        let path = self.state.shared_caches.codec_tables.search_path(self.py);
        let path = path.or_else(|error| internal(error.to_string()))?;
        path.map_or_else(|| unsupported("search path of codecs", "it is not where it was"), |path| Ok((search, path)))
    }
}

fn is_alone(path: &Bound<'_, PyList>, search: &Bound<'_, PyAny>) -> bool {
    path.len() == 1 && path.get_item(0).is_ok_and(|first| first.is(search))
}

/// Which argument of a callable of C names an encoding.
fn takes_encoding(callable: &Bound<'_, PyAny>, name: &str) -> Option<usize> {
    const DECODING: [&str; 4] = ["str", "bytes", "bytearray", "_io.TextIOWrapper"];
    let of = |class: &str| DECODING.contains(&class);
    if let Ok(class) = callable.cast::<PyType>() {
        return of(&types::c_name(class)).then_some(1);
    }
    let owner = || callee::owner_of(callable).or_else(|| callee::receiver_of(callable)?.cast_into().ok());
    match (name, &*callee::module_of(callable)) {
        ("lookup", "_codecs") => Some(0),
        ("encode" | "decode", "_codecs") => Some(1),
        ("encode" | "decode", _) => owner().is_some_and(|owner| of(&types::c_name(&owner))).then_some(1),
        ("__init__", _) => owner().is_some_and(|owner| of(&types::c_name(&owner))).then_some(2),
        ("__new__", _) => owner().is_some_and(|owner| of(&types::c_name(&owner))).then_some(2),
        _ => None,
    }
}
