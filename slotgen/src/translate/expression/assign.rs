//! Assignments on one path.

use std::rc::Rc;

use super::eval::is_name;
use crate::lower::{CType, Expr, Kind};
use crate::translate::block::count;
use crate::translate::paths::{KV, Out, Paths};
use crate::translate::value::{Place, State, Val};

impl Paths {
    /// Assigns to a variable, an element or a slot.
    pub(crate) fn assign(&mut self, target: &Expr, value: Val, mut state: State, k: KV) -> Out {
        let at = target.at;
        match &target.kind {
            Kind::Name(name) => {
                if self.local_structs.contains(name) {
                    return self.no("copy of a struct", at);
                }
                if let Some(place @ Val::Behind(_)) = state.vars.get(name).cloned() {
                    return self.write_static(name, place, value, at, state, k);
                }
                if let (Val::Suite(place, suite, _), Some(CType::Str)) = (&value, self.types.get(name)) {
                    let (place, suite, target) = (place.clone(), *suite, target.clone());
                    return self.suite_pointer(
                        place,
                        suite,
                        state,
                        Rc::new(move |this, value, state| this.assign(&target, value, state, k.clone())),
                    );
                }
                if self.is_pointer_member(&value) {
                    let target = target.clone();
                    return self.pointer(
                        value,
                        at,
                        state,
                        Rc::new(move |this, value, state| this.assign(&target, value, state, k.clone())),
                    );
                }
                let value = match self.types.get(name).cloned() {
                    Some(ctype) => self.convert(value, &ctype, at)?,
                    None => return self.no(format!("assignment to {name}"), at),
                };
                if let Val::Room(count) = &value {
                    return self.room(name, count, at, state, k);
                }
                // Computed code gets a variable of its own, so that it is computed once.
                if let Val::Int(place, int, positive) = &value
                    && !is_name(&place.code)
                {
                    let (int, positive) = (*int, *positive);
                    return self.bind(name, place.code.clone(), &mut |this, var| {
                        let mut state = state.clone();
                        let value = Val::Int(Place::owned(var), int, positive);
                        state.set(name, value.clone());
                        k(this, value, state)
                    });
                }
                if let Val::Bool(place) = &value
                    && !is_name(&place.code)
                {
                    return self.bind(name, place.code.clone(), &mut |this, var| {
                        let mut state = state.clone();
                        let value = Val::Bool(Place::owned(var));
                        state.set(name, value.clone());
                        k(this, value, state)
                    });
                }
                self.rename(&value, name);
                state.set(name, value.clone());
                k(self, value, state)
            }
            Kind::Deref(inner) => self.assign_out(inner, value, state, k),
            Kind::Index(base, index) => self.assign_item(base, index, value, state, k),
            Kind::Member(base, member) => self.assign_member(base, member, value, state, k),
            Kind::Cast(_, _, inner) => self.assign(inner, value, state, k),
            Kind::Call(callee, args) => {
                let expanded = match &callee.kind {
                    Kind::Name(name) => self.world.expanded(name, args),
                    _ => None,
                };
                match expanded {
                    Some(target) => self.assign(&target, value, state, k),
                    None => self.no("assignment to this expression", at),
                }
            }
            _ => self.no("assignment to this expression", at),
        }
    }

    /// A temporary that a C variable receives is called like it.
    fn rename(&mut self, value: &Val, name: &str) {
        let (Val::Object(place) | Val::MaybeObject(place) | Val::Function(place, _) | Val::MaybeFunction(place, _)) =
            value
        else {
            return;
        };
        let mut uses = std::collections::BTreeMap::new();
        count(&place.code, &mut uses);
        let params = self.function.signature.params.iter().filter(|param| param.ctype != CType::Thread).count();
        if let (Some(var), true) = (uses.keys().next().copied(), is_name(&place.code))
            && var >= params
            && !place.by_ref
            && !self.hints[var].starts_with("Py_")
        {
            self.hints[var] = name.split('.').next().unwrap_or(name).to_owned();
        }
    }

    fn assign_out(&mut self, inner: &Expr, value: Val, state: State, k: KV) -> Out {
        if let Some(pointee) = self.pointee(inner) {
            let at = inner.at;
            return self.eval(
                inner,
                state,
                Rc::new(move |this, target, state| {
                    this.write_place(target, pointee, value.clone(), at, state, k.clone())
                }),
            );
        }
        let Kind::Name(pointer) = &inner.kind else { return self.no("assignment through a pointer", inner.at) };
        if let (Some(target @ (Val::Object(_) | Val::MaybeObject(_))), Some(CType::Objects)) =
            (state.vars.get(pointer).cloned(), self.types.get(pointer))
        {
            return self.write_pointer(target, value, inner.at, state, k);
        }
        let Some(Val::Address(name) | Val::MaybeAddress(name)) = state.vars.get(pointer).cloned() else {
            return self.no("assignment through this pointer", inner.at);
        };
        self.set_out(name, value, inner.at, state, k)
    }

    fn assign_item(&mut self, base: &Expr, index: &Expr, value: Val, state: State, k: KV) -> Out {
        let at = base.at;
        let name = match &base.kind {
            Kind::Name(name) if matches!(state.vars.get(name), Some(Val::Array(..))) => name.clone(),
            Kind::Name(name) if matches!(state.vars.get(name), Some(Val::Buffer(..))) => {
                return self.set_element(base, index, value, state, k);
            }
            _ => return self.assign_element(base, index, value, state, k),
        };
        self.eval(
            index,
            state,
            Rc::new(move |this, index, mut state| {
                let (Some(Val::Array(mut items, offset)), Val::Const(index, _)) =
                    (state.vars.get(&name).cloned(), index)
                else {
                    return this.no("assignment to an element", at);
                };
                let index = usize::try_from(index).map(|index| index + offset).unwrap_or(usize::MAX);
                let Some(item) = items.get_mut(index) else { return this.no("assignment outside of an array", at) };
                *item = value.clone();
                state.set(&name, Val::Array(items, offset));
                k(this, value.clone(), state)
            }),
        )
    }
}
