//! Structs that a function makes for itself.

use std::rc::Rc;

use quote::quote;

use crate::lower::{Expr, Kind};
use crate::translate::paths::{K, KV, Out, Paths};
use crate::translate::value::{Place, State, Val};

impl Paths {
    /// A struct that is a variable.
    pub(in crate::translate) fn declare_struct(
        &mut self,
        name: &str,
        structure: &str,
        init: Option<&Expr>,
        at: usize,
        state: State,
        k: K,
    ) -> Out {
        let items = match init {
            None => Vec::new(),
            Some(Expr { kind: Kind::List(items), .. }) => items.clone(),
            Some(_) => return self.no("copy of a struct", at),
        };
        let order = self.world.declarations.structs.get(structure).cloned().unwrap_or_default();
        let mut assigns = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let (member, value) = match item.kind {
                Kind::Assign(target, value) => match target.kind {
                    Kind::Name(member) => (member, *value),
                    _ => return self.no("initialiser", at),
                },
                // A new struct is zero everywhere.
                Kind::Int(0) | Kind::Null => continue,
                _ => match order.get(index) {
                    Some(member) => (member.clone(), item),
                    None => return self.no("initialiser", at),
                },
            };
            let target = Kind::Member(Box::new(Expr { kind: Kind::Name(name.to_owned()), at }), member);
            assigns.push(Expr { kind: Kind::Assign(Box::new(Expr { kind: target, at }), Box::new(value)), at });
        }
        self.local_structs.insert(name.to_owned());
        if assigns.is_empty() {
            let mut state = state;
            state.set(name, Val::Unmade(structure.to_owned()));
            return k(self, state);
        }
        let (name, structure) = (name.to_owned(), structure.to_owned());
        self.bind(&name.clone(), quote!(c.new_struct(#structure)?), &mut |this, var| {
            let mut state = state.clone();
            state.set(&name, Val::Object(Place::owned(var)));
            let k = k.clone();
            this.all(&assigns, state, Rc::new(move |this, _, state| k(this, state)))
        })
    }

    /// Makes a struct that is a variable, now that it is used.
    pub(in crate::translate) fn make(&mut self, name: &str, structure: &str, state: State, k: KV) -> Out {
        self.bind(name, quote!(c.new_struct(#structure)?), &mut |this, var| {
            let (mut state, value) = (state.clone(), Val::Object(Place::owned(var)));
            state.set(name, value.clone());
            k(this, value, state)
        })
    }

    /// Makes the structs that a loop uses before it begins, so that all rounds use the same.
    pub(in crate::translate) fn make_used(&mut self, used: &dyn Fn(&str) -> bool, state: State, k: K) -> Out {
        let unmade = state.vars.iter().find_map(|(name, value)| match value {
            Val::Unmade(structure) if used(name) => Some((name.clone(), structure.clone())),
            _ => None,
        });
        match unmade {
            None => k(self, state),
            Some((name, structure)) => self.bind(&name, quote!(c.new_struct(#structure)?), &mut |this, var| {
                let mut state = state.clone();
                state.set(&name, Val::Object(Place::owned(var)));
                this.make_used(used, state, k.clone())
            }),
        }
    }

    /// A file-level struct or array of structs, by its address.
    pub(in crate::translate) fn variable(&mut self, name: &str, at: usize, state: State, k: KV) -> Out {
        if self.world.variable_struct(&self.function.file, name).is_none() {
            return self.no(format!("name {name}"), at);
        }
        self.bind(name.trim_start_matches('_'), quote!(c.variable(#name)?), &mut |this, var| {
            k(this, Val::Object(Place::owned(var)), state.clone())
        })
    }
}
