//! Conditions on one path: tests, and what each side of them knows.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{Expr, Kind};
use crate::translate::block::{Block, Test, count, ident};
use crate::translate::paths::{K, Out, Paths};
use crate::translate::value::{Place, State, Val};

impl Paths {
    /// A value as a Rust `bool`.
    pub(crate) fn truth(&self, value: &Val) -> Option<TokenStream> {
        Some(match value {
            Val::Bool(place) => place.code.clone(),
            Val::Const(number, _) => {
                let truth = *number != 0;
                quote!(#truth)
            }
            Val::Int(place, ..) => {
                let code = &place.code;
                quote!((#code != 0))
            }
            _ => return None,
        })
    }

    /// Branches on a condition; `yes` and `no` may be called several times.
    pub(crate) fn branch(&mut self, condition: &Expr, state: State, yes: K, no: K) -> Out {
        match &condition.kind {
            Kind::Not(inner) => self.branch(inner, state, no, yes),
            Kind::And(a, b) => {
                let (b, other) = (b.clone(), no.clone());
                self.branch(
                    a,
                    state,
                    Rc::new(move |this, state| this.branch(&b, state, yes.clone(), other.clone())),
                    no,
                )
            }
            Kind::Or(a, b) => {
                let (b, other) = (b.clone(), yes.clone());
                self.branch(
                    a,
                    state,
                    yes,
                    Rc::new(move |this, state| this.branch(&b, state, other.clone(), no.clone())),
                )
            }
            Kind::Binary(op, a, b) if matches!(op.as_str(), "==" | "!=") && b.is_null() => {
                if op == "==" {
                    self.branch(a, state, no, yes)
                } else {
                    self.branch(a, state, yes, no)
                }
            }
            Kind::Call(callee, args) if matches!(&callee.kind, Kind::Name(name) if matches!(name.as_str(), "_Py_LIKELY" | "_Py_UNLIKELY" | "likely" | "unlikely")) => {
                match args.first() {
                    Some(arg) => self.branch(arg, state, yes, no),
                    None => self.no("condition", condition.at),
                }
            }
            Kind::Member(base, name) if self.is_text(base, name) => self.branch_text(base, name, state, yes, no),
            _ => {
                let at = condition.at;
                let name = variable(condition);
                self.eval(
                    condition,
                    state,
                    Rc::new(move |this, value, state| this.test(value, name.as_deref(), at, state, &yes, &no)),
                )
            }
        }
    }

    /// Branches on a value; `name` is the variable it came from.
    fn test(&mut self, value: Val, name: Option<&str>, at: usize, state: State, yes: &K, no: &K) -> Out {
        match value {
            Val::Null | Val::Const(0, _) => no(self, state),
            Val::Const(..)
            | Val::Object(_)
            | Val::Function(..)
            | Val::Global(_)
            | Val::Named(_)
            | Val::Pending
            | Val::Literal(_)
            | Val::Array(..)
            | Val::Slice(_)
            | Val::Room(_)
            | Val::Buffer(..)
            | Val::Optionals(..)
            | Val::Address(_)
            | Val::Thread
            | Val::Str(_) => yes(self, state),
            Val::MaybeObject(_) | Val::MaybeFunction(..) | Val::MaybeStr(_) => {
                let (place, function) = match &value {
                    Val::MaybeFunction(place, function) => (place.clone(), Some(function.clone())),
                    Val::MaybeObject(place) | Val::MaybeStr(place) => (place.clone(), None),
                    _ => return self.no("pointer", at),
                };
                let mut uses = std::collections::BTreeMap::new();
                count(&place.code, &mut uses);
                let hint = name
                    .map(str::to_owned)
                    .or_else(|| uses.keys().next().map(|var| self.hints[*var].clone()))
                    .unwrap_or_default();
                let var = self.fresh(hint.trim_start_matches('*'));
                let found = match function {
                    Some(function) => Val::Function(Place::by_ref(var), function),
                    None if matches!(value, Val::MaybeStr(_)) => Val::Str(Place::by_ref(var)),
                    None => Val::Object(Place::by_ref(var)),
                };
                let (mut there, mut absent) = (state.clone(), state);
                refine_all(&mut there, &value, &found);
                refine_all(&mut absent, &value, &Val::Null);
                if let Some(name) = name
                    && !there.vars.contains_key(name)
                {
                    there.memo.insert(name.to_owned(), found.clone());
                }
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                Ok(Block::If { tests: vec![Test::Some(var, place.reference())], yes: Box::new(yes), no: Box::new(no) })
            }
            Val::MaybeAddress(ref name) => {
                let Some((var, _)) = self.out_param(name) else { return self.no("pointer", at) };
                let (code, found) = (ident(var), Val::Address(name.clone()));
                let (mut there, mut absent) = (state.clone(), state);
                refine_all(&mut there, &value, &found);
                refine_all(&mut absent, &value, &Val::Null);
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                let tests = vec![Test::Bool(quote!(#code.is_some()))];
                Ok(Block::If { tests, yes: Box::new(yes), no: Box::new(no) })
            }
            Val::Suite(_, _, Some(known)) => {
                if known {
                    yes(self, state)
                } else {
                    no(self, state)
                }
            }
            Val::Suite(ref place, suite, None) => {
                let (code, field) = (place.reference(), format_ident!("{suite}"));
                let (mut there, mut absent) = (state.clone(), state);
                refine_all(&mut there, &value, &Val::Suite(place.clone(), suite, Some(true)));
                refine_all(&mut absent, &value, &Val::Suite(place.clone(), suite, Some(false)));
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                Ok(Block::If {
                    tests: vec![Test::Bool(quote!(c.has_suite(#code, Suite::#field)?))],
                    yes: Box::new(yes),
                    no: Box::new(no),
                })
            }
            Val::Bool(_) | Val::Int(..) => {
                let Some(code) = self.truth(&value) else { return self.no("condition", at) };
                let (mut there, mut absent) = (state.clone(), state);
                if let (Some(name), Val::Bool(_)) = (name, &value) {
                    there.refine(name, Val::Const(1, None));
                    absent.refine(name, Val::Const(0, None));
                }
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                Ok(Block::If { tests: vec![Test::Bool(code)], yes: Box::new(yes), no: Box::new(no) })
            }
            Val::Member(..) => {
                let (yes, no) = (yes.clone(), no.clone());
                self.pointer(
                    value,
                    at,
                    state,
                    Rc::new(move |this, value, state| this.test(value, None, at, state, &yes, &no)),
                )
            }
            other => self.no(format!("condition {}", other.word()), at),
        }
    }
}

/// Every variable that holds `old` is now known to be `new`.
fn refine_all(state: &mut State, old: &Val, new: &Val) {
    let names: Vec<_> = state.vars.iter().filter(|(_, value)| *value == old).map(|(name, _)| name.clone()).collect();
    for name in names {
        state.refine(&name, new.clone());
    }
    for value in state.memo.values_mut() {
        if value == old {
            *value = new.clone();
        }
    }
}

/// The variable that an expression reads or assigns.
fn variable(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Name(name) => Some(name.clone()),
        Kind::Assign(left, _) => variable(left),
        Kind::Cast(_, _, inner) => variable(inner),
        Kind::Deref(inner) => variable(inner).map(|name| format!("*{name}")),
        _ => None,
    }
}
