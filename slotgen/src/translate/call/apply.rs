//! Calls on one path: macros that concern errors and ownership, translated functions, slots, and the rest of the C API.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{CType, Expr, Kind, integer};
use crate::translate::block::{Block, ident};
use crate::translate::paths::{KV, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{Convention, ParamKind, Route, module};

impl Paths {
    pub(crate) fn call(&mut self, callee: &Expr, args: &[Expr], at: usize, state: State, k: KV) -> Out {
        let Kind::Name(name) = &strip(callee).kind else { return self.call_value(callee, args, at, state, k) };
        if state.vars.contains_key(name) {
            return self.call_value(callee, args, at, state, k);
        }
        if let Some(construct) = name.strip_prefix('?') {
            return self.no(construct.to_owned(), at);
        }
        match name.as_str() {
            "Py_SETREF" | "Py_XSETREF" | "Py_XDECREF_SET" if args.len() == 2 => {
                let assign = Expr { kind: Kind::Assign(Box::new(args[0].clone()), Box::new(args[1].clone())), at };
                return self.eval(&assign, state, Rc::new(move |this, _, state| k(this, Val::Unit, state)));
            }
            "Py_CLEAR" if args.len() == 1 => {
                let null = Expr { kind: Kind::Null, at };
                let assign = Expr { kind: Kind::Assign(Box::new(args[0].clone()), Box::new(null)), at };
                return self.eval(&assign, state, Rc::new(move |this, _, state| k(this, Val::Unit, state)));
            }
            "PyErr_Occurred" | "_PyErr_Occurred" => {
                let value = if state.error.is_some() { Val::Pending } else { Val::Null };
                return k(self, value, state);
            }
            "PyErr_Clear" | "_PyErr_Clear" => return k(self, Val::Unit, State { error: None, ..state }),
            "PyErr_ExceptionMatches" | "_PyErr_ExceptionMatches" => return self.matches(args, at, state, k),
            "PyErr_GivenExceptionMatches" | "_PyErr_GivenExceptionMatches"
                if state.error.is_some() && self.is_pending(args.first(), &state) =>
            {
                return self.matches(args, at, state, k);
            }
            "_PyThreadState_GET" | "PyThreadState_Get" | "PyThreadState_GET" | "_PyInterpreterState_GET" => {
                return k(self, Val::Thread, state);
            }
            "__builtin_offsetof" => return self.offset(args, at, state, k),
            "Py_SAFE_DOWNCAST" if args.len() == 3 => {
                let Kind::SizeOf(to) = &args[2].kind else { return self.no("Py_SAFE_DOWNCAST", at) };
                let Some(int) = integer(to) else { return self.no("Py_SAFE_DOWNCAST", at) };
                let cast = Expr { kind: Kind::Cast(CType::Int(int), to.clone(), Box::new(args[0].clone())), at };
                return self.eval(&cast, state, k);
            }
            "strcmp" if args.len() == 2 => return self.strcmp(args, at, state, k),
            "_Py_CAST" | "_Py_STATIC_CAST" | "_Py_RVALUE" if !args.is_empty() => {
                return self.eval(&args[args.len() - 1], state, k);
            }
            // Also where a release has a function for it, which asserts what it gets.
            cast if cast.ends_with("_CAST") && args.len() == 1 => return self.eval(&args[0], state, k),
            _ => {}
        }
        if let Some(number) = self.world.contracts.get(name).and_then(|row| row.constant) {
            return self.all(
                args,
                state,
                Rc::new(move |this, _, state| k(this, Val::Const(i128::from(number), None), state)),
            );
        }
        match self.world.contracts.meaning(name) {
            "nothing" => return k(self, Val::Unit, state),
            "same" if !args.is_empty() => return self.eval(&args[0], state, k),
            "room" if args.len() == 2 => {
                return self.eval(
                    &args[1],
                    state,
                    Rc::new(move |this, count, state| k(this, Val::Room(Box::new(count)), state)),
                );
            }
            "frees" if matches!(args.first(), Some(Expr { kind: Kind::Name(name), .. }) if matches!(state.vars.get(name), Some(Val::Buffer(..)))) =>
            {
                return k(self, Val::Unit, state);
            }
            _ => {}
        }
        let Some((convention, route)) = self.world.clone().callee(&self.function.file, name, args.len()) else {
            if let Some(body) = self.world.clone().expanded(name, args) {
                self.expansions += 1;
                if self.expansions > 200 {
                    return self.no(format!("macro {name}, which contains itself"), at);
                }
                return self.eval(&body, state, k);
            }
            if let Some(other) = self.world.alias(name) {
                let callee = Expr { kind: Kind::Name(other), at };
                return self.call(&callee, args, at, state, k);
            }
            return self.no(format!("call of {name}, which has no prototype"), at);
        };
        let name = name.clone();
        let nulls: Vec<bool> = args.iter().map(Expr::is_null).collect();
        self.all(
            args,
            state,
            Rc::new(move |this, values, state| {
                this.nulls = nulls.clone();
                this.apply(&name, &convention, &route, values, at, state, k.clone())
            }),
        )
    }

    /// A call through a function pointer.
    fn call_value(&mut self, callee: &Expr, args: &[Expr], at: usize, state: State, k: KV) -> Out {
        let args = args.to_vec();
        self.eval(strip(callee), state, Rc::new(move |this, function, state| {
            let (place, signature) = match function {
                Val::Function(place, signature) | Val::MaybeFunction(place, signature) if signature.is_empty() => {
                    let _ = place;
                    return this.no("call of a function of unknown type", at);
                }
                Val::Function(place, signature) => (place.reference(), signature),
                Val::MaybeFunction(place, signature) => {
                    let code = &place.code;
                    let hint = "function".to_owned();
                    let (args, k) = (args.clone(), k.clone());
                    let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                    let message = "call of a slot that is empty";
                    let call = quote!(match #unwrap { Some(function) => function.clone(), None => return Err(c.unsupported(#message)) });
                    return this.bind(&hint, call, &mut |this, var| {
                        let name = ident(var);
                        this.call_slot(quote!(&#name), signature.clone(), args.clone(), at, state.clone(), k.clone())
                    });
                }
                Val::Named(name) => {
                    let callee = Expr { kind: Kind::Name(name), at };
                    return this.call(&callee, &args, at, State { vars: state.vars.clone(), ..state }, k.clone());
                }
                other => return this.no(format!("call of {}", other.word()), at),
            };
            this.call_slot(place, signature, args.clone(), at, state, k.clone())
        }))
    }

    fn call_slot(
        &mut self,
        function: TokenStream,
        signature: String,
        args: Vec<Expr>,
        at: usize,
        state: State,
        k: KV,
    ) -> Out {
        let Some(mut convention) = self.world.slot_convention(&signature) else {
            return self.no(format!("call of a {signature}"), at);
        };
        convention.params.insert(0, ParamKind::Function(signature.clone(), false));
        let name = format!("call_{signature}");
        self.all(
            &args,
            state,
            Rc::new(move |this, mut values, state| {
                values.insert(0, Val::Function(Place { code: function.clone(), by_ref: true }, signature.clone()));
                this.apply(&name, &convention, &Route::Vocabulary, values, at, state, k.clone())
            }),
        )
    }

    /// Calls `name` with values.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn apply(
        &mut self,
        name: &str,
        convention: &Convention,
        route: &Route,
        values: Vec<Val>,
        at: usize,
        mut state: State,
        k: KV,
    ) -> Out {
        let nulls = std::mem::take(&mut self.nulls);
        self.summary.calls.insert(name.to_owned());
        if state.error.is_some()
            && values.contains(&Val::Null)
            && self.world.contracts.get(name).is_some_and(|row| row.through)
        {
            return k(self, Val::Null, state);
        }
        let about = self.world.contracts.get(name).filter(|row| row.pending).map(|row| (row.either, row.clears));
        let pending = match (about, state.error.map(ident)) {
            (Some((false, _)), None) => return self.stop(format!("{name} without a pending exception")),
            (Some((false, _)), Some(error)) => Some((ParamKind::Pending(false), quote!(&#error))),
            (Some((true, _)), None) => Some((ParamKind::Pending(true), quote!(None))),
            (Some((true, _)), Some(error)) => Some((ParamKind::Pending(true), quote!(Some(&#error)))),
            (None, _) => None,
        };
        if about.is_some_and(|(_, clears)| clears) {
            state.error = None;
        }
        // Reads that were made already.
        let memo_key = (!convention.raises && matches!(name, "Py_TYPE")).then(|| format!("{name}({values:?})"));
        if let Some(value) = memo_key.as_ref().and_then(|key| state.memo.get(key)).cloned() {
            return k(self, value, state);
        }
        if name == "Py_TYPE"
            && let [Val::Global(_)] = values.as_slice()
        {
            return self.with_object(values[0].clone(), at, &mut |this_place| {
                let _ = this_place;
                Err(Refusal { construct: "type of a global".to_owned(), at })
            });
        }
        let mut lets: Vec<(usize, TokenStream)> = Vec::new();
        let mut after: Vec<(String, Val)> = Vec::new();
        let mut code: Vec<TokenStream> = Vec::new();
        let mut rest: Vec<TokenStream> = Vec::new();
        let mut kinds = convention.params.clone();
        let mut values = values;
        let present = self.world.contracts.get(name).and_then(|row| values.get(row.required?));
        let present = match present {
            Some(Val::Const(number, _)) => usize::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        let mut of_function = false;
        if kinds.last() == Some(&ParamKind::Arguments)
            && values.len() >= kinds.len()
            && values.last() == Some(&Val::Null)
        {
            // NULL ends the arguments of a call; Rust's slices know their ends.
            values.pop();
        }
        for (kind, value) in kinds.iter_mut().zip(&values) {
            // An untyped pointer is what is passed.
            if matches!(kind, ParamKind::Unsupported(text) if text == "void*") {
                match value {
                    Val::Object(_) | Val::MaybeObject(_) | Val::Null | Val::Global(_) => {
                        *kind = ParamKind::Object(true)
                    }
                    Val::Function(..) | Val::Named(_) | Val::MaybeFunction(..) => {
                        *kind = ParamKind::Function(String::new(), false);
                        of_function = true;
                    }
                    Val::Member(..) if self.is_pointer_member(value) => *kind = ParamKind::Object(true),
                    _ => {}
                }
            }
        }
        let parses = kinds.last() == Some(&ParamKind::Parsed);
        let fixed = if parses || kinds.last() == Some(&ParamKind::Arguments) { kinds.len() - 1 } else { kinds.len() };
        if values.len() < fixed || (fixed == kinds.len() && values.len() > fixed) {
            return self.no(format!("call of {name} with {} arguments", values.len()), at);
        }
        for (index, value) in values.iter().enumerate() {
            if index >= fixed {
                rest.push(if parses {
                    self.parsed(value, &mut lets, &mut after, &mut state, at)?
                } else {
                    self.argument(value, &mut lets, at)?
                });
                continue;
            }
            if let (ParamKind::Object(nullable), true) =
                (&kinds[index], matches!(value, Val::Null | Val::MaybeObject(_)))
                && !nullable
                && !name.starts_with("call_")
                && self.may_widen(name, convention, route, nulls.get(index) == Some(&true))
            {
                self.summary.nullable.insert((route.key(name), index));
                kinds[index] = ParamKind::Object(true);
            }
            if let (ParamKind::Str(false), Val::Null) = (&kinds[index], value) {
                self.summary.nullable.insert((route.key(name), index));
                kinds[index] = ParamKind::Str(true);
            }
            if let (ParamKind::OutObject(nullable) | ParamKind::OutInt(_, nullable), Val::Null | Val::MaybeAddress(_)) =
                (&mut kinds[index], value)
                && !name.starts_with("call_")
            {
                self.summary.nullable.insert((route.key(name), index));
                *nullable = true;
            }
            if self.must_be_zero(name, index) && !matches!(value, Val::Const(0, _)) {
                return self.stop(format!("an argument of {name} that is not 0"));
            }
            let kind = kinds[index].clone();
            if (&kind, value) == (&ParamKind::Object(false), &Val::Null) {
                return self.stop(format!("NULL as an argument of {name}"));
            }
            if let Some(token) = self.pass(value, &kind, &mut lets, &mut after, &mut state, at)? {
                code.push(token);
            }
        }
        if fixed < convention.params.len() {
            code.push(if parses { quote!(&mut [#(#rest),*]) } else { quote!(&[#(#rest),*]) });
        }
        let mut method = self.world.method_name(&self.function.file, name);
        if of_function && matches!(route, Route::Vocabulary) {
            // Of what takes any pointer, the world has one method for objects and one for functions.
            method.push_str("_function");
        }
        let required = if parses { super::parsing::required(name, &values) } else { 0 };
        if let Some((kind, error)) = pending {
            kinds.insert(0, kind);
            code.insert(0, error);
        }
        if matches!(route, Route::Vocabulary) {
            self.world.note(&method, &Convention { params: kinds, ..convention.clone() });
        }
        let function = format_ident!("{method}");
        let call = match route {
            Route::Vocabulary => quote!(c.#function(#(#code),*)),
            Route::Translated(module) => {
                let path = module_path(module, name);
                self.summary.calls.insert(name.to_owned());
                if code.is_empty() { quote!(#path(c)) } else { quote!(#path(c, #(#code),*)) }
            }
        };
        if convention.raises || self.world.contracts.get(name).is_some_and(|row| row.silent) {
            state.memo.clear();
        }
        let lets: Vec<(usize, bool, TokenStream)> = lets
            .into_iter()
            .map(|(var, code)| {
                let mutable = self.hints[var].starts_with("mut ");
                self.hints[var] = self.hints[var].trim_start_matches("mut ").to_owned();
                (var, mutable, if mutable && code.to_string() == "None" { quote!(None::<C::Object>) } else { code })
            })
            .collect();
        let k = if required > 0 { self.requiring(&after, required, k) } else { k };
        let mut block = self.outcome(name, convention, route, call, after, memo_key, present, at, state, k)?;
        for (var, mutable, code) in lets.into_iter().rev() {
            block = Block::Let { var, mutable, value: code, rest: Box::new(block) };
        }
        Ok(block)
    }

    /// Whether a pointer that may be NULL shows that a parameter may be NULL, rather than that this path is never taken.
    fn may_widen(&self, name: &str, convention: &Convention, route: &Route, null: bool) -> bool {
        match route {
            Route::Translated(file) => {
                let function = self.world.defined.get(&(file.clone(), name.to_owned()));
                null || function.is_some_and(|function| function.is_static)
            }
            Route::Vocabulary => convention.raises && self.world.contracts.meaning(name).is_empty(),
        }
    }

    /// Whether a parameter vanishes because it is 0.
    fn must_be_zero(&self, name: &str, index: usize) -> bool {
        let param = self.world.declarations.prototypes.get(name).and_then(|head| head.params.get(index));
        let row = self.world.contracts.get(name).filter(|row| !row.zero.is_empty());
        row.zip(param).is_some_and(|(row, param)| row.zero.contains(&param.name))
    }
}

/// The path of a translated function.
fn module_path(file: &str, name: &str) -> TokenStream {
    let (module, name) = (format_ident!("{}", module(file)), format_ident!("{name}"));
    quote!(super::#module::#name)
}

fn strip(expr: &Expr) -> &Expr {
    match &expr.kind {
        Kind::Deref(inner) if matches!(inner.kind, Kind::Name(_) | Kind::Member(..)) => strip(inner),
        _ => expr,
    }
}
