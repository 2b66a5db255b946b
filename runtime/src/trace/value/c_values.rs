//! Immutable values of C classes (dates, time zones, decimal numbers, generic aliases, unions): their slots and `__reduce__`, or `copyreg`, say all of them.
use crate::ffi::types::{self, is_c_type, slot};
use crate::ffi::{inspect, modules};
use crate::names::interned;
use crate::trace::value::kinds::is_scalar;
use generated::slots::Slot;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCFunction, PyDict, PyTuple, PyType};

/// Values within values that are looked into.
const DEPTH: usize = 4;

/// Whether C compares and hashes instances of the class by value, and the class says what they are made of: what is hashed by value does not
/// change.
fn compares_by_value(class: &Bound<'_, PyType>) -> bool {
    let plain = class.py().get_type::<PyAny>();
    let own = |which| slot(class, which).is_some_and(|found| slot(&plain, which) != Some(found));
    let reduces = || {
        let name = intern!(class.py(), "__reduce__");
        let (found, inherited) = (types::lookup(class, name), types::lookup(&plain, name));
        found.zip(inherited).is_some_and(|(found, inherited)| !found.is(&inherited))
    };
    let hashes = || types::lookup(class, intern!(class.py(), "__hash__")).is_some_and(|hash| !hash.is_none());
    let says = || reduces() || registered(class).is_some();
    is_c_type(class) && hashes() && own(Slot::tp_hash) && own(Slot::tp_richcompare) && says()
}

/// What `copyreg` itself has registered for a class of C.
fn registered<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    let copyreg = modules::imported(intern!(class.py(), "copyreg"))?;
    let table = inspect::own_attribute(&copyreg, intern!(class.py(), "dispatch_table"))?;
    let function = table.cast_into_exact::<PyDict>().ok()?.get_item(class).ok()??;
    let of_copyreg = inspect::own_attribute(&copyreg, intern!(class.py(), "__dict__"))?;
    inspect::globals(&function).is_some_and(|globals| globals.is(&of_copyreg)).then_some(function)
}

/// What an object of C is made of, as it says itself: a callable and its arguments. `None` if that does not say all.
fn reduced<'py>(object: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let class = object.get_type();
    let method = registered(&class).or_else(|| types::lookup(&class, intern!(object.py(), "__reduce__")))?;
    let said = method.call1((object,)).ok()?.cast_into::<PyTuple>().ok()?;
    let stateless = said.iter().skip(2).all(|rest| rest.is_none());
    stateless.then_some(())?;
    Some((said.get_item(0).ok()?, said.get_item(1).ok()?.cast_into().ok()?))
}

/// Whether nothing changes the object and all that it holds is known with it: C hashes it by value, and its class makes it of scalars,
/// classes of C and such values.
pub(crate) fn is_value(object: &Bound<'_, PyAny>) -> bool {
    is_value_within(object, DEPTH)
}

/// Whether it is a member of an enumeration of C++: pybind11 made the class, which lists its members.
fn is_member_of_enum(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    let lists = || types::own(&class, &interned(class.py(), "__members__")).is_some();
    types::last_name(&class.get_type()) == "pybind11_type" && lists()
}

fn is_value_within(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    let class = object.get_type();
    if is_member_of_enum(object) {
        return true;
    }
    if depth == 0 || !compares_by_value(&class) {
        return false;
    }
    let makes = |callable: &Bound<'_, PyAny>| callable.is(&class) || registered(&class).is_some();
    reduced(object).is_some_and(|(callable, args)| makes(&callable) && all_known(&args, depth - 1))
}

fn all_known(parts: &Bound<'_, PyTuple>, depth: usize) -> bool {
    parts.iter().all(|part| {
        is_scalar(&part)
            || part.is_exact_instance_of::<PyCFunction>()
            || part.cast::<PyType>().is_ok_and(is_c_type)
            || depth > 0 && part.cast_exact::<PyTuple>().is_ok_and(|parts| all_known(parts, depth - 1))
            || is_value_within(&part, depth)
    })
}
