//! The identity of the `slot_*` functions, read from a class that defines every special method.
use super::Function;
use crate::ffi::types;
use generated::capi::FunctionId;
use generated::slots::Slot;
use generated::v3_13::slotdefs::SLOTDEFS;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rustc_hash::FxHashMap;

type Ids = FxHashMap<(usize, &'static str), FunctionId>;

/// Identities of slot pointers in this interpreter.
static IDS: PyOnceLock<Ids> = PyOnceLock::new();

fn probe(py: Python<'_>) -> PyResult<Ids> {
    let methods = PyDict::new(py);
    let function = py.eval(c"lambda *args: NotImplemented", None, None)?;
    for row in SLOTDEFS {
        let own = ["__new__", "__del__", "__init__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__"];
        if !own.contains(&row.name) {
            methods.set_item(row.name, &function)?;
        }
    }
    let class = py.get_type::<PyType>().call1(("slots", (), methods))?.cast_into::<PyType>()?;
    let names: FxHashMap<&str, FunctionId> = FunctionId::ALL.iter().map(|id| (id.name(), *id)).collect();
    let mut ids = Ids::default();
    for row in SLOTDEFS {
        let id = row.function.and_then(|function| names.get(function));
        if let (Some(id), Some(pointer)) = (id, types::slot(&class, row.slot)) {
            ids.insert((pointer, row.slot.name()), *id);
        }
    }
    Ok(ids)
}

/// What a slot of a live type holds.
pub(super) fn function(class: &Bound<'_, PyType>, slot: Slot) -> PyResult<Option<Function>> {
    let Some(pointer) = types::slot(class, slot) else { return Ok(None) };
    let ids = IDS.get_or_try_init(class.py(), || probe(class.py()))?;
    Ok(Some(Function { pointer, id: ids.get(&(pointer, slot.name())).copied() }))
}
