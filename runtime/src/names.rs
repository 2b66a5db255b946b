//! Interned names of attributes, made once: lookups by other strings miss the interpreter's caches.
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use rustc_hash::FxBuildHasher;
use std::cell::RefCell;
use std::convert::Infallible;
use std::hash::BuildHasher;

/// A name, made when it is first used.
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
const PLACES: usize = 1_024;

thread_local! {
    static INTERNED: RefCell<InternedNames> = const { RefCell::new(InternedNames(Vec::new())) };
}

/// Names used last, with their text, each at the index that its hash gives.
struct InternedNames(Vec<Option<(Box<str>, Py<PyString>)>>);

impl InternedNames {
    /// Making and freeing strings runs no code: no call comes in between.
    fn find<'py>(&mut self, py: Python<'py>, name: &str) -> Bound<'py, PyString> {
        if self.0.is_empty() {
            self.0.resize_with(PLACES, || None);
        }
        let place = &mut self.0[FxBuildHasher.hash_one(name) as usize % PLACES];
        if let Some((text, known)) = place
            && **text == *name
        {
            return known.bind(py).clone();
        }
        let made = PyString::intern(py, name);
        *place = Some((name.into(), made.clone().unbind()));
        made
    }
}

/// A name that is only known when it is needed: interned, and found again without making a string.
#[must_use]
pub fn interned<'py>(py: Python<'py>, name: &str) -> Bound<'py, PyString> {
    // Once the thread ends there is no table.
    let found = INTERNED.try_with(|kept| kept.borrow_mut().find(py, name));
    found.unwrap_or_else(|_| PyString::intern(py, name))
}

/// `name!("__doc__")`: an interned name, where an attribute's name is taken.
macro_rules! name {
    ($text:literal) => {{
        static NAME: $crate::names::Name = $crate::names::Name::new($text);
        &NAME
    }};
}
pub(crate) use name;
