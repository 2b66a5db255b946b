//! Expressions on one path.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::lower::{CType, Expr, Kind};
use crate::translate::block::{Block, ident};
use crate::translate::paths::{K, KV, KVs, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val, wrap};

impl Paths {
    /// Evaluates expressions from left to right.
    pub(crate) fn all(&mut self, exprs: &[Expr], state: State, k: KVs) -> Out {
        self.all_from(Rc::from(exprs), 0, Vec::new(), state, k)
    }

    fn all_from(&mut self, exprs: Rc<[Expr]>, index: usize, values: Vec<Val>, state: State, k: KVs) -> Out {
        let Some(expr) = exprs.get(index) else { return k(self, values, state) };
        let expr = expr.clone();
        self.eval(
            &expr,
            state,
            Rc::new(move |this, value, state| {
                let mut values = values.clone();
                values.push(value);
                this.all_from(exprs.clone(), index + 1, values, state, k.clone())
            }),
        )
    }

    /// Evaluates an expression.
    pub(crate) fn eval(&mut self, expr: &Expr, state: State, k: KV) -> Out {
        let at = expr.at;
        match &expr.kind {
            Kind::Null => k(self, Val::Null, state),
            Kind::Int(number) => k(self, Val::Const(*number, None), state),
            Kind::Str(text) => k(self, Val::Literal(text.clone()), state),
            Kind::Float(text) => match text.parse::<f64>() {
                Ok(number) => {
                    let code = proc_macro2::Literal::f64_unsuffixed(number);
                    k(self, Val::Double(Place { code: quote!(#code), by_ref: false }), state)
                }
                Err(_) => self.no("floating constant", at),
            },
            Kind::Name(name) => self.name_value(name, at, state, k),
            Kind::Call(callee, args) => self.call(callee, args, at, state, k),
            Kind::Member(base, name) => self.member(base, name, at, state, k),
            Kind::Index(base, index) => self.index(base, index, at, state, k),
            Kind::Deref(inner) => self.deref(inner, at, state, k),
            Kind::AddressOf(inner) => self.address(inner, at, state, k),
            Kind::Not(_) | Kind::And(..) | Kind::Or(..) => self.truth_value(expr, state, k),
            Kind::Unary(operator, operand) => {
                let operator = operator.clone();
                self.eval(
                    operand,
                    state,
                    Rc::new(move |this, value, state| this.unary(&operator, value, at, state, &k)),
                )
            }
            Kind::Binary(operator, left, right) => {
                let operator = operator.clone();
                let steps = self.stride(left).filter(|_| matches!(operator.as_str(), "+" | "-"));
                self.settled(
                    &[(**left).clone(), (**right).clone()],
                    state,
                    Rc::new(move |this, values, state| {
                        if let (Some(structure), Val::Object(_) | Val::MaybeObject(_)) = (&steps, &values[0]) {
                            return this.step(structure, &operator, &values, at, state, &k);
                        }
                        if let (Val::Member(place, structure, path), "+") = (&values[0], operator.as_str())
                            && let Some(by) = this.int_code(&values[1], "usize")
                            && let Ok(method) = this.note_elements(structure, path, at)
                        {
                            let code = place.reference();
                            return this.bind("items", quote!(c.#method(#code)?), &mut |this, var| {
                                let items = ident(var);
                                let code = quote!(#items.get(#by..).unwrap_or_default());
                                k(this, Val::Slice(Place { code, by_ref: true }), state.clone())
                            });
                        }
                        let value = this.binary(&operator, &values[0], &values[1], at, &state)?;
                        match value {
                            Computed::Val(value) => k(this, value, state),
                            Computed::Call(code) => this.bind("is", code, &mut |this, var| {
                                k(this, Val::Bool(Place::owned(var)), state.clone())
                            }),
                        }
                    }),
                )
            }
            Kind::Assign(left, right) => {
                let left = left.clone();
                self.eval(right, state, Rc::new(move |this, value, state| this.assign(&left, value, state, k.clone())))
            }
            Kind::AssignOp(operator, left, right) => {
                let value = Expr { kind: Kind::Binary(operator.clone(), left.clone(), right.clone()), at };
                self.eval(&Expr { kind: Kind::Assign(left.clone(), Box::new(value)), at }, state, k)
            }
            Kind::Update(by, before, operand) => {
                let one = Expr { kind: Kind::Int(1), at };
                let operator = if *by > 0 { "+" } else { "-" };
                let value = Expr { kind: Kind::Binary(operator.to_owned(), operand.clone(), Box::new(one)), at };
                let assign = Expr { kind: Kind::Assign(operand.clone(), Box::new(value)), at };
                if !before {
                    return self.eval(&assign, state, k);
                }
                self.eval(
                    operand,
                    state,
                    Rc::new(move |this, old, state| {
                        let k = k.clone();
                        this.eval(&assign, state, Rc::new(move |this, _, state| k(this, old.clone(), state)))
                    }),
                )
            }
            Kind::Conditional(condition, yes, no) => self.ternary(condition, yes.clone(), no.clone(), state, k),
            Kind::Cast(ctype, _, inner) => {
                let ctype = ctype.clone();
                self.eval(
                    inner,
                    state,
                    Rc::new(move |this, value, state| {
                        let value = this.cast(value, &ctype, at)?;
                        k(this, value, state)
                    }),
                )
            }
            Kind::Comma(first, second) => {
                let second = second.clone();
                self.eval(first, state, Rc::new(move |this, _, state| this.eval(&second, state, k.clone())))
            }
            Kind::SizeOf(text) => match self.sizes.get(text).copied().or_else(|| self.world.constant_of(expr)) {
                Some(number) => k(self, Val::Const(number, None), state),
                None => self.no(format!("sizeof({text})"), at),
            },
            Kind::List(_) => self.no("initialiser list", at),
        }
    }

    fn name_value(&mut self, name: &str, at: usize, state: State, k: KV) -> Out {
        if let Some(value) = state.vars.get(name).cloned() {
            return match value {
                Val::Uninit => self.no(format!("{} may not be set", name.split('.').next().unwrap_or(name)), at),
                Val::Unmade(structure) => self.make(name, &structure, state, k),
                Val::Behind(_) => self.read_static(name, value, at, state, k),
                value => k(self, value, state),
            };
        }
        let text = match name {
            "__func__" => Some(self.function.name.clone()),
            "__FILE__" => Some(self.function.file.clone()),
            _ => None,
        };
        if let Some(text) = text {
            return k(self, Val::Literal(text), state);
        }
        let world = self.world.clone();
        match world.global(&self.function.file, name).or_else(|| world.object_global(name)) {
            Some(value) => k(self, value, state),
            None => match world.alias(name) {
                Some(other) => self.name_value(&other, at, state, k),
                None => self.variable(name, at, state, k),
            },
        }
    }

    fn cast(&mut self, value: Val, ctype: &CType, at: usize) -> Result<Val, Refusal> {
        Ok(match (value, ctype) {
            (Val::Int(place, from, positive), CType::Int(to)) if from != *to => {
                let (code, ty) = (place.code, format_ident!("{to}"));
                let positive = positive && (to.starts_with('i') || to.starts_with('u'));
                Val::Int(Place { code: quote!((#code as #ty)), by_ref: false }, to, positive || to.starts_with('u'))
            }
            (Val::Bool(place), CType::Int(_)) => Val::Bool(place),
            (Val::Int(place, ..), CType::Double) => {
                let code = place.code;
                Val::Double(Place { code: quote!((#code as f64)), by_ref: false })
            }
            (Val::Double(_), CType::Int(_)) => return self.no("cast of a double", at),
            (Val::Function(place, _), CType::Function(name)) => Val::Function(place, name.clone()),
            (Val::MaybeFunction(place, _), CType::Function(name)) => Val::MaybeFunction(place, name.clone()),
            (Val::Const(number, name), CType::Int(int)) => Val::Const(wrap(number, int), name),
            (value, _) => value,
        })
    }

    fn unary(&mut self, operator: &str, value: Val, at: usize, state: State, k: &KV) -> Out {
        let value = match (operator, value) {
            ("-", Val::Const(number, _)) => Val::Const(-number, None),
            ("~", Val::Const(number, _)) => Val::Const(!number, None),
            ("+", value) => value,
            ("-", Val::Int(place, int, _)) => {
                let code = place.code;
                Val::Int(Place { code: quote!(#code.wrapping_neg()), by_ref: false }, int, false)
            }
            ("-", Val::Double(place)) => {
                let code = place.code;
                Val::Double(Place { code: quote!((-#code)), by_ref: false })
            }
            ("~", Val::Int(place, int, _)) => {
                let code = place.code;
                Val::Int(Place { code: quote!((!#code)), by_ref: false }, int, int.starts_with('u'))
            }
            (operator, _) => return self.no(format!("operator {operator}"), at),
        };
        k(self, value, state)
    }

    /// Implicit conversion to the type of a variable.
    pub(crate) fn convert(&mut self, value: Val, ctype: &CType, at: usize) -> Result<Val, Refusal> {
        match (&value, ctype) {
            (Val::Int(..) | Val::Const(..), CType::Int(_)) => self.cast(value, ctype, at),
            (Val::Const(number, _), CType::Double) => {
                let code = proc_macro2::Literal::f64_unsuffixed(*number as f64);
                Ok(Val::Double(Place { code: quote!(#code), by_ref: false }))
            }
            (Val::Int(..), CType::Double) => self.cast(value, ctype, at),
            (Val::Const(0, _), CType::Object | CType::Function(_)) => Ok(Val::Null),
            (Val::Function(place, _), CType::Function(name)) => Ok(Val::Function(place.clone(), name.clone())),
            (Val::MaybeFunction(place, _), CType::Function(name)) => {
                Ok(Val::MaybeFunction(place.clone(), name.clone()))
            }
            (Val::Object(_) | Val::Global(_) | Val::Null | Val::MaybeObject(_), CType::Object) => Ok(value),
            _ => Ok(value),
        }
    }

    fn ternary(&mut self, condition: &Expr, yes: Box<Expr>, no: Box<Expr>, state: State, k: KV) -> Out {
        let (scope, _) = self.scope();
        let leaf: KV = Rc::new(move |this, value, mut state| {
            state.set("?", value);
            this.hole(scope, state)
        });
        let other = leaf.clone();
        let tree = self.split(
            condition,
            state,
            Rc::new(move |this, state| this.eval(&yes, state, leaf.clone())),
            Rc::new(move |this, state| this.eval(&no, state, other.clone())),
        )?;
        self.meet(
            tree,
            scope,
            Rc::new(move |this, mut state| {
                let value = state.vars.remove("?").unwrap_or(Val::Uninit);
                state.bases.remove("?");
                k(this, value, state)
            }),
        )
    }

    /// The value of a condition.
    fn truth_value(&mut self, expr: &Expr, state: State, k: KV) -> Out {
        let (scope, _) = self.scope();
        let leaf = |truth: i128| -> K {
            Rc::new(move |this, mut state| {
                state.set("?", Val::Const(truth, None));
                this.hole(scope, state)
            })
        };
        let tree = self.split(expr, state, leaf(1), leaf(0))?;
        self.meet_truth(tree, scope, k)
    }

    fn meet_truth(&mut self, tree: Block, scope: usize, k: KV) -> Out {
        self.types.insert("?".to_owned(), CType::Opaque("bool".to_owned()));
        self.meet(
            tree,
            scope,
            Rc::new(move |this, mut state| {
                let value = state.vars.remove("?").unwrap_or(Val::Uninit);
                k(this, value, state)
            }),
        )
    }
}

/// Whether code is a single name.
pub(crate) fn is_name(code: &TokenStream) -> bool {
    let mut trees = code.clone().into_iter();
    matches!(trees.next(), Some(proc_macro2::TokenTree::Ident(_))) && trees.next().is_none()
}

/// The outcome of an operator.
pub(crate) enum Computed {
    /// A value.
    Val(Val),
    /// A question to the world whose answer is a `bool`.
    Call(TokenStream),
}
