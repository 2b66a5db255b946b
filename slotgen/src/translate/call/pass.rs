//! Arguments: the Rust that a C value becomes for a parameter of a certain kind.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::translate::block::{Block, ident};
use crate::translate::paths::{Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::ParamKind;

impl Paths {
    /// The code of one argument; what must be bound before goes to `lets`, what the callee sets to `after`.
    pub(in crate::translate) fn pass(
        &mut self,
        value: &Val,
        kind: &ParamKind,
        lets: &mut Vec<(usize, TokenStream)>,
        after: &mut Vec<(String, Val)>,
        state: &mut State,
        at: usize,
    ) -> Result<Option<TokenStream>, Refusal> {
        Ok(Some(match (kind, value) {
            (ParamKind::Nothing, _) => return Ok(None),
            (ParamKind::Object(false), Val::Object(place)) => place.reference(),
            (ParamKind::Object(true), Val::Object(place)) => {
                let code = place.reference();
                quote!(Some(#code))
            }
            (ParamKind::Object(nullable), Val::Global(name)) => {
                let var = self.fresh(name);
                let (global, code) = (format_ident!("{name}"), ident(var));
                lets.push((var, quote!(c.global(Global::#global)?)));
                if *nullable { quote!(Some(&#code)) } else { quote!(&#code) }
            }
            (ParamKind::Object(false), Val::MaybeObject(place)) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                let var = self.fresh("object");
                let name = ident(var);
                lets.push((var, quote!(match #unwrap { Some(object) => object.clone(), None => return Err(c.unsupported("NULL where an object must be")) })));
                quote!(&#name)
            }
            (ParamKind::Object(true), Val::Null) | (ParamKind::Function(_, true), Val::Null) => quote!(None),
            (ParamKind::Object(true), Val::MaybeObject(place)) => {
                let code = &place.code;
                if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
            }
            (ParamKind::OutInt(_, true) | ParamKind::OutObject(true), Val::Null) => quote!(None),
            (ParamKind::Slice, Val::Null) => quote!(&[]),
            (ParamKind::Object(nullable), Val::Thread) => {
                let var = self.fresh("state");
                let name = ident(var);
                lets.push((var, quote!(c.variable("PyThreadState")?)));
                if *nullable { quote!(Some(&#name)) } else { quote!(&#name) }
            }
            (ParamKind::Str(true), Val::Null) => quote!(None),
            (ParamKind::Int(int), value) => match self.int_code(value, int) {
                Some(code) => code,
                None => return self.no(format!("integer argument: {}", value.word()), at),
            },
            (ParamKind::Double, Val::Double(place)) => place.code.clone(),
            (ParamKind::Str(false), Val::Literal(text)) => quote!(#text),
            (ParamKind::Str(true), Val::Literal(text)) => quote!(Some(#text)),
            (ParamKind::Str(nullable), Val::Str(place)) => {
                let code = place.reference();
                if *nullable { quote!(Some(#code)) } else { code }
            }
            (ParamKind::Str(true), Val::MaybeStr(place)) => place.code.clone(),
            (ParamKind::Str(false), Val::MaybeStr(place)) => {
                let (code, var) = (&place.code, self.fresh("text"));
                let name = ident(var);
                lets.push((var, quote!(match #code { Some(text) => text, None => return Err(c.unsupported("NULL where a string must be")) })));
                quote!(#name)
            }
            (ParamKind::Slice, Val::Array(items, offset)) => {
                let mut parts = Vec::new();
                for item in items.iter().skip(*offset) {
                    match item {
                        Val::Object(place) => parts.push(place.value()),
                        Val::Global(name) => {
                            let var = self.fresh(name);
                            let (global, code) = (format_ident!("{name}"), ident(var));
                            lets.push((var, quote!(c.global(Global::#global)?)));
                            parts.push(quote!(#code));
                        }
                        Val::Uninit => break,
                        Val::MaybeObject(place) => {
                            let code = &place.code;
                            let owned = if place.by_ref { quote!(#code.cloned()) } else { quote!(#code.clone()) };
                            let var = self.fresh("object");
                            let name = ident(var);
                            lets.push((var, quote!(match #owned { Some(object) => object, None => return Err(c.unsupported("NULL in an array")) })));
                            parts.push(quote!(#name));
                        }
                        other => return self.no(format!("array element: {}", other.word()), at),
                    }
                }
                quote!(&[#(#parts),*])
            }
            (ParamKind::Slice, Val::Slice(place)) => place.code.clone(),
            (ParamKind::Slice | ParamKind::Ints(_) | ParamKind::Chars | ParamKind::Str(_), Val::Buffer(..)) => {
                return self.pass_buffer(value, kind, lets, at).map(Some);
            }
            (ParamKind::Strings, Val::Array(items, offset)) => {
                let texts = items.iter().skip(*offset).map_while(|item| match item {
                    Val::Literal(text) => Some(text.clone()),
                    _ => None,
                });
                let texts: Vec<String> = texts.collect();
                quote!(&[#(#texts),*])
            }
            (ParamKind::Slice, Val::Member(place, structure, path)) => {
                let method = self.note_elements(structure, path, at)?;
                let var = self.fresh("items");
                let (code, name) = (place.reference(), ident(var));
                lets.push((var, quote!(c.#method(#code)?)));
                quote!(&#name)
            }
            (ParamKind::Str(_), Val::Member(place, structure, path)) if self.is_pointer_member(value) => {
                // What is read as a C string.
                let (method, var) = (self.note_text(structure, path), self.fresh("text"));
                let code = place.reference();
                lets.push((var, quote!(c.#method(#code)?)));
                return self.pass(&Val::Str(Place::owned(var)), kind, lets, after, state, at);
            }
            (ParamKind::Object(_), Val::Member(..)) if self.is_pointer_member(value) => {
                let Val::Member(place, structure, path) = value else { return self.no("pointer", at) };
                let method = self.note_pointer(structure, path);
                let var = self.fresh(path.last().map_or("pointer", String::as_str));
                let code = place.reference();
                lets.push((var, quote!(c.#method(#code)?)));
                return self.pass(&Val::MaybeObject(Place::owned(var)), kind, lets, after, state, at);
            }
            (ParamKind::OutObject(_) | ParamKind::OutInt(..), Val::Address(target) | Val::MaybeAddress(target)) => {
                return self.pass_out(kind, target, lets, after, state, at).map(Some);
            }
            (ParamKind::Function(_, nullable), Val::Function(place, _)) => {
                let code = place.reference();
                if *nullable { quote!(Some(#code)) } else { code }
            }
            (ParamKind::Function(_, false), Val::MaybeFunction(place, _)) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                let var = self.fresh("function");
                let name = ident(var);
                lets.push((var, quote!(match #unwrap { Some(function) => function.clone(), None => return Err(c.unsupported("slot that is empty as an argument")) })));
                quote!(&#name)
            }
            (ParamKind::Function(..), Val::Named(name)) => {
                let Some(id) = self.world.function_id(&self.function.file, name) else {
                    return self.no(format!("function {name} as a value"), at);
                };
                let var = self.fresh(name);
                let (id, code) = (format_ident!("{id}"), ident(var));
                lets.push((var, quote!(c.function(FunctionId::#id)?)));
                if matches!(kind, ParamKind::Function(_, true)) { quote!(Some(&#code)) } else { quote!(&#code) }
            }
            (ParamKind::Function(_, true), Val::MaybeFunction(place, _)) => {
                let code = &place.code;
                if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
            }
            (ParamKind::Object(_), Val::Pending) => return self.no("type of the pending exception as an argument", at),
            (kind, value) => return self.no(format!("argument {} for {}", value.word(), word(kind)), at),
        }))
    }

    /// An argument of a format.
    pub(in crate::translate) fn argument(
        &mut self,
        value: &Val,
        lets: &mut Vec<(usize, TokenStream)>,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        Ok(match value {
            Val::Str(place) => {
                let code = &place.code;
                if place.by_ref {
                    quote!(Argument::Str(#code.to_owned()))
                } else {
                    quote!(Argument::Str(#code.clone()))
                }
            }
            Val::Literal(text) => quote!(Argument::Str(#text.to_owned())),
            Val::MaybeStr(place) => {
                let code = &place.code;
                quote!(match #code { Some(text) => Argument::Str(text.to_owned()), None => return Err(c.unsupported("NULL in a format")) })
            }
            Val::Object(place) => {
                let code = place.value();
                quote!(Argument::Object(#code))
            }
            Val::Global(name) => {
                let var = self.fresh(name);
                let (global, code) = (format_ident!("{name}"), ident(var));
                lets.push((var, quote!(c.global(Global::#global)?)));
                quote!(Argument::Object(#code))
            }
            Val::Const(..) | Val::Int(..) | Val::Bool(_) => {
                let Some(code) = self.int_code(value, "i64") else { return self.no("format argument", at) };
                quote!(Argument::Int(#code))
            }
            Val::MaybeObject(place) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code.cloned()) } else { quote!(#code.clone()) };
                quote!(match #unwrap { Some(object) => Argument::Object(object), None => return Err(c.unsupported("NULL in a format")) })
            }
            other => return self.no(format!("format argument: {}", other.word()), at),
        })
    }

    /// Hands an object on as a place; a global is asked for first.
    pub(in crate::translate) fn with_object(&mut self, value: Val, at: usize, k: &mut dyn FnMut(&Place) -> Out) -> Out {
        match value {
            Val::Object(place) => k(&place),
            Val::Global(name) => {
                let var = self.fresh(&name);
                let global = format_ident!("{name}");
                let rest = k(&Place::owned(var))?;
                Ok(Block::Let { var, mutable: false, value: quote!(c.global(Global::#global)?), rest: Box::new(rest) })
            }
            other => self.no(format!("object expected, not {}", other.word()), at),
        }
    }
}

/// A parameter in words.
fn word(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Unsupported(text) => text.clone(),
        kind => format!("{kind:?}"),
    }
}
