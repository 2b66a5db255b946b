//! Rows of tables: methods, getsets, members, `slotdefs[]`.

use super::fields::{by_field, flags, text};
use super::tables::Linker;
use super::unit_facts::{UnitFacts, Variable};
use super::value::{Entry, Value};
use crate::facts::{GetSet, Member, Method, Slotdef, text_signature};

impl<'f> Linker<'f> {
    /// The rows of a table: a variable, a literal, or a variable from a row on (`table + 7`).
    fn rows(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<Entry> {
        let (name, first) = match value {
            Value::Null => return Vec::new(),
            Value::List(rows) => return rows.clone(),
            Value::Other(text) => match text.trim_matches(['(', ')']).split_once('+') {
                Some((name, first)) => (Some(name.trim()), first.trim().parse().ok()),
                None => (None, None),
            },
            other => (other.name(), Some(0)),
        };
        let found = name.and_then(|name| self.lookup(unit, name)).zip(first);
        let Some((found, first)) = found else {
            self.report(variable, "extract/table", format!("no initialiser of the table `{}` was found", text(value)));
            return Vec::new();
        };
        found.value.list().iter().skip(first).cloned().collect()
    }

    pub(super) fn methods(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<Method> {
        let mut methods = Vec::new();
        for row in self.rows(unit, variable, value) {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &["ml_name", "ml_meth", "ml_flags", "ml_doc"], &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let (Some(name), Some(function)) = (cell("ml_name").and_then(Value::text), cell("ml_meth")) else {
                continue;
            };
            let doc = match cell("ml_doc") {
                Some(Value::Text(doc)) => Some(doc.as_str()),
                Some(Value::Name(doc)) => self.lookup(unit, doc).and_then(|found| found.value.text()),
                _ => None,
            };
            let signature = doc.and_then(|doc| text_signature(name, doc));
            let Some(function) = self.function(function) else {
                self.report(
                    variable,
                    "extract/method",
                    format!("method `{name}` has no function: `{}`", text(function)),
                );
                continue;
            };
            let flags = cell("ml_flags").map(flags).unwrap_or_default();
            methods.push(Method { name: name.to_owned(), function, flags, signature });
        }
        methods
    }

    pub(super) fn getset(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<GetSet> {
        let mut found = Vec::new();
        for row in self.rows(unit, variable, value) {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &["name", "get", "set", "doc", "closure"], &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(name) = cell("name").and_then(Value::text) else { continue };
            let function = |name: &str| cell(name).and_then(|value| self.function(value));
            let closure = cell("closure").filter(|value| **value != Value::Null).map(text);
            found.push(GetSet { name: name.to_owned(), get: function("get"), set: function("set"), closure });
        }
        found
    }

    pub(super) fn members(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<Member> {
        let mut found = Vec::new();
        for row in self.rows(unit, variable, value) {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &["name", "type", "offset", "flags", "doc"], &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(name) = cell("name").and_then(Value::text) else { continue };
            let field = match cell("offset") {
                Some(Value::Offset(ty, member)) => format!("{ty}.{member}"),
                Some(other) => text(other),
                None => String::new(),
            };
            let ty = cell("type").map(text).unwrap_or_default();
            found.push(Member {
                name: name.to_owned(),
                ty,
                field,
                flags: cell("flags").map(flags).unwrap_or_default(),
            });
        }
        found
    }

    pub(super) fn slotdefs(&mut self, variable: &'f Variable) -> Vec<Slotdef> {
        let mut found = Vec::new();
        for row in variable.value.list() {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &self.wrapperbase, &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(name) = cell("name").and_then(Value::text) else { continue };
            let Some(Value::Offset(owner, member)) = cell("offset") else {
                self.report(variable, "extract/slotdef", format!("`{name}` has no offsetof"));
                continue;
            };
            let Some(offset) = self.offset(owner, member) else {
                self.report(variable, "extract/slotdef", format!("`{owner}` has no member `{member}`"));
                continue;
            };
            let slot = member.rsplit('.').next().unwrap_or(member).to_owned();
            let doc = cell("doc").and_then(Value::text).unwrap_or_default().to_owned();
            let flags = match cell("flags") {
                Some(Value::Integer(number)) => *number as u32,
                Some(Value::Name(name)) if name == "PyWrapperFlag_KEYWORDS" => 1,
                _ => 0,
            };
            let function = |name: &str| cell(name).and_then(|value| self.function(value));
            let (function, wrapper) = (function("function"), function("wrapper"));
            found.push(Slotdef { name: name.to_owned(), slot, offset, function, wrapper, flags, doc });
        }
        found
    }

    /// `offsetof(owner, a.b)`.
    fn offset(&self, owner: &str, member: &str) -> Option<u32> {
        let (mut layout, mut offset) = (*self.structs.get(owner)?, 0);
        let mut parts = member.split('.').peekable();
        while let Some(part) = parts.next() {
            let field = layout.fields.iter().find(|field| field.name == part)?;
            offset += field.offset;
            if parts.peek().is_some() {
                layout = self.structs.get(field.ty.as_str())?;
            }
        }
        Some(offset)
    }
}
