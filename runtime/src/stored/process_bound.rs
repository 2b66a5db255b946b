//! What a trace may hold that is so in one process alone: hashes, addresses, the order of sets.
use crate::bytecode::{Code, Instr, Op, flag};
use crate::ffi::{callee, inspect, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PySet, PyString, PyTuple};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How far what a trace has seen is so elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// In every process.
    #[default]
    Nowhere,
    /// Where texts have the same hashes: it may have seen the order of a set.
    Hashes,
    /// In this process: it may have seen an address.
    Process,
}

/// How far what a trace has seen is so elsewhere, and which operation was the first to see so much: file and line.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// How far.
    pub bound: Bound,
    /// The place.
    pub place: Option<(Arc<str>, u32)>,
    /// Addresses that `id` has given; whether each object is one wherever the trace is right. What has such a number in it is right nowhere else.
    pub addresses: FxHashMap<usize, bool>,
}

impl Seen {
    /// It has seen this, too.
    pub fn add(&mut self, bound: Bound, place: impl FnOnce() -> Option<(Arc<str>, u32)>) {
        if bound > self.bound {
            (self.bound, self.place) = (bound, place());
        }
    }
}

/// Builtins that give hashes or addresses.
const OF_PROCESS: &[&str] = &[ID, "hash"];
/// The one whose numbers are followed.
const ID: &str = "id";

/// Builtins that give variables, sets among them perhaps, to whoever does anything with them.
const OF_HASHES: &[&str] = &["locals", "vars", "exec", "eval"];

/// Attributes that do.
const OF_FRAMES: &[&str] = &["f_locals"];

/// Methods of sets that give the same in whatever order the items lie.
const ORDERLESS_METHODS: &[&str] = &[
    "add",
    "clear",
    "copy",
    "difference",
    "difference_update",
    "discard",
    "intersection",
    "intersection_update",
    "isdisjoint",
    "issubset",
    "issuperset",
    "remove",
    "symmetric_difference",
    "symmetric_difference_update",
    "union",
    "update",
    "__contains__",
    "__len__",
];

/// Builtins that do.
const ORDERLESS_BUILTINS: &[&str] = &["len", "isinstance", "callable"];

/// Whether a trace that executes this instruction of the code may be right in this process alone, whatever its operands are.
#[must_use]
pub fn bound_to_process(py: Python<'_>, code: &Code, instr: &Instr) -> Bound {
    let name = || code.names.get((instr.arg >> code.isa().name_shift(instr.op)) as usize);
    let named = |names: &[&str]| name().is_some_and(|name| names.contains(&&**name));
    match instr.op {
        Op::LOAD_GLOBAL | Op::LOAD_NAME if named(&["hash"]) => Bound::Process,
        Op::LOAD_GLOBAL | Op::LOAD_NAME if named(OF_HASHES) => Bound::Hashes,
        Op::LOAD_ATTR if named(OF_FRAMES) => Bound::Hashes,
        Op::LOAD_CONST => {
            let constant = code.consts.get(instr.arg as usize).map(|constant| constant.bind(py));
            let tuple = constant.and_then(|constant| constant.cast_exact::<PyTuple>().ok());
            if tuple.is_some_and(|tuple| tuple.iter().any(|item| holds_set(&item))) {
                Bound::Hashes
            } else {
                Bound::Nowhere
            }
        }
        _ => Bound::Nowhere,
    }
}

fn holds_set(object: &pyo3::Bound<'_, PyAny>) -> bool {
    let within = |tuple: &pyo3::Bound<'_, PyTuple>| tuple.iter().any(|item| holds_set(&item));
    object.cast_exact::<PyTuple>().map_or_else(|_| is_ordered_set(object), within)
}

/// Whether it is a set whose order another process may have otherwise. Numbers have one hash everywhere.
#[must_use]
pub fn is_ordered_set(object: &pyo3::Bound<'_, PyAny>) -> bool {
    match object.cast_exact::<PyFrozenSet>() {
        Ok(set) => set.iter().any(|item| !item.is_exact_instance_of::<PyInt>()),
        Err(_) => object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>(),
    }
}

