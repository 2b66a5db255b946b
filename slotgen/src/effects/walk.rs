//! Reads one function body and says what it does, given what is known so far of the functions it calls.

use std::collections::BTreeMap;

use super::leaves::{Form, Leaf};
use super::origin::Origin;
use super::program::{Callee, Program};
use super::summary::{Flags, Summary};
use super::value::{Class, Pointer, Value, class_of};
use crate::translate::ctype::CType;
use crate::translate::ir::{Expr, Function, Kind, Stmt};

/// What the function makes: nobody else sees changes of it.
const OWN: Origin = Origin(Origin::FRESH.0 | Origin::MADE.0);

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
}

pub(super) struct Walker<'p> {
    pub program: &'p Program,
    unit: usize,
    pub known: Known,
    variables: BTreeMap<String, Value>,
    changed: bool,
    at: usize,
}

impl<'p> Walker<'p> {
    /// Walks until nothing new is found; the result contains `known`.
    pub fn run(program: &'p Program, unit: usize, function: &Function, known: Known) -> Known {
        let mut walker = Self { program, unit, known, variables: BTreeMap::new(), changed: true, at: 0 };
        for (index, param) in function.signature.params.iter().enumerate() {
            let class = match class_of(&param.ctype) {
                Class::Objects => Class::Arguments,
                class => class,
            };
            let origin = if class == Class::Thread { Origin::GLOBAL } else { Origin::parameter(index) };
            let pointers = [Pointer::Parameter(index)].into();
            walker.variables.insert(param.name.clone(), Value { origin, class, pointers, ..Value::default() });
        }
        while std::mem::take(&mut walker.changed) {
            walker.statements(&function.body);
        }
        walker.known
    }

    fn statements(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Expr(expr) => drop(self.eval(expr)),
            Stmt::Declare { name, ctype, array, init, .. } => self.declare(name, ctype, array.is_some(), init.as_ref()),
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
            Stmt::Unknown(what, _) if what == "static variable" || what.ends_with("type_definition") => {}
            Stmt::Unknown(what, at) => {
                self.at = *at;
                self.unknown(&format!("the statement `{what}`"));
            }
            Stmt::Return(None, _)
            | Stmt::Case(_)
            | Stmt::Label(_)
            | Stmt::Goto(..)
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }

