//! Reads one function body and says what it does, given what is known so far of the functions it calls.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::origin::Origin;
use super::program::{Callee, Program};
use super::summary::{Flags, Summary};
use super::value::{Class, Pointer, Value};
use crate::lower::{CType, Expr, Function, Kind, Stmt};

/// What the function makes: nobody else sees changes of it.
pub(super) const OWN: Origin = Origin(Origin::FRESH.0 | Origin::MADE.0);

/// What does not change: nothing that is read there is state.
pub(super) const FIXED: Origin = Origin(Origin::CONSTANT.0 | Origin::BUILTIN.0);

/// The first place where an effect was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Byte offset in the unit's text.
    pub at: usize,
    /// The function that has the effect, if it is one of the program.
    pub callee: Option<usize>,
    /// What is there, in words.
    pub text: String,
}

/// What is known of a function.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Its effects.
    pub summary: Summary,
    /// The first place of each effect.
    pub evidence: BTreeMap<String, Step>,
    /// Causes of `unknown` in the body itself.
    pub causes: BTreeMap<String, usize>,
    /// The values of its variables.
    pub(super) variables: BTreeMap<String, Value>,
}

pub(super) struct Walker<'p> {
    pub program: &'p Program,
    pub(super) unit: usize,
    pub known: Known,
    pub(super) variables: BTreeMap<String, Value>,
    pub(super) changed: bool,
    at: usize,
    /// Variables that are numbers and no marked pointers: where they came from does not matter.
    numbers: BTreeSet<String>,
}

impl<'p> Walker<'p> {
    /// Walks until nothing new is found; the result contains `known`.
    pub fn run(program: &'p Program, unit: usize, function: &Function, mut known: Known) -> Known {
        let variables = std::mem::take(&mut known.variables);
        let mut walker = Self { program, unit, known, variables, changed: true, at: 0, numbers: BTreeSet::new() };
        for (index, param) in function.signature.params.iter().enumerate() {
            let class = match program.class_of(&param.ctype) {
                Class::Objects => Class::Arguments,
                class => class,
            };
            let number = is_number(&param.ctype, &param.structure);
            let origin = match class {
                Class::Thread => Origin::GLOBAL,
                _ if number => Origin::NONE,
                _ => Origin::parameter(index),
            };
            if number {
                walker.numbers.insert(param.name.clone());
            }
            walker.variables.entry(param.name.clone()).or_insert_with(|| {
                let structure = Some(Rc::from(param.structure.as_str()));
                let pointers = [Pointer::Parameter(index)].into();
                Value { origin, class, pointers, structure, ..Value::default() }
            });
        }
        while std::mem::take(&mut walker.changed) {
            walker.statements(&function.body);
        }
        walker.known.variables = walker.variables;
        walker.known
    }

