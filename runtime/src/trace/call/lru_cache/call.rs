//! Calls of functions with a cache from outside. A cached result is used under a guard; other calls are traced, and compiled code calls again to
//! fill the cache.
//!
//! CPython: `Modules/_functoolsmodule.c`, `infinite_lru_cache_wrapper`, `bounded_lru_cache_wrapper`.
use crate::trace::state::lru_caches::CacheUse;

use crate::ffi::lru_cache::{LruCache, exchange_function};
use crate::ffi::types;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::call::lru_cache::key::{CachedObject, Key};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Mutex, PoisonError, RwLock};

/// What the trace relied on.
#[derive(Debug, Default)]
struct CacheAnswers {
    known: Vec<(Key, CachedObject)>,
    unknown: Vec<Key>,
    added: usize,
}

impl CacheAnswers {
    /// Whether the cache answers so, and drops nothing meanwhile that it was asked for.
    fn hold(&self, cache: &LruCache<'_>) -> PyResult<bool> {
        let py = cache.mark.py();
        let dropped = match cache.limit {
            Some(limit) if self.added > limit => return Ok(false),
            Some(limit) if cache.kept.len() + self.added > limit => self.added,
            _ => 0,
        };
        for key in &self.unknown {
            let Some(key) = key.again(cache)? else { return Ok(false) };
            if cache.look_up(&key)?.is_some() {
                return Ok(false);
            }
        }
        for (key, result) in &self.known {
            let (Some(key), Some(result)) = (key.again(cache)?, result.object(py)?) else { return Ok(false) };
            let found = cache.look_up(&key)?;
            if !found.is_some_and(|(found, before)| found.is(&result) && before >= dropped) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The guard. Keys that it looks up may run code, and other threads: threads that read do not wait for each other, and only a trace writes.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug, Default)]
struct CacheGuard(RwLock<CacheAnswers>);

#[pymethods]
impl CacheGuard {
    /// Whether the cache of the function answers as it did.
    fn __call__(&self, wrapper: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(cache) = LruCache::of(wrapper)? else { return Ok(false) };
        self.0.read().unwrap_or_else(PoisonError::into_inner).hold(&cache)
    }
}

impl CacheGuard {
    /// Whether nothing is dropped meanwhile that the trace asked for; answers that were right stay so while it runs.
    fn keeps_all(&self, cache: &LruCache<'_>) -> PyResult<bool> {
        let answers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let room = cache.limit.is_none_or(|limit| cache.kept.len() + answers.added <= limit);
        if room { Ok(true) } else { answers.hold(cache) }
    }

    fn note(&self, change: impl FnOnce(&mut CacheAnswers)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What the function gives while a call is made again, once.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct ResultStandIn {
    wrapper: Py<PyAny>,
    function: Py<PyAny>,
    result: Option<Py<PyAny>>,
}

#[pymethods]
impl ResultStandIn {
    #[pyo3(signature = (*_args, **_names))]
    fn __call__(
        &self,
        py: Python<'_>,
        _args: &Bound<'_, PyTuple>,
        _names: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        exchange_function(self.wrapper.bind(py), self.function.bind(py).clone())?;
        let result = self.result.as_ref().map(|result| result.clone_ref(py));
        result.ok_or_else(|| PyRuntimeError::new_err("the traced call raised"))
    }
}

/// Makes a call again: the cache counts it and keeps its result. The function comes first among the arguments: nothing here keeps it.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct ReplayedCall {
    names: Vec<String>,
    how: CallEnd,
    /// An entry that nobody can reach: a new object stands for its key.
    lost: Option<Py<UnreachableKey>>,
}

/// How the traced call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallEnd {
    Found,
    Computed,
    Raised,
}

/// A key that nobody outside the trace can have: one of its objects was a class that ends with it.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug, Default)]
struct UnreachableKey(Mutex<Option<Py<PyAny>>>);

impl UnreachableKey {
    /// The object that stands for the key in this run of the compiled code.
    fn key<'py>(&self, py: Python<'py>, how: CallEnd) -> PyResult<Bound<'py, PyAny>> {
        let mut key = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match key.as_ref() {
            Some(key) if how == CallEnd::Found => Ok(key.bind(py).clone()),
            _ => {
                let new = py.get_type::<PyAny>().call0()?;
                *key = Some(new.clone().unbind());
                Ok(new)
            }
        }
    }
}

