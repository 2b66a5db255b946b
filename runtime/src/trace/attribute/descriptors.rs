//! Questions about descriptors and classes that C answers by their slots.
use crate::ffi::{callee, types};
use generated::slots::Slot;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

/// C descriptors that give what they find in the object, without a memory of their own.
pub(crate) const DESCRIPTORS: [&str; 2] = ["collections._tuplegetter", "_collections._tuplegetter"];

/// The last part of `tp_name` for heap types, all of it for static ones: what `%.100s` of `tp_name` prints.
pub(crate) fn short_name(class: &Bound<'_, PyType>) -> String {
    types::name(class)
}

pub(crate) fn own_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let allowed = own_dict_allowed(&object.get_type()) && !object.is_instance_of::<PyType>();
    allowed.then(|| types::generic_dict(object)).flatten()
}

/// The same, if the object has one yet.
pub(crate) fn held_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let allowed = own_dict_allowed(&object.get_type()) && !object.is_instance_of::<PyType>();
    allowed.then(|| types::held_dict(object)).flatten()
}

pub(crate) fn own_dict_allowed(class: &Bound<'_, PyType>) -> bool {
    types::dictoffset(class) != 0
}

/// Whether the class of the descriptor has `tp_descr_get`.
pub(crate) fn has_get(found: &Bound<'_, PyAny>) -> bool {
    types::lookup(&found.get_type(), intern!(found.py(), "__get__")).is_some()
}

/// Whether the class of the descriptor has `tp_descr_set`.
pub(crate) fn is_data_descriptor(found: &Bound<'_, PyAny>) -> bool {
    let class = found.get_type();
    [intern!(found.py(), "__set__"), intern!(found.py(), "__delete__")]
        .iter()
        .any(|name| types::lookup(&class, name).is_some())
}

/// Whether `tp_getattro` of the class is `PyObject_GenericGetAttr`.
pub(crate) fn has_generic_getattr(class: &Bound<'_, PyType>) -> bool {
    let slot =
        |class: &Bound<'_, PyType>| types::slot_pointer(class, Slot::tp_getattro.suite(), Slot::tp_getattro.offset());
    slot(class) == slot(&class.py().get_type::<PyAny>())
}

/// Whether `tp_setattro` of the class is `PyObject_GenericSetAttr`.
pub(crate) fn has_generic_setattr(class: &Bound<'_, PyType>) -> bool {
    let slot =
        |class: &Bound<'_, PyType>| types::slot_pointer(class, Slot::tp_setattro.suite(), Slot::tp_setattro.offset());
    slot(class) == slot(&class.py().get_type::<PyAny>())
}

/// Whether `__dict__` of an instance holds its attributes and nothing else reads or sets them in a way of its own.
pub(crate) fn has_plain_dict(class: &Bound<'_, PyType>) -> bool {
    !types::is_c_type(class) || has_generic_getattr(class) && has_generic_setattr(class)
}

/// The class of C that a slot wrapper is of, if it is one of that name.
pub(crate) fn owner_of<'py>(found: &Bound<'py, PyAny>, method: &str) -> Option<Bound<'py, PyType>> {
    let is_it = types::is_c_class(&found.get_type(), "wrapper_descriptor") && callee::name_of(found) == method;
    if is_it { callee::owner_of(found) } else { None }
}

/// Whether this `__getattribute__` wraps `PyObject_GenericGetAttr` of a C class.
pub(crate) fn is_generic_wrapper(found: &Bound<'_, PyAny>) -> bool {
    owner_of(found, "__getattribute__").is_some_and(|owner| has_generic_getattr(&owner))
}

/// Whether this `__getattribute__` is that of modules.
pub(crate) fn is_of_modules(found: &Bound<'_, PyAny>) -> bool {
    owner_of(found, "__getattribute__").is_some_and(|owner| types::is_c_class(&owner, "module"))
}

/// Whether this `__setattr__` or `__delattr__` wraps `PyObject_GenericSetAttr` of a C class.
pub(crate) fn is_generic_setter(found: &Bound<'_, PyAny>, method: &str) -> bool {
    owner_of(found, method).is_some_and(|owner| has_generic_setattr(&owner))
}
