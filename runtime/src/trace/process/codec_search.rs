//! Codecs that C looks up by name: those of the library come from tables and modules of its own; where a program has registered functions that
//! find others, what they do is not part of a trace, for C keeps what they give.
use crate::ffi::{callee, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyType};

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
        let normal = text.to_lowercase().replace(' ', "_");
        let search = self.import("encodings", "search_function")?;
        let shared_caches = std::sync::Arc::clone(&self.state.shared_caches);
        let path = shared_caches.codec_search(self.py, find_path).or_else(|error| internal(error.to_string()))?;
        let Some(path) = path else { return unsupported("search path of codecs", "it is not where it was") };
        // It imports modules of the library, and keeps what it finds.
        if search.call1((normal,)).is_ok_and(|found| !found.is_none()) {
            return Ok(());
        }
        if !is_alone(&path, &search) {
            return unsupported("codec that is not the library's", text);
        }
        let check = Bound::new(self.py, LibraryAlone { search: search.unbind() });
        let check = Check::Call(check.or_else(|error| internal(error.to_string()))?.into_any().unbind());
        self.guard(Source::constant(&path), check, "C looked for a codec that there is none of");
        Ok(())
    }
}

fn is_alone(path: &Bound<'_, PyList>, search: &Bound<'_, PyAny>) -> bool {
    path.len() == 1 && path.get_item(0).is_ok_and(|first| first.is(search))
}

/// The search path, which only C names: the list that begins with the library's function.
fn find_path(py: Python<'_>) -> PyResult<Option<Bound<'_, PyList>>> {
    let search = crate::ffi::modules::import(py, "encodings")?.getattr(name!("search_function"))?;
    let holders = crate::ffi::modules::import(py, "gc")?.call_method1(name!("get_referrers"), (&search,))?;
    let lists = holders.cast_into::<PyList>()?.iter().filter_map(|held| held.cast_into_exact::<PyList>().ok());
    let mut lists = lists.filter(|list| list.get_item(0).is_ok_and(|first| first.is(&search)));
    let register = crate::ffi::modules::import(py, "_codecs")?;
    Ok(lists.find(|list| is_path(list, &register).unwrap_or(false)))
}

/// Whether C adds a function to the list where a program registers one.
fn is_path(list: &Bound<'_, PyList>, codecs: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (before, tried) = (list.len(), codecs.getattr(name!("lookup"))?);
    codecs.call_method1(name!("register"), (&tried,))?;
    let is_path = list.len() == before + 1 && list.get_item(before)?.is(&tried);
    codecs.call_method1(name!("unregister"), (&tried,))?;
    Ok(is_path)
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
