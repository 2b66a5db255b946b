//! Enumerations of PyTorch's C++ code: their methods tell what the members are, always the same.
use crate::domain::torch::graph_break::{CallResult, stop};
use crate::domain::{Answer, Operand};
use crate::ffi::{callee, types};
use crate::names::interned;
use pyo3::prelude::*;

/// The metaclass of the classes that pybind11 makes.
const METACLASS: &str = "pybind11_type";

/// The class of what pybind11 keeps about a function begins with this.
const RECORD: &str = "pybind11_detail_function_record";

const METHODS: &[&str] =
    &["__hash__", "__eq__", "__ne__", "__int__", "__index__", "__str__", "__repr__", "__getstate__", "name", "value"];

/// Whether it may be such a method: which class it belongs to only its arguments tell.
pub(in crate::domain::torch) fn is_of_enum(callable: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&callable.get_type(), "builtin_function_or_method")
        && METHODS.contains(&&*callee::name_of(callable))
        && callee::receiver_of(callable).is_some_and(|owner| types::last_name(&owner.get_type()).starts_with(RECORD))
}

/// What it says of a member of an enumeration.
pub(in crate::domain::torch) fn enum_answer<'py>(
    function: &Bound<'py, PyAny>,
    args: &[Operand<'py>],
) -> CallResult<'py> {
    let members = |operand: &Operand<'py>| match operand {
        Operand::Known(object) if is_member(object) => Some(object.clone()),
        _ => None,
    };
    let answer = match args.iter().map(members).collect::<Option<Vec<_>>>().as_deref() {
        Some([member]) => function.call1((member,)),
        Some([member, other]) => function.call1((member, other)),
        _ => {
            let why = "Only what members of enumerations say of themselves is known.";
            return Err(stop("method of an object of C++", callee::name_of(function), why));
        }
    };
    Ok(answer.map_or_else(Answer::Raised, Answer::Constant))
}

/// Whether pybind11 made the object's class, which lists its members. It need not be one of those objects: pybind11 makes others for the
/// same number.
fn is_member(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    types::last_name(&class.get_type()) == METACLASS
        && types::own(&class, &interned(class.py(), "__members__")).is_some()
}
