//! Marks that programs set on tensors: which sizes are symbolic, and which never are. They are those of `torch._dynamo`.
use crate::domain::SizeMark;
use crate::ffi::inspect;
use crate::names::interned;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Attributes that hold the dimensions marked so.
const DYNAMIC: [&str; 2] = ["_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices"];
const STATIC: &str = "_dynamo_static_indices";

/// Holds objects with `dim`, `min` and `max`.
const RANGES: &str = "_dynamo_dynamic_range";

/// The marks of a tensor, by dimension.
pub(in crate::domain::torch) fn of(tensor: &Bound<'_, PyAny>) -> Vec<(usize, SizeMark)> {
    let own = inspect::own_dict(tensor);
    let Ok(own) = own.cast::<PyDict>() else { return Vec::new() };
    if own.is_empty() {
        return Vec::new();
    }
    let found = |name: &str| own.get_item(interned(own.py(), name)).ok().flatten();
    let dims = |name: &str| -> Vec<usize> {
        let items = found(name).and_then(|items| items.try_iter().ok());
        items.into_iter().flatten().filter_map(|item| item.ok()?.extract().ok()).collect()
    };
    let mut marks: Vec<(usize, SizeMark)> = Vec::new();
    for dim in DYNAMIC.into_iter().flat_map(dims) {
        marks.push((dim, SizeMark::Symbolic { least: None, most: None }));
    }
    for range in found(RANGES).and_then(|ranges| ranges.try_iter().ok()).into_iter().flatten().flatten() {
        let part = |name: &str| range.getattr(name).ok();
        let Some(Ok(dim)) = part("dim").map(|dim| dim.extract::<usize>()) else { continue };
        let bound = |name: &str| part(name).and_then(|bound| bound.extract::<i64>().ok());
        for (_, mark) in marks.iter_mut().filter(|(marked, _)| *marked == dim) {
            *mark = SizeMark::Symbolic { least: bound("min"), most: bound("max") };
        }
    }
    marks.extend(dims(STATIC).into_iter().map(|dim| (dim, SizeMark::Constant)));
    marks
}