/// Whether the object's hash is made of its value alone.
#[must_use]
pub fn is_hashed_by_value(object: &pyo3::Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyBytes>()
        || object.cast_exact::<PyTuple>().is_ok_and(|items| items.iter().all(|item| is_hashed_by_value(&item)))
}

/// Whether what has this object for an operand may see an address or a hash: a function that gives such, whoever calls it, its name, or a text
/// that an address is part of.
#[must_use]
pub fn tells_process(object: &pyo3::Bound<'_, PyAny>) -> bool {
    const HASH: &str = "__hash__";
    if let Ok(text) = object.cast_exact::<PyString>() {
        return text.to_str().is_ok_and(|text| text == HASH || text.contains(" at 0x"));
    }
    match &*types::c_name(&object.get_type()) {
        "builtin_function_or_method" => is_builtin_function(object, OF_PROCESS),
        "wrapper_descriptor" | "method-wrapper" => callee::name_of(object) == HASH,
        "functools.partial" => {
            let part = |name| object.getattr(name).ok();
            let parts = [part(name!("func")), part(name!("args")), part(name!("keywords"))];
            parts.iter().any(|part| part.as_ref().is_none_or(holds_teller))
        }
        // It may hold one.
        "operator.methodcaller" => true,
        _ => false,
    }
}

/// The same of the parts of a call that is kept. Another such call in it may hold one: it may hold itself.
fn holds_teller(part: &pyo3::Bound<'_, PyAny>) -> bool {
    let tells =
        |part: &pyo3::Bound<'_, PyAny>| types::is_c_class(&part.get_type(), "functools.partial") || tells_process(part);
    match (part.cast_exact::<PyTuple>(), part.cast_exact::<PyDict>()) {
        (Ok(args), _) => args.iter().any(|arg| tells(&arg)),
        (_, Ok(names)) => names.iter().any(|(_, arg)| tells(&arg)),
        _ => tells(part),
    }
}

/// Whether it is the builtin `id`.
#[must_use]
pub fn is_id_function(object: &pyo3::Bound<'_, PyAny>) -> bool {
    is_builtin_function(object, &[ID])
}

/// Whether it is a function of `builtins` itself with one of these names.
#[must_use]
pub fn is_builtin_function(object: &pyo3::Bound<'_, PyAny>, names: &[&str]) -> bool {
    types::is_c_class(&object.get_type(), "builtin_function_or_method")
        && names.contains(&&*callee::name_of(object))
        && callee::module_of(object) == "builtins"
}

/// Whether the instruction, with these operands, may give variables of frames to whoever does anything with them.
pub fn sees_variables<'py>(
    code: &Code,
    instr: &Instr,
    mut operands: impl Iterator<Item = pyo3::Bound<'py, PyAny>>,
) -> bool {
    let name = || code.names.get((instr.arg >> code.isa().name_shift(instr.op)) as usize);
    let named = |names: &[&str]| name().is_some_and(|name| names.contains(&&**name));
    let gives = |object: &pyo3::Bound<'py, PyAny>| match object.cast_exact::<PyString>() {
        Ok(text) => text.to_str().is_ok_and(|text| OF_FRAMES.contains(&text)),
        Err(_) => is_builtin_function(object, OF_HASHES),
    };
    match instr.op {
        Op::LOAD_GLOBAL | Op::LOAD_NAME if named(OF_HASHES) => true,
        Op::LOAD_ATTR if named(OF_FRAMES) => true,
        _ => operands.any(|operand| gives(&operand)),
    }
}

/// Whether an instruction does nothing with a set but move it, or ask whether it is one, or empty: no items are added to it.
#[must_use]
pub fn only_moves(op: Op) -> bool {
    matches!(
        op,
        Op::COPY
            | Op::SWAP
            | Op::POP_TOP
            | Op::STORE_FAST
            | Op::STORE_FAST_LOAD_FAST
            | Op::STORE_FAST_STORE_FAST
            | Op::TO_BOOL
            | Op::UNARY_NOT
            | Op::IS_OP
            | Op::POP_JUMP_IF_TRUE
            | Op::POP_JUMP_FORWARD_IF_TRUE
            | Op::POP_JUMP_BACKWARD_IF_TRUE
            | Op::POP_JUMP_IF_FALSE
            | Op::POP_JUMP_FORWARD_IF_FALSE
            | Op::POP_JUMP_BACKWARD_IF_FALSE
            | Op::POP_JUMP_IF_NONE
            | Op::POP_JUMP_FORWARD_IF_NONE
            | Op::POP_JUMP_BACKWARD_IF_NONE
            | Op::POP_JUMP_IF_NOT_NONE
            | Op::POP_JUMP_FORWARD_IF_NOT_NONE
            | Op::POP_JUMP_BACKWARD_IF_NOT_NONE
            | Op::JUMP_IF_TRUE_OR_POP
            | Op::JUMP_IF_FALSE_OR_POP
    )
}

