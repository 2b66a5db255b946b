//! Comparisons of pointers on one path.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::eval::Computed;
use crate::translate::block::ident;
use crate::translate::paths::{Paths, Refusal};
use crate::translate::value::{Place, Val};

impl Paths {
    /// `==` and `!=` of pointers; `None` if the values are numbers.
    pub(super) fn identity(
        &mut self,
        negated: bool,
        left: &Val,
        right: &Val,
        at: usize,
    ) -> Result<Option<Computed>, Refusal> {
        let truth = |is: bool| Ok(Some(Computed::Val(Val::Const(i128::from(is != negated), None))));
        let not = if negated { quote!(!) } else { quote!() };
        let boolean = |code: TokenStream| Ok(Some(Computed::Val(Val::Bool(Place { code, by_ref: false }))));
        match (left, right) {
            (Val::Null, Val::Null) => truth(true),
            (
                Val::Object(_)
                | Val::Function(..)
                | Val::Global(_)
                | Val::Named(_)
                | Val::Array(..)
                | Val::Slice(_)
                | Val::Room(_)
                | Val::Buffer(..)
                | Val::Optionals(..)
                | Val::Address(_)
                | Val::Pending
                | Val::Literal(_)
                | Val::Str(_)
                | Val::Thread,
                Val::Null,
            )
            | (
                Val::Null,
                Val::Object(_)
                | Val::Function(..)
                | Val::Global(_)
                | Val::Named(_)
                | Val::Array(..)
                | Val::Slice(_)
                | Val::Room(_)
                | Val::Buffer(..)
                | Val::Address(_)
                | Val::Pending
                | Val::Literal(_),
            ) => truth(false),
            (Val::MaybeObject(place) | Val::MaybeFunction(place, _) | Val::MaybeStr(place), Val::Null)
            | (Val::Null, Val::MaybeObject(place) | Val::MaybeFunction(place, _) | Val::MaybeStr(place)) => {
                let code = &place.code;
                boolean(if negated { quote!(#code.is_some()) } else { quote!(#code.is_none()) })
            }
            (Val::MaybeAddress(name), Val::Null) | (Val::Null, Val::MaybeAddress(name)) => {
                let Some((var, _)) = self.out_param(name) else { return self.no("pointer", at) };
                let code = ident(var);
                boolean(if negated { quote!(#code.is_some()) } else { quote!(#code.is_none()) })
            }
            (Val::Suite(_, _, Some(known)), Val::Null) => truth(!*known),
            (Val::Suite(place, suite, None), Val::Null) => {
                let (code, suite) = (place.reference(), format_ident!("{suite}"));
                let not = if negated { quote!() } else { quote!(!) };
                Ok(Some(Computed::Call(quote!(#not c.has_suite(#code, Suite::#suite)?))))
            }
            (Val::Object(place), Val::Global(name)) | (Val::Global(name), Val::Object(place)) => {
                let (code, name) = (place.reference(), format_ident!("{name}"));
                Ok(Some(Computed::Call(quote!(#not c.is(#code, Global::#name)?))))
            }
            (Val::MaybeObject(place), Val::Global(name)) | (Val::Global(name), Val::MaybeObject(place)) => {
                let (code, name) = (
                    if place.by_ref {
                        place.code.clone()
                    } else {
                        let code = &place.code;
                        quote!(#code.as_ref())
                    },
                    format_ident!("{name}"),
                );
                Ok(Some(Computed::Call(
                    quote!(#not match #code { Some(object) => c.is(object, Global::#name)?, None => false }),
                )))
            }
            (Val::Global(a), Val::Global(b)) => truth(a == b),
            (Val::Object(a), Val::Object(b)) if a == b => truth(true),
            (Val::Object(a), Val::Object(b)) => {
                let (a, b) = (a.reference(), b.reference());
                Ok(Some(Computed::Call(quote!(#not c.Py_Is(#a, #b)?))))
            }
            (Val::Object(a), Val::MaybeObject(b)) | (Val::MaybeObject(b), Val::Object(a)) => {
                let a = a.reference();
                let b = if b.by_ref {
                    b.code.clone()
                } else {
                    let code = &b.code;
                    quote!(#code.as_ref())
                };
                Ok(Some(Computed::Call(quote!(#not match #b { Some(object) => c.Py_Is(#a, object)?, None => false }))))
            }
            (Val::MaybeObject(a), Val::MaybeObject(b)) => {
                let by = |place: &Place| {
                    let code = &place.code;
                    if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
                };
                let (a, b) = (by(a), by(b));
                Ok(Some(Computed::Call(
                    quote!(#not match (#a, #b) { (Some(x), Some(y)) => c.Py_Is(x, y)?, (None, None) => true, _ => false }),
                )))
            }
            (Val::Named(a), Val::Named(b)) => truth(a == b),
            (Val::Function(a, _), Val::Function(b, _)) => {
                let (a, b, op) = (&a.code, &b.code, if negated { quote!(!=) } else { quote!(==) });
                let by = |place: &Place, code: &TokenStream| if place.by_ref { quote!(*#code) } else { quote!(#code) };
                let _ = by;
                boolean(quote!((#a #op #b)))
            }
            (
                Val::Function(..) | Val::MaybeFunction(..) | Val::Named(_),
                Val::Function(..) | Val::MaybeFunction(..) | Val::Named(_),
            ) => {
                let op = if negated { quote!(!=) } else { quote!(==) };
                let (Some(a), Some(b)) = (self.option_ref(left), self.option_ref(right)) else { return Ok(None) };
                if let (Val::Named(_), _) | (_, Val::Named(_)) = (left, right) {
                    let (named, other) = if matches!(left, Val::Named(_)) { (left, b) } else { (right, a) };
                    let Val::Named(name) = named else { return Ok(None) };
                    let id = self.world.function_id(&self.function.file, name);
                    let Some(id) = id else { return self.no(format!("function {name} as a value"), at) };
                    let id = format_ident!("{id}");
                    return Ok(Some(Computed::Call(quote!(#not c.is_function(#other, FunctionId::#id)?))));
                }
                boolean(quote!((#a #op #b)))
            }
            (Val::Null, _) | (_, Val::Null) => match (left, right) {
                (Val::Const(0, _), _) | (_, Val::Const(0, _)) => truth(true),
                _ => self.no(format!("comparison of {} with {}", left.word(), right.word()), at),
            },
            _ => Ok(None),
        }
    }

    fn option_ref(&self, value: &Val) -> Option<TokenStream> {
        Some(match value {
            Val::Function(place, _) => {
                let code = place.reference();
                quote!(Some(#code))
            }
            Val::MaybeFunction(place, _) => {
                let code = &place.code;
                if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
            }
            Val::Named(_) => TokenStream::new(),
            _ => return None,
        })
    }
}

/// A pointer that may be NULL.
pub(super) fn pointer(value: &Val) -> Option<TokenStream> {
    Some(match value {
        Val::Object(place) => {
            let code = place.reference();
            quote!(Some(#code))
        }
        Val::MaybeObject(place) => {
            let code = &place.code;
            if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
        }
        _ => return None,
    })
}
