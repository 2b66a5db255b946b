//! What a trace has in the place of numbers that contents of arrays decide, whichever library's they are.
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};

/// A number of the graph that contents decide.
#[pyclass(frozen, module = "slotrt")]
#[allow(missing_debug_implementations)]
pub struct Unread {
    /// `int`, `float`, `bool` or `complex`; `str`, of the text of one.
    pub class: Py<PyType>,
}

/// What stands for a number of a class.
pub fn unread<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    Bound::new(class.py(), Unread { class: class.clone().unbind() }).ok().map(Bound::into_any)
}

/// What stands for numbers of a class, in lists of such lengths.
pub fn unread_lists<'py>(class: &Bound<'py, PyType>, sizes: &[i64]) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let Some((length, inner)) = sizes.split_first() else {
        return Ok(Bound::new(py, Unread { class: class.clone().unbind() })?.into_any());
    };
    let items = (0..*length).map(|_| unread_lists(class, inner)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, items)?.into_any())
}

/// Whether an example is one of them, or holds one.
pub fn is_unread(example: &Bound<'_, PyAny>) -> bool {
    let holds = || example.try_iter().into_iter().flatten().flatten().any(|item| is_unread(&item));
    let is_sequence = example.is_instance_of::<PyTuple>() || example.is_instance_of::<PyList>();
    example.is_instance_of::<Unread>() || is_sequence && holds()
}

/// The class of the number that such an example stands for; `None`: it is another one.
pub fn class_of_unread<'py>(example: &Bound<'py, PyAny>) -> Option<Bound<'py, PyType>> {
    example.cast::<Unread>().ok().map(|unread| unread.get().class.bind(example.py()).clone())
}

/// Such an example in words.
pub fn description_of_unread(example: &Bound<'_, PyAny>) -> Option<String> {
    class_of_unread(example).map(|class| types::name(&class))
}
