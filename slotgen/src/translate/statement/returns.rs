//! What a function gives back, and what that says of its convention.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::quote;

use crate::translate::block::{Block, Var, ident};
use crate::translate::paths::{Out, Paths};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::Returns;

impl Paths {
    /// `return value`.
    pub(in crate::translate) fn give(&mut self, value: Val, state: State, at: usize) -> Out {
        if let Some(error) = state.error {
            self.summary.raises = true;
            match &value {
                Val::Const(number, _) if self.convention.strict && self.convention.error != Some(*number) => {
                    return self.stop("another result than usual while an exception is pending");
                }
                Val::Null | Val::Unit => self.summary.errors.insert(None),
                Val::Const(number, _) => self.summary.errors.insert(Some(*number)),
                Val::MaybeObject(place) if self.convention.returns != Returns::Error => {
                    return self.give_if_null(place.clone(), error);
                }
                // Whoever gets -1.0, or any other, asks for the exception.
                Val::Double(_) if self.convention.returns == Returns::Double => self.summary.errors.insert(Some(-1)),
                _ => return self.stop("return of a computed value while an exception is pending"),
            };
            let error = ident(error);
            let failed =
                if self.convention.returns == Returns::Error { quote!(Ok(#error)) } else { quote!(Err(#error)) };
            return Ok(Block::Return(failed));
        }
        self.summary.returns = true;
        match self.convention.returns.clone() {
            Returns::Error => Ok(Block::Return(quote!(Err(c.unsupported("return without an exception"))))),
            Returns::Unit => Ok(Block::Return(quote!(Ok(())))),
            Returns::Object | Returns::Optional => self.give_object(value, at),
            Returns::Int(int, _) => {
                match &value {
                    Val::Const(number, _) if *number < 0 => self.summary.negative = true,
                    Val::Int(_, _, false) => self.summary.negative = true,
                    _ => {}
                }
                self.with_int(value, int, at, &mut |code| Ok(Block::Return(quote!(Ok(#code)))))
            }
            Returns::Bool => match self.truth(&value) {
                Some(code) => Ok(Block::Return(quote!(Ok(#code)))),
                None => self.no("truth value", at),
            },
            Returns::Double => match value {
                Val::Double(place) => {
                    let code = place.code;
                    Ok(Block::Return(quote!(Ok(#code))))
                }
                Val::Const(number, _) => {
                    let code = proc_macro2::Literal::f64_unsuffixed(number as f64);
                    Ok(Block::Return(quote!(Ok(#code))))
                }
                _ => self.no("return of a double", at),
            },
            Returns::Str => match value {
                Val::Literal(text) => Ok(Block::Return(quote!(Ok(#text.to_owned())))),
                Val::Str(place) => {
                    let code = place.code;
                    Ok(Block::Return(quote!(Ok(#code.to_owned()))))
                }
                _ => self.no("return of a string", at),
            },
            Returns::Function(_) if value == Val::Null => Ok(Block::Return(quote!(Ok(None)))),
            Returns::Function(_) => match value {
                Val::Function(place, _) => {
                    let code = place.value();
                    Ok(Block::Return(quote!(Ok(Some(#code)))))
                }
                Val::MaybeFunction(place, _) => {
                    let code = &place.code;
                    Ok(Block::Return(if place.by_ref { quote!(Ok(#code.cloned())) } else { quote!(Ok(#code)) }))
                }
                Val::Named(name) => {
                    let Some(id) = self.world.function_id(&self.function.file, &name) else {
                        return self.no(format!("function {name} as a value"), at);
                    };
                    let id = quote::format_ident!("{id}");
                    Ok(Block::Return(quote!(Ok(Some(c.function(FunctionId::#id)?)))))
                }
                other => self.no(format!("return of {}", other.word()), at),
            },
            Returns::Objects | Returns::Optionals => self.no(format!("return of {}", value.word()), at),
            Returns::Unsupported(text) => self.no(text, at),
        }
    }

    /// A pointer that is given while an exception is pending: NULL hands the exception on.
    fn give_if_null(&mut self, place: Place, error: Var) -> Out {
        self.summary.errors.insert(None);
        let reason = format!("{}: return of an object while an exception is pending", self.function.name);
        self.summary.partial.insert(reason.clone());
        let (code, error) = (place.code, ident(error));
        Ok(Block::Return(quote!(if #code.is_none() { Err(#error) } else { Err(c.unsupported(#reason)) })))
    }

    pub(crate) fn give_object(&mut self, value: Val, at: usize) -> Out {
        let optional = self.convention.returns == Returns::Optional;
        let code: TokenStream = match value {
            Val::Null => {
                self.summary.optional = true;
                return Ok(Block::Return(quote!(Ok(None))));
            }
            Val::MaybeObject(place) => {
                self.summary.optional = true;
                let code = &place.code;
                return Ok(Block::Return(if place.by_ref { quote!(Ok(#code.cloned())) } else { quote!(Ok(#code)) }));
            }
            Val::Object(place) if !place.by_ref => place.code,
            Val::Object(place) => place.value(),
            Val::Global(_) => {
                return self.with_object(value, at, &mut |place| {
                    let code = place.code.clone();
                    Ok(Block::Return(if optional { quote!(Ok(Some(#code))) } else { quote!(Ok(#code)) }))
                });
            }
            Val::Member(..) if self.is_pointer_member(&value) => {
                // The caller reads the pointer when the function returns.
                return self.pointer(
                    value,
                    at,
                    State::default(),
                    Rc::new(move |this, value, _| this.give_object(value, at)),
                );
            }
            other => return self.no(format!("return of {}", other.word()), at),
        };
        Ok(Block::Return(if optional { quote!(Ok(Some(#code))) } else { quote!(Ok(#code)) }))
    }
}
