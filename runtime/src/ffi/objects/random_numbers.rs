//! Generators of random numbers of C: what they will give, which a copy of theirs is asked for.
use crate::ffi::types;
use pyo3::exceptions::PyTypeError;
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
    let fits = types::is_c_class(class, CLASS) && types::basicsize(class) >= size_of::<ffi::PyObject>() + STATE;
    let method = || types::own(class, intern!(py, "random"));
    let of_c = |method: &Bound<'_, PyAny>| types::is_c_class(&method.get_type(), "method_descriptor");
    fits && method()
        .filter(of_c)
        .and_then(|method| method.getattr(intern!(py, "__objclass__")).ok())
        .is_some_and(|owner| owner.is(class))
}

/// A step of a generator, which gives a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// A float below 1. CPython: `_random_Random_random_impl`.
    Float,
    /// So many bits. CPython: `_random_Random_getrandbits_impl`.
    Bits(u32),
    /// An integer below this one, as often as it takes. CPython: `Lib/random.py`, `Random._randbelow_with_getrandbits`.
    Below(i64),
}

impl Draw {
    /// As two numbers.
    #[must_use]
    pub fn parts(self) -> (u8, i64) {
        match self {
            Self::Float => (0, 0),
            Self::Bits(bits) => (1, i64::from(bits)),
            Self::Below(end) => (2, end),
        }
    }

    /// From these; `None`: they are no such parts.
    #[must_use]
    pub fn of(kind: u8, number: i64) -> Option<Self> {
        match kind {
            0 => Some(Self::Float),
            1 => Some(Self::Bits(u32::try_from(number).ok()?)),
            2 => (number > 0).then_some(Self::Below(number)),
            _ => None,
        }
    }

    /// The number that the generator gives; it goes on.
    fn take<'py>(self, generator: &Bound<'py, PyAny>, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
        let py = generator.py();
        let bits = |count: u32| types::own(class, intern!(py, "getrandbits"))?.call1((generator, count)).ok();
        match self {
            Self::Float => types::own(class, intern!(py, "random"))?.call1((generator,)).ok(),
            Self::Bits(count) => bits(count),
            Self::Below(end) => loop {
                let number = bits(i64::BITS - end.leading_zeros())?;
                if number.extract::<i64>().ok()? < end {
                    return Some(number);
                }
            },
        }
    }
}

/// Whether the method of this name and class is one that gives a number, and the C of this module is behind it.
#[must_use]
pub fn is_draw(name: &str, owner: &Bound<'_, PyType>) -> bool {
    matches!(name, "random" | "getrandbits") && is_class(owner)
}

/// A generator that gives what this one will give.
fn copy<'py>(generator: &Bound<'py, PyAny>, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class is C's own, whose instances hold numbers alone after their head, and those are written below.
    let copy = unsafe {
        let made = ffi::PyType_GenericAlloc(class.as_type_ptr(), 0);
        Bound::from_owned_ptr_or_err(class.py(), made)?
    };
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

/// The next number of a generator, and one that goes on from there; this one stays as it is; `None`: it is none.
#[must_use]
pub fn ahead<'py>(generator: &Bound<'py, PyAny>, draw: Draw) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let class = class_of(generator)?;
    let copy = copy(generator, &class).ok()?;
    Some((draw.take(&copy, &class)?, copy))
}

/// The same in a tuple, for a draw in parts. Called by compiled code.
///
/// # Errors
/// Where it is no generator.
#[pyfunction]
pub fn look_ahead<'py>(generator: &Bound<'py, PyAny>, kind: u8, number: i64) -> PyResult<Bound<'py, PyTuple>> {
    let drawn = Draw::of(kind, number).and_then(|draw| ahead(generator, draw));
    let (number, copy) = drawn.ok_or_else(|| PyTypeError::new_err("no generator of random numbers"))?;
    PyTuple::new(generator.py(), [number, copy])
}

/// The generator goes on from where a copy has come to. Called by compiled code.
#[pyfunction]
pub fn go_on_from(generator: &Bound<'_, PyAny>, copy: &Bound<'_, PyAny>) {
    if class_of(generator).is_some() && class_of(copy).is_some() {
        copy_state(copy, generator);
    }
}
