//! The Rust by which a value becomes that of a variable.

use proc_macro2::TokenStream;
use quote::quote;

use super::state::Paths;
use crate::translate::value::{Val, wrap};

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
    let number = wrap(number, int);
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
