//! Names of attributes that the crate asks for, made once: lookups of others than interned names miss the interpreter's caches.
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use rustc_hash::FxHashMap;
use std::convert::Infallible;
use std::sync::Mutex;

/// A name, made when it is first asked for.
#[allow(missing_debug_implementations)]
pub struct Name {
    text: &'static str,
    made: PyOnceLock<Py<PyString>>,
}

impl Name {
    /// Not made yet.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, made: PyOnceLock::new() }
    }
}

impl<'py> IntoPyObject<'py> for &'static Name {
    type Target = PyString;
    type Output = Borrowed<'static, 'py, PyString>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(self.made.get_or_init(py, || PyString::intern(py, self.text).unbind()).bind_borrowed(py))
    }
}

/// Names that are kept at a time.
const MAX_KEPT: usize = 4_096;

/// A name that is only known when it is needed: interned, and found again without making a string.
#[must_use]
pub fn interned<'py>(py: Python<'py>, name: &str) -> Bound<'py, PyString> {
    static KEPT: PyOnceLock<Mutex<FxHashMap<Box<str>, Py<PyString>>>> = PyOnceLock::new();
    let kept = KEPT.get_or_init(py, Mutex::default);
    if let Some(known) = kept.lock().ok().and_then(|kept| kept.get(name).map(|known| known.bind(py).clone())) {
        return known;
    }
    let made = PyString::intern(py, name);
    if let Ok(mut kept) = kept.lock() {
        if kept.len() >= MAX_KEPT {
            // Ends of strings run no code.
            kept.clear();
        }
        kept.insert(name.into(), made.clone().unbind());
    }
    made
}

/// `name!("__doc__")`, where an attribute's name is asked for.
macro_rules! name {
    ($text:literal) => {{
        static NAME: $crate::names::Name = $crate::names::Name::new($text);
        &NAME
    }};
}
pub(crate) use name;
