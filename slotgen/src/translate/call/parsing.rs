//! Calls that parse arguments: `PyArg_ParseTuple` and its kin set the variables whose addresses they are given.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::quote;

use crate::lower::{CType, Expr, Kind};
use crate::translate::block::{Block, ident};
use crate::translate::paths::{K, KV, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};

/// How many of the variables are set whenever the call succeeds.
pub(crate) fn required(name: &str, values: &[Val]) -> usize {
    if name == "PyArg_UnpackTuple" {
        return match values.get(2) {
            Some(Val::Const(number, _)) => usize::try_from(*number).unwrap_or(0),
            _ => 0,
        };
    }
    let format = values.iter().find_map(|value| match value {
        Val::Literal(format) => Some(format),
        _ => None,
    });
    let needed = format.map_or("", |format| format.split(['|', ':', ';', '$']).next().unwrap_or_default());
    needed.chars().filter(|c| c.is_ascii_alphabetic()).count()
}

impl Paths {
    /// The variable that tells a parser of arguments their names.
    pub(crate) fn declare_parser(&mut self, name: &str, init: Option<&Expr>, at: usize, state: State, k: K) -> Out {
        let Some(Expr { kind: Kind::List(items), .. }) = init else { return self.no("parser of arguments", at) };
        let order = self.world.declarations.structs.get("_PyArg_Parser").cloned().unwrap_or_default();
        let named = items.iter().enumerate().filter_map(|(index, item)| match &item.kind {
            Kind::Assign(target, value) => match &target.kind {
                Kind::Name(member) => Some((member.clone(), (**value).clone())),
                _ => None,
            },
            _ => Some((order.get(index)?.clone(), item.clone())),
        });
        let members: BTreeMap<String, Expr> = named.collect();
        let (Some(keywords), Some(fname)) = (members.get("keywords"), members.get("fname")) else {
            return self.no("parser of arguments without names", at);
        };
        self.local_structs.insert(name.to_owned());
        let name = name.to_owned();
        self.all(
            &[fname.clone(), keywords.clone()],
            state,
            Rc::new(move |this, values, mut state| {
                let [fname @ Val::Literal(_), Val::Array(keywords, 0)] = values.as_slice() else {
                    return this.no("names of arguments", at);
                };
                let mut texts = vec![fname.clone()];
                texts.extend(keywords.iter().filter(|text| **text != Val::Null).cloned());
                state.set(&name, Val::Array(texts, 0));
                k(this, state)
            }),
        )
    }

    /// An element of what a parser of arguments gives: the first ones are never NULL.
    pub(crate) fn optional_element(
        &mut self,
        place: &Place,
        required: usize,
        index: &Val,
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        let Some(code) = self.int_code(index, "usize") else { return self.no("index", at) };
        let items = &place.code;
        if matches!(index, Val::Const(number, _) if usize::try_from(*number).is_ok_and(|number| number < required)) {
            let found = quote!(match #items.get(#code) { Some(Some(object)) => object.clone(), _ => return Err(c.unsupported("NULL from a parser of arguments")) });
            return self.bind("item", found, &mut |this, var| k(this, Val::Object(Place::owned(var)), state.clone()));
        }
        self.bind("item", quote!(#items.get(#code).cloned().flatten()), &mut |this, var| {
            k(this, Val::MaybeObject(Place::owned(var)), state.clone())
        })
    }

    /// One variable argument of a parser: a variable that it sets, or a value that it asks for.
    pub(crate) fn parsed(
        &mut self,
        value: &Val,
        lets: &mut Vec<(usize, TokenStream)>,
        after: &mut Vec<(String, Val)>,
        state: &mut State,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        let Val::Address(target) = value else {
            let given = self.argument(value, lets, at)?;
            return Ok(quote!(Parsed::Given(#given)));
        };
        let ctype = self.types.get(target).cloned();
        let var = self.fresh(&format!("mut {}", target.split('.').next().unwrap_or(target)));
        let name = ident(var);
        let (like, empty, variant) = match ctype {
            Some(CType::Object) => (Val::MaybeObject(Place::owned(var)), quote!(None), quote!(Object)),
            Some(CType::Int("i32")) => (Val::Int(Place::owned(var), "i32", false), quote!(0), quote!(Int)),
            Some(CType::Int("isize")) => (Val::Int(Place::owned(var), "isize", false), quote!(0), quote!(Size)),
            Some(CType::Double) => (Val::Double(Place::owned(var)), quote!(0.0), quote!(Double)),
            _ => return self.no("variable that a parser of arguments sets", at),
        };
        let current = state.vars.get(target).cloned().unwrap_or(Val::Uninit);
        lets.push((var, self.carry(&current, &like).unwrap_or(empty)));
        after.push((target.clone(), like));
        Ok(quote!(Parsed::#variant(&mut #name)))
    }

    /// Goes on with the first variables known to be set.
    pub(crate) fn requiring(&mut self, after: &[(String, Val)], required: usize, k: KV) -> KV {
        let names: Vec<String> = after.iter().take(required).map(|(name, _)| name.clone()).collect();
        Rc::new(move |this, value, mut state| {
            if state.error.is_some() {
                return k(this, value, state);
            }
            let mut found = Vec::new();
            for name in &names {
                if let Some(Val::MaybeObject(place)) = state.vars.get(name).cloned() {
                    let var = this.fresh(name);
                    let code = &place.code;
                    found.push((var, quote!(match #code { Some(object) => object, None => return Err(c.unsupported("NULL from a parser of arguments")) })));
                    state.set(name, Val::Object(Place::owned(var)));
                }
            }
            let rest = k(this, value, state)?;
            Ok(found.into_iter().rev().fold(rest, |rest, (var, value)| Block::Let {
                var,
                mutable: false,
                value,
                rest: Box::new(rest),
            }))
        })
    }
}
