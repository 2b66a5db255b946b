//! Pointers on one path: what they lead to, addresses, and elements of arrays.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{CType, Expr, Kind};
use crate::translate::paths::{KV, Out, Paths};
use crate::translate::value::{Place, State, Val};

impl Paths {
    pub(super) fn deref(&mut self, inner: &Expr, at: usize, state: State, k: KV) -> Out {
        if let Some(pointee) = self.pointee(inner) {
            return self.eval(
                inner,
                state,
                Rc::new(move |this, value, state| this.read_place(value, pointee, at, state, k.clone())),
            );
        }
        let to_object = match &inner.kind {
            Kind::Name(name) => self.types.get(name) == Some(&CType::Objects),
            Kind::Cast(ctype, ..) => *ctype == CType::Objects,
            _ => false,
        };
        self.eval(
            inner,
            state,
            Rc::new(move |this, value, state| match value {
                Val::Function(..) | Val::Named(_) | Val::MaybeFunction(..) => k(this, value, state),
                Val::Object(_) | Val::MaybeObject(_) if to_object => this.read_pointer(value, at, state, k.clone()),
                Val::Address(name) | Val::MaybeAddress(name) => match state.vars.get(&name).cloned() {
                    Some(Val::Uninit) | None if name.starts_with('*') => this.given_out(&name, at, state, k.clone()),
                    Some(value) => k(this, value, state),
                    None => this.no("value behind a pointer", at),
                },
                Val::SuiteByte(place, suite, offset) => {
                    let (code, suite) = (place.reference(), format_ident!("{suite}"));
                    let Some(offset) = this.int_code(&offset, "i32") else { return this.no("slot offset", at) };
                    this.bind("slot", quote!(c.slot_at(#code, Suite::#suite, #offset)?), &mut |this, var| {
                        k(this, Val::MaybeFunction(Place::owned(var), String::new()), state.clone())
                    })
                }
                Val::Slice(place) => {
                    let code = place.code;
                    this.bind("item", quote!(c.item(#code, 0)?), &mut |this, var| {
                        k(this, Val::Object(Place::owned(var)), state.clone())
                    })
                }
                other => this.no(format!("value behind a pointer ({})", other.word()), at),
            }),
        )
    }

    pub(super) fn address(&mut self, inner: &Expr, at: usize, state: State, k: KV) -> Out {
        let structure = match &inner.kind {
            Kind::Index(base, _) => self.struct_of(base),
            _ => None,
        };
        match &inner.kind {
            Kind::Call(callee, args) => {
                if let (Kind::Name(name), Some(Expr { kind: Kind::Name(id), .. })) = (&callee.kind, args.first())
                    && (name == "_Py_ID" || name == "_Py_STR")
                {
                    let method = format_ident!("{name}");
                    let hint = format!("id{}", id.trim_end_matches('_'));
                    return self.bind(&hint, quote!(c.#method(#id)?), &mut |this, var| {
                        k(this, Val::Object(Place::owned(var)), state.clone())
                    });
                }
                self.no("address of a call", at)
            }
            Kind::Name(name) if self.local_structs.contains(name) => self.eval(inner, state, k),
            Kind::Name(name) if state.vars.contains_key(name) => k(self, Val::Address(name.clone()), state),
            Kind::Name(name) => match self.world.clone().global(&self.function.file, name) {
                Some(value) => k(self, value, state),
                None => match self.world.clone().object_global(name) {
                    Some(value) => k(self, value, state),
                    None => self.variable(name, at, state, k),
                },
            },
            Kind::Index(base, index) => self.settled(
                &[(**base).clone(), (**index).clone()],
                state,
                Rc::new(move |this, values, state| match &values[0] {
                    Val::Suite(place, suite, _) => {
                        let byte = Val::SuiteByte(place.clone(), suite, Box::new(values[1].clone()));
                        k(this, byte, state)
                    }
                    Val::Object(_) | Val::MaybeObject(_) if structure.is_some() => {
                        let structure = structure.clone().unwrap_or_default();
                        this.step(&structure, "+", &values, at, state, &k)
                    }
                    other => this.no(format!("address of an element ({})", other.word()), at),
                }),
            ),
            Kind::Deref(inner) => self.eval(inner, state, k),
            Kind::Member(base, name) if self.world.slot(name).is_some() => self.slot_address(base, name, at, state, k),
            Kind::Member(..) => self.eval(
                inner,
                state,
                Rc::new(move |this, value, state| match value {
                    Val::Member(..) => this.pointer(value, at, state, k.clone()),
                    _ => this.no("address of a member", at),
                }),
            ),
            _ => self.no("address of this expression", at),
        }
    }

    pub(super) fn index(&mut self, base: &Expr, index: &Expr, at: usize, state: State, k: KV) -> Out {
        if let Some(pointee) = self.pointee(base) {
            let stride = self.stride(base).unwrap_or_default();
            let next: KV = Rc::new(move |this, value, state| this.read_place(value, pointee, at, state, k.clone()));
            return self.all(
                &[base.clone(), index.clone()],
                state,
                Rc::new(move |this, values, state| this.step(&stride, "+", &values, at, state, &next)),
            );
        }
        let structure = self.struct_of(base).filter(|name| self.world.declarations.structs.contains_key(name));
        self.all(
            &[base.clone(), index.clone()],
            state,
            Rc::new(move |this, values, state| match (&values[0], &values[1]) {
                (Val::Array(items, offset), Val::Const(index, _)) => {
                    let item = usize::try_from(*index).ok().and_then(|index| items.get(index + offset)).cloned();
                    match item {
                        Some(Val::Uninit) | None => this.no("element that is not set", at),
                        Some(item) => k(this, item, state),
                    }
                }
                (Val::Buffer(place, elements, offset), index) => {
                    this.buffer_element(place, elements, offset.as_ref(), index, at, state, &k)
                }
                (Val::Array(items, 0), index) => this.choose(items.clone(), index.clone(), at, state, &k),
                (Val::Slice(place), index) => {
                    let Some(index) = this.int_code(index, "usize") else { return this.no("index", at) };
                    let code = &place.code;
                    this.bind("item", quote!(c.item(#code, #index)?), &mut |this, var| {
                        k(this, Val::Object(Place::owned(var)), state.clone())
                    })
                }
                (Val::Object(_) | Val::MaybeObject(_), _) if structure.is_some() => {
                    let structure = structure.clone().unwrap_or_default();
                    this.step(&structure, "+", &values, at, state, &k)
                }
                (Val::Optionals(place, required), index) => {
                    this.optional_element(place, *required, index, at, state, &k)
                }
                (Val::Member(place, structure, path), index) => {
                    this.element(place.clone(), structure, path, index, at, state, &k)
                }
                (other, _) => this.no(format!("element of {}", other.word()), at),
            }),
        )
    }

    /// An element of a constant table of objects.
    fn choose(&mut self, items: Vec<Val>, index: Val, at: usize, state: State, k: &KV) -> Out {
        let Some(index) = self.int_code(&index, "usize") else { return self.no("index", at) };
        let numbers: Option<Vec<i128>> =
            items.iter().map(|item| if let Val::Const(number, _) = item { Some(*number) } else { None }).collect();
        if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) {
            let positive = numbers.iter().all(|number| *number >= 0);
            let numbers = numbers.iter().map(|number| self.number(*number));
            let code = quote!(match [#(#numbers),*].get(#index) { Some(number) => *number, None => return Err(c.unsupported("index of a table")) });
            return self.bind("number", code, &mut |this, var| {
                k(this, Val::Int(Place::owned(var), "i32", positive), state.clone())
            });
        }
        let texts: Option<Vec<TokenStream>> =
            items.iter().map(|item| if let Val::Str(place) = item { Some(place.code.clone()) } else { None }).collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            let code = quote!(match [#(#texts),*].get(#index) { Some(text) => *text, None => return Err(c.unsupported("index of a table")) });
            return self.bind("text", code, &mut |this, var| k(this, Val::Str(Place::by_ref(var)), state.clone()));
        }
        let mut names = Vec::new();
        for item in &items {
            let Val::Literal(id) = item else { return self.no("table of something else than identifiers", at) };
            names.push(id.clone());
        }
        let code = quote!(c._Py_ID(match [#(#names),*].get(#index) { Some(name) => name, None => return Err(c.unsupported("index of a table")) })?);
        self.bind("id", code, &mut |this, var| k(this, Val::Object(Place::owned(var)), state.clone()))
    }
}
