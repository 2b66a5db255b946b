//! What is read of structs: members, and what pointers in them lead to.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{CType, Expr, is_pointer};
use crate::translate::block::Block;
use crate::translate::paths::{KV, KVs, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{Convention, ParamKind, Returns};

impl Paths {
    /// Whether a value is a member, not read yet, that is a pointer to a struct.
    pub(in crate::translate) fn is_pointer_member(&self, value: &Val) -> bool {
        let Val::Member(_, structure, path) = value else { return false };
        matches!(
            self.world.member_type(structure, path),
            Some(CType::Opaque(text)) if text == "void*" || is_pointer(&text)
        )
    }

    pub(in crate::translate) fn note_pointer(&self, structure: &str, path: &[String]) -> proc_macro2::Ident {
        self.note_read(structure, path, "", vec![ParamKind::Object(false)], Returns::Optional)
    }

    /// The method that reads the C string that a member of any type points to.
    pub(crate) fn note_text(&self, structure: &str, path: &[String]) -> proc_macro2::Ident {
        self.note_read(structure, path, "_text", vec![ParamKind::Object(false)], Returns::Str)
    }

    pub(super) fn note_read(
        &self,
        structure: &str,
        path: &[String],
        suffix: &str,
        params: Vec<ParamKind>,
        returns: Returns,
    ) -> proc_macro2::Ident {
        let method = format!("{}{suffix}", self.world.note_field(structure, path));
        self.world.note(&method, &Convention { params, returns, raises: false, error: None, strict: false });
        format_ident!("{method}")
    }

    /// All objects that a member leads to.
    pub(in crate::translate) fn note_elements(
        &self,
        structure: &str,
        path: &[String],
        at: usize,
    ) -> Result<proc_macro2::Ident, Refusal> {
        match self.world.member_type(structure, path) {
            Some(CType::Objects) => {
                Ok(self.note_read(structure, path, "_all", vec![ParamKind::Object(false)], Returns::Objects))
            }
            _ => self.no(format!("{structure}'s {} as an array", path.join(".")), at),
        }
    }

    /// Reads a member that is a pointer, or the address of an embedded struct.
    pub(in crate::translate) fn pointer(&mut self, value: Val, at: usize, state: State, k: KV) -> Out {
        let Val::Member(place, structure, path) = value else { return k(self, value, state) };
        if !matches!(self.world.member_type(&structure, &path), Some(CType::Opaque(_))) {
            return self.no(format!("{structure}'s {} as a pointer", path.join(".")), at);
        }
        let method = self.note_pointer(&structure, &path);
        let code = place.reference();
        self.bind(&path[path.len() - 1], quote!(c.#method(#code)?), &mut |this, var| {
            k(this, Val::MaybeObject(Place::owned(var)), state.clone())
        })
    }

    /// Evaluates expressions and reads members that are pointers.
    pub(in crate::translate) fn settled(&mut self, exprs: &[Expr], state: State, k: KVs) -> Out {
        let at = exprs.first().map_or(0, |expr| expr.at);
        self.all(exprs, state, Rc::new(move |this, values, state| this.settle(values, 0, at, state, k.clone())))
    }

    fn settle(&mut self, values: Vec<Val>, from: usize, at: usize, state: State, k: KVs) -> Out {
        let found = values.iter().skip(from).position(|value| self.is_pointer_member(value));
        let Some(index) = found.map(|index| index + from) else { return k(self, values, state) };
        self.pointer(
            values[index].clone(),
            at,
            state,
            Rc::new(move |this, value, state| {
                let mut values = values.clone();
                values[index] = value;
                this.settle(values, index + 1, at, state, k.clone())
            }),
        )
    }

    /// `*pointer` of a `PyObject **` that the world handed out.
    pub(in crate::translate) fn read_pointer(&mut self, value: Val, at: usize, state: State, k: KV) -> Out {
        let (mut lets, mut after, mut state) = (Vec::new(), Vec::new(), state);
        let kind = ParamKind::Object(false);
        let Some(code) = self.pass(&value, &kind, &mut lets, &mut after, &mut state, at)? else {
            return self.no("pointer", at);
        };
        let block = self.bind("object", quote!(c.read(#code)?), &mut |this, var| {
            k(this, Val::MaybeObject(Place::owned(var)), state.clone())
        })?;
        Ok(before(lets, block))
    }
}

/// Bindings before a block.
pub(super) fn before(lets: Vec<(usize, TokenStream)>, block: Block) -> Block {
    lets.into_iter().rev().fold(block, |rest, (var, value)| Block::Let {
        var,
        mutable: false,
        value,
        rest: Box::new(rest),
    })
}
