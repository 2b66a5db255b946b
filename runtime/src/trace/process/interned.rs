//! `sys.intern`: the table of interned texts is the process's. A trace looks into it, and adds to it as a side effect, in order.
use crate::ffi::header_fields;
use crate::names::name;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// Whether the table keeps what it gets only as long as others do: what is looked up leaves no trace there. 3.12 keeps all for ever.
const FORGETS: bool = !(cfg!(Py_3_12) && !cfg!(Py_3_13));

impl<'py> Tracer<'py> {
    /// `sys.intern(text)`; `None`: no model.
    pub(crate) fn intern(&mut self, function: &Bound<'py, PyAny>, text: ValueId) -> Traced<Option<ValueId>> {
        let known = self.known(text).and_then(|known| known.cast_into_exact::<PyString>().ok());
        let Some(known) = known else { return Ok(None) };
        let bytes = characters(&known).or_else(|error| internal(error.to_string()))?;
        if let Some(first) = self.state.interned.get(&bytes) {
            return Ok(Some(*first));
        }
        if header_fields::unicode("PyUnicode_CHECK_INTERNED", known.as_any()).is_some_and(|interned| interned != 0) {
            return Ok(Some(text));
        }
        let copy = copy(&known).or_else(|error| internal(error.to_string()))?;
        let asked = if FORGETS { copy.as_any() } else { known.as_any() };
        let found = function.call1((asked,)).or_else(|error| self.raise_error(error))?;
        if !FORGETS || !found.is(&copy) || copy.is(&known) {
            return Ok(Some(self.constant(found)));
        }
        let callable = self.constant(function.clone());
        self.state.effects.push(Effect::Call { callable, args: vec![text] });
        self.state.interned.insert(bytes, text);
        Ok(Some(text))
    }
}

/// The characters of a text, lone surrogates among them, as bytes.
fn characters(text: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    text.call_method1(name!("encode"), ("utf-8", "surrogatepass"))?.extract()
}

/// Another object with the same characters, where there are such.
fn copy<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    let characters = PyList::new(text.py(), text.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
    PyString::new(text.py(), "").call_method1("join", (characters,))
}
