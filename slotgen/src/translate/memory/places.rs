//! Pointers to pointers: arrays of pointers to structs, the places of slots, and variables that live on between calls.

use std::rc::Rc;

use quote::{format_ident, quote};

use crate::lower::{CType, Expr, Kind, is_place, is_pointer};
use crate::translate::block::{Block, Test};
use crate::translate::paths::{K, KV, Out, Paths};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{Convention, ParamKind, Returns};

/// What a pointer to a pointer leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pointee {
    /// A pointer to a struct that is no object.
    Struct,
    /// A function.
    Function,
}

impl Paths {
    /// The type of a pointer expression, where it is a variable, stepped or not.
    fn type_of(&self, expr: &Expr) -> Option<CType> {
        match &expr.kind {
            Kind::Name(name) => self.types.get(name).cloned(),
            Kind::Update(_, _, inner) | Kind::Assign(inner, _) | Kind::AssignOp(_, inner, _) => self.type_of(inner),
            Kind::Binary(operator, inner, _) if matches!(operator.as_str(), "+" | "-") => self.type_of(inner),
            Kind::Cast(ctype, ..) => Some(ctype.clone()),
            _ => None,
        }
    }

    /// What an expression points to, if that is a pointer to a pointer that the world holds.
    pub(crate) fn pointee(&self, expr: &Expr) -> Option<Pointee> {
        match self.type_of(expr)? {
            CType::Opaque(text) if !is_place(&text) => None,
            CType::Opaque(text) if self.world.contracts.meaning(&text) == "function" => Some(Pointee::Function),
            CType::Opaque(_) => Some(Pointee::Struct),
            _ => None,
        }
    }

    /// The struct by whose size a pointer is stepped, or the pointer type.
    pub(crate) fn stride(&self, expr: &Expr) -> Option<String> {
        match self.type_of(expr) {
            Some(CType::Opaque(text)) if is_place(&text) => Some(text[..text.len() - 1].to_owned()),
            _ => self.struct_of(expr),
        }
    }

