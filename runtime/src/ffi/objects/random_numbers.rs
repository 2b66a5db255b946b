//! Generators of random numbers of C: what they will give, which a copy of theirs is asked for.
use crate::ffi::types;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::cell::Cell;

/// The class (`tp_name`).
const CLASS: &str = "_random.Random";

/// CPython: `RandomObject`: numbers of 32 bits alone, after the head of the object.
const STATE: usize = (1 + 624) * size_of::<u32>();

/// The class of C of a generator.
fn class_of<'py>(generator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyType>> {
    types::mro(&generator.get_type())?.iter().filter_map(|class| class.cast_into::<PyType>().ok()).find(is_class)
}

/// Whether it is the class of C, not one that only has its name.
fn is_class(class: &Bound<'_, PyType>) -> bool {
    let py = class.py();
    let fits = types::c_name(class) == CLASS && types::basicsize(class) >= size_of::<ffi::PyObject>() + STATE;
    let method = || types::own(class, intern!(py, "random"));
    let of_c = |method: &Bound<'_, PyAny>| types::c_name(&method.get_type()) == "method_descriptor";
    fits && method()
        .filter(of_c)
        .and_then(|method| method.getattr(intern!(py, "__objclass__")).ok())
        .is_some_and(|owner| owner.is(class))
}

/// Whether the method of this name and class is the one that gives the next number.
#[must_use]
pub fn is_draw(name: &str, owner: &Bound<'_, PyType>) -> bool {
    name == "random" && is_class(owner)
}

/// A generator that gives what this one will give.
fn copy<'py>(generator: &Bound<'py, PyAny>, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let copy = class.call1((0,))?;
    copy_state(generator, &copy);
    Ok(copy)
}

/// Gives one instance of the class the state of another one.
fn copy_state(from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) {
    let head = size_of::<ffi::PyObject>();
    // SAFETY: both are instances of the class, whose own fields are these numbers; C reads and writes them under the lock that is held now.
    unsafe { std::ptr::copy(from.as_ptr().cast::<u8>().add(head), to.as_ptr().cast::<u8>().add(head), STATE) }
}

thread_local! {
    /// How often code of the program has run for good on this thread while something was compiled.
    static RUNS: Cell<u64> = const { Cell::new(0) };
}

/// Code of the program runs for good, and may draw: what generators are from here on stays.
pub fn note_run() {
    RUNS.set(RUNS.get() + 1);
}

/// The generator behind the functions of `random`, and what it was about to give.
#[derive(Debug)]
pub struct KeptGenerator<'py> {
    generator: Bound<'py, PyAny>,
    copy: Bound<'py, PyAny>,
    runs: u64,
}

/// The generator, if `random` is loaded.
fn loaded(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let modules = crate::ffi::modules::import(py, "sys")?.getattr(intern!(py, "modules"))?;
    modules.get_item(intern!(py, "random"))?.getattr(intern!(py, "_inst"))
}

impl<'py> KeptGenerator<'py> {
    /// As it is now; `None`: nobody has it yet.
    #[must_use]
    pub fn now(py: Python<'py>) -> Option<Self> {
        let generator = loaded(py).ok()?;
        let copy = copy(&generator, &class_of(&generator)?).ok()?;
        Some(Self { generator, copy, runs: RUNS.get() })
    }

    /// As it was then, but for what code of the program has done since.
    pub fn put_back(&self) {
        if self.runs == RUNS.get() {
            copy_state(&self.copy, &self.generator);
        }
    }
}

/// The next numbers of a generator, which stays as it is; `None`: it is none.
#[must_use]
pub fn ahead<'py>(generator: &Bound<'py, PyAny>, count: usize) -> Option<Bound<'py, PyTuple>> {
    let class = class_of(generator)?;
    let copy = copy(generator, &class).ok()?;
    let next = types::own(&class, intern!(class.py(), "random"))?;
    let numbers: PyResult<Vec<_>> = (0..count).map(|_| next.call1((&copy,))).collect();
    PyTuple::new(generator.py(), numbers.ok()?).ok()
}

/// Takes so many numbers; `None`: it is no generator.
///
/// # Errors
/// What C raises.
#[must_use]
pub fn draw(generator: &Bound<'_, PyAny>, count: usize) -> Option<PyResult<()>> {
    let next = types::own(&class_of(generator)?, intern!(generator.py(), "random"))?;
    Some((0..count).try_for_each(|_| next.call1((generator,)).map(drop)))
}
