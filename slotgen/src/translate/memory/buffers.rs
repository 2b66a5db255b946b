//! Arrays that a function makes for itself: `Vec`s of Rust.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{CType, Expr};
use crate::translate::block::{Block, ident};
use crate::translate::paths::{K, KV, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::ParamKind;

/// What is said where C would read or write outside of an array.
const OUTSIDE: &str = "element outside of an array";

/// An element before it is set, and the element type of a variable of a type.
fn zero(elements: &str) -> TokenStream {
    if elements == "object" {
        return quote!(None::<C::Object>);
    }
    format!("0{elements}").parse().unwrap_or_default()
}

impl Paths {
    /// `pointer = PyMem_New(…)`: the variable's type says what the elements are.
    pub(crate) fn room(&mut self, name: &str, count: &Val, at: usize, state: State, k: KV) -> Out {
        let elements = match self.types.get(name) {
            Some(CType::OutInt(int)) => *int,
            Some(CType::Objects) => "object",
            _ => return self.no("memory for something else than objects or integers", at),
        };
        let Some(count) = self.int_code(count, "usize") else { return self.no("number of elements", at) };
        let zero = zero(elements);
        let code = quote!(match crate::buffers::room(#zero, #count) { Some(room) => room, None => return Err(c.unsupported("memory for an array")) });
        let var = self.fresh(name);
        let mut state = state;
        let value = Val::Buffer(Place::owned(var), elements, None);
        state.set(name, value.clone());
        let rest = k(self, value, state)?;
        Ok(Block::Let { var, mutable: true, value: code, rest: Box::new(rest) })
    }

    /// `int name[size];`
    pub(crate) fn declare_buffer(
        &mut self,
        name: &str,
        int: &'static str,
        size: &Expr,
        at: usize,
        mut state: State,
        k: K,
    ) -> Out {
        let Some(size) = self.world.constant_of(size) else {
            return self.no("array of unknown size", at);
        };
        let width = match int {
            "i8" | "u8" => 1,
            "i16" | "u16" => 2,
            "i32" | "u32" => 4,
            _ => 8,
        };
        self.types.insert(name.to_owned(), CType::OutInt(int));
        self.sizes.insert(name.split('.').next().unwrap_or(name).to_owned(), size * width);
        let (var, zero) = (self.fresh(name), zero(int));
        let count = proc_macro2::Literal::i128_unsuffixed(size);
        state.set(name, Val::Buffer(Place::owned(var), int, None));
        let rest = k(self, state)?;
        Ok(Block::Let { var, mutable: true, value: quote!(vec![#zero; #count]), rest: Box::new(rest) })
    }

    /// The index of an element, from where the array is pointed to.
    fn place_of(&self, offset: Option<&Place>, index: &Val) -> Option<TokenStream> {
        Some(match offset {
            None => self.int_code(index, "usize")?,
            Some(offset) => {
                let (offset, index) = (&offset.code, self.int_code(index, "isize")?);
                quote!((#offset.wrapping_add(#index) as usize))
            }
        })
    }

    /// `array[index]`.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn buffer_element(
        &mut self,
        place: &Place,
        elements: &'static str,
        offset: Option<&Place>,
        index: &Val,
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        let Some(index) = self.place_of(offset, index) else { return self.no("index", at) };
        let code = &place.code;
        let item = if elements == "object" { quote!(item.clone()) } else { quote!(*item) };
        let code = quote!(match #code.get(#index) { Some(item) => #item, None => return Err(c.unsupported(#OUTSIDE)) });
        self.bind("item", code, &mut |this, var| {
            let place = Place::owned(var);
            let value = match elements {
                "object" => Val::MaybeObject(place),
                int => Val::Int(place, int, int.starts_with('u')),
            };
            k(this, value, state.clone())
        })
    }

    /// `array[index] = value`.
    pub(crate) fn set_element(&mut self, base: &Expr, index: &Expr, value: Val, state: State, k: KV) -> Out {
        let at = base.at;
        let exprs = [base.clone(), index.clone()];
        self.all(
            &exprs,
            state,
            std::rc::Rc::new(move |this, values, state| {
                let Val::Buffer(place, elements, offset) = &values[0] else { return this.no("element", at) };
                if place.by_ref {
                    return this.no("assignment to an element of an array that is given", at);
                }
                let Some(index) = this.place_of(offset.as_ref(), &values[1]) else { return this.no("index", at) };
                let nowhere = Place { code: TokenStream::new(), by_ref: false };
                let like = match *elements {
                    "object" => Val::MaybeObject(nowhere),
                    int => Val::Int(nowhere, int, false),
                };
                let Some(new) = this.carry(&value, &like) else {
                    return this.no(format!("element: {}", value.word()), at);
                };
                let code = &place.code;
                let code = quote!(match #code.get_mut(#index) { Some(item) => *item = #new, None => return Err(c.unsupported(#OUTSIDE)) });
                let rest = k(this, value.clone(), state)?;
                Ok(Block::Do { code, rest: Box::new(rest) })
            }),
        )
    }

    /// An array as an argument.
    pub(crate) fn pass_buffer(
        &mut self,
        value: &Val,
        kind: &ParamKind,
        lets: &mut Vec<(usize, TokenStream)>,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        let Val::Buffer(place, elements, offset) = value else { return self.no("array", at) };
        let code = &place.code;
        let from = offset.as_ref().map(|offset| {
            let offset = &offset.code;
            quote!(#offset as usize..)
        });
        let part = match &from {
            Some(from) => quote!(#code.get(#from).unwrap_or_default()),
            None if place.by_ref => quote!(#code),
            None => quote!(&#code),
        };
        Ok(match (kind, *elements) {
            (ParamKind::Ints(int), own) if *int == own => part,
            (ParamKind::Chars, "i8") if !place.by_ref => match &from {
                Some(from) => quote!(#code.get_mut(#from).unwrap_or_default()),
                None => quote!(&mut #code),
            },
            (ParamKind::Slice, "object") => {
                let var = self.fresh("items");
                let name = ident(var);
                let inner = match &from {
                    Some(_) => part,
                    None => code.clone(),
                };
                lets.push((var, quote!(match #inner.iter().cloned().collect::<Option<Vec<_>>>() { Some(items) => items, None => return Err(c.unsupported("NULL in an array")) })));
                quote!(&#name)
            }
            (ParamKind::Str(nullable), "i8") => {
                let var = self.fresh("text");
                let name = format_ident!("{}", ident(var));
                lets.push((var, quote!(crate::buffers::text(#part))));
                if *nullable { quote!(Some(&#name)) } else { quote!(&#name) }
            }
            (kind, _) => return self.no(format!("argument an array for {kind:?}"), at),
        })
    }
}