    pub(super) fn statements(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Expr(expr) => drop(self.eval(expr)),
            Stmt::Declare { name, ctype, structure, array, init, .. } => {
                if array.is_none() && is_number(ctype, structure) {
                    self.numbers.insert(name.clone());
                }
                self.declare(name, ctype, array.is_some(), init.as_ref());
                if let Some(variable) = self.variables.get_mut(name).filter(|variable| variable.structure.is_none()) {
                    variable.structure = Some(Rc::from(structure.as_str()));
                }
            }
            Stmt::If(condition, yes, no) => {
                self.eval(condition);
                self.statement(yes);
                no.iter().for_each(|no| self.statement(no));
            }
            Stmt::While { condition, step, body, .. } => {
                condition.iter().chain(step).for_each(|expr| drop(self.eval(expr)));
                self.statement(body);
            }
            Stmt::DoWhile(body, condition) => {
                self.statement(body);
                self.eval(condition);
            }
            Stmt::Switch(value, body) => {
                self.eval(value);
                self.statements(body);
            }
            Stmt::Block(body) => self.statements(body),
            Stmt::Return(Some(expr), _) => {
                let value = self.eval(expr);
                self.changed |= self.known.summary.returns.add(value.origin);
            }
            // It is state of the process: no variable of the function's own.
            Stmt::Static { .. } => {}
            Stmt::Unknown(what, _) if what == "static variable" || what.ends_with("type_definition") => {}
            Stmt::Unknown(what, at) => {
                self.at = *at;
                self.unknown(&format!("the statement `{what}`"));
            }
            Stmt::Return(None, _) | Stmt::Case(_) | Stmt::Label(_) | Stmt::Goto(..) | Stmt::Break | Stmt::Continue => {}
        }
    }

    pub(super) fn declare(&mut self, name: &str, ctype: &CType, array: bool, init: Option<&Expr>) {
        let class = match self.program.class_of(ctype) {
            Class::Object if array => Class::Arguments,
            Class::Data if array && matches!(ctype, CType::Int(_) | CType::Double) => Class::Numbers,
            class => class,
        };
        let is_memory = array || matches!(ctype, CType::Opaque(text) if !text.ends_with('*'));
        let mut value = init.map_or_else(Value::default, |init| self.eval(init));
        if is_memory {
            self.changed |= self.known.summary.holds.add(value.origin.without(Origin::FRESH));
            value.origin.add(Origin::FRESH);
            value.local = Some(name.to_owned());
        }
        value.class = class;
        if class == Class::Thread {
            value.origin = Origin::GLOBAL;
        }
        self.bind(name, &value);
    }

    pub(super) fn bind(&mut self, name: &str, value: &Value) {
        let mut value = Cow::Borrowed(value);
        if self.numbers.contains(name) {
            value.to_mut().origin = Origin::NONE;
        }
        let value = value.as_ref();
        match self.variables.get_mut(name) {
            Some(variable) => self.changed |= variable.join(value),
            None => {
                self.variables.insert(name.to_owned(), value.clone());
                self.changed = true;
            }
        }
    }

    /// The value of an expression; its effects are noted.
    pub(super) fn eval(&mut self, expr: &Expr) -> Value {
        let before = std::mem::replace(&mut self.at, expr.at);
        let value = self.kind(expr);
        self.at = before;
        value
    }

    pub(super) fn kind(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            Kind::Null | Kind::Int(_) | Kind::Float(_) | Kind::SizeOf(_) => Value::default(),
            Kind::Str(_) => Value::new(Origin::CONSTANT, Class::Data),
            Kind::Name(name) => self.name(name),
            Kind::Call(callee, args) => self.call(callee, args),
            Kind::Member(base, member) => {
                let base = self.eval(base);
                self.member(&base, member)
            }
            Kind::Index(base, index) => {
                let base = self.eval(base);
                let index = self.eval(index);
                let mut value = self.element(&base);
                value.pointers.extend(index.pointers);
                value
            }
            Kind::Deref(inner) => {
                let value = self.eval(inner);
                if let Kind::Cast(CType::Function(_), ..) = inner.kind {
                    return pointed(&value);
                }
                self.element(&value)
            }
            Kind::AddressOf(inner) => self.address(inner),
            Kind::Unary(_, inner) | Kind::Not(inner) => {
                let origin = self.eval(inner).origin;
                Value::new(if matches!(expr.kind, Kind::Not(_)) { Origin::NONE } else { origin }, Class::Data)
            }
            Kind::Binary(operator, left, right) => {
                let (mut left, right) = (self.eval(left), self.eval(right));
                if matches!(operator.as_str(), "==" | "!=" | "<" | ">" | "<=" | ">=") {
                    return Value::default();
                }
                left.join(&right);
                left
            }
            Kind::And(left, right) | Kind::Or(left, right) => {
                self.eval(left);
                self.eval(right);
                Value::default()
            }
            Kind::Assign(left, right) => {
                let value = self.eval(right);
                self.store(left, &value);
                value
            }
            Kind::AssignOp(_, left, right) => {
                let value = self.eval(right);
                self.eval(left);
                self.store(left, &value);
                value
            }
            Kind::Update(_, _, operand) => {
                let value = self.eval(operand);
                self.store(operand, &Value::default());
                value
            }
            Kind::Conditional(test, yes, no) => {
                self.eval(test);
                let mut value = self.eval(yes);
                let no = self.eval(no);
                value.join(&no);
                value
            }
            Kind::Cast(ctype, to, inner) => {
                let mut value = self.eval(inner);
                if !matches!(to.as_str(), "void" | "char") {
                    value.structure = Some(Rc::from(to.as_str()));
                }
                value.class = match (self.program.class_of(ctype), value.class) {
                    (Class::Objects, Class::Arguments) => Class::Arguments,
                    (Class::Thread, _) => {
                        value.origin = Origin::GLOBAL;
                        Class::Thread
                    }
                    (class, _) => class,
                };
                value
            }
            Kind::Comma(left, right) => {
                self.eval(left);
                self.eval(right)
            }
            Kind::List(items) => {
                let mut all = Value::default();
                for item in items {
                    let value = self.eval(item);
                    all.join(&value);
                }
                all
            }
        }
    }

    pub(super) fn name(&mut self, name: &str) -> Value {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        match self.program.resolve(self.unit, name) {
            Callee::Function(id) => return Value::pointer(Pointer::Function(id)),
            Callee::Leaf(_) => return Value::pointer(Pointer::Leaf(name.to_owned())),
            Callee::Unknown => {}
        }
        let name = self.program.unaliased(name);
        if self.program.leaves.is_cache(name) {
            return Value::new(Origin::CONSTANT, Class::Numbers);
        }
        let origin = self.program.global_origin(name);
        if origin == Origin::GLOBAL && self.program.is_state(name) && !self.program.leaves.is_benign(name) {
            self.flag(Flags::READS_GLOBAL, || format!("`{name}` is read"));
        }
        let class = if origin == Origin::GLOBAL { self.program.global_class(name) } else { Class::Object };
        Value { origin, class, global: Some(name.to_owned()), ..Value::default() }
    }

    pub(super) fn set(&mut self, flags: Flags) {
        let grown = self.known.summary.flags.or(flags);
        self.changed |= grown != self.known.summary.flags;
        self.known.summary.flags = grown;
    }

    pub(super) fn flag(&mut self, flag: Flags, text: impl Fn() -> String) {
        for word in flag.words() {
            self.note(word, None, &text);
        }
        self.set(flag);
    }

    pub(super) fn note(&mut self, key: &str, callee: Option<usize>, text: impl Fn() -> String) {
        if !self.known.evidence.contains_key(key) {
            let step = Step { at: self.at, callee, text: text() };
            self.known.evidence.insert(key.to_owned(), step);
        }
    }

    pub(super) fn unknown(&mut self, cause: &str) {
        self.known.causes.entry(cause.to_owned()).or_insert(self.at);
        self.flag(Flags::UNKNOWN, || cause.to_owned());
    }
}

/// Whether a declared type is a number that is no pointer with marks.
fn is_number(ctype: &CType, text: &str) -> bool {
    matches!(ctype, CType::Int(_) | CType::Double) && !text.contains("intptr")
}

/// What `*(binaryfunc *)address` gives.
pub(super) fn pointed(address: &Value) -> Value {
    let mut value = Value::default();
    for pointer in &address.pointers {
        value.pointers.extend(match pointer {
            Pointer::Parameter(index) => Some(Pointer::SlotAt(address.origin, *index)),
            Pointer::Offset(slot) => Some(Pointer::Slot(address.origin, slot.clone())),
            _ => None,
        });
    }
    if value.pointers.is_empty() {
        value.pointers.insert(Pointer::Slot(address.origin, "*".to_owned()));
    }
    value
}
