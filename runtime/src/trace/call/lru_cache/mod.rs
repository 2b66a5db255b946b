//! Functions with a cache (`functools.lru_cache`) from outside the trace.
//!
//! In: a call of one. Out: the cached result under a guard, or the traced call and a side effect that fills the cache.
//! Must not know: how the wrapped function is traced.
pub(crate) mod call;
pub(crate) mod key;
pub(crate) mod parts;
