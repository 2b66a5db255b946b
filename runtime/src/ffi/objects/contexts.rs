//! Contexts of `contextvars`, and tokens: what no attribute shows of them is read, and a token is made as `ContextVar.set` once made it.
//!
//! CPython: `Python/context.c`, `PyContextToken`.
use super::samples::{only, words};
use crate::ffi::layout::thread;
use crate::ffi::raw::{read, write};
use crate::names::name;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::c_int;

/// Offsets of fields of a token.
#[derive(Clone, Copy, Debug)]
struct Fields {
    context: usize,
    old_value: usize,
    used: usize,
}

/// Compares tokens that differ in one field each.
fn find(py: Python<'_>) -> PyResult<Option<Fields>> {
    let module = py.import("contextvars")?;
    let [one, other] = [module.getattr("Context")?.call0()?, module.getattr("Context")?.call0()?];
    let variable = module.getattr("ContextVar")?.call1(("sample",))?;
    let [first, second] = [py.get_type::<PyAny>().call0()?, py.get_type::<PyAny>().call0()?];
    let set = variable.getattr(name!("set"))?;
    let at_first = one.call_method1(name!("run"), (&set, &first))?;
    let later = one.call_method1(name!("run"), (&set, &second))?;
    let elsewhere = other.call_method1(name!("run"), (&set, &first))?;
    let seen = [words(&at_first)?, words(&later)?, words(&elsewhere)?];
    one.call_method1(name!("run"), (variable.getattr("reset")?, &later))?;
    let after = words(&later)?;
    let (one, other, first) = (one.as_ptr() as usize, other.as_ptr() as usize, first.as_ptr() as usize);
    let all = |word: usize| [seen[0][word], seen[1][word], seen[2][word]];
    let find = |wanted: [usize; 3]| only(after.len(), |word| all(word) == wanted);
    Ok((|| {
        let used = only(after.len(), |word| seen[1][word] != after[word])?;
        Some(Fields { context: find([one, one, other])?, old_value: find([0, first, 0])?, used })
    })())
}

fn fields(py: Python<'_>) -> PyResult<Fields> {
    static FIELDS: PyOnceLock<Option<Fields>> = PyOnceLock::new();
    let fields = *FIELDS.get_or_try_init(py, || find(py))?;
    fields.ok_or_else(|| PyRuntimeError::new_err("slotrt: the layout of contextvars.Token"))
}

/// What no attribute of a token shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenState {
    /// `reset` has had it.
    pub used: bool,
    /// The running context is the one that it was made in.
    pub of_current: bool,
}

/// Reads a token; `None`: it is none, or this interpreter lays it out otherwise.
#[must_use]
pub fn token_state(token: &Bound<'_, PyAny>) -> Option<TokenState> {
    let fields = fields(token.py()).ok()?;
    if !is_token(token) {
        return None;
    }
    let base = token.as_ptr().cast::<u8>();
    // SAFETY: `token` is a live token, whose fields these are; the thread state is live, and the field's offset lies inside it.
    unsafe {
        let (used, context): (c_int, usize) = (read(base, fields.used), read(base, fields.context));
        let current: usize = read(ffi::PyThreadState_Get().cast::<u8>(), thread::CONTEXT);
        Some(TokenState { used: used != 0, of_current: context == current })
    }
}

/// Whether tokens can be read and made.
#[must_use]
pub fn knows_tokens(py: Python<'_>) -> bool {
    fields(py).is_ok()
}

/// Whether it is a token.
#[must_use]
pub fn is_token(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: reads the type of a live object.
    unsafe { ffi::PyContextToken_CheckExact(object.as_ptr()) != 0 }
}

/// Whether it is a context.
#[must_use]
pub fn is_context(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: reads the type of a live object.
    unsafe { ffi::PyContext_CheckExact(object.as_ptr()) != 0 }
}

/// Whether it is a context variable.
#[must_use]
pub fn is_variable(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: reads the type of a live object.
    unsafe { ffi::PyContextVar_CheckExact(object.as_ptr()) != 0 }
}

/// A token that has just been made and that nobody else has: with another old value, and not used. The variable is as it was.
fn fresh_token<'py>(variable: &Bound<'py, PyAny>, old: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = variable.py();
    let fields = fields(py)?;
    // SAFETY: the GIL is held; CPython checks the types and gives a new reference or NULL.
    let token = unsafe {
        let token = Bound::from_owned_ptr_or_err(py, ffi::PyContextVar_Set(variable.as_ptr(), ffi::Py_None()))?;
        if ffi::PyContextVar_Reset(variable.as_ptr(), token.as_ptr()) < 0 {
            return Err(PyErr::fetch(py));
        }
        token
    };
    let base = token.as_ptr().cast::<u8>();
    let old = old.map_or(std::ptr::null_mut(), |old| old.clone().into_ptr());
    // SAFETY: the field of a live token owns a reference or is NULL; it gets another one, and the one before is ours.
    let before = unsafe {
        let before: *mut ffi::PyObject = read(base, fields.old_value);
        write(base, fields.old_value, old);
        write::<c_int>(base, fields.used, 0);
        Bound::from_owned_ptr_or_opt(py, before)
    };
    drop(before);
    Ok(token)
}

