//! Operators and conditions on one path.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::eval::Computed;
use crate::lower::{Expr, Kind};
use crate::translate::block::{Block, Test};
use crate::translate::statement::{K, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val, fold, int_type, positive, wider};

impl Paths {
    /// A binary operator.
    pub(crate) fn binary(
        &mut self,
        operator: &str,
        left: &Val,
        right: &Val,
        at: usize,
        state: &State,
    ) -> Result<Computed, Refusal> {
        if matches!(operator, "==" | "!=")
            && let Some(computed) = self.identity(operator == "!=", left, right, at)?
        {
            return Ok(computed);
        }
        let _ = state;
        if let (Some(a), Some(b), "<" | ">" | "<=" | ">=") = (pointer(left), pointer(right), operator) {
            let op = op_tokens(operator);
            return Ok(Computed::Call(quote!(c.address(#a)? #op c.address(#b)?)));
        }
        Ok(Computed::Val(match (left, right) {
            (Val::Const(a, _), Val::Const(b, _)) => match fold(operator, *a, *b) {
                Some(number) => Val::Const(number, None),
                None => return self.no(format!("operator {operator} on constants"), at),
            },
            (Val::Int(_, _, true), Val::Const(0, _)) if operator == "<" => Val::Const(0, None),
            (Val::Int(_, _, true), Val::Const(0, _)) if operator == ">=" => Val::Const(1, None),
            (Val::Int(_, _, true), Val::Const(b, _)) if operator == "==" && *b < 0 => Val::Const(0, None),
            (Val::Int(_, _, true), Val::Const(b, _)) if operator == "!=" && *b < 0 => Val::Const(1, None),
            (Val::Bool(a), Val::Const(b @ (0 | 1), _)) if matches!(operator, "==" | "!=") => {
                let code = &a.code;
                let plain = (*b == 1) == (operator == "==");
                Val::Bool(Place { code: if plain { code.clone() } else { quote!((!#code)) }, by_ref: false })
            }
            (Val::Bool(_), Val::Const(0, _)) if operator == "<" => Val::Const(0, None),
            (Val::Bool(_), Val::Const(0, _)) if operator == ">=" => Val::Const(1, None),
            (Val::Bool(a), Val::Const(0, _)) if operator == ">" => Val::Bool(a.clone()),
            (Val::Bool(a), Val::Const(b, _)) if *b < 0 && matches!(operator, "==" | "!=") => {
                let _ = a;
                Val::Const(i128::from(operator == "!="), None)
            }
            (Val::Bool(a), Val::Bool(b)) if matches!(operator, "==" | "!=" | "^" | "&" | "|") => {
                let (a, b, op) = (&a.code, &b.code, op_tokens(operator));
                Val::Bool(Place { code: quote!((#a #op #b)), by_ref: false })
            }
            (Val::Array(items, offset), Val::Const(number, _)) if matches!(operator, "+" | "-") => {
                let by = if operator == "+" { *number } else { -*number };
                let offset = i128::try_from(*offset).unwrap_or(0) + by;
                match usize::try_from(offset) {
                    Ok(offset) if offset <= items.len() => Val::Array(items.clone(), offset),
                    _ => return self.no("pointer outside of an array", at),
                }
            }
            (Val::Buffer(place, elements, offset), number) if matches!(operator, "+" | "-") => {
                let Some(by) = self.int_code(number, "isize") else { return self.no("pointer arithmetic", at) };
                let by = if operator == "-" { quote!((#by as isize).wrapping_neg()) } else { quote!((#by as isize)) };
                let code = match offset {
                    Some(offset) => {
                        let offset = &offset.code;
                        quote!(#offset.wrapping_add(#by))
                    }
                    None => by,
                };
                Val::Buffer(place.clone(), elements, Some(Place { code, by_ref: false }))
            }
            (Val::Slice(place), number) if operator == "+" => {
                let Some(by) = self.int_code(number, "usize") else { return self.no("pointer arithmetic", at) };
                let code = &place.code;
                Val::Slice(Place { code: quote!(#code.get(#by..).unwrap_or_default()), by_ref: true })
            }
            (Val::Double(_), _) | (_, Val::Double(_)) => self.double(operator, left, right, at)?,
            _ => self.integers(operator, left, right, at)?,
        }))
    }

    fn double(&mut self, operator: &str, left: &Val, right: &Val, at: usize) -> Result<Val, Refusal> {
        let code = |value: &Val| match value {
            Val::Double(place) => Some(place.code.clone()),
            Val::Const(number, _) => {
                let literal = proc_macro2::Literal::f64_unsuffixed(number.unsigned_abs() as f64);
                Some(if *number < 0 { quote!(-#literal) } else { quote!(#literal) })
            }
            Val::Int(place, ..) => {
                let code = &place.code;
                Some(quote!((#code as f64)))
            }
            _ => None,
        };
        let (Some(a), Some(b)) = (code(left), code(right)) else {
            return self.no(format!("operator {operator} on doubles"), at);
        };
        let literal = |code: &TokenStream| code.to_string().replace(['(', ')', ' '], "").parse::<f64>().ok();
        if let (Some(x), Some(y), "==" | "!=") = (literal(&a), literal(&b), operator) {
            return Ok(Val::Const(i128::from((x == y) == (operator == "==")), None));
        }
        let op = op_tokens(operator);
        let place = Place { code: quote!((#a #op #b)), by_ref: false };
        Ok(if is_comparison(operator) { Val::Bool(place) } else { Val::Double(place) })
    }

    fn integers(&mut self, operator: &str, left: &Val, right: &Val, at: usize) -> Result<Val, Refusal> {
        let int = match (int_type(left), int_type(right)) {
            (Some(a), Some(b)) => wider(a, b),
            _ => return self.no(format!("operator {operator} on {} and {}", left.word(), right.word()), at),
        };
        let (Some(a), Some(b)) = (self.int_code(left, int), self.int_code(right, int)) else {
            return self.no(format!("operator {operator}"), at);
        };
        let op = op_tokens(operator);
        if let (">", Val::Const(number, _)) = (operator, right)
            && match int {
                "u32" => *number >= i128::from(u32::MAX),
                "u64" | "usize" => *number >= i128::from(u64::MAX),
                _ => false,
            }
        {
            return Ok(Val::Const(0, None));
        }
        if is_comparison(operator) {
            return Ok(Val::Bool(Place { code: quote!((#a #op #b)), by_ref: false }));
        }
        let method = match operator {
            "+" => Some("wrapping_add"),
            "-" => Some("wrapping_sub"),
            "*" => Some("wrapping_mul"),
            _ => None,
        };
        let positive =
            int.starts_with('u') || (matches!(operator, "&" | "+" | "|") && positive(left) && positive(right));
        let code = match method {
            Some(method) => {
                let (method, int) = (format_ident!("{method}"), format_ident!("{int}"));
                let a = if matches!(left, Val::Const(..)) || int == "const" { quote!((#a as #int)) } else { a };
                quote!(#a.#method(#b))
            }
            _ if matches!(operator, "/" | "%") && !matches!(right, Val::Const(number, _) if *number > 0) => {
                let method = format_ident!("{}", if operator == "/" { "checked_div" } else { "checked_rem" });
                let int = format_ident!("{int}");
                quote!((#a as #int).#method(#b).ok_or_else(|| c.unsupported("division by zero"))?)
            }
            _ if matches!(operator, "<<" | ">>")
                && !matches!(right, Val::Const(number, _) if (0..32).contains(number)) =>
            {
                let method = format_ident!("{}", if operator == "<<" { "wrapping_shl" } else { "wrapping_shr" });
                let int = format_ident!("{int}");
                quote!((#a as #int).#method(#b as u32))
            }
            _ => quote!((#a #op #b)),
        };
        Ok(Val::Int(Place { code, by_ref: false }, int, positive))
    }

    /// `==` and `!=` of pointers; `None` if the values are numbers.
    fn identity(&mut self, negated: bool, left: &Val, right: &Val, at: usize) -> Result<Option<Computed>, Refusal> {
        let truth = |is: bool| Ok(Some(Computed::Val(Val::Const(i128::from(is != negated), None))));
        let not = if negated { quote!(!) } else { quote!() };
        let boolean = |code: TokenStream| Ok(Some(Computed::Val(Val::Bool(Place { code, by_ref: false }))));
        match (left, right) {
            (Val::Null, Val::Null) => truth(true),
            (
                Val::Object(_)
                | Val::Function(..)
                | Val::Global(_)
                | Val::Named(_)
                | Val::Array(..)
                | Val::Slice(_)
                | Val::Room(_)
                | Val::Buffer(..)
                | Val::Optionals(..)
                | Val::Address(_)
                | Val::Pending
                | Val::Literal(_)
                | Val::Str(_)
                | Val::Thread,
                Val::Null,
            )
            | (
                Val::Null,
                Val::Object(_)
                | Val::Function(..)
                | Val::Global(_)
                | Val::Named(_)
                | Val::Array(..)
                | Val::Slice(_)
                | Val::Room(_)
                | Val::Buffer(..)
                | Val::Address(_)
                | Val::Pending
                | Val::Literal(_),
            ) => truth(false),
            (Val::MaybeObject(place) | Val::MaybeFunction(place, _) | Val::MaybeStr(place), Val::Null)
            | (Val::Null, Val::MaybeObject(place) | Val::MaybeFunction(place, _) | Val::MaybeStr(place)) => {
                let code = &place.code;
                boolean(if negated { quote!(#code.is_some()) } else { quote!(#code.is_none()) })
            }
            (Val::MaybeAddress(name), Val::Null) | (Val::Null, Val::MaybeAddress(name)) => {
                let Some((var, _)) = self.out_param(name) else { return self.no("pointer", at) };
                let code = crate::translate::block::ident(var);
                boolean(if negated { quote!(#code.is_some()) } else { quote!(#code.is_none()) })
            }
            (Val::Suite(_, _, Some(known)), Val::Null) => truth(!*known),
            (Val::Suite(place, suite, None), Val::Null) => {
                let (code, suite) = (place.reference(), format_ident!("{suite}"));
                let not = if negated { quote!() } else { quote!(!) };
                Ok(Some(Computed::Call(quote!(#not c.has_suite(#code, Suite::#suite)?))))
            }
            (Val::Object(place), Val::Global(name)) | (Val::Global(name), Val::Object(place)) => {
                let (code, name) = (place.reference(), format_ident!("{name}"));
                Ok(Some(Computed::Call(quote!(#not c.is(#code, Global::#name)?))))
            }
            (Val::MaybeObject(place), Val::Global(name)) | (Val::Global(name), Val::MaybeObject(place)) => {
                let (code, name) = (
                    if place.by_ref {
                        place.code.clone()
                    } else {
                        let code = &place.code;
                        quote!(#code.as_ref())
                    },
                    format_ident!("{name}"),
                );
                Ok(Some(Computed::Call(
                    quote!(#not match #code { Some(object) => c.is(object, Global::#name)?, None => false }),
                )))
            }
            (Val::Global(a), Val::Global(b)) => truth(a == b),
            (Val::Object(a), Val::Object(b)) if a == b => truth(true),
            (Val::Object(a), Val::Object(b)) => {
                let (a, b) = (a.reference(), b.reference());
                Ok(Some(Computed::Call(quote!(#not c.Py_Is(#a, #b)?))))
            }
            (Val::Object(a), Val::MaybeObject(b)) | (Val::MaybeObject(b), Val::Object(a)) => {
                let a = a.reference();
                let b = if b.by_ref {
                    b.code.clone()
                } else {
                    let code = &b.code;
                    quote!(#code.as_ref())
                };
                Ok(Some(Computed::Call(quote!(#not match #b { Some(object) => c.Py_Is(#a, object)?, None => false }))))
            }
            (Val::MaybeObject(a), Val::MaybeObject(b)) => {
                let by = |place: &Place| {
                    let code = &place.code;
                    if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
                };
                let (a, b) = (by(a), by(b));
                Ok(Some(Computed::Call(
                    quote!(#not match (#a, #b) { (Some(x), Some(y)) => c.Py_Is(x, y)?, (None, None) => true, _ => false }),
                )))
            }
            (Val::Named(a), Val::Named(b)) => truth(a == b),
            (Val::Function(a, _), Val::Function(b, _)) => {
                let (a, b, op) = (&a.code, &b.code, if negated { quote!(!=) } else { quote!(==) });
                let by = |place: &Place, code: &TokenStream| if place.by_ref { quote!(*#code) } else { quote!(#code) };
                let _ = by;
                boolean(quote!((#a #op #b)))
            }
            (
                Val::Function(..) | Val::MaybeFunction(..) | Val::Named(_),
                Val::Function(..) | Val::MaybeFunction(..) | Val::Named(_),
            ) => {
                let op = if negated { quote!(!=) } else { quote!(==) };
                let (Some(a), Some(b)) = (self.option_ref(left), self.option_ref(right)) else { return Ok(None) };
                if let (Val::Named(_), _) | (_, Val::Named(_)) = (left, right) {
                    let (named, other) = if matches!(left, Val::Named(_)) { (left, b) } else { (right, a) };
                    let Val::Named(name) = named else { return Ok(None) };
                    let id = self.world.function_id(&self.function.file, name);
                    let Some(id) = id else { return self.no(format!("function {name} as a value"), at) };
                    let id = format_ident!("{id}");
                    return Ok(Some(Computed::Call(quote!(#not c.is_function(#other, FunctionId::#id)?))));
                }
                boolean(quote!((#a #op #b)))
            }
            (Val::Null, _) | (_, Val::Null) => match (left, right) {
                (Val::Const(0, _), _) | (_, Val::Const(0, _)) => truth(true),
                _ => self.no(format!("comparison of {} with {}", left.word(), right.word()), at),
            },
            _ => Ok(None),
        }
    }

    fn option_ref(&self, value: &Val) -> Option<TokenStream> {
        Some(match value {
            Val::Function(place, _) => {
                let code = place.reference();
                quote!(Some(#code))
            }
            Val::MaybeFunction(place, _) => {
                let code = &place.code;
                if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
            }
            Val::Named(_) => TokenStream::new(),
            _ => return None,
        })
    }

    /// A value as a Rust `bool`.
    pub(crate) fn truth(&self, value: &Val) -> Option<TokenStream> {
        Some(match value {
            Val::Bool(place) => place.code.clone(),
            Val::Const(number, _) => {
                let truth = *number != 0;
                quote!(#truth)
            }
            Val::Int(place, ..) => {
                let code = &place.code;
                quote!((#code != 0))
            }
            _ => return None,
        })
    }

    /// A value as an integer of a type.
    pub(crate) fn int_code(&self, value: &Val, int: &str) -> Option<TokenStream> {
        Some(match value {
            Val::Const(number, _) if super::eval::wrap(*number, int) != *number => {
                self.number(super::eval::wrap(*number, int))
            }
            Val::Const(number, None) => self.number(*number),
            Val::Const(number, Some(name)) => {
                if matches!(int, "isize") && *number == i128::from(i64::MAX) {
                    return Some(quote!(isize::MAX));
                }
                if matches!(int, "isize") && *number == i128::from(i64::MIN) {
                    return Some(quote!(isize::MIN));
                }
                let _ = name;
                self.number(*number)
            }
            Val::Int(place, from, _) => {
                let (code, ty) = (&place.code, format_ident!("{int}"));
                if *from == int || *from == "const" { quote!(#code) } else { quote!((#code as #ty)) }
            }
            Val::Bool(place) => {
                let (code, ty) = (&place.code, format_ident!("{int}"));
                quote!(#ty::from(#code))
            }
            _ => return None,
        })
    }

    /// Hands the integer code of a value on.
    pub(crate) fn with_int(&mut self, value: Val, int: &str, at: usize, k: &mut dyn FnMut(TokenStream) -> Out) -> Out {
        match self.int_code(&value, int) {
            Some(code) => k(code),
            None => self.no(format!("integer expected, not {}", value.word()), at),
        }
    }

    /// Branches on a condition; `yes` and `no` may be called several times.
    pub(crate) fn branch(&mut self, condition: &Expr, state: State, yes: K, no: K) -> Out {
        match &condition.kind {
            Kind::Not(inner) => self.branch(inner, state, no, yes),
            Kind::And(a, b) => {
                let (b, other) = (b.clone(), no.clone());
                self.branch(
                    a,
                    state,
                    Rc::new(move |this, state| this.branch(&b, state, yes.clone(), other.clone())),
                    no,
                )
            }
            Kind::Or(a, b) => {
                let (b, other) = (b.clone(), yes.clone());
                self.branch(
                    a,
                    state,
                    yes,
                    Rc::new(move |this, state| this.branch(&b, state, other.clone(), no.clone())),
                )
            }
            Kind::Binary(op, a, b) if matches!(op.as_str(), "==" | "!=") && is_null(b) => {
                if op == "==" {
                    self.branch(a, state, no, yes)
                } else {
                    self.branch(a, state, yes, no)
                }
            }
            Kind::Call(callee, args) if matches!(&callee.kind, Kind::Name(name) if matches!(name.as_str(), "_Py_LIKELY" | "_Py_UNLIKELY" | "likely" | "unlikely")) => {
                match args.first() {
                    Some(arg) => self.branch(arg, state, yes, no),
                    None => self.no("condition", condition.at),
                }
            }
            Kind::Member(base, name) if self.is_text(base, name) => self.branch_text(base, name, state, yes, no),
            _ => {
                let at = condition.at;
                let name = variable(condition);
                self.eval(
                    condition,
                    state,
                    Rc::new(move |this, value, state| this.test(value, name.as_deref(), at, state, &yes, &no)),
                )
            }
        }
    }

    /// Branches on a value; `name` is the variable it came from.
    fn test(&mut self, value: Val, name: Option<&str>, at: usize, state: State, yes: &K, no: &K) -> Out {
        match value {
            Val::Null | Val::Const(0, _) => no(self, state),
            Val::Const(..)
            | Val::Object(_)
            | Val::Function(..)
            | Val::Global(_)
            | Val::Named(_)
            | Val::Pending
            | Val::Literal(_)
            | Val::Array(..)
            | Val::Slice(_)
            | Val::Room(_)
            | Val::Buffer(..)
            | Val::Optionals(..)
            | Val::Address(_)
            | Val::Thread
            | Val::Str(_) => yes(self, state),
            Val::MaybeObject(_) | Val::MaybeFunction(..) | Val::MaybeStr(_) => {
                let (place, function) = match &value {
                    Val::MaybeFunction(place, function) => (place.clone(), Some(function.clone())),
                    Val::MaybeObject(place) | Val::MaybeStr(place) => (place.clone(), None),
                    _ => return self.no("pointer", at),
                };
                let mut uses = std::collections::BTreeMap::new();
                crate::translate::block::count(&place.code, &mut uses);
                let hint = name
                    .map(str::to_owned)
                    .or_else(|| uses.keys().next().map(|var| self.hints[*var].clone()))
                    .unwrap_or_default();
                let var = self.fresh(hint.trim_start_matches('*'));
                let found = match function {
                    Some(function) => Val::Function(Place::by_ref(var), function),
                    None if matches!(value, Val::MaybeStr(_)) => Val::Str(Place::by_ref(var)),
                    None => Val::Object(Place::by_ref(var)),
                };
                let (mut there, mut absent) = (state.clone(), state);
                refine_all(&mut there, &value, &found);
                refine_all(&mut absent, &value, &Val::Null);
                if let Some(name) = name
                    && !there.vars.contains_key(name)
                {
                    there.memo.insert(name.to_owned(), found.clone());
                }
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                Ok(Block::If { tests: vec![Test::Some(var, place.reference())], yes: Box::new(yes), no: Box::new(no) })
            }
            Val::MaybeAddress(ref name) => {
                let Some((var, _)) = self.out_param(name) else { return self.no("pointer", at) };
                let (code, found) = (crate::translate::block::ident(var), Val::Address(name.clone()));
                let (mut there, mut absent) = (state.clone(), state);
                refine_all(&mut there, &value, &found);
                refine_all(&mut absent, &value, &Val::Null);
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                let tests = vec![Test::Bool(quote!(#code.is_some()))];
                Ok(Block::If { tests, yes: Box::new(yes), no: Box::new(no) })
            }
            Val::Suite(_, _, Some(known)) => {
                if known {
                    yes(self, state)
                } else {
                    no(self, state)
                }
            }
            Val::Suite(ref place, suite, None) => {
                let (code, field) = (place.reference(), format_ident!("{suite}"));
                let (mut there, mut absent) = (state.clone(), state);
                refine_all(&mut there, &value, &Val::Suite(place.clone(), suite, Some(true)));
                refine_all(&mut absent, &value, &Val::Suite(place.clone(), suite, Some(false)));
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                Ok(Block::If {
                    tests: vec![Test::Bool(quote!(c.has_suite(#code, Suite::#field)?))],
                    yes: Box::new(yes),
                    no: Box::new(no),
                })
            }
            Val::Bool(_) | Val::Int(..) => {
                let Some(code) = self.truth(&value) else { return self.no("condition", at) };
                let (mut there, mut absent) = (state.clone(), state);
                if let (Some(name), Val::Bool(_)) = (name, &value) {
                    there.refine(name, Val::Const(1, None));
                    absent.refine(name, Val::Const(0, None));
                }
                let yes = yes(self, there)?;
                let no = no(self, absent)?;
                Ok(Block::If { tests: vec![Test::Bool(code)], yes: Box::new(yes), no: Box::new(no) })
            }
            Val::Member(..) => {
                let (yes, no) = (yes.clone(), no.clone());
                self.pointer(
                    value,
                    at,
                    state,
                    Rc::new(move |this, value, state| this.test(value, None, at, state, &yes, &no)),
                )
            }
            other => self.no(format!("condition {}", other.word()), at),
        }
    }
}

/// A pointer that may be NULL.
fn pointer(value: &Val) -> Option<TokenStream> {
    Some(match value {
        Val::Object(place) => {
            let code = place.reference();
            quote!(Some(#code))
        }
        Val::MaybeObject(place) => {
            let code = &place.code;
            if place.by_ref { quote!(#code) } else { quote!(#code.as_ref()) }
        }
        _ => return None,
    })
}

/// Every variable that holds `old` is now known to be `new`.
fn refine_all(state: &mut State, old: &Val, new: &Val) {
    let names: Vec<_> = state.vars.iter().filter(|(_, value)| *value == old).map(|(name, _)| name.clone()).collect();
    for name in names {
        state.refine(&name, new.clone());
    }
    for value in state.memo.values_mut() {
        if value == old {
            *value = new.clone();
        }
    }
}

/// The variable that an expression reads or assigns.
fn variable(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Name(name) => Some(name.clone()),
        Kind::Assign(left, _) => variable(left),
        Kind::Cast(_, _, inner) => variable(inner),
        Kind::Deref(inner) => variable(inner).map(|name| format!("*{name}")),
        _ => None,
    }
}

pub(crate) fn is_null(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Null => true,
        Kind::Cast(_, _, inner) => is_null(inner),
        _ => false,
    }
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=")
}

fn op_tokens(operator: &str) -> TokenStream {
    operator.parse().unwrap_or_default()
}
