//! References of the evaluation stack (`_PyStackRef`) as what they are in C with the GIL: references to objects.
//!
//! From 3.14 on C functions hold some of their objects in such a reference, and some of those in a struct that a free-threaded collector
//! finds (`_PyCStackRef`). CPython: `Include/internal/pycore_stackref.h`.
use std::collections::BTreeSet;

use super::ctype::is_reference;
use super::ir::{Expr, Kind};

/// What a type's name points to, as its users see it.
pub(super) fn structure(name: String) -> String {
    if is_reference(&name) { "PyObject".to_owned() } else { name }
}

/// A constant reference.
pub(super) fn constant(name: &str) -> Option<Kind> {
    match name {
        "PyStackRef_NULL" => Some(Kind::Null),
        "PyStackRef_None" | "PyStackRef_True" | "PyStackRef_False" => {
            Some(Kind::Name(name.replace("PyStackRef_", "Py_")))
        }
        _ => None,
    }
}

/// What `reference.ref`, or with a pointer `reference->ref`, is: the variable itself, or what it points to.
pub(super) fn member(structs: &BTreeSet<String>, base: &Expr, arrow: bool, field: &str) -> Option<Kind> {
    let Kind::Name(name) = &base.kind else { return None };
    let holds = field == "ref" && structs.contains(name);
    holds.then(|| if arrow { Kind::Deref(Box::new(base.clone())) } else { base.kind.clone() })
}

/// A call of `pycore_stackref.h` as what it does to the object.
pub(super) fn call(name: &str, args: &[Expr]) -> Option<Kind> {
    let one = || args.first().map(|arg| arg.kind.clone());
    let place = || args.get(1).map(behind);
    match name {
        "PyStackRef_AsPyObjectBorrow" | "PyStackRef_AsPyObjectNew" | "PyStackRef_AsPyObjectSteal" => one(),
        "PyStackRef_FromPyObjectNew" | "PyStackRef_FromPyObjectSteal" | "PyStackRef_FromPyObjectBorrow" => one(),
        "PyStackRef_FromPyObjectImmortal" | "PyStackRef_DUP" | "PyStackRef_Borrow" | "PyStackRef_MakeHeapSafe" => one(),
        "PyStackRef_IsNull" => args.first().map(|arg| equal(arg, Kind::Null)),
        "PyStackRef_IsNone" => args.first().map(|arg| equal(arg, Kind::Name("Py_None".to_owned()))),
        "PyStackRef_Is" => args.first().zip(args.get(1)).map(|(left, right)| equal(left, right.kind.clone())),
        "PyStackRef_CLEAR" | "PyStackRef_XSETREF" => Some(named(&name.replace("PyStackRef_", "Py_"), args.to_vec())),
        "PyStackRef_CLOSE" | "PyStackRef_XCLOSE" => Some(named("Py_XDECREF", args.to_vec())),
        "_PyThreadState_PushCStackRef" => place().map(|place| set(place, Kind::Null)),
        "_PyThreadState_PushCStackRefNew" => place().zip(args.get(2)).map(|(place, arg)| set(place, arg.kind.clone())),
        "_PyThreadState_PopCStackRef" => place().map(|place| named("Py_XDECREF", vec![place])),
        "_PyThreadState_PopCStackRefSteal" => place().map(|place| place.kind),
        _ => None,
    }
}

/// A call whose result nobody looks at, and that gives an object by a reference: what another function returns.
pub(super) fn given_by_place(expr: Expr) -> Expr {
    let at = expr.at;
    match expr.kind {
        Kind::Call(callee, mut args)
            if matches!(&callee.kind, Kind::Name(name) if name == "_PyType_LookupStackRefAndVersion")
                && args.len() == 3 =>
        {
            let place = behind(&args.remove(2));
            Expr { kind: set(place, named("_PyType_LookupRef", args)), at }
        }
        kind => Expr { kind, at },
    }
}

/// What an address leads to.
fn behind(address: &Expr) -> Expr {
    match &address.kind {
        Kind::AddressOf(inner) => (**inner).clone(),
        _ => Expr { kind: Kind::Deref(Box::new(address.clone())), at: address.at },
    }
}

fn named(name: &str, args: Vec<Expr>) -> Kind {
    let at = args.first().map_or(0, |arg| arg.at);
    Kind::Call(Box::new(Expr { kind: Kind::Name(name.to_owned()), at }), args)
}

fn equal(left: &Expr, right: Kind) -> Kind {
    let right = Expr { kind: right, at: left.at };
    Kind::Binary("==".to_owned(), Box::new(left.clone()), Box::new(right))
}

fn set(place: Expr, value: Kind) -> Kind {
    let value = Expr { kind: value, at: place.at };
    Kind::Assign(Box::new(place), Box::new(value))
}