    fn declare(&mut self, name: &str, ctype: &CType, array: bool, init: Option<&Expr>) {
        let class = match class_of(ctype) {
            Class::Object if array => Class::Arguments,
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

    fn bind(&mut self, name: &str, value: &Value) {
        match self.variables.get_mut(name) {
            Some(variable) => self.changed |= variable.join(value),
            None => {
                self.variables.insert(name.to_owned(), value.clone());
                self.changed = true;
            }
        }
    }

    /// The value of an expression; its effects are noted.
    fn eval(&mut self, expr: &Expr) -> Value {
        let before = std::mem::replace(&mut self.at, expr.at);
        let value = self.kind(expr);
        self.at = before;
        value
    }

    fn kind(&mut self, expr: &Expr) -> Value {
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
            Kind::Cast(ctype, _, inner) => {
                let mut value = self.eval(inner);
                value.class = match (class_of(ctype), value.class) {
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

    fn name(&mut self, name: &str) -> Value {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        match self.program.resolve(self.unit, name) {
            Callee::Function(id) => return Value::pointer(Pointer::Function(id)),
            Callee::Leaf(_) => return Value::pointer(Pointer::Leaf(name.to_owned())),
            Callee::Unknown => {}
        }
        if self.program.is_state(name) {
            self.flag(Flags::READS_GLOBAL, || format!("`{name}` is read"));
        }
        Value {
            origin: Origin::GLOBAL,
            class: self.program.global_class(name),
            global: Some(name.to_owned()),
            ..Value::default()
        }
    }

    /// What objects of an origin refer to, what was put there by this function included.
    fn load(&self, origin: Origin) -> Origin {
        let mut out = origin.contents();
        for (index, stored) in &self.known.summary.stores {
            if origin.meets(Origin::parameter(*index)) {
                out.add(*stored);
            }
        }
        if origin.meets(OWN) {
            out.add(self.known.summary.holds);
        }
        out
    }

    fn read(&mut self, value: &Value) {
        self.changed |= self.known.summary.reads.add(value.origin.without(OWN.or(Origin::CONSTANT)));
        if value.origin.meets(Origin::GLOBAL) && value.class == Class::Thread {
            self.flag(Flags::READS_GLOBAL, || "state of the thread or the interpreter is read".to_owned());
        }
    }

    fn member(&mut self, base: &Value, member: &str) -> Value {
        if self.program.is_slot(member) {
            if let Some(function) = base.global.as_ref().and_then(|ty| self.program.slot_of(ty, member)) {
                return match self.program.resolve_anywhere(&function) {
                    Callee::Function(id) => Value::pointer(Pointer::Function(id)),
                    _ => Value::pointer(Pointer::Unknown(function)),
                };
            }
            return Value::pointer(Pointer::Slot(base.origin, member.to_owned()));
        }
        match member {
            "ob_type" => return Value::new(base.origin.types(), Class::Object),
            "ob_base" | "ob_refcnt" | "super" => return base.clone(),
            _ if member.starts_with("tp_as_") => return base.clone(),
            _ => {}
        }
        self.read(base);
        let class = self.program.member_class(member);
        let origin = match class {
            Class::Object => self.load(base.origin),
            Class::Unknown => base.origin.or(self.load(base.origin)),
            Class::Thread => Origin::GLOBAL,
            Class::Data if self.program.is_number(member) => Origin::NONE,
            _ => base.origin,
        };
        let pointers = [Pointer::Unknown(format!("->{member}"))].into();
        Value { origin, class, pointers, local: None, global: None }
    }

    /// `*base` and `base[i]`.
    fn element(&mut self, base: &Value) -> Value {
        self.read(base);
        match base.class {
            Class::Objects => Value::new(self.load(base.origin), Class::Object),
            Class::Arguments => {
                let held = if base.local.is_some() { self.known.summary.holds } else { Origin::NONE };
                Value::new(base.origin.or(held), Class::Object)
            }
            Class::Data => Value { origin: base.origin, pointers: base.pointers.clone(), ..Value::default() },
            Class::Object | Class::Thread => base.clone(),
            Class::Struct | Class::Unknown => {
                let mut value = base.clone();
                value.origin.add(self.load(base.origin));
                value
            }
        }
    }

    fn address(&mut self, inner: &Expr) -> Value {
        match &inner.kind {
            Kind::Name(name) if self.variables.contains_key(name) => {
                let mut value = self.variables.get(name).cloned().unwrap_or_default();
                let is_memory = value.local.as_ref() == Some(name);
                match value.class {
                    Class::Data if !is_memory => value.origin = Origin::FRESH,
                    Class::Objects | Class::Thread => {}
                    _ if !is_memory => value.class = Class::Arguments,
                    _ => {}
                }
                value.local = Some(name.clone());
                value
            }
            Kind::Member(base, member) => {
                let base = self.eval(base);
                let class = match self.program.member_class(member) {
                    Class::Object => Class::Objects,
                    Class::Data => Class::Data,
                    _ => Class::Struct,
                };
                Value { origin: base.origin, class, pointers: [].into(), local: base.local, global: None }
            }
            Kind::Index(base, index) => {
                let mut base = self.eval(base);
                let index = self.eval(index);
                base.pointers.extend(index.pointers);
                base
            }
            Kind::Deref(base) => self.eval(base),
            _ => self.eval(inner),
        }
    }

    /// `target = value`.
    fn store(&mut self, target: &Expr, value: &Value) {
        match &target.kind {
            Kind::Name(name) if self.variables.contains_key(name) => self.bind(name, value),
            Kind::Name(name) => self.flag(Flags::WRITES_GLOBAL, || format!("`{name}` is set")),
            Kind::Member(base, member) => {
                let base = self.eval(base);
                if member != "ob_refcnt" {
                    self.put(base.origin, value.origin);
                }
            }
            Kind::Index(base, _) | Kind::Deref(base) => {
                if let Kind::Index(_, index) = &target.kind {
                    self.eval(index);
                }
                let base = self.eval(base);
                self.put_at(&base, value.origin);
            }
            Kind::Cast(_, _, inner) => self.store(inner, value),
            Kind::Conditional(_, yes, no) => {
                self.store(yes, value);
                self.store(no, value);
            }
            _ => self.unknown("an assignment to something that is no variable, member or element"),
        }
    }

    /// `*pointer = value`.
    fn put_at(&mut self, pointer: &Value, value: Origin) {
        if let Some(name) = pointer.local.clone() {
            if matches!(pointer.class, Class::Arguments | Class::Data) {
                self.bind(&name, &Value { origin: value, ..Value::default() });
            }
            self.changed |= self.known.summary.holds.add(value.without(Origin::FRESH));
        }
        if matches!(pointer.class, Class::Arguments | Class::Data) {
            for index in 0..super::origin::PARAMETERS {
                let parameter = Origin::parameter(index);
                if pointer.origin.meets(parameter) && pointer.pointers.contains(&Pointer::Parameter(index)) {
                    self.changed |= self.known.summary.sets.add(parameter);
                    self.changed |= self.known.summary.stores.entry(index).or_default().add(value);
                    return self.put(pointer.origin.without(parameter), value);
                }
            }
            if pointer.class == Class::Arguments && pointer.local.is_some() {
                return;
            }
        }
        self.put(pointer.origin, value);
    }

    /// A store of `value` into the memory of `into`.
    fn put(&mut self, into: Origin, value: Origin) {
        if into.meets(OWN) {
            self.changed |= self.known.summary.holds.add(value.without(Origin::FRESH));
        }
        for index in 0..super::origin::PARAMETERS {
            if into.meets(Origin::parameter(index).or(Origin::inside(index))) && !value.is_none() {
                self.changed |= self.known.summary.stores.entry(index).or_default().add(value);
            }
        }
        self.mutate(into, None, "a store");
    }

    fn mutate(&mut self, into: Origin, callee: Option<usize>, text: &str) {
        if into.meets(Origin::GLOBAL) {
            self.note("writes global", callee, || text.to_owned());
            self.set(Flags::WRITES_GLOBAL);
        }
        let seen = into.without(OWN.or(Origin::GLOBAL).or(Origin::CONSTANT));
        if !seen.is_none() {
            self.note("mutates", callee, || text.to_owned());
            self.changed |= self.known.summary.mutates.add(seen);
        }
    }

    fn set(&mut self, flags: Flags) {
        let grown = self.known.summary.flags.or(flags);
        self.changed |= grown != self.known.summary.flags;
        self.known.summary.flags = grown;
    }

    fn flag(&mut self, flag: Flags, text: impl Fn() -> String) {
        for word in flag.words() {
            self.note(word, None, &text);
        }
        self.set(flag);
    }

    fn note(&mut self, key: &str, callee: Option<usize>, text: impl Fn() -> String) {
        if !self.known.evidence.contains_key(key) {
            let step = Step { at: self.at, callee, text: text() };
            self.known.evidence.insert(key.to_owned(), step);
        }
    }

    fn unknown(&mut self, cause: &str) {
        self.known.causes.entry(cause.to_owned()).or_insert(self.at);
        self.flag(Flags::UNKNOWN, || cause.to_owned());
    }

    fn call(&mut self, callee: &Expr, args: &[Expr]) -> Value {
        if let Kind::Name(name) = &callee.kind {
            if let Some(what) = name.strip_prefix('?') {
                if !what.starts_with("string") {
                    self.unknown(&format!("the expression `{what}`"));
                }
                return Value::new(Origin::OTHER, Class::Unknown);
            }
            if name == "__builtin_offsetof" {
                let member = args.get(1).map(|member| super::program::last_name(member)).unwrap_or_default();
                return Value::pointer(Pointer::Offset(member));
            }
            if !self.variables.contains_key(name) {
                return self.named_call(name, args);
            }
        }
        let function = self.eval(callee);
        let values: Vec<_> = args.iter().map(|arg| self.eval(arg)).collect();
        self.pointer_call(&function, &values)
    }

    fn named_call(&mut self, name: &str, args: &[Expr]) -> Value {
        match self.program.resolve(self.unit, name) {
            Callee::Leaf(leaf) => self.leaf_call(name, leaf, args),
            Callee::Function(id) => {
                let values: Vec<_> = args.iter().map(|arg| self.eval(arg)).collect();
                self.apply_function(id, &values)
            }
            Callee::Unknown => {
                args.iter().for_each(|arg| drop(self.eval(arg)));
                self.unknown(&format!("`{name}`, which is neither read nor in the table"));
                Value::new(Origin::OTHER, Class::Unknown)
            }
        }
    }

    fn leaf_call(&mut self, name: &str, leaf: &Leaf, args: &[Expr]) -> Value {
        match (leaf.form, args) {
            (Form::Unevaluated, _) => return Value::default(),
            (Form::Same, [first, rest @ ..]) => {
                rest.iter().for_each(|arg| drop(self.eval(arg)));
                return self.eval(first);
            }
            (Form::Assign, [target, rest @ ..]) => {
                let old = self.eval(target);
                let value = rest.first().map(|value| self.eval(value)).unwrap_or_default();
                self.store(target, &value);
                self.release(old.origin, None, name);
                return value;
            }
            (Form::Load, [pointer, ..]) => {
                let pointer = self.eval(pointer);
                return self.element(&pointer);
            }
            (Form::Store, [pointer, value, ..]) => {
                let (pointer, value) = (self.eval(pointer), self.eval(value));
                self.put_at(&pointer, value.origin);
                return self.element(&pointer);
            }
            _ => {}
        }
        let values: Vec<_> = args.iter().map(|arg| self.eval(arg)).collect();
        match leaf.form {
            Form::Format(place) => self.format(args.get(place), values.get(place + 1..).unwrap_or_default()),
            Form::Parse(place) => self.parse(args.get(place), &values, place + 1),
            _ => {}
        }
        let all = values.iter().fold(Origin::NONE, |all, value| all.or(value.origin));
        if leaf.holds_arguments {
            self.changed |= self.known.summary.holds.add(all.without(Origin::FRESH));
        }
        self.apply(&leaf.summary, &values, None, name, Class::Object)
    }

    /// `%R`, `%S`, `%A` call methods of the arguments.
    fn format(&mut self, format: Option<&Expr>, values: &[Value]) {
        let all = values.iter().fold(Origin::NONE, |all, value| all.or(value.origin));
        let text = match format.map(|format| &format.kind) {
            Some(Kind::Str(text)) => text.clone(),
            _ => "%R%S".to_owned(),
        };
        let calls = |letters: &str| text.split('%').skip(1).any(|part| part.starts_with(|c| letters.contains(c)));
        if calls("RA") {
            self.slot("tp_repr", all, None);
        }
        if calls("S") {
            self.slot("tp_str", all, None);
        }
    }

    /// The letters of `PyArg_Parse` say which slots are called.
    fn parse(&mut self, format: Option<&Expr>, values: &[Value], first: usize) {
        let source = values.first().map_or(Origin::OTHER, |value| self.load(value.origin).or(value.origin));
        let Some(Kind::Str(text)) = format.map(|format| &format.kind) else {
            return self.unknown("a format that is no literal");
        };
        let letters = text.split([':', ';']).next().unwrap_or_default();
        if letters.contains("O&") {
            let converters: Vec<Value> =
                values.iter().filter(|v| v.pointers.iter().any(|p| matches!(p, Pointer::Function(_) | Pointer::Leaf(_)))).cloned().collect();
            if converters.is_empty() {
                self.unknown("a converter of `O&`");
            }
            let mut given = vec![Value::new(source, Class::Object)];
            given.extend(values.get(first..).unwrap_or_default().iter().find(|value| value.local.is_some()).cloned());
            for converter in converters {
                self.pointer_call(&converter, &given);
            }
        }
        if letters.contains(|c| "bBhHiIlkLKnpc".contains(c)) {
            self.slot(if letters.contains('p') { "nb_bool" } else { "nb_index" }, source, None);
        }
        if letters.contains(|c| "dfD".contains(c)) {
            self.slot("nb_float", source, None);
        }
        if letters.contains('*') || letters.contains('#') {
            self.slot("bf_getbuffer", source, None);
        }
        for value in values.get(first..).unwrap_or_default() {
            self.put_at(value, source);
        }
        self.flag(Flags::RAISES, || "arguments are parsed".to_owned());
    }

    fn pointer_call(&mut self, function: &Value, args: &[Value]) -> Value {
        let mut result = Value::new(Origin::NONE, Class::Unknown);
        if function.pointers.is_empty() {
            self.unknown("a call through a pointer of unknown origin");
        }
        for pointer in function.pointers.clone() {
            let value = match pointer {
                Pointer::Slot(origin, slot) => self.slot_call(&slot, origin, args),
                Pointer::SlotAt(origin, index) => {
                    self.changed |= self.known.summary.slot_offsets.entry(index).or_default().add(origin);
                    Value::new(Origin::RESULT, Class::Object)
                }
                Pointer::Function(id) => self.apply_function(id, args),
                Pointer::Leaf(name) => match self.program.resolve_anywhere(&name) {
                    Callee::Leaf(leaf) => self.apply(&leaf.summary, args, None, &name, Class::Object),
                    _ => Value::default(),
                },
                Pointer::Parameter(index) => {
                    self.changed |= self.known.summary.calls.insert(index);
                    Value::new(Origin::OTHER, Class::Unknown)
                }
                Pointer::Offset(_) => continue,
                Pointer::Unknown(what) => {
                    self.unknown(&format!("a call through `{what}`"));
                    Value::new(Origin::OTHER, Class::Unknown)
                }
            };
            result.join(&value);
        }
        result
    }

    fn slot_call(&mut self, slot: &str, origin: Origin, args: &[Value]) -> Value {
        if let Some(leaf) = self.program.leaves.slot(slot) {
            return self.apply(&leaf.summary, args, None, slot, Class::Object);
        }
        self.slot(slot, origin, None);
        self.set(Flags::RAISES.or(Flags::ALLOCATES));
        Value::new(Origin::RESULT, Class::Object)
    }

    /// A slot of the types of `origin` is called.
    fn slot(&mut self, slot: &str, origin: Origin, callee: Option<usize>) {
        // A container made here has the slots of its builtin type, which look at what it holds.
        let mut origin = origin;
        if origin.meets(Origin::FRESH) {
            origin.add(self.known.summary.holds);
        }
        if origin.meets(Origin::MADE) {
            origin.add(Origin::RESULT);
        }
        let foreign = Origin::GLOBAL.or(Origin::OTHER);
        let origin = origin.without(OWN.or(Origin::CONSTANT));
        if origin.meets(foreign) {
            self.note("python", callee, || format!("{slot} of an object that the function did not get as an argument"));
            self.set(Flags::PYTHON);
        }
        let asked = origin.without(foreign);
        if !asked.is_none() {
            self.note(&format!("slot {slot}"), callee, || format!("{slot} of {}", asked.words().join(", ")));
            let known = self.known.summary.slots.entry(slot.to_owned()).or_default();
            self.changed |= known.add(asked);
        }
    }

    fn release(&mut self, origin: Origin, callee: Option<usize>, text: &str) {
        let origin = origin.without(OWN.or(Origin::RESULT).or(Origin::CONSTANT));
        if !origin.is_none() {
            self.note("releases", callee, || text.to_owned());
            self.changed |= self.known.summary.releases.add(origin);
        }
    }

    fn apply_function(&mut self, id: usize, args: &[Value]) -> Value {
        let summary = self.program.summary(id);
        let class = self.program.returns(id);
        self.apply(&summary, args, Some(id), self.program.name(id), class)
    }

    /// A call, in this function's terms.
    pub(super) fn apply(&mut self, callee: &Summary, args: &[Value], id: Option<usize>, name: &str, class: Class) -> Value {
        let last = super::origin::PARAMETERS - 1;
        let given = |index: usize| -> Origin {
            if index == last {
                return args.get(last..).unwrap_or_default().iter().fold(Origin::NONE, |all, arg| all.or(arg.origin));
            }
            args.get(index).map_or(Origin::NONE, |arg| arg.origin)
        };
        for word in callee.flags.words() {
            self.note(word, id, || name.to_owned());
        }
        self.set(callee.flags);
        self.changed |= self.known.summary.reads.add(callee.reads.mapped(&given).without(OWN.or(Origin::CONSTANT)));
        self.mutate(callee.mutates.mapped(&given), id, name);
        for (index, arg) in args.iter().enumerate().take(last + 1) {
            let stored = callee.stores.get(&index).map_or(Origin::NONE, |stored| stored.mapped(&given));
            if callee.sets.meets(Origin::parameter(index)) {
                self.put_at(arg, stored);
            } else if !stored.is_none() {
                self.keep(arg, stored);
            }
        }
        self.release(callee.releases.mapped(&given), id, name);
        for (slot, origin) in &callee.slots {
            let origin = origin.mapped(&given);
            if !origin.is_none() {
                self.slot(slot, origin, id);
            }
        }
        self.pass_functions(callee, args, &given);
        let returns = callee.returns.mapped(&given);
        if returns.meets(OWN) {
            self.changed |= self.known.summary.holds.add(callee.holds.mapped(&given).without(Origin::FRESH));
        }
        let class = if class == Class::Objects && returns.without(Origin::FRESH).is_none() { Class::Arguments } else { class };
        Value::new(returns, class)
    }

    /// `stored` is in the memory of `arg` from now on.
    fn keep(&mut self, arg: &Value, stored: Origin) {
        if let Some(name) = arg.local.clone().filter(|_| matches!(arg.class, Class::Arguments | Class::Data)) {
            self.bind(&name, &Value { origin: stored, ..Value::default() });
        }
        if arg.origin.meets(OWN) {
            self.changed |= self.known.summary.holds.add(stored.without(Origin::FRESH));
        }
        for index in 0..super::origin::PARAMETERS {
            if arg.origin.meets(Origin::parameter(index)) {
                self.changed |= self.known.summary.stores.entry(index).or_default().add(stored);
            }
        }
    }

    /// Functions and slot offsets that are passed on.
    fn pass_functions(&mut self, callee: &Summary, args: &[Value], given: &dyn Fn(usize) -> Origin) {
        let all = args.iter().fold(Value::new(Origin::NONE, Class::Object), |mut all, arg| {
            all.origin.add(arg.origin.or(arg.origin.contents()));
            all
        });
        for index in &callee.calls {
            let function = args.get(*index).cloned().unwrap_or_default();
            if function.pointers.is_empty() && function.origin.is_none() {
                continue; // NULL
            }
            self.pointer_call(&function, &vec![all.clone(); 4]);
        }
        for (index, asked) in &callee.slot_offsets {
            let origin = asked.mapped(given);
            let pointers = args.get(*index).map(|arg| arg.pointers.clone()).unwrap_or_default();
            if pointers.is_empty() {
                self.slot("*", origin, None);
            }
            for pointer in pointers {
                match pointer {
                    Pointer::Offset(slot) => self.slot(&slot, origin, None),
                    Pointer::Parameter(mine) => {
                        self.changed |= self.known.summary.slot_offsets.entry(mine).or_default().add(origin);
                    }
                    _ => self.slot("*", origin, None),
                }
            }
        }
    }
}

/// What `*(binaryfunc *)address` gives.
fn pointed(address: &Value) -> Value {
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
