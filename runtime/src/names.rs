//! Names of attributes that the crate asks for, made once: lookups of others than interned names miss the interpreter's caches.
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use std::convert::Infallible;

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

/// `name!("__doc__")`, where an attribute's name is asked for.
macro_rules! name {
    ($text:literal) => {{
        static NAME: $crate::names::Name = $crate::names::Name::new($text);
        &NAME
    }};
}
pub(crate) use name;
