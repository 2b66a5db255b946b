//! What follows a call: its result, and the path on which it raised.

use proc_macro2::TokenStream;
use quote::quote;

use crate::translate::block::{Block, ident};
use crate::translate::paths::{KV, Out, Paths};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{Convention, Returns, Route};

impl Paths {
    /// What follows a call.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn outcome(
        &mut self,
        name: &str,
        convention: &Convention,
        route: &Route,
        call: TokenStream,
        after: Vec<(String, Val)>,
        memo: Option<String>,
        required: usize,
        at: usize,
        mut state: State,
        k: KV,
    ) -> Out {
        if convention.returns == Returns::Error {
            let var = self.fresh("error");
            state.error = Some(var);
            let value = match convention.error {
                None => Val::Null,
                Some(number) => Val::Const(number, None),
            };
            let call = if matches!(route, Route::Vocabulary) { call } else { quote!(#call?) };
            let rest = k(self, value, state)?;
            return Ok(Block::Let { var, mutable: false, value: call, rest: Box::new(rest) });
        }
        if state.error.is_some() && convention.raises && !matches!(convention.returns, Returns::Unit) {
            return self.stop(format!("call of {name} while an exception is pending"));
        }
        let hint = hint_of(name, &call);
        let var = self.fresh(&hint);
        let value = match &convention.returns {
            Returns::Unit => Val::Unit,
            Returns::Object => Val::Object(Place::owned(var)),
            Returns::Optional => Val::MaybeObject(Place::owned(var)),
            Returns::Int(int, positive) => Val::Int(Place::owned(var), int, *positive),
            Returns::Bool => Val::Bool(Place::owned(var)),
            Returns::Double => Val::Double(Place::owned(var)),
            Returns::Str => Val::Str(Place::owned(var)),
            Returns::Function(function) => Val::MaybeFunction(Place::owned(var), function.clone()),
            Returns::Objects => Val::Slice(Place {
                code: {
                    let name = ident(var);
                    quote!(&#name)
                },
                by_ref: true,
            }),
            Returns::Optionals => Val::Optionals(Place::owned(var), required),
            Returns::Error | Returns::Unsupported(_) => return self.no(format!("result of {name}"), at),
        };
        // Functions that answer 0 with an exception answer 1 without.
        let zero_fails = self.world.contracts.meaning(name) == "zero-fails";
        let value = if zero_fails { Val::Const(1, None) } else { value };
        let mut fine = state.clone();
        for (target, value) in &after {
            fine.set(target, value.clone());
        }
        if let Some(key) = memo {
            fine.memo.insert(key, value.clone());
        }
        let yes = k(self, value.clone(), fine)?;
        if !convention.raises {
            return Ok(if value == Val::Unit {
                Block::Do { code: quote!(#call?), rest: Box::new(yes) }
            } else {
                Block::Let { var, mutable: false, value: quote!(#call?), rest: Box::new(yes) }
            });
        }
        let err = self.fresh("error");
        let mut failed = state;
        failed.error = Some(err);
        failed.memo.clear();
        for (target, value) in after {
            // What a failing call gives through a pointer to an object is NULL.
            let value = if matches!(value, Val::MaybeObject(_)) { Val::Null } else { value };
            failed.set(&target, value);
        }
        let value_failed = match convention.error {
            None if value == Val::Unit => Val::Unit,
            None => Val::Null,
            Some(number) if matches!(value, Val::Double(_)) => {
                let literal = proc_macro2::Literal::f64_unsuffixed(number.unsigned_abs() as f64);
                Val::Double(Place { code: quote!((-#literal)), by_ref: false })
            }
            Some(number) => Val::Const(number, None),
        };
        let no = k(self, value_failed, failed)?;
        if is_propagation(&no, err, self.convention.returns == Returns::Error) {
            return Ok(if value == Val::Unit || zero_fails {
                Block::Do { code: quote!(#call?), rest: Box::new(yes) }
            } else {
                Block::Let { var, mutable: false, value: quote!(#call?), rest: Box::new(yes) }
            });
        }
        Ok(Block::Match { call, ok: var, yes: Box::new(yes), err, no: Box::new(no) })
    }
}

/// A name for the result of a call.
fn hint_of(name: &str, call: &TokenStream) -> String {
    let _ = call;
    match name {
        "Py_TYPE" => "tp".to_owned(),
        name if name.starts_with("call_") => "result".to_owned(),
        name if name.ends_with("_Check") || name.ends_with("_CheckExact") => "check".to_owned(),
        _ => "result".to_owned(),
    }
}

/// Whether a block does nothing but hand on the exception.
fn is_propagation(block: &Block, error: usize, ok: bool) -> bool {
    let name = ident(error);
    match block {
        Block::Return(code) if !ok => code.to_string() == quote!(Err(#name)).to_string(),
        _ => false,
    }
}
