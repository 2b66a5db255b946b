//! The default bodies of the vocabulary: what any world can pass on is asked of it by name, all else is unsupported.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{CType, Signature, is_pointer};
use crate::translate::world::{Convention, Method, ParamKind, Returns};

/// Whether the parameters that are left are those of C, and no parameter or result is a pointer to what is no object.
///
/// Without a prototype it is a macro, a member of a struct, or a function that C hides in its file.
pub(crate) fn can_be_asked(convention: &Convention, prototype: Option<&Signature>) -> bool {
    if convention.params.contains(&ParamKind::Nothing) {
        return false;
    }
    let Some(head) = prototype else { return true };
    let opaque = |ctype: &CType| matches!(ctype, CType::Opaque(text) if text == "void*" || is_pointer(text));
    let objects = matches!(convention.returns, Returns::Object | Returns::Optional);
    !head.variadic
        && head.params.len() == convention.params.len()
        && !head.params.iter().any(|param| opaque(&param.ctype))
        && (!objects || head.returns == CType::Object)
}

/// The body of a method that asks the world by name; nothing where a parameter or the result is of another kind.
pub(crate) fn body(name: &str, method: &Method) -> Option<TokenStream> {
    if let Some(body) = of_member(name, method) {
        return Some(body);
    }
    if !method.asked {
        return None;
    }
    let args = method.params.iter().map(|(name, kind)| {
        let name = format_ident!("{name}");
        Some(match kind.as_str() {
            "object" => quote!(Asked::Object(Some(#name))),
            "object?" => quote!(Asked::Object(#name)),
            "str" => quote!(Asked::Str(Some(#name))),
            "str?" => quote!(Asked::Str(#name)),
            "[object]" => quote!(Asked::Objects(#name)),
            "&object" => quote!(Asked::Out(#name)),
            // A pointer that is NULL is passed on as that.
            "&object?" => {
                quote!(match #name { Some(variable) => Asked::Out(variable), None => Asked::Object(None) })
            }
            "&i32?" => {
                quote!(match #name { Some(variable) => Asked::OutInt(variable), None => Asked::Object(None) })
            }
            "&isize?" => {
                quote!(match #name { Some(variable) => Asked::OutSize(variable), None => Asked::Object(None) })
            }
            "&i32" => quote!(Asked::OutInt(#name)),
            "&isize" => quote!(Asked::OutSize(#name)),
            "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "isize" | "usize" => {
                quote!(Asked::Int(#name as i64))
            }
            _ => return None,
        })
    });
    let args: Vec<_> = args.collect::<Option<_>>()?;
    let (gives, result) = match method.returns.as_str() {
        "object" => (quote!(Object), quote!(object)),
        "object?" => (quote!(Optional), quote!(optional)),
        "i32" => (quote!(Int), quote!(int)),
        "u8" | "u16" | "u32" | "i64" | "u64" | "isize" | "usize" => (quote!(Size), quote!(int)),
        "bool" => (quote!(Int), quote!(truth)),
        "nothing" => (quote!(Nothing), quote!(nothing)),
        _ => return None,
    };
    let name = c_name(name);
    Some(quote! {
        let value = self.ask(#name, &mut [#(#args),*], Gives::#gives)?;
        crate::calls::#result(self, #name, value)
    })
}

/// The name of C behind a method's, which may end in the release that calls it so: `PyList_Append_3_11`.
fn c_name(method: &str) -> &str {
    let Some((name, release)) = method.rsplit_once("_3_") else { return method };
    if release.chars().all(|c| c.is_ascii_digit()) { name } else { method }
}

/// The body of a method that reads or sets a member of a struct that `ask` has no value for: a function, a string.
fn of_member(name: &str, method: &Method) -> Option<TokenStream> {
    if !method.member {
        return None;
    }
    let (object, object_kind) = method.params.first()?;
    let object = format_ident!("{object}");
    if object_kind != "object" {
        return None;
    }
    match (method.returns.as_str(), method.params.get(1)) {
        ("function?", None) => Some(quote!(self.function_at(#name, #object))),
        ("str", None) => Some(quote!(self.text_at(#name, #object))),
        ("nothing", Some((value, kind))) if kind.starts_with("function") => {
            let value = format_ident!("{value}");
            let member = name.strip_prefix("set_")?;
            let value = if kind.ends_with('?') { quote!(#value) } else { quote!(Some(#value)) };
            Some(quote!(self.set_function_at(#member, #object, #value)))
        }
        _ => None,
    }
}
