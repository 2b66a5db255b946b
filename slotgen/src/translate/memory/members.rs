//! Calls that are no calls in Rust: comparisons of names, offsets, and what structs hold.

use std::rc::Rc;

use quote::{format_ident, quote};

use crate::lower::{CType, Expr, Kind};
use crate::translate::block::{Block, ident};
use crate::translate::paths::{KV, Out, Paths};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{Convention, ParamKind, Returns, suite_of};

impl Paths {
    /// Whether an expression is a variable that holds the type of the pending exception.
    pub(crate) fn is_pending(&self, expr: Option<&Expr>, state: &State) -> bool {
        matches!(expr, Some(Expr { kind: Kind::Name(name), .. }) if state.vars.get(name) == Some(&Val::Pending))
    }

    pub(crate) fn matches(&mut self, args: &[Expr], at: usize, state: State, k: KV) -> Out {
        let Some(error) = state.error else { return k(self, Val::Const(0, None), state) };
        let Some(exception) = args.last() else { return self.no("PyErr_ExceptionMatches", at) };
        self.eval(
            exception,
            state,
            Rc::new(move |this, value, state| {
                let name = ident(error);
                let hint = match &value {
                    Val::Global(name) => name.clone(),
                    _ => "exception".to_owned(),
                };
                let place = match &value {
                    Val::Object(place) => Some(place.clone()),
                    Val::Global(_) => None,
                    _ => return this.no("exception to match", at),
                };
                if let Some(place) = place {
                    let code = place.reference();
                    return this.bind("matches", quote!(c.PyErr_ExceptionMatches(&#name, #code)?), &mut |this, var| {
                        k(this, Val::Bool(Place::owned(var)), state.clone())
                    });
                }
                let global = format_ident!("{hint}");
                this.bind(&hint, quote!(c.global(Global::#global)?), &mut |this, exception| {
                    let exception = ident(exception);
                    this.bind("matches", quote!(c.PyErr_ExceptionMatches(&#name, &#exception)?), &mut |this, var| {
                        k(this, Val::Bool(Place::owned(var)), state.clone())
                    })
                })
            }),
        )
    }

    pub(crate) fn offset(&mut self, args: &[Expr], at: usize, state: State, k: KV) -> Out {
        let Some(Expr { kind: Kind::Name(member), .. }) = args.get(1) else { return self.no("offsetof", at) };
        let whole = match args.first().map(|arg| &arg.kind) {
            Some(Kind::Name(structure) | Kind::SizeOf(structure)) => self
                .world
                .declarations
                .field(structure, std::slice::from_ref(member))
                .filter(|field| field.path.len() == 1),
            _ => None,
        };
        if let (Some(field), true) = (whole, self.world.slot(member).is_none()) {
            return k(self, Val::Const(i128::try_from(field.path[0]).unwrap_or(0), None), state);
        }
        if self.world.slot(member).is_none() {
            return self.no(format!("offsetof {member}"), at);
        }
        let slot = format_ident!("{member}");
        k(self, Val::Int(Place { code: quote!(offsetof(Slot::#slot)), by_ref: false }, "i32", true), state)
    }

    pub(crate) fn strcmp(&mut self, args: &[Expr], at: usize, state: State, k: KV) -> Out {
        self.all(
            args,
            state,
            Rc::new(move |this, values, state| {
                let text = |value: &Val| match value {
                    Val::Literal(text) => Some(quote!(#text)),
                    Val::Str(place) => {
                        let code = &place.code;
                        Some(if place.by_ref { quote!(#code) } else { quote!(#code.as_str()) })
                    }
                    _ => None,
                };
                let (Some(a), Some(b)) = (text(&values[0]), text(&values[1])) else { return this.no("strcmp", at) };
                k(this, Val::Bool(Place { code: quote!((#a != #b)), by_ref: false }), state)
            }),
        )
    }

    /// `base->name`.
    pub(in crate::translate) fn member(&mut self, base: &Expr, name: &str, at: usize, state: State, k: KV) -> Out {
        let structure = self.struct_of(base);
        let name = name.to_owned();
        self.eval(
            base,
            state,
            Rc::new(move |this, value, state| match value {
                Val::Suite(place, suite, _) => this.read_slot(place, &name, Some(suite), at, state, &k),
                Val::Object(place) => this.object_member(place, &name, structure.as_deref(), at, state, &k),
                Val::Global(global) => {
                    let (name, structure, k) = (name.clone(), structure.clone(), k.clone());
                    let id = format_ident!("{global}");
                    this.bind(&global, quote!(c.global(Global::#id)?), &mut |this, var| {
                        let place = Place::owned(var);
                        this.object_member(place, &name, structure.as_deref(), at, state.clone(), &k)
                    })
                }
                Val::Thread if name == "interp" => k(this, Val::Thread, state),
                Val::Thread => {
                    let structure = structure.clone().unwrap_or_else(|| "PyInterpreterState".to_owned());
                    let (name, k) = (name.clone(), k.clone());
                    let state = state.clone();
                    let code = structure.clone();
                    this.bind("state", quote!(c.variable(#code)?), &mut |this, var| {
                        this.object_member(Place::owned(var), &name, Some(&structure), at, state.clone(), &k)
                    })
                }
                Val::MaybeObject(place) => {
                    // C follows the pointer, so it is not NULL here.
                    let code = &place.code;
                    let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                    let message = format!("NULL->{name}");
                    let found = quote!(match #unwrap { Some(object) => object.clone(), None => return Err(c.unsupported(#message)) });
                    let (name, structure, k) = (name.clone(), structure.clone(), k.clone());
                    this.bind("object", found, &mut |this, var| {
                        this.object_member(Place::owned(var), &name, structure.as_deref(), at, state.clone(), &k)
                    })
                }
                Val::Member(place, structure, mut path) => {
                    path.push(name.clone());
                    this.read_member(place, &structure, path, at, state, &k)
                }
                Val::Null => this.stop(format!("NULL->{name}")),
                other => this.no(format!("member {name} of {}", other.word()), at),
            }),
        )
    }

    /// A member of the struct that an object is.
    pub(crate) fn object_member(
        &mut self,
        place: Place,
        name: &str,
        structure: Option<&str>,
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        if let Some(suite) = suite_of(name) {
            return k(self, Val::Suite(place, suite, None), state);
        }
        if self.world.slot(name).is_some_and(|slot| slot.suite == "PyTypeObject") {
            return self.read_slot(place, name, None, at, state, k);
        }
        let known = structure.filter(|structure| self.world.member_type(structure, &[name.to_owned()]).is_some());
        let Some(structure) = known.map(str::to_owned).or_else(|| self.world.only_struct(name)) else {
            return self.no(format!("member {name} of {}", structure.unwrap_or("an unknown struct")), at);
        };
        self.read_member(place, &structure, vec![name.to_owned()], at, state, k)
    }

    pub(crate) fn read_slot(
        &mut self,
        place: Place,
        name: &str,
        suite: Option<&str>,
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        let Some(slot) = self.world.slot(name) else { return self.no(format!("member {name} of a suite"), at) };
        if suite.is_some_and(|suite| suite != slot.suite) {
            return self.no(format!("member {name} of another suite"), at);
        }
        let (code, id) = (place.reference(), format_ident!("{name}"));
        let key = format!("slot {name} {code}");
        if let Some(value) = state.memo.get(&key).cloned() {
            return k(self, value, state);
        }
        self.bind(name, quote!(c.slot(#code, Slot::#id)?), &mut |this, var| {
            let mut state = state.clone();
            let value = Val::MaybeFunction(Place::owned(var), slot.function.clone());
            state.memo.insert(key.clone(), value.clone());
            k(this, value, state)
        })
    }

    pub(crate) fn read_member(
        &mut self,
        place: Place,
        structure: &str,
        path: Vec<String>,
        at: usize,
        state: State,
        k: &KV,
    ) -> Out {
        let Some(ctype) = self.world.member_type(structure, &path) else {
            return self.no(format!("member {} of {structure}", path.join(".")), at);
        };
        let var = match &ctype {
            CType::Object | CType::Int(_) | CType::Str | CType::Double | CType::Function(_) => {
                self.fresh(&path[path.len() - 1])
            }
            CType::Opaque(_) | CType::Objects | CType::OutInt(_) => {
                return k(self, Val::Member(place, structure.to_owned(), path), state);
            }
            _ => return self.no(format!("member {} of {structure}", path.join(".")), at),
        };
        let method = self.world.note_field(structure, &path);
        let (value, returns) = match ctype {
            CType::Object => (Val::MaybeObject(Place::owned(var)), Returns::Optional),
            CType::Int(int) => (Val::Int(Place::owned(var), int, int.starts_with('u')), Returns::Int(int, false)),
            CType::Str => (Val::Str(Place::owned(var)), Returns::Str),
            CType::Function(function) => {
                (Val::MaybeFunction(Place::owned(var), function.clone()), Returns::Function(function))
            }
            _ => (Val::Double(Place::owned(var)), Returns::Double),
        };
        self.world.note(
            &method,
            &Convention { params: vec![ParamKind::Object(false)], returns, raises: false, error: None, strict: false },
        );
        let (code, function) = (place.reference(), format_ident!("{method}"));
        let rest = k(self, value, state)?;
        Ok(Block::Let { var, mutable: false, value: quote!(c.#function(#code)?), rest: Box::new(rest) })
    }

    /// The struct that a pointer expression points to.
    pub(in crate::translate) fn struct_of(&self, base: &Expr) -> Option<String> {
        match &base.kind {
            Kind::Call(callee, args) => match &callee.kind {
                Kind::Name(name) if name == "Py_TYPE" => Some("PyTypeObject".to_owned()),
                Kind::Name(name) if self.world.contracts.meaning(name) == "same" => self.struct_of(args.first()?),
                Kind::Name(name) => match self.world.declarations.prototypes.get(name).map(|head| &head.returns) {
                    Some(CType::Opaque(text)) => Some(text.trim_end_matches('*').to_owned()),
                    Some(_) => None,
                    None => self.struct_of(&self.world.expanded(name, args)?),
                },
                _ => None,
            },
            Kind::Comma(_, last) => self.struct_of(last),
            Kind::Name(name) => match self.structs.get(name) {
                Some(structure) => Some(structure.trim_start_matches("struct ").to_owned()),
                None => self.world.variable_struct(&self.function.file, name),
            },
            Kind::Binary(operator, base, _) if matches!(operator.as_str(), "+" | "-") => self.struct_of(base),
            Kind::Index(base, _) => self.struct_of(base),
            Kind::Update(_, _, base) | Kind::Assign(base, _) => self.struct_of(base),
            Kind::Cast(_, name, _) => Some(name.trim_start_matches("struct ").to_owned()),
            Kind::Deref(inner) | Kind::AddressOf(inner) => self.struct_of(inner),
            Kind::Member(base, name) => {
                let outer = self.struct_of(base).or_else(|| self.world.only_struct(name))?;
                match self.world.member_type(&outer, std::slice::from_ref(name))? {
                    CType::Opaque(text) => Some(text.trim_end_matches('*').to_owned()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
