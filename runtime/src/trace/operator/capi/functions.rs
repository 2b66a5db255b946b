//! Names C functions found in slots: the generated tables name live pointers.
use crate::ffi::types;
use crate::semantics::slotdefs::SLOTDEFS;
use crate::semantics::{self, Filled};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use generated::capi::FunctionId;
use generated::slots::{Slot, Suite};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock};

/// A C function found in a slot.
#[derive(Clone, Debug)]
pub struct SlotFunction {
    /// Its address; 0 for a function named by the generated code.
    pub(crate) pointer: usize,
    pub(crate) slot: Option<Slot>,
    /// C name, or what is known of it.
    pub(crate) name: &'static str,
    pub(crate) id: Option<FunctionId>,
}

/// Functions of slots whose generated bodies the tracer runs for every object; `slot_*` is each that begins so. The others that have a
/// body are C's own, on objects of the trace and proxies: their bodies take over for objects that C cannot have. The audit reads this.
const RUN_BY_BODY: &[&str] = &["slot_*", "object_richcompare", "PyObject_HashNotImplemented", "PyObject_SelfIter"];

impl SlotFunction {
    /// The generated body that the tracer runs in the place of the C function.
    pub(super) fn body(&self) -> Option<FunctionId> {
        let runs = |row: &&str| row.strip_suffix('*').map_or(*row == self.name, |start| self.name.starts_with(start));
        self.id.filter(|_| RUN_BY_BODY.iter().any(runs))
    }
}

impl PartialEq for SlotFunction {
    fn eq(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.pointer == other.pointer,
        }
    }
}

/// Function by C name; static functions of different files that share a name are told apart by file elsewhere.
fn id_of(name: &str) -> Option<FunctionId> {
    static IDS: OnceLock<FxHashMap<&'static str, FunctionId>> = OnceLock::new();
    IDS.get_or_init(|| FunctionId::ALL.iter().map(|id| (id.name(), *id)).collect()).get(name).copied()
}

/// Pointers of the `slot_*` functions, read from a class that defines every special method.
fn wrappers(py: Python<'_>) -> PyResult<Namespace> {
    let methods = PyDict::new(py);
    for definition in SLOTDEFS {
        if !matches!(
            definition.name,
            "__new__" | "__del__" | "__init__" | "__getattribute__" | "__getattr__" | "__setattr__" | "__delattr__"
        ) {
            methods.set_item(definition.name, py.None())?;
        }
    }
    // A plain function, so that the type's slot is the generic wrapper.
    let function = py.eval(c"lambda *args: NotImplemented", None, None)?;
    for key in methods.keys().iter() {
        methods.set_item(key, &function)?;
    }
    let class = py.get_type::<PyType>().call1(("slots", (), methods))?.cast_into::<PyType>()?;
    let mut found = FxHashMap::default();
    // What a class without `__next__` has in that slot. CPython: `slotdefs`, `update_one_slot`.
    let plain = py.get_type::<PyType>().call1(("plain", (), PyDict::new(py)))?.cast_into::<PyType>()?;
    let next = Slot::tp_iternext;
    if let Some(pointer) = types::slot_pointer(&plain, next.suite(), next.offset()) {
        found.insert((pointer, next), named("_PyObject_NextNotImplemented"));
    }
    for definition in SLOTDEFS {
        let (slot, Some(function)) = (definition.slot, definition.function) else { continue };
        if let Some(pointer) = types::slot_pointer(&class, slot.suite(), slot.offset()) {
            found.insert((pointer, slot), named(function));
        }
    }
    Ok(found)
}

/// Names of functions, and what they are in the generated code.
type Namespace = FxHashMap<(usize, Slot), (&'static str, Option<FunctionId>)>;

fn named(name: &'static str) -> (&'static str, Option<FunctionId>) {
    (name, id_of(name))
}

/// Names of slot pointers, filled as types are met. No Python code runs while they are locked: another thread could go on then, and wait.
fn names(py: Python<'_>) -> PyResult<&'static Mutex<Namespace>> {
    static NAMES: PyOnceLock<Mutex<Namespace>> = PyOnceLock::new();
    NAMES.get_or_try_init(py, || wrappers(py).map(Mutex::new))
}

/// Notes the names of a C type's slot functions, from the type's row in the generated table.
fn note_type(class: &Bound<'_, PyType>, names: &mut Namespace) {
    for Filled { slot, pointer, function, .. } in semantics::filled(class) {
        names.entry((pointer, slot)).or_insert_with(|| named(function));
    }
}

impl<'py> Tracer<'py> {
    /// The function that a slot of a live type holds.
    pub(crate) fn slot_function(&mut self, class: &Bound<'py, PyType>, slot: Slot) -> Traced<Option<SlotFunction>> {
        self.rely_on_slots(class);
        let Some(pointer) = types::slot_pointer(class, slot.suite(), slot.offset()) else { return Ok(None) };
        let key = (pointer, slot);
        let names = names(self.py).or_else(|error| internal(error.to_string()))?;
        let Ok(mut names) = names.lock() else { return internal("the table of slot functions is poisoned") };
        if !names.contains_key(&key)
            && let Some(mro) = types::mro(class)
        {
            for base in mro.iter().filter_map(|base| base.cast_into::<PyType>().ok()) {
                note_type(&base, &mut names);
            }
        }
        let (name, id) = names.get(&key).copied().unwrap_or_else(|| named(slot.name()));
        Ok(Some(SlotFunction { pointer, slot: Some(slot), name, id }))
    }

    pub(crate) fn has_suite_of(&self, class: &Bound<'py, PyType>, suite: Suite) -> bool {
        types::suite(class, suite).is_some()
    }
}
