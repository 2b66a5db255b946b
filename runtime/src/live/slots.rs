//! The C functions in slots: live pointers named by the generated tables.
use super::function::Function;
use super::identity::id;
use crate::ffi::types;
use crate::semantics::slotdefs::SLOTDEFS;
use crate::semantics::{self, Filled};
use generated::capi::FunctionId;
use generated::slots::Slot;
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Mutex;

/// What is known of the slot pointers of this interpreter.
#[derive(Default)]
struct KnownFunctions {
    ids: FxHashMap<(usize, &'static str), FunctionId>,
    /// C types whose rows were read.
    types: FxHashSet<usize>,
}

static KNOWN: PyOnceLock<Mutex<KnownFunctions>> = PyOnceLock::new();

/// The `slot_*` functions, read from a class that defines every special method.
fn probe(py: Python<'_>) -> PyResult<Mutex<KnownFunctions>> {
    let methods = PyDict::new(py);
    let function = py.eval(c"lambda *args: NotImplemented", None, None)?;
    for row in SLOTDEFS {
        let own = ["__new__", "__del__", "__init__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__"];
        if !own.contains(&row.name) {
            methods.set_item(row.name, &function)?;
        }
    }
    let mut known = KnownFunctions::default();
    note_class(py, methods, &mut known)?;
    // Two functions stand for attribute access: with `__getattr__`, and without.
    for name in ["__getattribute__", "__getattr__"] {
        let methods = PyDict::new(py);
        methods.set_item(name, &function)?;
        note_class(py, methods, &mut known)?;
    }
    let methods = PyDict::new(py);
    methods.set_item("__init__", &function)?;
    methods.set_item("__setattr__", &function)?;
    methods.set_item("__del__", &function)?;
    methods.set_item("__new__", &function)?;
    note_class(py, methods, &mut known)?;
    // A class without `__next__` has a function there all the same.
    let plain = py.get_type::<PyType>().call1(("slots", (), PyDict::new(py)))?.cast_into::<PyType>()?;
    if let (Some(pointer), Some(id)) =
        (types::slot(&plain, Slot::tp_iternext), id("_PyObject_NextNotImplemented", "Objects/object.c"))
    {
        known.ids.insert((pointer, Slot::tp_iternext.name()), id);
    }
    Ok(Mutex::new(known))
}

fn note_class(py: Python<'_>, methods: Bound<'_, PyDict>, known: &mut KnownFunctions) -> PyResult<()> {
    let defined: Vec<String> = methods.keys().extract()?;
    let class = py.get_type::<PyType>().call1(("slots", (), methods))?.cast_into::<PyType>()?;
    for row in SLOTDEFS.iter().filter(|row| defined.iter().any(|name| name == row.name)) {
        let found = row.function.and_then(|function| id(function, "Objects/typeobject.c"));
        if let (Some(id), Some(pointer)) = (found, types::slot(&class, row.slot)) {
            known.ids.entry((pointer, row.slot.name())).or_insert(id);
        }
    }
    Ok(())
}

/// Notes the slot functions of a C type.
fn note_type(class: &Bound<'_, PyType>, known: &mut KnownFunctions) {
    if !known.types.insert(class.as_ptr() as usize) {
        return;
    }
    for Filled { slot, pointer, function, file } in semantics::filled(class) {
        if let Some(id) = id(function, file) {
            known.ids.entry((pointer, slot.name())).or_insert(id);
        }
    }
}

/// What a slot of a live type holds.
pub(super) fn function(class: &Bound<'_, PyType>, slot: Slot) -> PyResult<Option<Function>> {
    let Some(pointer) = types::slot(class, slot) else { return Ok(None) };
    let known = KNOWN.get_or_try_init(class.py(), || probe(class.py()))?;
    let mut known = known.lock().map_err(|_| PySystemError::new_err("the table of slot functions is poisoned"))?;
    let key = (pointer, slot.name());
    if !known.ids.contains_key(&key)
        && let Some(mro) = types::mro(class)
    {
        for base in mro.iter().filter_map(|base| base.cast_into::<PyType>().ok()) {
            note_type(&base, &mut known);
        }
    }
    Ok(Some(Function { pointer, id: known.ids.get(&key).copied() }))
}
