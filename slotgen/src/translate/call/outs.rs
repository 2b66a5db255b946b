//! Variables that a callee sets: those of the function, and those that its caller gave it or not.

use proc_macro2::TokenStream;
use quote::quote;

use crate::translate::block::{Block, Var, ident};
use crate::translate::paths::{KV, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::ParamKind;

/// What is said where C follows a pointer without a test although NULL may be given for it.
const NULL: &str = "NULL for a variable to set";

fn nowhere() -> Place {
    Place { code: TokenStream::new(), by_ref: false }
}

impl Paths {
    /// The parameter behind the name of what it points to (`*value`): its Rust variable and kind.
    pub(in crate::translate) fn out_param(&self, target: &str) -> Option<(Var, ParamKind)> {
        let pointer = target.strip_prefix('*')?;
        let index = self.function.signature.params.iter().position(|param| param.name == pointer)?;
        Some((index, self.convention.params.get(index).cloned()?))
    }

    /// The argument that lets a callee set a variable.
    pub(crate) fn pass_out(
        &mut self,
        kind: &ParamKind,
        target: &str,
        lets: &mut Vec<(usize, TokenStream)>,
        after: &mut Vec<(String, Val)>,
        state: &mut State,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        if target.starts_with('*') {
            return self.pass_on(kind, target, after, at);
        }
        let current = state.vars.get(target).cloned().unwrap_or(Val::Uninit);
        let var = self.fresh(&format!("mut {}", target.split('.').next().unwrap_or(target)));
        let name = ident(var);
        let (start, value) = match kind {
            ParamKind::OutObject(_) => {
                let like = Val::MaybeObject(Place::owned(var));
                (self.carry(&current, &like).unwrap_or_else(|| quote!(None)), like)
            }
            ParamKind::OutInt(int, _) => {
                let like = Val::out(Place::owned(var), int, false);
                let zero = if *int == "f64" { quote!(0.0) } else { quote!(0) };
                (self.carry(&current, &like).unwrap_or(zero), like)
            }
            _ => return self.no("pointer", at),
        };
        lets.push((var, start));
        after.push((target.to_owned(), value));
        Ok(if kind.nullable() == Some(true) { quote!(Some(&mut #name)) } else { quote!(&mut #name) })
    }

    /// Our own caller's variable goes on to the callee; what it held is unknown from here on.
    fn pass_on(
        &mut self,
        kind: &ParamKind,
        target: &str,
        after: &mut Vec<(String, Val)>,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        let Some((var, own)) = self.out_param(target) else { return self.no("pointer", at) };
        let name = ident(var);
        if own.nullable() == Some(true) {
            after.push((target.to_owned(), Val::Uninit));
            return Ok(if kind.nullable() == Some(true) {
                quote!(#name.as_deref_mut())
            } else {
                quote!(match #name.as_deref_mut() { Some(variable) => variable, None => return Err(c.unsupported(#NULL)) })
            });
        }
        let held = Place { code: quote!((*#name)), by_ref: false };
        let value = match kind {
            ParamKind::OutObject(_) => Val::MaybeObject(held),
            ParamKind::OutInt(int, _) => Val::out(held, int, false),
            _ => return self.no("pointer", at),
        };
        after.push((target.to_owned(), value));
        Ok(if kind.nullable() == Some(true) { quote!(Some(&mut *#name)) } else { quote!(#name) })
    }

    /// `*pointer = value`, where the pointer is the address of a variable.
    pub(in crate::translate) fn set_out(
        &mut self,
        target: String,
        value: Val,
        at: usize,
        mut state: State,
        k: KV,
    ) -> Out {
        if !target.starts_with('*') {
            state.set(&target, value.clone());
            return k(self, value, state);
        }
        let Some((var, kind)) = self.out_param(&target) else { return self.no("assignment through this pointer", at) };
        let like = match kind {
            ParamKind::OutObject(_) => Val::MaybeObject(nowhere()),
            ParamKind::OutInt(int, _) => Val::out(nowhere(), int, false),
            _ => return self.no("assignment through this pointer", at),
        };
        let Some(code) = self.carry(&value, &like) else { return self.no("value of an out parameter", at) };
        let name = ident(var);
        let pointer = target.trim_start_matches('*');
        let tested = matches!(state.vars.get(pointer), Some(Val::Address(_)));
        let code = match kind.nullable() {
            Some(true) if tested => quote!(if let Some(variable) = #name.as_deref_mut() { *variable = #code; }),
            Some(true) => {
                quote!(match #name.as_deref_mut() { Some(variable) => *variable = #code, None => return Err(c.unsupported(#NULL)) })
            }
            _ => quote!(*#name = #code),
        };
        state.set(&target, value.clone());
        let rest = k(self, value, state)?;
        Ok(Block::Do { code, rest: Box::new(rest) })
    }

    /// What an out parameter holds when the function begins.
    pub(in crate::translate) fn given_out(&mut self, name: &str, at: usize, state: State, k: KV) -> Out {
        let Some((var, kind)) = self.out_param(name) else { return self.no("pointer", at) };
        let target = ident(var);
        let (code, deref) = match &kind {
            ParamKind::OutObject(_) => (quote!(#target.clone()), quote!(variable.clone())),
            ParamKind::OutInt(..) => (quote!(*#target), quote!(*variable)),
            _ => return self.no("value of an out parameter before it is set", at),
        };
        let code = if kind.nullable() == Some(true) {
            quote!(match #target.as_deref() { Some(variable) => #deref, None => return Err(c.unsupported(#NULL)) })
        } else {
            code
        };
        let name = name.to_owned();
        self.bind(name.trim_start_matches('*'), code, &mut |this, var| {
            let value = match kind {
                ParamKind::OutInt(int, _) => Val::out(Place::owned(var), int, int.starts_with('u')),
                _ => Val::MaybeObject(Place::owned(var)),
            };
            let mut state = state.clone();
            state.set(&name, value.clone());
            k(this, value, state)
        })
    }
}
