//! Renders `calls.rs`: every translated function by its identity, with arguments that only the run knows.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::CType;
use crate::translate::driver::{Translated, Translation};
use crate::translate::world::{ParamKind, Returns, module};

/// The text of `calls.rs`.
pub(crate) fn calls(translation: &Translation) -> TokenStream {
    let mut rows = Vec::new();
    let mut files = Vec::new();
    let mut arms = Vec::new();
    for (file, functions) in &translation.translated {
        let name = format_ident!("of_{}", module(file).trim_end_matches('_'));
        let own: Vec<_> = functions.iter().filter_map(|one| arm(translation, one)).collect();
        let doc = format!(" Functions of {file}.");
        files.push(quote! {
            #[doc = #doc]
            #[allow(unused_variables)]
            fn #name<C: CApi>(c: &mut C, id: FunctionId, args: &[Value<C::Object>]) -> Result<Value<C::Object>, C::Error> {
                match id { #(#own)* _ => Err(c.unsupported(id.name())) }
            }
        });
        arms.push(quote!(#file => #name(c, id, args),));
        rows.extend(functions.iter().map(|one| row(translation, one)));
    }
    let memory: Vec<_> =
        translation.translated.keys().filter(|file| translation.world.contracts.memory(file)).collect();
    quote! {
        //! Translated functions by identity, with arguments that only the run knows.
        #![allow(clippy::all)]
        use crate::calls::{Function, Value};
        use crate::capi::{CApi, FunctionId};

        /// Files whose objects' layout in memory is the world's: what they define is asked of the world by the others.
        pub static MEMORY: &[&str] = &[#(#memory),*];

        /// Every translated function.
        pub static FUNCTIONS: &[Function] = &[#(#rows)*];

        /// Runs the translation of `id`.
        pub fn call<C: CApi>(c: &mut C, id: FunctionId, args: &[Value<C::Object>]) -> Result<Value<C::Object>, C::Error> {
            match id.file() { #(#arms)* _ => Err(c.unsupported(id.name())) }
        }
        #(#files)*
    }
}

/// What the caller of a parameter's function must give, in words.
fn kind(kind: &ParamKind, ctype: &CType) -> String {
    let pointer = matches!(ctype, CType::Opaque(_));
    match kind {
        ParamKind::Object(nullable) if pointer => format!("pointer{}", if *nullable { "?" } else { "" }),
        ParamKind::Object(nullable) => format!("object{}", if *nullable { "?" } else { "" }),
        ParamKind::Int(int) => (*int).to_owned(),
        ParamKind::Double => "f64".to_owned(),
        ParamKind::Str(nullable) => format!("str{}", if *nullable { "?" } else { "" }),
        ParamKind::Slice => "objects".to_owned(),
        ParamKind::OutObject(nullable) => format!("out object{}", if *nullable { "?" } else { "" }),
        ParamKind::OutInt(int, nullable) => format!("out {int}{}", if *nullable { "?" } else { "" }),
        ParamKind::Nothing if *ctype == CType::Thread => "thread".to_owned(),
        ParamKind::Nothing => "nothing".to_owned(),
        _ => "other".to_owned(),
    }
}

fn result(returns: &Returns, ctype: &CType) -> String {
    let pointer = matches!(ctype, CType::Opaque(_));
    match returns {
        Returns::Object | Returns::Optional if pointer => "pointer".to_owned(),
        Returns::Object | Returns::Optional => "object".to_owned(),
        Returns::Int(int, _) => (*int).to_owned(),
        Returns::Bool => "i32".to_owned(),
        Returns::Double => "f64".to_owned(),
        Returns::Str => "str".to_owned(),
        Returns::Unit => "nothing".to_owned(),
        // What always raises gives C's error value.
        Returns::Error => match ctype {
            CType::Object => "object".to_owned(),
            CType::Int(int) => (*int).to_owned(),
            _ => "nothing".to_owned(),
        },
        _ => "other".to_owned(),
    }
}

/// A row of the table: the identity and the prototype, in words.
fn row(translation: &Translation, one: &Translated) -> TokenStream {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let id = format_ident!("{id}");
    let signature = &one.function.signature;
    let parameters = one.convention.params.iter().zip(&signature.params).map(|(param, c)| {
        let kind = kind(param, &c.ctype);
        if c.structure.is_empty() { kind } else { format!("{kind}:{}", c.structure.replace(' ', "")) }
    });
    let mut parameters: Vec<_> = parameters.collect();
    if signature.variadic {
        parameters.push("...".to_owned());
    }
    let returns = result(&one.convention.returns, &signature.returns);
    let storage = if one.function.is_static { "static " } else { "" };
    let prototype = format!("{storage}({}) -> {returns}", parameters.join(", "));
    quote!(Function { id: FunctionId::#id, prototype: #prototype },)
}

/// The call of one function; nothing for one whose parameters or result only C can hold.
fn arm(translation: &Translation, one: &Translated) -> Option<TokenStream> {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let (id, path, name) = (
        format_ident!("{id}"),
        format_ident!("{}", module(&one.function.file)),
        format_ident!("{}", one.function.name),
    );
    let mut before = Vec::new();
    let mut args = Vec::new();
    let mut outs = Vec::new();
    for (index, kind) in one.convention.params.iter().enumerate() {
        let arg = format_ident!("a{index}");
        let (taken, given) = match kind {
            ParamKind::Object(false) => (quote!(Value::object(c, args, #index)?), quote!(#arg)),
            ParamKind::Object(true) => (quote!(Value::nullable(c, args, #index)?), quote!(#arg)),
            ParamKind::Int(_) => (quote!(Value::int(c, args, #index)?), quote!(#arg)),
            ParamKind::Double => (quote!(Value::double(c, args, #index)?), quote!(#arg)),
            ParamKind::Str(false) => (quote!(Value::text(c, args, #index)?), quote!(#arg)),
            ParamKind::Str(true) => (quote!(Value::nullable_text(c, args, #index)?), quote!(#arg)),
            ParamKind::Slice => (quote!(Value::objects(c, args, #index)?), quote!(#arg)),
            ParamKind::Nothing => continue,
            ParamKind::OutObject(false) => {
                before.push(quote!(let mut #arg = Value::nullable(c, args, #index)?.cloned();));
                outs.push(quote!(Value::from(#arg)));
                args.push(quote!(&mut #arg));
                continue;
            }
            ParamKind::OutObject(true) => {
                before.push(quote!(let mut #arg = Value::variable(c, args, #index)?;));
                outs.push(quote!(Value::set(#arg)));
                args.push(quote!(#arg.as_mut()));
                continue;
            }
            ParamKind::OutInt(int, true) => {
                let int = format_ident!("{int}");
                before.push(quote!(let mut #arg: Option<#int> = Value::int_variable(c, args, #index)?;));
                outs.push(quote!(Value::set_number(#arg)));
                args.push(quote!(#arg.as_mut()));
                continue;
            }
            ParamKind::OutInt(int, false) => {
                let int = format_ident!("{int}");
                before.push(quote!(let mut #arg: #int = Value::int(c, args, #index)?;));
                outs.push(quote!(Value::number(#arg)));
                args.push(quote!(&mut #arg));
                continue;
            }
            _ => return None,
        };
        before.push(quote!(let #arg = #taken;));
        args.push(given);
    }
    let call = quote!(super::#path::#name(c, #(#args),*));
    let value = match &one.convention.returns {
        Returns::Unit => quote!({ #call?; Value::Nothing }),
        Returns::Object => quote!(Value::Object(#call?)),
        Returns::Optional => quote!(Value::from(#call?)),
        Returns::Int(..) => quote!(Value::number(#call?)),
        Returns::Bool => quote!(Value::Int(i128::from(#call?))),
        Returns::Objects => quote!(Value::Objects(#call?)),
        Returns::Double => quote!(Value::Double(#call?)),
        Returns::Str => quote!(Value::Str(#call?)),
        Returns::Error => quote!(return Err(#call?)),
        _ => return None,
    };
    let value = match (&one.convention.returns, outs.is_empty()) {
        (Returns::Error, _) => value,
        (_, true) => quote!(Ok(#value)),
        (_, false) => quote!({ let result = #value; Ok(Value::Several(vec![result, #(#outs),*])) }),
    };
    Some(quote!(FunctionId::#id => { #(#before)* #value }))
}