#[pymethods]
impl ReplayedCall {
    #[pyo3(signature = (*given))]
    fn __call__(&self, given: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = given.py();
        let mut given: Vec<_> = given.iter().collect();
        let wrapper = &given.remove(0);
        let result = (self.how == CallEnd::Computed).then(|| given.remove(0)).map(Bound::unbind);
        if let Some(lost) = &self.lost {
            given = vec![lost.get().key(py, self.how)?];
        }
        let names = PyDict::new(py);
        for (name, value) in self.names.iter().zip(given.split_off(given.len() - self.names.len())) {
            names.set_item(name, value)?;
        }
        let given = PyTuple::new(py, given)?;
        if self.how == CallEnd::Found {
            return wrapper.call(given, Some(&names)).map(drop);
        }
        let function = exchange_function(wrapper, py.None().into_bound(py))?;
        let giver = ResultStandIn { wrapper: wrapper.clone().unbind(), function: function.clone().unbind(), result };
        // Up to 3.11, C does not hold what it calls.
        let giver = Bound::new(py, giver)?.into_any();
        exchange_function(wrapper, giver.clone())?;
        let called = wrapper.call(given, Some(&names));
        exchange_function(wrapper, function)?;
        drop(giver);
        match called {
            Err(_) if self.how == CallEnd::Raised => Ok(()),
            other => other.map(drop),
        }
    }
}

