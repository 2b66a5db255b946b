//! Names of attributes that the crate asks for, made once: lookups of others than interned names miss the interpreter's caches.
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use rustc_hash::FxBuildHasher;
use std::cell::RefCell;
use std::convert::Infallible;
use std::hash::BuildHasher;

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
const PLACES: usize = 1_024;

/// A name and its text.
type Kept = (Box<str>, Py<PyString>);

thread_local! {
    /// Names asked for last, each in the place that its hash gives.
    static KEPT: RefCell<Vec<Option<Kept>>> = const { RefCell::new(Vec::new()) };
}

/// A name that is only known when it is needed: interned, and found again without making a string.
#[must_use]
pub fn interned<'py>(py: Python<'py>, name: &str) -> Bound<'py, PyString> {
    let find = |kept: &RefCell<Vec<Option<Kept>>>| {
        let mut kept = kept.try_borrow_mut().ok()?;
        if kept.is_empty() {
            kept.resize_with(PLACES, || None);
        }
        let place = &mut kept[FxBuildHasher.hash_one(name) as usize % PLACES];
        if let Some((text, known)) = place
            && **text == *name
        {
            return Some(known.bind(py).clone());
        }
        let made = PyString::intern(py, name);
        // Ends of strings run no code.
        *place = Some((name.into(), made.clone().unbind()));
        Some(made)
    };
    KEPT.try_with(find).ok().flatten().unwrap_or_else(|| PyString::intern(py, name))
}

/// `name!("__doc__")`, where an attribute's name is asked for.
macro_rules! name {
    ($text:literal) => {{
        static NAME: $crate::names::Name = $crate::names::Name::new($text);
        &NAME
    }};
}
pub(crate) use name;