fn unless_missing<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<Option<&'a Bound<'py, PyAny>>> {
    Ok((!value.is(missing(value.py())?)).then_some(value))
}

/// `Token.MISSING`.
///
/// # Errors
/// The interpreter's own.
pub fn missing(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MISSING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || PyResult::Ok(py.import("contextvars")?.getattr("Token")?.getattr("MISSING")?.unbind());
    MISSING.get_or_try_init(py, find).map(|missing| missing.bind(py))
}

/// A token of a variable for the running context, with this old value or `Token.MISSING`.
///
/// # Errors
/// The interpreter's own; `RuntimeError` where it lays tokens out otherwise.
#[pyfunction]
pub fn make_token<'py>(
    variable: &Bound<'py, PyAny>,
    old: &Bound<'py, PyAny>,
    used: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let token = fresh_token(variable, unless_missing(old)?)?;
    if used {
        // SAFETY: `token` is a live token that nobody else has.
        unsafe { write::<c_int>(token.as_ptr().cast(), fields(token.py())?.used, 1) };
    }
    Ok(token)
}

/// Sets a variable in the running context; `Token.MISSING` for a value leaves it without one.
///
/// # Errors
/// The interpreter's own; `RuntimeError` where it lays tokens out otherwise.
#[pyfunction]
pub fn set_variable(variable: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = variable.py();
    let Some(value) = unless_missing(value)? else {
        if super::context_variable::is_set(variable) {
            let token = fresh_token(variable, None)?;
            // SAFETY: CPython checks the types.
            if unsafe { ffi::PyContextVar_Reset(variable.as_ptr(), token.as_ptr()) } < 0 {
                return Err(PyErr::fetch(py));
            }
        }
        return Ok(());
    };
    // SAFETY: CPython checks the types, and gives a new reference or NULL.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyContextVar_Set(variable.as_ptr(), value.as_ptr())) }.map(drop)
}

/// A context: a copy of `base`, of the running one for `True`, an empty one for `None`; with changes, variables and values in turn.
///
/// # Errors
/// The interpreter's own.
#[pyfunction]
#[pyo3(signature = (base, *changes))]
pub fn make_context<'py>(
    base: &Bound<'py, PyAny>,
    changes: &Bound<'py, pyo3::types::PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = base.py();
    // SAFETY: CPython checks the type, and gives a new reference or NULL.
    let context = unsafe {
        let made = match base {
            base if base.is_none() => ffi::PyContext_New(),
            base if is_context(base) => ffi::PyContext_Copy(base.as_ptr()),
            _ => ffi::PyContext_CopyCurrent(),
        };
        Bound::from_owned_ptr_or_err(py, made)?
    };
    in_context(&context, || {
        let changes: Vec<_> = changes.iter().collect();
        changes.chunks_exact(2).try_for_each(|change| set_variable(&change[0], &change[1]))
    })?;
    Ok(context)
}

/// Sets a variable in a context that nobody has entered.
///
/// # Errors
/// The interpreter's own.
#[pyfunction]
pub fn set_in_context(
    context: &Bound<'_, PyAny>,
    variable: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    in_context(context, || set_variable(variable, value))
}

/// The same as [`make_token`] for another context, which nobody has entered.
///
/// # Errors
/// The interpreter's own.
#[pyfunction]
pub fn make_token_in<'py>(
    context: &Bound<'py, PyAny>,
    variable: &Bound<'py, PyAny>,
    old: &Bound<'py, PyAny>,
    used: bool,
) -> PyResult<Bound<'py, PyAny>> {
    in_context(context, || make_token(variable, old, used))
}

/// Runs `work` in a context.
///
/// # Errors
/// Those of `work`; `RuntimeError` if somebody has entered the context.
pub fn in_context<T>(context: &Bound<'_, PyAny>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // SAFETY: CPython checks the type.
    if unsafe { ffi::PyContext_Enter(context.as_ptr()) } < 0 {
        return Err(PyErr::fetch(context.py()));
    }
    let result = work();
    // SAFETY: entered above.
    if unsafe { ffi::PyContext_Exit(context.as_ptr()) } < 0 {
        return Err(PyErr::fetch(context.py()));
    }
    result
}

/// Whether somebody has entered the context.
#[must_use]
pub fn is_entered(context: &Bound<'_, PyAny>) -> bool {
    in_context(context, || Ok(())).is_err()
}
