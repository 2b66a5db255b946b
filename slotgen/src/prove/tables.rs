//! Method, getter and member tables and flags of a type against those of the process.

use super::answer::{LiveSignature, LiveType};
use super::symbols::Symbols;
use crate::facts::{Facts, Method, Type, TypeKind, UNNAMED_FIELD, text_signature};

/// What a heap type's own copy of its members lacks: offsets that were relative are absolute there.
const RELATIVE_OFFSET: &str = "Py_RELATIVE_OFFSET";

/// One point on which a table and the process disagree: what, the table's word, the process's.
pub(super) type Point = (String, Option<String>, Vec<String>);

/// How much of a type's tables was compared.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compared {
    pub methods: usize,
    pub signatures: usize,
    pub getset: usize,
    pub members: usize,
}

/// Lays every row over the process's row of the same place.
pub(super) fn compare(facts: &Facts, fact: &Type, live: &LiveType, symbols: &Symbols) -> (Compared, Vec<Point>) {
    let mut reader = Reader { facts, symbols, compared: Compared::default(), points: Vec::new() };
    reader.methods(fact, live);
    reader.getset(fact, live);
    reader.members(fact, live);
    reader.flags(fact, live);
    (reader.compared, reader.points)
}

/// CPython: Objects/typeobject.c, signature_from_flags.
fn implied(flags: &[String]) -> Option<&'static str> {
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    match (has("METH_NOARGS"), has("METH_O"), has("METH_CLASS"), has("METH_STATIC")) {
        (true, _, true, _) => Some("($type, /)"),
        (true, _, _, true) => Some("()"),
        (true, ..) => Some("($self, /)"),
        (_, true, true, _) => Some("($type, object, /)"),
        (_, true, _, true) => Some("(object, /)"),
        (_, true, ..) => Some("($self, object, /)"),
        _ => None,
    }
}

struct Reader<'r> {
    facts: &'r Facts,
    symbols: &'r Symbols,
    compared: Compared,
    points: Vec<Point>,
}

impl Reader<'_> {
    fn differ(&mut self, what: String, table: impl Into<Option<String>>, live: Vec<String>) {
        self.points.push((what, table.into(), live));
    }

    /// The function at an address bears the name that the table gives; 0 is no function.
    fn function(&mut self, what: String, table: Option<&String>, address: u64) {
        let names = if address == 0 { &[] } else { self.symbols.at(address) };
        let agree = match table {
            Some(name) => names.contains(name),
            None => address == 0,
        };
        if !agree {
            self.differ(what, table.cloned(), names.to_vec());
        }
    }

    /// Names that only one side has.
    fn names(&mut self, kind: &str, table: &[&str], live: &[&str]) {
        for name in table.iter().filter(|name| !live.contains(name)) {
            self.differ(format!("{kind} {name}"), "in the table".to_owned(), Vec::new());
        }
        for name in live.iter().filter(|name| !table.contains(name)) {
            self.differ(format!("{kind} {name}"), None, vec!["in the process".to_owned()]);
        }
    }

    fn methods(&mut self, fact: &Type, live: &LiveType) {
        let table: Vec<&str> = fact.methods.iter().map(|row| row.name.as_str()).collect();
        self.names("method", &table, &live.methods.iter().map(|row| row.0.as_str()).collect::<Vec<_>>());
        for (name, address, flags, doc, signature) in &live.methods {
            let Some(row) = fact.methods.iter().find(|row| row.name == *name) else { continue };
            self.compared.methods += 1;
            self.function(format!("method {name}"), Some(&row.function), *address);
            if self.facts.bits(&row.flags) != Some(*flags) {
                self.differ(format!("method {name} flags"), row.flags.join(" | "), vec![format!("{flags:#x}")]);
            }
            self.signature(row, text_signature(name, doc), signature);
        }
    }

    /// The signature in the doc string, and `__text_signature__`, which from 3.13 on the flags give where the doc string has none.
    fn signature(&mut self, row: &Method, documented: Option<String>, shown: &LiveSignature) {
        let what = format!("method {} signature", row.name);
        if documented != row.signature {
            return self.differ(what, row.signature.clone(), documented.into_iter().collect());
        }
        let LiveSignature::Text(shown) = shown else { return };
        self.compared.signatures += usize::from(shown.is_some());
        let agree = shown.as_ref() == row.signature.as_ref()
            || (row.signature.is_none() && shown.as_deref() == implied(&row.flags));
        if !agree {
            self.differ(what, row.signature.clone(), shown.iter().cloned().collect());
        }
    }

    fn getset(&mut self, fact: &Type, live: &LiveType) {
        let table: Vec<&str> = fact.getset.iter().map(|row| row.name.as_str()).collect();
        self.names("getset", &table, &live.getset.iter().map(|row| row.0.as_str()).collect::<Vec<_>>());
        for (name, get, set) in &live.getset {
            let Some(row) = fact.getset.iter().find(|row| row.name == *name) else { continue };
            self.compared.getset += 1;
            self.function(format!("getter {name}"), row.get.as_ref(), *get);
            self.function(format!("setter {name}"), row.set.as_ref(), *set);
        }
    }

    fn members(&mut self, fact: &Type, live: &LiveType) {
        // A struct sequence leaves out the fields without a name; their types are made by code.
        let is_sequence = fact.kind == TypeKind::StructSequence;
        let named = fact.members.iter().filter(|row| !is_sequence || row.name != UNNAMED_FIELD);
        let table: Vec<&str> = named.map(|row| row.name.as_str()).collect();
        self.names("member", &table, &live.members.iter().map(|row| row.0.as_str()).collect::<Vec<_>>());
        for (name, ty, flags) in &live.members {
            let Some(row) = fact.members.iter().find(|row| row.name == *name) else { continue };
            self.compared.members += 1;
            if is_sequence {
                continue;
            }
            if self.facts.bits(std::slice::from_ref(&row.ty)) != Some(*ty) {
                self.differ(format!("member {name} type"), row.ty.clone(), vec![ty.to_string()]);
            }
            let kept: Vec<String> = row.flags.iter().filter(|flag| *flag != RELATIVE_OFFSET).cloned().collect();
            if self.facts.bits(&kept) != Some(*flags) {
                self.differ(format!("member {name} flags"), row.flags.join(" | "), vec![format!("{flags:#x}")]);
            }
        }
    }

    /// Every flag that the table names is set in the process, which adds more of its own.
    fn flags(&mut self, fact: &Type, live: &LiveType) {
        for flag in &fact.flags {
            let bits = self.facts.bits(std::slice::from_ref(flag));
            if bits.is_none_or(|bits| live.flags as i64 & bits != bits) {
                self.differ(format!("tp_flags {flag}"), flag.clone(), vec![format!("{:#x}", live.flags)]);
            }
        }
    }
}
