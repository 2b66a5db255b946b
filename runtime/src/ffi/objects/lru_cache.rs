//! The fields of `functools._lru_cache_wrapper` that no attribute shows: their offsets are found by comparing samples.
//!
//! CPython: `Modules/_functoolsmodule.c`, `lru_cache_object`.
use super::samples::{only, words};
use crate::ffi::raw::{read, write};
use crate::ffi::referents;
use crate::names::name;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};

/// Offsets of fields.
#[derive(Clone, Copy, Debug)]
struct Fields {
    func: usize,
    typed: usize,
    maxsize: usize,
}

/// Caches that hold more references are left to C.
const MOST: usize = 1 << 16;

/// Compares samples that differ in one field each.
fn find(py: Python<'_>) -> PyResult<Option<Fields>> {
    const SAMPLES: &std::ffi::CStr =
        c"[__import__('functools').lru_cache(size, typed)(lambda: None) for size, typed in [(77777, False), (77777, True), (88888, False)]]";
    let samples = py.eval(SAMPLES, None, None)?.cast_into::<PyList>()?;
    let (mut seen, mut functions) = (Vec::new(), Vec::new());
    for sample in samples.iter() {
        seen.push(words(&sample)?);
        functions.push(sample.getattr(name!("__wrapped__"))?.as_ptr() as usize);
    }
    let [plain, telling, large] = seen.as_slice() else { return Ok(None) };
    let func = only(plain.len(), |word| seen.iter().zip(&functions).all(|(seen, function)| seen[word] == *function));
    let fields = func.and_then(|func| {
        let typed = only(plain.len(), |word| (plain[word], telling[word], large[word]) == (0, 1, 0))?;
        let maxsize = only(plain.len(), |word| (plain[word], telling[word], large[word]) == (77777, 77777, 88888))?;
        Some(Fields { func, typed, maxsize })
    });
    Ok(fields)
}

fn fields(py: Python<'_>) -> PyResult<Option<Fields>> {
    static FIELDS: PyOnceLock<Option<Fields>> = PyOnceLock::new();
    FIELDS.get_or_try_init(py, || find(py)).copied()
}

/// A function with a cache, as it is now.
#[derive(Debug)]
pub struct LruCache<'py> {
    /// The function that is called where the cache has no result.
    pub function: Bound<'py, PyAny>,
    /// The object between positional and keyword arguments in a key.
    pub mark: Bound<'py, PyAny>,
    /// Whether keys tell the types of arguments.
    pub typed: bool,
    /// How many results are kept at most; `None`: all.
    pub limit: Option<usize>,
    /// Keys and results; where the number is limited, keys and what C keeps of them.
    pub kept: Bound<'py, PyDict>,
    /// Where the number is limited: keys and results, that first which goes first.
    pub order: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'py> LruCache<'py> {
    /// Reads a `functools._lru_cache_wrapper`; `None`: this interpreter lays it out otherwise. CPython: `lru_cache_tp_traverse`.
    ///
    /// # Errors
    /// The interpreter's own.
    pub fn of(wrapper: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let Some(fields) = fields(wrapper.py())? else { return Ok(None) };
        let base = wrapper.as_ptr().cast::<u8>();
        // SAFETY: `wrapper` is a live object of the class whose fields these are.
        let (typed, limit): (usize, isize) = unsafe { (read(base, fields.typed), read(base, fields.maxsize)) };
        let held = referents::direct(wrapper, MOST);
        let is_link = |at: usize| {
            let class = held.get(at).and_then(|held| held.cast::<PyType>().ok());
            class.is_some_and(|class| class.name().is_ok_and(|name| name == "_lru_list_elem"))
        };
        let mut order = Vec::new();
        let mut at = 1;
        while is_link(at + 2) {
            order.push((held[at].clone(), held[at + 1].clone()));
            at += 3;
        }
        let [kept, function, mark, ..] = held.get(at..).unwrap_or_default() else { return Ok(None) };
        let Ok(kept) = kept.cast_exact::<PyDict>() else { return Ok(None) };
        // SAFETY: as above; only the address is compared.
        if unsafe { read::<usize>(base, fields.func) } != function.as_ptr() as usize {
            return Ok(None);
        }
        let limit = usize::try_from(limit).ok();
        Ok(Some(Self {
            function: function.clone(),
            mark: mark.clone(),
            typed: typed != 0,
            limit,
            kept: kept.clone(),
            order,
        }))
    }

    /// The key of a call. CPython: `lru_cache_make_key`.
    ///
    /// # Errors
    /// The interpreter's own.
    pub fn key(
        &self,
        positional: &[Bound<'py, PyAny>],
        keywords: &[(String, Bound<'py, PyAny>)],
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.mark.py();
        let simple =
            |only: &Bound<'_, PyAny>| only.is_exact_instance_of::<PyString>() || only.is_exact_instance_of::<PyInt>();
        if let ([only], [], false) = (positional, keywords, self.typed)
            && simple(only)
        {
            return Ok(only.clone());
        }
        let mut parts = positional.to_vec();
        if !keywords.is_empty() {
            parts.push(self.mark.clone());
        }
        for (name, value) in keywords {
            parts.push(PyString::intern(py, name).into_any());
            parts.push(value.clone());
        }
        if self.typed {
            parts.extend(positional.iter().map(|value| value.get_type().into_any()));
            parts.extend(keywords.iter().map(|(_, value)| value.get_type().into_any()));
        }
        Ok(PyTuple::new(py, parts)?.into_any())
    }

    /// What the cache has for a key, and how many others go before it.
    ///
    /// # Errors
    /// Those of the key's hash.
    pub fn look_up(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, usize)>> {
        let Some(found) = self.kept.get_item(key)? else { return Ok(None) };
        if self.limit.is_none() {
            return Ok(Some((found, 0)));
        }
        let own = self.kept.iter().find(|(_, link)| link.is(&found)).map(|(own, _)| own);
        let place = own.and_then(|own| self.order.iter().position(|(key, _)| key.is(&own)));
        Ok(place.map(|place| (self.order[place].1.clone(), place)))
    }
}

/// Has a `functools._lru_cache_wrapper` call another function; gives the one before.
///
/// # Errors
/// The interpreter's own; `RuntimeError` where it is laid out otherwise.
pub fn exchange_function<'py>(wrapper: &Bound<'py, PyAny>, with: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Some(fields) = fields(wrapper.py())? else {
        return Err(pyo3::exceptions::PyRuntimeError::new_err("slotrt: the layout of functools._lru_cache_wrapper"));
    };
    let base = wrapper.as_ptr().cast::<u8>();
    // SAFETY: the field of a live object owns a reference, which the caller gets; the field gets another one.
    unsafe {
        let before: *mut ffi::PyObject = read(base, fields.func);
        write(base, fields.func, with.into_ptr());
        Bound::from_owned_ptr_or_err(wrapper.py(), before)
    }
}