/// Whether an instruction does the same with sets among its operands in whatever order their items lie, and leaves them where the trace
/// sees what becomes of them. Calls and operators are no such: their operands say it.
#[must_use]
pub fn is_orderless(code: &Code, instr: &Instr) -> bool {
    match instr.op {
        Op::BUILD_SET | Op::SET_ADD | Op::SET_UPDATE => true,
        op if only_moves(op) => true,
        Op::LOAD_ATTR | Op::LOAD_METHOD => {
            let name = code.names.get((instr.arg >> code.isa().name_shift(instr.op)) as usize);
            name.is_some_and(|name| ORDERLESS_METHODS.contains(&&**name))
        }
        // Up to 3.11 a comprehension is a function that is called where it stands.
        Op::RETURN_VALUE => code.name == "<setcomp>",
        _ => false,
    }
}

/// Whether a function of this code puts no arguments into a tuple or a dict.
#[must_use]
pub fn names_all_arguments(code: &pyo3::Bound<'_, PyAny>) -> bool {
    let flags = code.getattr(name!("co_flags")).and_then(|flags| flags.extract::<u32>());
    flags.is_ok_and(|flags| flags & (flag::VARARGS | flag::VARKEYWORDS) == 0)
}

/// Whether a callable does the same with sets among its arguments in whatever order their items lie. What a function of Python code does, its
/// instructions say.
#[must_use]
pub fn is_orderless_callable(callable: &pyo3::Bound<'_, PyAny>) -> bool {
    if callable.is_exact_instance_of::<PyFunction>() {
        return inspect::function_code(callable).is_some_and(|code| names_all_arguments(&code));
    }
    let py = callable.py();
    let classes = [py.get_type::<PySet>(), py.get_type::<PyFrozenSet>(), py.get_type::<PyBool>()];
    if classes.iter().any(|class| callable.is(class)) {
        return true;
    }
    let name = callee::name_of(callable);
    let of_set = |class: &pyo3::Bound<'_, PyAny>| matches!(&*types::c_name(&class.get_type()), "set" | "frozenset");
    match &*types::c_name(&callable.get_type()) {
        "method_descriptor" => {
            let owner = callee::owner_of(callable);
            owner.is_some_and(|owner| matches!(&*types::c_name(&owner), "set" | "frozenset"))
                && ORDERLESS_METHODS.contains(&&*name)
        }
        "builtin_function_or_method" if callee::receiver_of(callable).is_some_and(|receiver| of_set(&receiver)) => {
            ORDERLESS_METHODS.contains(&&*name)
        }
        "builtin_function_or_method" => {
            callee::module_of(callable) == "builtins" && ORDERLESS_BUILTINS.contains(&&*name)
        }
        _ => false,
    }
}

/// Whether a callable of C changes a set that it is called with, or holds one that does.
#[must_use]
pub fn changes_sets(callable: &pyo3::Bound<'_, PyAny>) -> bool {
    let of_set = |of: Option<pyo3::Bound<'_, PyAny>>| of.is_some_and(|of| of.is_instance_of::<PySet>());
    match &*types::c_name(&callable.get_type()) {
        "method_descriptor" | "wrapper_descriptor" => callee::owner_of(callable)
            .is_some_and(|owner| types::is_subtype(&callable.py().get_type::<PySet>(), &owner)),
        "builtin_function_or_method" => {
            of_set(callee::receiver_of(callable)) || callee::module_of(callable) == "_operator"
        }
        "method-wrapper" => of_set(callable.getattr(name!("__self__")).ok()),
        "functools.partial" | "operator.methodcaller" => true,
        _ => false,
    }
}
