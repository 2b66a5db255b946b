//! Calls on one path: macros that concern errors and ownership, translated functions, slots, and the rest of the C API.

mod members;
mod writes;

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::code::{Block, ident};
use super::contracts::{Convention, ParamKind, Returns};
use super::ctype::CType;
use super::ir::{Expr, Kind};
use super::paths::{KV, Out, Paths, Refusal};
use super::value::{Place, State, Val};

impl Paths {
    pub(super) fn call(&mut self, callee: &Expr, args: &[Expr], at: usize, state: State, k: KV) -> Out {
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
            "_PyThreadState_GET" | "PyThreadState_Get" | "PyThreadState_GET" | "_PyInterpreterState_GET" => {
                return k(self, Val::Thread, state);
            }
            "__builtin_offsetof" => return self.offset(args, at, state, k),
            "Py_SAFE_DOWNCAST" if args.len() == 3 => {
                let Kind::SizeOf(to) = &args[2].kind else { return self.no("Py_SAFE_DOWNCAST", at) };
                let Some(int) = super::ctype::integer(to) else { return self.no("Py_SAFE_DOWNCAST", at) };
                let cast = Expr { kind: Kind::Cast(CType::Int(int), to.clone(), Box::new(args[0].clone())), at };
                return self.eval(&cast, state, k);
            }
            "strcmp" if args.len() == 2 => return self.strcmp(args, at, state, k),
            "_Py_CAST" | "_Py_STATIC_CAST" | "_Py_RVALUE" if !args.is_empty() => {
                return self.eval(&args[args.len() - 1], state, k);
            }
            _ => {}
        }
        match self.world.contracts.meaning(name) {
            "nothing" => return k(self, Val::Unit, state),
            "same" if !args.is_empty() => return self.eval(&args[0], state, k),
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
            return self.no(format!("call of {name}, which has no prototype"), at);
        };
        let name = name.clone();
        let nulls: Vec<bool> = args.iter().map(super::operators::is_null).collect();
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
    pub(super) fn apply(
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
        self.learnt.calls.insert(name.to_owned());
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
                self.learnt.nullable.insert((route.key(name), index));
                kinds[index] = ParamKind::Object(true);
            }
            if let (ParamKind::Str(false), Val::Null) = (&kinds[index], value) {
                self.learnt.nullable.insert((route.key(name), index));
                kinds[index] = ParamKind::Str(true);
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
        let method = self.world.method_name(&self.function.file, name);
        let required = if parses { super::parsing::required(name, &values) } else { 0 };
        if matches!(route, Route::Vocabulary) {
            self.world.note(&method, &Convention { params: kinds, ..convention.clone() });
        }
        let function = format_ident!("{method}");
        let call = match route {
            Route::Vocabulary => quote!(c.#function(#(#code),*)),
            Route::Translated(module) => {
                let path = module_path(module, name);
                self.learnt.calls.insert(name.to_owned());
                if code.is_empty() { quote!(#path(c)) } else { quote!(#path(c, #(#code),*)) }
            }
        };
        if convention.raises {
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
        let mut block = self.outcome(name, convention, route, call, after, memo_key, at, state, k)?;
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

    /// What follows a call.
    #[allow(clippy::too_many_arguments)]
    fn outcome(
        &mut self,
        name: &str,
        convention: &Convention,
        route: &Route,
        call: TokenStream,
        after: Vec<(String, Val)>,
        memo: Option<String>,
        at: usize,
        mut state: State,
        k: KV,
    ) -> Out {
        if convention.returns == Returns::Error {
            let var = self.fresh("error");
            state.error = Some(var);
            let value = match convention.error {
                None => Val::Null,
                Some(number) => Val::Const(number, None),
            };
            let call = if matches!(route, Route::Vocabulary) { call } else { quote!(#call?) };
            let rest = k(self, value, state)?;
            return Ok(Block::Let { var, mutable: false, value: call, rest: Box::new(rest) });
        }
        if state.error.is_some() && convention.raises && !matches!(convention.returns, Returns::Unit) {
            return self.stop(format!("call of {name} while an exception is pending"));
        }
        let hint = hint_of(name, &call);
        let var = self.fresh(&hint);
        let value = match &convention.returns {
            Returns::Unit => Val::Unit,
            Returns::Object => Val::Object(Place::owned(var)),
            Returns::Optional => Val::MaybeObject(Place::owned(var)),
            Returns::Int(int, positive) => Val::Int(Place::owned(var), int, *positive),
            Returns::Bool => Val::Bool(Place::owned(var)),
            Returns::Double => Val::Double(Place::owned(var)),
            Returns::Str => Val::Str(Place::owned(var)),
            Returns::Function(function) => Val::MaybeFunction(Place::owned(var), function.clone()),
            Returns::Objects => Val::Slice(Place {
                code: {
                    let name = ident(var);
                    quote!(&#name)
                },
                by_ref: true,
            }),
            Returns::Error | Returns::Unsupported(_) => return self.no(format!("result of {name}"), at),
        };
        // Functions that answer 0 with an exception answer 1 without.
        let zero_fails = self.world.contracts.meaning(name) == "zero-fails";
        let value = if zero_fails { Val::Const(1, None) } else { value };
        let mut fine = state.clone();
        for (target, value) in &after {
            fine.set(target, value.clone());
        }
        if let Some(key) = memo {
            fine.memo.insert(key, value.clone());
        }
        let yes = k(self, value.clone(), fine)?;
        if !convention.raises {
            return Ok(if value == Val::Unit {
                Block::Do { code: quote!(#call?), rest: Box::new(yes) }
            } else {
                Block::Let { var, mutable: false, value: quote!(#call?), rest: Box::new(yes) }
            });
        }
        let err = self.fresh("error");
        let mut failed = state;
        failed.error = Some(err);
        failed.memo.clear();
        for (target, value) in after {
            // What a failing call gives through a pointer to an object is NULL.
            let value = if matches!(value, Val::MaybeObject(_)) { Val::Null } else { value };
            failed.set(&target, value);
        }
        let value_failed = match convention.error {
            None if value == Val::Unit => Val::Unit,
            None => Val::Null,
            Some(number) if matches!(value, Val::Double(_)) => {
                let literal = proc_macro2::Literal::f64_unsuffixed(number.unsigned_abs() as f64);
                Val::Double(Place { code: quote!((-#literal)), by_ref: false })
            }
            Some(number) => Val::Const(number, None),
        };
        let no = k(self, value_failed, failed)?;
        if is_propagation(&no, err, self.convention.returns == Returns::Error) {
            return Ok(if value == Val::Unit || zero_fails {
                Block::Do { code: quote!(#call?), rest: Box::new(yes) }
            } else {
                Block::Let { var, mutable: false, value: quote!(#call?), rest: Box::new(yes) }
            });
        }
        Ok(Block::Match { call, ok: var, yes: Box::new(yes), err, no: Box::new(no) })
    }

    /// The code of one argument; what must be bound before goes to `lets`, what the callee sets to `after`.
    pub(super) fn pass(
        &mut self,
        value: &Val,
        kind: &ParamKind,
        lets: &mut Vec<(usize, TokenStream)>,
        after: &mut Vec<(String, Val)>,
        state: &mut State,
        at: usize,
    ) -> Result<Option<TokenStream>, Refusal> {
        Ok(Some(match (kind, value) {
            (ParamKind::Nothing, _) => return Ok(None),
            (ParamKind::Object(false), Val::Object(place)) => place.reference(),
            (ParamKind::Object(true), Val::Object(place)) => {
                let code = place.reference();
                quote!(Some(#code))
            }
            (ParamKind::Object(nullable), Val::Global(name)) => {
                let var = self.fresh(name);
                let (global, code) = (format_ident!("{name}"), ident(var));
                lets.push((var, quote!(c.global(Global::#global)?)));
                if *nullable { quote!(Some(&#code)) } else { quote!(&#code) }
            }
            (ParamKind::Object(false), Val::MaybeObject(place)) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                let var = self.fresh("object");
                let name = ident(var);
                lets.push((var, quote!(match #unwrap { Some(object) => object.clone(), None => return Err(c.unsupported("NULL where an object must be")) })));
                quote!(&#name)
            }
            (ParamKind::Object(true), Val::Null) | (ParamKind::Function(_, true), Val::Null) => quote!(None),
            (ParamKind::Object(true), Val::MaybeObject(place)) => {
                let code = &place.code;
                if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
            }
            (ParamKind::OutInt(_), Val::Null) => quote!(&mut 0),
            (ParamKind::OutObject, Val::Null) => quote!(&mut None),
            (ParamKind::Slice, Val::Null) => quote!(&[]),
            (ParamKind::Object(nullable), Val::Thread) => {
                let var = self.fresh("state");
                let name = ident(var);
                lets.push((var, quote!(c.variable("PyThreadState")?)));
                if *nullable { quote!(Some(&#name)) } else { quote!(&#name) }
            }
            (ParamKind::Str(true), Val::Null) => quote!(None),
            (ParamKind::Int(int), value) => match self.int_code(value, int) {
                Some(code) => code,
                None => return self.no(format!("integer argument: {}", value.word()), at),
            },
            (ParamKind::Double, Val::Double(place)) => place.code.clone(),
            (ParamKind::Str(false), Val::Literal(text)) => quote!(#text),
            (ParamKind::Str(true), Val::Literal(text)) => quote!(Some(#text)),
            (ParamKind::Str(nullable), Val::Str(place)) => {
                let code = place.reference();
                if *nullable { quote!(Some(#code)) } else { code }
            }
            (ParamKind::Slice, Val::Array(items, offset)) => {
                let mut parts = Vec::new();
                for item in items.iter().skip(*offset) {
                    match item {
                        Val::Object(place) => parts.push(place.value()),
                        Val::Global(name) => {
                            let var = self.fresh(name);
                            let (global, code) = (format_ident!("{name}"), ident(var));
                            lets.push((var, quote!(c.global(Global::#global)?)));
                            parts.push(quote!(#code));
                        }
                        Val::Uninit => break,
                        Val::MaybeObject(place) => {
                            let code = &place.code;
                            let owned = if place.by_ref { quote!(#code.cloned()) } else { quote!(#code.clone()) };
                            let var = self.fresh("object");
                            let name = ident(var);
                            lets.push((var, quote!(match #owned { Some(object) => object, None => return Err(c.unsupported("NULL in an array")) })));
                            parts.push(quote!(#name));
                        }
                        other => return self.no(format!("array element: {}", other.word()), at),
                    }
                }
                quote!(&[#(#parts),*])
            }
            (ParamKind::Slice, Val::Slice(place)) => place.code.clone(),
            (ParamKind::Strings, Val::Array(items, offset)) => {
                let texts = items.iter().skip(*offset).map_while(|item| match item {
                    Val::Literal(text) => Some(text.clone()),
                    _ => None,
                });
                let texts: Vec<String> = texts.collect();
                quote!(&[#(#texts),*])
            }
            (ParamKind::Slice, Val::Member(place, structure, path)) => {
                let method = self.note_elements(structure, path, at)?;
                let var = self.fresh("items");
                let (code, name) = (place.reference(), ident(var));
                lets.push((var, quote!(c.#method(#code)?)));
                quote!(&#name)
            }
            (ParamKind::Object(_), Val::Member(..)) if self.is_pointer_member(value) => {
                let Val::Member(place, structure, path) = value else { return self.no("pointer", at) };
                let method = self.note_pointer(structure, path);
                let var = self.fresh(path.last().map_or("pointer", String::as_str));
                let code = place.reference();
                lets.push((var, quote!(c.#method(#code)?)));
                return self.pass(&Val::MaybeObject(Place::owned(var)), kind, lets, after, state, at);
            }
            (ParamKind::OutObject | ParamKind::OutInt(_), Val::Address(target)) => {
                return self.pass_out(kind, target, lets, after, state, at).map(Some);
            }
            (ParamKind::Function(_, nullable), Val::Function(place, _)) => {
                let code = place.reference();
                if *nullable { quote!(Some(#code)) } else { code }
            }
            (ParamKind::Function(_, false), Val::MaybeFunction(place, _)) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) };
                let var = self.fresh("function");
                let name = ident(var);
                lets.push((var, quote!(match #unwrap { Some(function) => function.clone(), None => return Err(c.unsupported("slot that is empty as an argument")) })));
                quote!(&#name)
            }
            (ParamKind::Function(..), Val::Named(name)) => {
                let Some(id) = self.world.function_id(&self.function.file, name) else {
                    return self.no(format!("function {name} as a value"), at);
                };
                let var = self.fresh(name);
                let (id, code) = (format_ident!("{id}"), ident(var));
                lets.push((var, quote!(c.function(FunctionId::#id)?)));
                if matches!(kind, ParamKind::Function(_, true)) { quote!(Some(&#code)) } else { quote!(&#code) }
            }
            (ParamKind::Function(_, true), Val::MaybeFunction(place, _)) => {
                let code = &place.code;
                if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
            }
            (ParamKind::Object(_), Val::Pending) => return self.no("type of the pending exception as an argument", at),
            (kind, value) => return self.no(format!("argument {} for {}", value.word(), word(kind)), at),
        }))
    }

    pub(super) fn pass_out(
        &mut self,
        kind: &ParamKind,
        target: &str,
        lets: &mut Vec<(usize, TokenStream)>,
        after: &mut Vec<(String, Val)>,
        state: &mut State,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        if target.starts_with('*') {
            // Our own out parameter goes on to the callee; what it held is unknown from here on.
            let pointer = target.trim_start_matches('*');
            let Some(index) = self.function.signature.params.iter().position(|param| param.name == pointer) else {
                return self.no("pointer", at);
            };
            let var = ident(index);
            let value = match kind {
                ParamKind::OutObject => Val::MaybeObject(Place { code: quote!((*#var)), by_ref: false }),
                ParamKind::OutInt(int) => Val::Int(Place { code: quote!((*#var)), by_ref: false }, int, false),
                _ => return self.no("pointer", at),
            };
            after.push((target.to_owned(), value));
            return Ok(quote!(#var));
        }
        let current = state.vars.get(target).cloned().unwrap_or(Val::Uninit);
        let var = self.fresh(&format!("mut {}", target.split('.').next().unwrap_or(target)));
        let name = ident(var);
        let (start, value) = match kind {
            ParamKind::OutObject => {
                let like = Val::MaybeObject(Place::owned(var));
                (self.carry(&current, &like).unwrap_or_else(|| quote!(None)), like)
            }
            ParamKind::OutInt(int) => {
                let like = Val::Int(Place::owned(var), int, false);
                (self.carry(&current, &like).unwrap_or_else(|| quote!(0)), like)
            }
            _ => return self.no("pointer", at),
        };
        lets.push((var, start));
        after.push((target.to_owned(), value));
        Ok(quote!(&mut #name))
    }

    /// An argument of a format.
    pub(super) fn argument(
        &mut self,
        value: &Val,
        lets: &mut Vec<(usize, TokenStream)>,
        at: usize,
    ) -> Result<TokenStream, Refusal> {
        Ok(match value {
            Val::Str(place) => {
                let code = &place.code;
                if place.by_ref {
                    quote!(Argument::Str(#code.to_owned()))
                } else {
                    quote!(Argument::Str(#code.clone()))
                }
            }
            Val::Literal(text) => quote!(Argument::Str(#text.to_owned())),
            Val::Object(place) => {
                let code = place.value();
                quote!(Argument::Object(#code))
            }
            Val::Global(name) => {
                let var = self.fresh(name);
                let (global, code) = (format_ident!("{name}"), ident(var));
                lets.push((var, quote!(c.global(Global::#global)?)));
                quote!(Argument::Object(#code))
            }
            Val::Const(..) | Val::Int(..) | Val::Bool(_) => {
                let Some(code) = self.int_code(value, "i64") else { return self.no("format argument", at) };
                quote!(Argument::Int(#code))
            }
            Val::MaybeObject(place) => {
                let code = &place.code;
                let unwrap = if place.by_ref { quote!(#code.cloned()) } else { quote!(#code.clone()) };
                quote!(match #unwrap { Some(object) => Argument::Object(object), None => return Err(c.unsupported("NULL in a format")) })
            }
            other => return self.no(format!("format argument: {}", other.word()), at),
        })
    }

    /// Hands an object on as a place; a global is asked for first.
    pub(super) fn with_object(&mut self, value: Val, at: usize, k: &mut dyn FnMut(&Place) -> Out) -> Out {
        match value {
            Val::Object(place) => k(&place),
            Val::Global(name) => {
                let var = self.fresh(&name);
                let global = format_ident!("{name}");
                let rest = k(&Place::owned(var))?;
                Ok(Block::Let { var, mutable: false, value: quote!(c.global(Global::#global)?), rest: Box::new(rest) })
            }
            other => self.no(format!("object expected, not {}", other.word()), at),
        }
    }
}

/// How a function is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// A method of `CApi`.
    Vocabulary,
    /// A translated function, by its C file.
    Translated(String),
}

impl Route {
    fn key(&self, name: &str) -> String {
        match self {
            Self::Vocabulary => name.to_owned(),
            Self::Translated(file) => format!("{file}:{name}"),
        }
    }
}

/// The path of a translated function.
fn module_path(file: &str, name: &str) -> TokenStream {
    let (module, name) = (format_ident!("{}", super::world::module(file)), format_ident!("{name}"));
    quote!(super::#module::#name)
}

fn strip(expr: &Expr) -> &Expr {
    match &expr.kind {
        Kind::Deref(inner) if matches!(inner.kind, Kind::Name(_) | Kind::Member(..)) => strip(inner),
        _ => expr,
    }
}

/// A parameter in words.
fn word(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Unsupported(text) => text.clone(),
        kind => format!("{kind:?}"),
    }
}

/// A name for the result of a call.
fn hint_of(name: &str, call: &TokenStream) -> String {
    let _ = call;
    match name {
        "Py_TYPE" => "tp".to_owned(),
        name if name.starts_with("call_") => "result".to_owned(),
        name if name.ends_with("_Check") || name.ends_with("_CheckExact") => "check".to_owned(),
        _ => "result".to_owned(),
    }
}

/// Whether a block does nothing but hand on the exception.
fn is_propagation(block: &Block, error: usize, ok: bool) -> bool {
    let name = ident(error);
    match block {
        Block::Return(code) if !ok => code.to_string() == quote!(Err(#name)).to_string(),
        _ => false,
    }
}
