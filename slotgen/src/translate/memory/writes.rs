//! What structs hold: pointers, elements, and assignments to members.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::reads::before;
use crate::lower::{CType, Expr};
use crate::translate::block::Block;
use crate::translate::paths::{KV, Out, Paths};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{Convention, ParamKind, Returns, param_kind};

impl Paths {
    /// An element of an array that a member leads to.
    #[allow(clippy::too_many_arguments)]
    pub(in crate::translate) fn element(
        &mut self,
        place: Place,
        structure: &str,
        path: &[String],
        index: &Val,
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        let returns = match self.world.member_type(structure, path) {
            Some(CType::Objects) => Returns::Optional,
            Some(CType::OutInt("f64")) => Returns::Double,
            Some(CType::OutInt(int)) => Returns::Int(int, int.starts_with('u')),
            _ => return self.no(format!("element of {structure}'s {}", path.join(".")), at),
        };
        let Some(index) = self.int_code(index, "isize") else { return self.no("index", at) };
        let params = vec![ParamKind::Object(false), ParamKind::Int("isize")];
        let method = self.note_read(structure, path, "_at", params, returns.clone());
        let code = place.reference();
        self.bind("item", quote!(c.#method(#code, #index)?), &mut |this, var| {
            let value = match &returns {
                Returns::Int(int, positive) => Val::Int(Place::owned(var), int, *positive),
                Returns::Double => Val::Double(Place::owned(var)),
                _ => Val::MaybeObject(Place::owned(var)),
            };
            k(this, value, state.clone())
        })
    }

    /// `base[index] = value`, where the base is a member.
    pub(in crate::translate) fn assign_element(
        &mut self,
        base: &Expr,
        index: &Expr,
        value: Val,
        state: State,
        k: KV,
    ) -> Out {
        let at = base.at;
        self.all(
            &[base.clone(), index.clone()],
            state,
            Rc::new(move |this, values, state| {
                let Val::Member(place, structure, path) = &values[0] else {
                    return this.no("assignment to an element", at);
                };
                let kind = match this.world.member_type(structure, path) {
                    Some(CType::Objects) => ParamKind::Object(true),
                    Some(CType::OutInt("f64")) => ParamKind::Double,
                    Some(CType::OutInt(int)) => ParamKind::Int(int),
                    _ => return this.no("assignment to an element", at),
                };
                let Some(index) = this.int_code(&values[1], "isize") else { return this.no("index", at) };
                let target = (place.clone(), structure.clone(), path.clone());
                this.write(target, Some(index), kind, value.clone(), at, state, k.clone())
            }),
        )
    }

