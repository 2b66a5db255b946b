//! What the cycle collector would end, told without ending it. CPython: `Python/gc.c`, `deduce_unreachable`.
use super::referents;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyList;
use rustc_hash::FxHashMap;

/// An object of this kind that the collector would end now, or that would end with one that it ends.
///
/// # Errors
/// What `gc.get_objects()` raises.
pub fn pending<'py>(py: Python<'py>, kind: impl Fn(&Bound<'py, PyAny>) -> bool) -> PyResult<Option<Bound<'py, PyAny>>> {
    let gc = crate::ffi::modules::import(py, "gc")?;
    let tracked = gc.call_method0(name!("get_objects"))?.cast_into::<PyList>()?;
    let objects: FxHashMap<usize, Bound<'py, PyAny>> =
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
    let ending = |object: &Bound<'py, PyAny>| {
        if kind(object) {
            return Some(object.clone());
        }
        let held = referents::direct(object, usize::MAX).into_iter();
        let mut untracked = held.filter(|held| !objects.contains_key(&(held.as_ptr() as usize)));
        untracked.find(&kind)
    };
    Ok(others.keys().filter_map(|address| objects.get(address)).find_map(ending))
}
