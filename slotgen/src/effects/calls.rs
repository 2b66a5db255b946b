//! Calls by name: of functions that are read, and of rows of the reviewed table.

use super::leaves::{Form, Leaf};
use super::origin::Origin;
use super::program::Callee;
use super::summary::Flags;
use super::value::{Class, Pointer, Value};
use super::walk::Walker;
use crate::lower::{Expr, Kind};

impl Walker<'_> {
    pub(super) fn call(&mut self, callee: &Expr, args: &[Expr]) -> Value {
        if let Kind::Name(name) = &callee.kind {
            if let Some(what) = name.strip_prefix('?') {
                if !what.starts_with("string") {
                    self.unknown(&format!("the expression `{what}`"));
                }
                return Value::new(Origin::OTHER, Class::Unknown);
            }
            if name == "__builtin_offsetof" {
                let member = args.get(1).map(super::program::last_name).unwrap_or_default();
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

    pub(super) fn named_call(&mut self, name: &str, args: &[Expr]) -> Value {
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

    pub(super) fn leaf_call(&mut self, name: &str, leaf: &Leaf, args: &[Expr]) -> Value {
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

    /// `%R`, `%S`, `%A` call methods of the arguments; `%p` tells where they are.
    pub(super) fn format(&mut self, format: Option<&Expr>, values: &[Value]) {
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
        if calls("p") {
            self.flag(Flags::READS_GLOBAL, || "`%p`: an address, another in each process".to_owned());
        }
    }

    /// The letters of `PyArg_Parse` say which slots are called.
    pub(super) fn parse(&mut self, format: Option<&Expr>, values: &[Value], first: usize) {
        let source = values.first().map_or(Origin::OTHER, |value| self.load(value.origin).or(value.origin));
        // A format that is no literal may have any letter.
        let text = match format.map(|format| &format.kind) {
            Some(Kind::Str(text)) => text.clone(),
            _ => "Oidp*".to_owned(),
        };
        let letters = text.split([':', ';']).next().unwrap_or_default();
        if letters.contains("O&") {
            let converters: Vec<Value> = values
                .iter()
                .filter(|v| v.pointers.iter().any(|p| matches!(p, Pointer::Function(_) | Pointer::Leaf(_))))
                .cloned()
                .collect();
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
}