impl<'py> Tracer<'py> {
    /// Calls a function with a cache.
    pub(crate) fn call_cached(
        &mut self,
        callable: ValueId,
        wrapper: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<ValueId> {
        const KIND: &str = "call of a function with a cache";
        self.same_object(callable);
        let cache = LruCache::of(wrapper).or_else(|error| internal(error.to_string()))?;
        let Some(cache) = cache else { return unsupported(KIND, "its layout is another") };
        if let Some(constant) = self.call_assumed_constant(&cache.function, wrapper, args)? {
            return Ok(constant);
        }
        let index = self.remembered(callable, wrapper)?;
        let function = self.absorb_static(cache.function.clone());
        if cache.limit == Some(0) {
            return self.compute(function, callable, args, None).map(|(result, _)| result);
        }
        let Some(parts) = self.parts(args)? else {
            let classes: Vec<_> = args.positional.iter().map(|value| self.class_of(*value)).collect::<Traced<_>>()?;
            let names: Vec<_> = classes.iter().map(types::name).collect();
            let names = names.join(", ");
            return unsupported(
                KIND,
                format!("an argument has a hash of its own, or none but the caller keeps it: {names}"),
            );
        };
        let lost = parts.iter().any(|part| part.lost);
        let new = lost || parts.iter().any(|part| part.new);
        let objects: Vec<_> = parts.into_iter().map(|part| part.object).collect();
        let (positional, named) = objects.split_at(args.positional.len());
        let named: Vec<_> = args.keywords.iter().map(|(name, _)| name.clone()).zip(named.iter().cloned()).collect();
        let key = cache.key(positional, &named).and_then(|key| key.hash().map(|_| key));
        let key = key.or_else(|error| self.raise_error(error))?;
        let asked = || Key::new(positional, &named);
        let added = self.state.caches[index].added.bind(self.py).clone();
        let relied = self.state.caches[index].relied.bind(self.py).clone();
        let relied = relied.cast_into::<CacheGuard>().or_else(|error| internal(error.to_string()))?;
        let known = self.with_callbacks(|| added.get_item(&key)).or_else(|error| self.raise_error(error))?;
        if let Some(known) = known {
            let (lost, number) =
                known.extract::<(Option<Py<UnreachableKey>>, u32)>().or_else(|error| internal(error.to_string()))?;
            self.call_again(callable, args, CallEnd::Found, lost, None);
            return Ok(ValueId(number));
        }
        let found = self.with_callbacks(|| cache.look_up(&key)).or_else(|error| self.raise_error(error))?;
        let result = match found {
            Some((found, _)) => {
                let Some(result) = CachedObject::result(&found) else {
                    return unsupported(KIND, "code runs at the end of what it knows");
                };
                let answer = (asked(), result);
                relied.get().note(|answers| answers.known.push(answer));
                self.call_again(callable, args, CallEnd::Found, None, None);
                self.absorb_static(found)
            }
            None => {
                if !new {
                    let asked = asked();
                    relied.get().note(|answers| answers.unknown.push(asked));
                }
                let lost = match lost {
                    true => Some(
                        Bound::new(self.py, UnreachableKey::default()).or_else(|error| internal(error.to_string()))?,
                    ),
                    false => None,
                };
                let lost = lost.map(Bound::unbind);
                let (result, lost) = self.compute(function, callable, args, lost)?;
                let meanwhile =
                    self.with_callbacks(|| added.contains(&key)).or_else(|error| self.raise_error(error))?;
                if cache.limit.is_none() || !meanwhile {
                    let entry = (lost, result.0);
                    added.set_item(&key, entry).or_else(|error| self.raise_error(error))?;
                    relied.get().note(|answers| answers.added += usize::from(!meanwhile));
                }
                result
            }
        };
        match relied.get().keeps_all(&cache) {
            Ok(true) => Ok(result),
            Ok(false) => unsupported(KIND, "the cache is full"),
            Err(error) => internal(error.to_string()),
        }
    }

    /// Goes through the function; the cache learns its result when compiled code makes the call again.
    fn compute(
        &mut self,
        function: ValueId,
        callable: ValueId,
        args: &Arguments,
        lost: Option<Py<UnreachableKey>>,
    ) -> Traced<(ValueId, Option<Py<UnreachableKey>>)> {
        let again = lost.as_ref().map(|lost| lost.clone_ref(self.py));
        match self.call_deeper(function, args.clone()) {
            Ok(result) => {
                self.call_again(callable, args, CallEnd::Computed, again, Some(result));
                Ok((result, lost))
            }
            Err(Unwind::Raised(error)) => {
                self.call_again(callable, args, CallEnd::Raised, again, None);
                Err(Unwind::Raised(error))
            }
            Err(other) => Err(other),
        }
    }

    fn call_again(
        &mut self,
        wrapper: ValueId,
        args: &Arguments,
        how: CallEnd,
        lost: Option<Py<UnreachableKey>>,
        result: Option<ValueId>,
    ) {
        let mut given = vec![wrapper];
        match (&lost, result) {
            (Some(_), Some(_)) => given.push(self.none()),
            (_, Some(result)) => given.push(result),
            (_, None) => {}
        }
        let mut names = Vec::new();
        if lost.is_none() {
            given.extend(&args.positional);
            given.extend(args.keywords.iter().map(|(_, value)| *value));
            names.extend(args.keywords.iter().map(|(name, _)| name.clone()));
        }
        let again = ReplayedCall { names, how, lost };
        if let Ok(again) = Bound::new(self.py, again) {
            let callable = self.constant(again.into_any());
            self.state.effects.push(Effect::Call { callable, args: given });
        }
    }

    /// What the trace knows of a cache, by its place.
    fn remembered(&mut self, callable: ValueId, wrapper: &Bound<'py, PyAny>) -> Traced<usize> {
        if let Some(index) = self.state.caches.iter().position(|known| known.wrapper == callable) {
            return Ok(index);
        }
        let relied = Bound::new(self.py, CacheGuard::default()).or_else(|error| internal(error.to_string()))?;
        let check = Check::Call(relied.clone().into_any().unbind());
        let source = self.source(callable).unwrap_or_else(|| Source::constant(wrapper));
        self.guard(source, check, "the trace asked the cache of the function");
        let added = PyDict::new(self.py).unbind();
        self.state.caches.push(CacheUse { wrapper: callable, added, relied: relied.into_any().unbind() });
        Ok(self.state.caches.len() - 1)
    }
}
