//! Keys and results that guards remember of a cache, without keeping the program's objects alive.
use crate::ffi::held::Held;
use crate::ffi::lru_cache::LruCache;
use crate::trace::value::finalisable::leads_to_code;
use crate::trace::value::kinds::is_scalar;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// An object that C compares with another one.
#[derive(Debug)]
pub(crate) enum CachedObject {
    One(Held),
    Tuple(Vec<CachedObject>),
}

impl CachedObject {
    /// An argument: where nothing can refer to it weakly, it is known to hold nothing whose end runs code.
    fn argument(object: &Bound<'_, PyAny>) -> Self {
        match object.cast_exact::<PyTuple>() {
            Ok(tuple) => Self::Tuple(tuple.iter().map(|item| Self::argument(&item)).collect()),
            Err(_) => Self::One(Held::of(object)),
        }
    }

    /// What the cache answered; `None` where code runs at its end and nothing can refer to it weakly.
    pub fn result(object: &Bound<'_, PyAny>) -> Option<Self> {
        if object.is_exact_instance_of::<PyTuple>() || is_scalar(object) {
            return (!leads_to_code(object)).then(|| Self::One(Held::Strongly(object.clone().unbind())));
        }
        match Self::argument(object) {
            Self::One(Held::Strongly(_)) if leads_to_code(object) => None,
            held => Some(held),
        }
    }

    /// The object, unless it has ended.
    pub fn object<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Self::One(object) => Ok(object.object_now(py)),
            Self::Tuple(items) => {
                let items = items.iter().map(|item| item.object(py)).collect::<PyResult<Option<Vec<_>>>>()?;
                items.map(|items| PyTuple::new(py, items).map(Bound::into_any)).transpose()
            }
        }
    }
}

/// The arguments that the cache was asked for.
#[derive(Debug)]
pub(crate) struct Key {
    positional: Vec<CachedObject>,
    named: Vec<(String, CachedObject)>,
}

impl Key {
    pub fn new<'py>(positional: &[Bound<'py, PyAny>], named: &[(String, Bound<'py, PyAny>)]) -> Self {
        Self {
            positional: positional.iter().map(CachedObject::argument).collect(),
            named: named.iter().map(|(name, value)| (name.clone(), CachedObject::argument(value))).collect(),
        }
    }

    /// The key of a call with these arguments, unless one of them has ended.
    pub fn again<'py>(&self, cache: &LruCache<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = cache.mark.py();
        let positional = self.positional.iter().map(|held| held.object(py)).collect::<PyResult<Option<Vec<_>>>>()?;
        let named = self.named.iter().map(|(name, held)| Ok(held.object(py)?.map(|value| (name.clone(), value))));
        let named = named.collect::<PyResult<Option<Vec<_>>>>()?;
        match (positional, named) {
            (Some(positional), Some(named)) => cache.key(&positional, &named).map(Some),
            _ => Ok(None),
        }
    }
}
