//! The kind of variable that carries a value which differs between paths.

use proc_macro2::TokenStream;
use quote::quote;

use super::kinds::{Place, Val};
use crate::translate::block::{Var, ident};

fn nowhere() -> Place {
    Place { code: TokenStream::new(), by_ref: false }
}

/// The kind of variable that can hold any of the values; the places in it mean nothing.
pub fn kind(all: &[Val]) -> Val {
    let mut values = all.iter();
    let Some(first) = values.next() else { return Val::Uninit };
    values.fold(single(first), |kind, value| two(&kind, &single(value)))
}

fn single(value: &Val) -> Val {
    match value {
        Val::Object(_) | Val::Global(_) => Val::Object(nowhere()),
        Val::MaybeObject(_) => Val::MaybeObject(nowhere()),
        Val::Function(_, name) => Val::Function(nowhere(), name.clone()),
        Val::MaybeFunction(_, name) => Val::MaybeFunction(nowhere(), name.clone()),
        Val::Named(_) => Val::Function(nowhere(), String::new()),
        Val::Const(number, _) => Val::Const(*number, None),
        Val::Int(_, int, positive) => Val::Int(nowhere(), int, *positive),
        Val::Bool(_) => Val::Bool(nowhere()),
        Val::Double(_) => Val::Double(nowhere()),
        Val::Str(_) | Val::Literal(_) => Val::Str(nowhere()),
        Val::MaybeStr(_) => Val::MaybeStr(nowhere()),
        Val::Slice(_) => Val::Slice(nowhere()),
        other => other.clone(),
    }
}

/// The type of what is one of two constants: C would say `int`, unless that is too narrow.
fn of_constants(x: i128, y: i128) -> &'static str {
    let all = |fits: fn(i128) -> bool| fits(x) && fits(y);
    if all(|number| i32::try_from(number).is_ok()) {
        "const"
    } else if all(|number| isize::try_from(number).is_ok()) {
        "isize"
    } else {
        "usize"
    }
}

fn two(a: &Val, b: &Val) -> Val {
    match (a, b) {
        (Val::Const(x, _), Val::Const(y, _)) => Val::Int(nowhere(), of_constants(*x, *y), *x >= 0 && *y >= 0),
        (Val::Const(x, _), Val::Int(_, int, positive)) | (Val::Int(_, int, positive), Val::Const(x, _)) => {
            let int = if *int == "const" { of_constants(*x, 0) } else { int };
            Val::Int(nowhere(), int, *positive && *x >= 0)
        }
        (Val::Int(_, x, p), Val::Int(_, y, q)) => {
            let int = if *x == "const" {
                y
            } else if *y == "const" || x == y {
                x
            } else {
                "mixed"
            };
            Val::Int(nowhere(), int, *p && *q)
        }
        (Val::Bool(_), Val::Const(0 | 1, _)) | (Val::Const(0 | 1, _), Val::Bool(_)) => Val::Bool(nowhere()),
        (Val::Bool(_), Val::Int(_, int, positive)) | (Val::Int(_, int, positive), Val::Bool(_)) => {
            Val::Int(nowhere(), int, *positive)
        }
        (Val::Bool(_), Val::Const(x, _)) | (Val::Const(x, _), Val::Bool(_)) => Val::Int(nowhere(), "const", *x >= 0),
        (Val::Null | Val::MaybeObject(_), Val::Object(_)) | (Val::Object(_), Val::Null | Val::MaybeObject(_)) => {
            Val::MaybeObject(nowhere())
        }
        (Val::Null, Val::MaybeObject(_)) | (Val::MaybeObject(_), Val::Null) => Val::MaybeObject(nowhere()),
        (Val::Null, Val::Function(_, n) | Val::MaybeFunction(_, n))
        | (Val::Function(_, n) | Val::MaybeFunction(_, n), Val::Null) => Val::MaybeFunction(nowhere(), n.clone()),
        (Val::Function(_, n), Val::Function(_, m)) => {
            Val::Function(nowhere(), if n.is_empty() { m.clone() } else { n.clone() })
        }
        (Val::Function(_, n) | Val::MaybeFunction(_, n), Val::MaybeFunction(_, m) | Val::Function(_, m)) => {
            Val::MaybeFunction(nowhere(), if n.is_empty() { m.clone() } else { n.clone() })
        }
        (Val::Null | Val::MaybeStr(_), Val::Str(_) | Val::MaybeStr(_))
        | (Val::Str(_), Val::Null | Val::MaybeStr(_)) => Val::MaybeStr(nowhere()),
        (Val::MaybeStr(_), Val::Null) => Val::MaybeStr(nowhere()),
        (Val::Unmade(_), Val::Object(_)) | (Val::Object(_), Val::Unmade(_)) => Val::Object(nowhere()),
        (a, b) if a == b => a.clone(),
        _ => Val::Uninit,
    }
}

/// Whether two kinds are one.
pub fn same_kind(a: &Val, b: &Val) -> bool {
    a == b
}

/// A variable of the given kind.
pub fn held(like: &Val, var: Var) -> Option<Val> {
    let place = Place::owned(var);
    Some(match like {
        Val::Object(_) => Val::Object(place),
        Val::MaybeObject(_) => Val::MaybeObject(place),
        Val::Function(_, name) => Val::Function(place, name.clone()),
        Val::MaybeFunction(_, name) => Val::MaybeFunction(place, name.clone()),
        Val::Int(_, "mixed", _) => return None,
        Val::Int(_, int, positive) => Val::Int(place, int, *positive),
        Val::Bool(_) => Val::Bool(place),
        Val::Double(_) => Val::Double(place),
        Val::Str(_) => Val::Str(place),
        Val::MaybeStr(_) => {
            let name = ident(var);
            Val::MaybeStr(Place { code: quote!(#name.as_deref()), by_ref: true })
        }
        Val::Slice(_) => Val::Slice(Place::by_ref(var)),
        _ => return None,
    })
}