    /// Assigns to a member, or to a slot of a type.
    pub(in crate::translate) fn assign_member(
        &mut self,
        base: &Expr,
        name: &str,
        value: Val,
        state: State,
        k: KV,
    ) -> Out {
        let at = base.at;
        let name = name.to_owned();
        let structure = self.struct_of(base);
        self.eval(
            base,
            state,
            Rc::new(move |this, base, state| {
                let (place, structure, path) = match base {
                    Val::Object(place) => {
                        if this.world.slot(&name).is_some() {
                            return this.assign_slot(place, &name, value.clone(), at, state, k.clone());
                        }
                        let own = structure
                            .clone()
                            .filter(|own| this.world.member_type(own, std::slice::from_ref(&name)).is_some())
                            .or_else(|| this.world.only_struct(&name));
                        let Some(own) = own else { return this.no(format!("assignment to member {name}"), at) };
                        (place, own, vec![name.clone()])
                    }
                    Val::MaybeObject(place) => {
                        let code = &place.code;
                        let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                        let message = format!("NULL->{name}");
                        let found = quote!(match #unwrap { Some(object) => object.clone(), None => return Err(c.unsupported(#message)) });
                        let (name, structure, value, k) = (name.clone(), structure.clone(), value.clone(), k.clone());
                        return this.bind("object", found, &mut |this, var| {
                            let own = structure.clone().or_else(|| this.world.only_struct(&name));
                            let Some(own) = own else { return this.no(format!("assignment to member {name}"), at) };
                            let path = vec![name.clone()];
                            let Some(kind) = this.member_kind(&own, &path) else {
                                return this.no(format!("assignment to member {name}"), at);
                            };
                            let target = (Place::owned(var), own, path);
                            this.write(target, None, kind, value.clone(), at, state.clone(), k.clone())
                        });
                    }
                    Val::Member(place, structure, mut path) => {
                        path.push(name.clone());
                        (place, structure, path)
                    }
                    _ => return this.no(format!("assignment to member {name}"), at),
                };
                let Some(kind) = this.member_kind(&structure, &path) else {
                    return this.no(format!("assignment to member {name}"), at);
                };
                this.write((place, structure, path), None, kind, value.clone(), at, state, k.clone())
            }),
        )
    }

    fn member_kind(&self, structure: &str, path: &[String]) -> Option<ParamKind> {
        Some(match self.world.member_type(structure, path)? {
            CType::Opaque(text) if text == "void*" => ParamKind::Object(true),
            ctype => match param_kind(&ctype, true) {
                kind @ (ParamKind::Object(_)
                | ParamKind::Int(_)
                | ParamKind::Double
                | ParamKind::Str(_)
                | ParamKind::Strings
                | ParamKind::Function(..)) => kind,
                _ => return None,
            },
        })
    }

    /// Calls the setter of a member or of an element of it.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &mut self,
        (place, structure, path): (Place, String, Vec<String>),
        index: Option<TokenStream>,
        kind: ParamKind,
        value: Val,
        at: usize,
        mut state: State,
        k: KV,
    ) -> Out {
        let (mut lets, mut after) = (Vec::new(), Vec::new());
        let Some(code) = self.pass(&value, &kind, &mut lets, &mut after, &mut state, at)? else {
            return self.no(format!("value of member {}", path.join(".")), at);
        };
        state.memo.clear();
        if index.is_none() {
            // Pointers read from the member before are no longer what it holds.
            let own = Val::Member(place.clone(), structure.clone(), path.clone());
            let stale: Vec<String> =
                state.vars.iter().filter(|(_, held)| **held == own).map(|(name, _)| name.clone()).collect();
            stale.iter().for_each(|name| state.set(name, Val::Uninit));
        }
        let mut params = vec![ParamKind::Object(false)];
        params.extend(index.as_ref().map(|_| ParamKind::Int("isize")));
        params.push(kind);
        let suffix = if index.is_some() { "_at" } else { "" };
        let method = format!("set_{}{suffix}", self.world.note_field(&structure, &path));
        self.world
            .note(&method, &Convention { params, returns: Returns::Unit, raises: false, error: None, strict: false });
        let (object, method) = (place.reference(), format_ident!("{method}"));
        let index = index.map(|index| quote!(#index,));
        let rest = k(self, value, state)?;
        let block = Block::Do { code: quote!(c.#method(#object, #index #code)?), rest: Box::new(rest) };
        Ok(before(lets, block))
    }

    fn assign_slot(&mut self, place: Place, name: &str, value: Val, at: usize, mut state: State, k: KV) -> Out {
        let (code, slot) = (place.reference(), format_ident!("{name}"));
        state.memo.clear();
        let (mut lets, mut after) = (Vec::new(), Vec::new());
        let kind = ParamKind::Function(String::new(), true);
        let Some(function) = self.pass(&value, &kind, &mut lets, &mut after, &mut state, at)? else {
            return self.no("slot value", at);
        };
        let rest = k(self, value, state)?;
        let block = Block::Do { code: quote!(c.set_slot(#code, Slot::#slot, #function)?), rest: Box::new(rest) };
        Ok(before(lets, block))
    }

    /// Pointer arithmetic over structs.
    pub(in crate::translate) fn step(
        &mut self,
        structure: &str,
        operator: &str,
        values: &[Val],
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        let place = match &values[0] {
            Val::Object(place) => place.clone(),
            Val::MaybeObject(place) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                let found = quote!(match #unwrap { Some(pointer) => pointer.clone(), None => return Err(c.unsupported("arithmetic on NULL")) });
                let (structure, operator, values, k) =
                    (structure.to_owned(), operator.to_owned(), values.to_vec(), k.clone());
                return self.bind("pointer", found, &mut |this, var| {
                    let mut values = values.clone();
                    values[0] = Val::Object(Place::owned(var));
                    this.step(&structure, &operator, &values, at, state.clone(), &k)
                });
            }
            other => return self.no(format!("pointer arithmetic on {}", other.word()), at),
        };
        let Some(by) = self.int_code(&values[1], "isize") else {
            return self.no(format!("operator {operator} on {} and {}", values[0].word(), values[1].word()), at);
        };
        let by = if operator == "-" { quote!((#by as isize).wrapping_neg()) } else { by };
        let code = place.reference();
        self.bind("pointer", quote!(c.step(#code, #by, #structure)?), &mut |this, var| {
            k(this, Val::Object(Place::owned(var)), state.clone())
        })
    }

    /// `*pointer = value` of a `PyObject **` that the world handed out.
    pub(in crate::translate) fn write_pointer(
        &mut self,
        target: Val,
        value: Val,
        at: usize,
        mut state: State,
        k: KV,
    ) -> Out {
        let (mut lets, mut after) = (Vec::new(), Vec::new());
        let to = self.pass(&target, &ParamKind::Object(false), &mut lets, &mut after, &mut state, at)?;
        let what = self.pass(&value, &ParamKind::Object(true), &mut lets, &mut after, &mut state, at)?;
        let rest = k(self, value, state)?;
        Ok(before(lets, Block::Do { code: quote!(c.write(#to, #what)?), rest: Box::new(rest) }))
    }
}
