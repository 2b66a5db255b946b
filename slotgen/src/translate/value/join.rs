//! The kind of variable that carries a value which differs between paths.

use proc_macro2::TokenStream;
use quote::quote;

use super::kinds::{Place, Val};
use crate::translate::block::Var;
use crate::translate::statement::Paths;

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
            let name = crate::translate::block::ident(var);
            Val::MaybeStr(Place { code: quote!(#name.as_deref()), by_ref: true })
        }
        Val::Slice(_) => Val::Slice(Place::by_ref(var)),
        _ => return None,
    })
}

impl Paths {
    /// The code by which a value becomes that of a variable of a kind.
    pub(crate) fn carry(&self, value: &Val, like: &Val) -> Option<TokenStream> {
        Some(match (value, like) {
            (Val::Object(place), Val::Object(_)) => place.value(),
            (Val::Unmade(structure), Val::Object(_)) => quote!(c.new_struct(#structure)?),
            (Val::Object(place), Val::MaybeObject(_)) => {
                let code = place.value();
                quote!(Some(#code))
            }
            (Val::MaybeObject(place), Val::MaybeObject(_)) => {
                let code = &place.code;
                if place.by_ref { quote!(#code.cloned()) } else { quote!(#code.clone()) }
            }
            (Val::Global(name), Val::Object(_)) => {
                let name = quote::format_ident!("{name}");
                quote!(c.global(Global::#name)?)
            }
            (Val::Global(name), Val::MaybeObject(_)) => {
                let name = quote::format_ident!("{name}");
                quote!(Some(c.global(Global::#name)?))
            }
            (Val::Null, Val::MaybeObject(_) | Val::MaybeFunction(..)) => quote!(None),
            (Val::Named(name), Val::Function(..) | Val::MaybeFunction(..)) => {
                let id = self.world.function_id(&self.function.file, name)?;
                let id = quote::format_ident!("{id}");
                let code = quote!(c.function(FunctionId::#id)?);
                if matches!(like, Val::MaybeFunction(..)) { quote!(Some(#code)) } else { code }
            }
            (Val::Function(place, _), Val::Function(..)) => place.value(),
            (Val::Function(place, _), Val::MaybeFunction(..)) => {
                let code = place.value();
                quote!(Some(#code))
            }
            (Val::MaybeFunction(place, _), Val::MaybeFunction(..)) => {
                let code = &place.code;
                if place.by_ref { quote!(#code.cloned()) } else { quote!(#code.clone()) }
            }
            (Val::Const(number, _), Val::Int(_, "const" | "mixed", _)) => self.number(*number),
            (Val::Const(number, _), Val::Int(_, int, _)) => suffixed(*number, int),
            (Val::Const(number, _), Val::Bool(_)) => {
                let truth = *number != 0;
                quote!(#truth)
            }
            (Val::Int(place, from, _), Val::Int(_, to, _)) if from != to && !matches!(*to, "const" | "mixed") => {
                let (code, to) = (&place.code, quote::format_ident!("{to}"));
                quote!(#code as #to)
            }
            (Val::Int(place, ..), Val::Int(..))
            | (Val::Bool(place), Val::Bool(_))
            | (Val::Double(place), Val::Double(_)) => place.code.clone(),
            (Val::Bool(place), Val::Int(_, int, _)) => {
                let code = &place.code;
                let int = quote::format_ident!("{}", if *int == "const" { "i32" } else { int });
                quote!(#int::from(#code))
            }
            (Val::Slice(place), Val::Slice(_)) => place.code.clone(),
            (Val::Literal(_) | Val::Str(_), Val::Str(_)) => owned_text(value)?,
            (Val::Literal(_) | Val::Str(_), Val::MaybeStr(_)) => {
                let text = owned_text(value)?;
                quote!(Some(#text))
            }
            (Val::Null, Val::MaybeStr(_)) => quote!(None::<String>),
            (Val::MaybeStr(place), Val::MaybeStr(_)) => {
                let code = &place.code;
                quote!(#code.map(str::to_owned))
            }
            _ => return None,
        })
    }

    /// An integer as it is written.
    pub(crate) fn number(&self, number: i128) -> TokenStream {
        let literal = proc_macro2::Literal::i128_unsuffixed(number.abs());
        if number < 0 { quote!(-#literal) } else { quote!(#literal) }
    }
}

/// A constant with its Rust type.
fn suffixed(number: i128, int: &str) -> TokenStream {
    let number = crate::translate::expression::wrap(number, int);
    let text = format!("{}{int}", number.unsigned_abs());
    match text.parse::<TokenStream>() {
        Ok(literal) if number < 0 => quote!(-#literal),
        Ok(literal) => literal,
        Err(_) => TokenStream::new(),
    }
}

/// A string as a `String` of its own.
fn owned_text(value: &Val) -> Option<TokenStream> {
    Some(match value {
        Val::Literal(text) => quote!(#text.to_owned()),
        Val::Str(place) => {
            let code = &place.code;
            if place.by_ref { quote!(#code.to_owned()) } else { quote!(#code.clone()) }
        }
        _ => return None,
    })
}