    /// `*pointer`.
    pub(crate) fn read_place(&mut self, pointer: Val, pointee: Pointee, at: usize, state: State, k: KV) -> Out {
        self.present(
            pointer,
            at,
            state,
            Rc::new(move |this, pointer, state| {
                let Val::Object(place) = &pointer else { return this.no("value behind this pointer", at) };
                let code = place.reference();
                match pointee {
                    Pointee::Struct => this.bind("pointer", quote!(c.read_pointer(#code)?), &mut |this, var| {
                        k(this, Val::MaybeObject(Place::owned(var)), state.clone())
                    }),
                    Pointee::Function => this.bind("function", quote!(c.read_function(#code)?), &mut |this, var| {
                        k(this, Val::MaybeFunction(Place::owned(var), String::new()), state.clone())
                    }),
                }
            }),
        )
    }

    /// `*pointer = value`.
    pub(crate) fn write_place(
        &mut self,
        pointer: Val,
        pointee: Pointee,
        value: Val,
        at: usize,
        state: State,
        k: KV,
    ) -> Out {
        self.present(
            pointer,
            at,
            state,
            Rc::new(move |this, pointer, mut state| {
                let Val::Object(place) = &pointer else { return this.no("assignment through this pointer", at) };
                let (kind, method) = match pointee {
                    Pointee::Struct => (ParamKind::Object(true), format_ident!("write_pointer")),
                    Pointee::Function => (ParamKind::Function(String::new(), true), format_ident!("write_function")),
                };
                let (mut lets, mut after) = (Vec::new(), Vec::new());
                let new = this.pass(&value, &kind, &mut lets, &mut after, &mut state, at)?;
                // A slot that was read may have another function now.
                state.memo.clear();
                let code = place.reference();
                let rest = k(this, value.clone(), state)?;
                let block = Block::Do { code: quote!(c.#method(#code, #new)?), rest: Box::new(rest) };
                Ok(lets.into_iter().rev().fold(block, |rest, (var, value)| Block::Let {
                    var,
                    mutable: false,
                    value,
                    rest: Box::new(rest),
                }))
            }),
        )
    }

    /// A pointer that C follows, and that is not NULL here.
    fn present(&mut self, pointer: Val, at: usize, state: State, k: KV) -> Out {
        match pointer {
            Val::Object(_) => k(self, pointer, state),
            Val::MaybeObject(place) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                let found = quote!(match #unwrap { Some(pointer) => pointer.clone(), None => return Err(c.unsupported("value behind NULL")) });
                self.bind("pointer", found, &mut |this, var| k(this, Val::Object(Place::owned(var)), state.clone()))
            }
            Val::Member(..) if self.is_pointer_member(&pointer) => self.pointer(
                pointer,
                at,
                state,
                Rc::new(move |this, pointer, state| this.present(pointer, at, state, k.clone())),
            ),
            Val::Null => self.stop("value behind NULL"),
            other => self.no(format!("value behind a pointer ({})", other.word()), at),
        }
    }

    /// `&type->tp_slot`.
    pub(crate) fn slot_address(&mut self, base: &Expr, name: &str, at: usize, state: State, k: KV) -> Out {
        let slot = format_ident!("{name}");
        self.eval(
            base,
            state,
            Rc::new(move |this, value, state| {
                let (slot, k) = (slot.clone(), k.clone());
                this.present(
                    value,
                    at,
                    state,
                    Rc::new(move |this, value, state| {
                        let Val::Object(place) = &value else { return this.no("address of a member", at) };
                        let code = place.reference();
                        this.bind("place", quote!(c.slot_address(#code, Slot::#slot)?), &mut |this, var| {
                            k(this, Val::Object(Place::owned(var)), state.clone())
                        })
                    }),
                )
            }),
        )
    }

    /// The pointer to a suite of a type, or NULL.
    pub(crate) fn suite_pointer(&mut self, place: Place, suite: &'static str, state: State, k: KV) -> Out {
        let method = self.note_pointer("PyTypeObject", &[suite.to_owned()]);
        let code = place.reference();
        self.bind(suite, quote!(c.#method(#code)?), &mut |this, var| {
            k(this, Val::MaybeObject(Place::owned(var)), state.clone())
        })
    }

    /// `struct *name[size];`: an array that the world holds, as pointers to its elements are handed on.
    pub(crate) fn declare_places(
        &mut self,
        name: &str,
        element: &str,
        size: &Expr,
        at: usize,
        state: State,
        k: K,
    ) -> Out {
        let Some(size) = self.world.constant_of(size).and_then(|size| usize::try_from(size).ok()) else {
            return self.no("array of unknown size", at);
        };
        self.types.insert(name.to_owned(), CType::Opaque(format!("{element}*")));
        let size = proc_macro2::Literal::usize_unsuffixed(size);
        self.bind(name, quote!(c.new_array(#element, #size)?), &mut |this, var| {
            let mut state = state.clone();
            state.set(name, Val::Object(Place::owned(var)));
            k(this, state)
        })
    }

    /// `static … *name;`
    pub(crate) fn declare_static(
        &mut self,
        name: &str,
        ctype: &CType,
        array: Option<&Option<Expr>>,
        at: usize,
        state: State,
        k: K,
    ) -> Out {
        let count = match array {
            None => Some(1),
            Some(Some(size)) => self.world.constant_of(size).and_then(|size| usize::try_from(size).ok()),
            Some(None) => None,
        };
        let element = match ctype {
            CType::Object if array.is_none() => "PyObject*".to_owned(),
            CType::Opaque(text) if is_pointer(text) => text.clone(),
            _ => return self.no("static variable", at),
        };
        let Some(count) = count.map(proc_macro2::Literal::usize_unsuffixed) else {
            return self.no("array of unknown size", at);
        };
        let ctype = if array.is_some() { CType::Opaque(format!("{element}*")) } else { ctype.clone() };
        self.types.insert(name.to_owned(), ctype);
        let full = format!("{}.{}", self.function.name, name.split('.').next().unwrap_or(name));
        let whole = array.is_some();
        self.bind(name, quote!(c.static_variable(#full, #count)?), &mut |this, var| {
            let mut state = state.clone();
            let place = Place::owned(var);
            state.set(name, if whole { Val::Object(place) } else { Val::Behind(place) });
            k(this, state)
        })
    }

    /// What a static variable holds.
    pub(crate) fn read_static(&mut self, name: &str, value: Val, at: usize, state: State, k: KV) -> Out {
        let Val::Behind(place) = value else { return self.no("static variable", at) };
        let code = place.reference();
        let method = format_ident!("{}", if self.of_objects(name) { "read" } else { "read_pointer" });
        self.bind(name, quote!(c.#method(#code)?), &mut |this, var| {
            k(this, Val::MaybeObject(Place::owned(var)), state.clone())
        })
    }

    /// Sets a static variable.
    pub(crate) fn write_static(&mut self, name: &str, place: Val, value: Val, at: usize, state: State, k: KV) -> Out {
        let Val::Behind(place) = place else { return self.no("static variable", at) };
        if self.of_objects(name) {
            return self.write_pointer(Val::Object(place), value, at, state, k);
        }
        self.write_place(Val::Object(place), Pointee::Struct, value, at, state, k)
    }

    fn of_objects(&self, name: &str) -> bool {
        self.types.get(name) == Some(&CType::Object)
    }

    /// Whether a member is a C string.
    pub(crate) fn is_text(&self, base: &Expr, name: &str) -> bool {
        let structure = self.struct_of(base).or_else(|| self.world.only_struct(name));
        structure.is_some_and(|structure| self.world.member_type(&structure, &[name.to_owned()]) == Some(CType::Str))
    }

    /// Branches on whether a member that is a C string is there.
    pub(crate) fn branch_text(&mut self, base: &Expr, name: &str, state: State, yes: K, no: K) -> Out {
        let at = base.at;
        let structure = self.struct_of(base).or_else(|| self.world.only_struct(name)).unwrap_or_default();
        let name = name.to_owned();
        self.eval(
            base,
            state,
            Rc::new(move |this, value, state| {
                let (place, structure, path) = match value {
                    Val::Member(place, structure, mut path) => {
                        path.push(name.clone());
                        (Val::Object(place), structure, path)
                    }
                    other => (other, structure.clone(), vec![name.clone()]),
                };
                let (yes, no) = (yes.clone(), no.clone());
                this.present(
                    place,
                    at,
                    state,
                    Rc::new(move |this, value, state| {
                        let Val::Object(place) = &value else { return this.no("member", at) };
                        let method = format!("{}_is_set", this.world.note_field(&structure, &path));
                        let convention = Convention {
                            params: vec![ParamKind::Object(false)],
                            returns: Returns::Bool,
                            raises: false,
                            error: None,
                            strict: false,
                        };
                        this.world.note(&method, &convention);
                        let (code, method) = (place.reference(), format_ident!("{method}"));
                        let (there, absent) = (yes(this, state.clone())?, no(this, state)?);
                        Ok(Block::If {
                            tests: vec![Test::Bool(quote!(c.#method(#code)?))],
                            yes: Box::new(there),
                            no: Box::new(absent),
                        })
                    }),
                )
            }),
        )
    }
}
