//! Variables and what they are set to where they are declared.

use std::rc::Rc;

use crate::lower::{CType, Expr, Kind, is_parser, is_pointer};
use crate::translate::paths::{K, Out, Paths};
use crate::translate::value::{State, Val};

impl Paths {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn declare(
        &mut self,
        name: &str,
        ctype: &CType,
        structure: &str,
        array: Option<&Option<Expr>>,
        init: Option<&Expr>,
        at: usize,
        mut state: State,
        k: K,
    ) -> Out {
        self.types.insert(name.to_owned(), ctype.clone());
        if array.is_none() && is_parser(structure) && matches!(ctype, CType::Opaque(text) if !text.ends_with('*')) {
            return self.declare_parser(name, init, at, state, k);
        }
        if let (None, CType::Opaque(text)) = (array, ctype)
            && self.world.declarations.structs.contains_key(text)
        {
            return self.declare_struct(name, text, init, at, state, k);
        }
        if let Some(size) = array {
            if let (CType::Int(int), Some(size), None) = (ctype, size, init) {
                return self.declare_buffer(name, int, size, at, state, k);
            }
            if let (CType::Opaque(text), Some(size), None) = (ctype, size, init)
                && is_pointer(text)
            {
                return self.declare_places(name, text, size, at, state, k);
            }
            if !matches!(ctype, CType::Object | CType::Str) {
                return self.no("array of something else than objects", at);
            }
            self.types.insert(name.to_owned(), CType::Objects);
            let size = match size.as_ref().map(|size| self.world.constant_of(size)) {
                Some(Some(size)) => usize::try_from(size).ok(),
                Some(None) => return self.no("array of unknown size", at),
                None => None,
            };
            let items = match init {
                Some(Expr { kind: Kind::List(items), .. }) => items.clone(),
                Some(_) => return self.no("initialiser of an array", at),
                None => Vec::new(),
            };
            let size = size.unwrap_or(items.len());
            let name = name.to_owned();
            return self.all(
                &items,
                state,
                Rc::new(move |this, mut values, mut state| {
                    values.resize(size, Val::Uninit);
                    state.set(&name, Val::Array(values, 0));
                    k(this, state)
                }),
            );
        }
        match init {
            None => {
                state.set(name, Val::Uninit);
                k(self, state)
            }
            Some(init) => {
                let target = Expr { kind: Kind::Name(name.to_owned()), at };
                self.eval(
                    init,
                    state,
                    Rc::new(move |this, value, state| {
                        this.assign(
                            &target,
                            value,
                            state,
                            Rc::new({
                                let k = k.clone();
                                move |this: &mut Self, _, state| k(this, state)
                            }),
                        )
                    }),
                )
            }
        }
    }
}
