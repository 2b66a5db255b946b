//! What the cycle collector would end, told without ending it. CPython: `Python/gc.c`, `deduce_unreachable`.
use super::referents;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyList;
use rustc_hash::FxHashMap;

/// Whether the collector would end an object of this kind now, or one that ends with those.
///
/// # Errors
/// What `gc.get_objects()` raises.
pub fn is_pending(py: Python<'_>, kind: impl Fn(&Bound<'_, PyAny>) -> bool) -> PyResult<bool> {
    let gc = crate::ffi::modules::import(py, "gc")?;
    let tracked = gc.call_method0(name!("get_objects"))?.cast_into::<PyList>()?;
    let objects: FxHashMap<usize, Bound<'_, PyAny>> =
        tracked.iter().map(|object| (object.as_ptr() as usize, object)).collect();
    // References from elsewhere than tracked objects: neither from the list nor from the map.
    let mut others: FxHashMap<usize, isize> =
        objects.iter().map(|(address, object)| (*address, referents::count(object) - 2)).collect();
    let mut list = Vec::new();
    for object in objects.values() {
        list.clear();
        list = referents::show(object, usize::MAX, list);
        for held in &list {
            if let Some(count) = others.get_mut(&(*held as usize)) {
                *count -= 1;
            }
        }
    }
    let mut reached: Vec<usize> = others.iter().filter(|(_, count)| **count > 0).map(|(address, _)| *address).collect();
    for address in &reached {
        others.remove(address);
    }
    while let Some(address) = reached.pop() {
        let Some(object) = objects.get(&address) else { continue };
        list.clear();
        list = referents::show(object, usize::MAX, list);
        reached.extend(list.iter().map(|held| *held as usize).filter(|held| others.remove(held).is_some()));
    }
    let ends = |object: &Bound<'_, PyAny>| {
        let held = referents::direct(object, usize::MAX);
        let mut untracked = held.iter().filter(|held| !objects.contains_key(&(held.as_ptr() as usize)));
        kind(object) || untracked.any(&kind)
    };
    Ok(others.keys().filter_map(|address| objects.get(address)).any(ends))
}
