//! Differences of slots, slot definitions, opcodes and types.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, TypeChange, entries};
use crate::facts::{Facts, OpcodeKind, Type, TypeKind};

/// Slots with their suite and signature.
pub(super) fn slots(before: &Facts, after: &Facts) -> Vec<Entry> {
    let rows = |facts: &Facts| -> BTreeMap<String, String> {
        let row =
            |slot: &crate::facts::Slot<'_>| format!("{} in {}", slot.signature, slot.suite.unwrap_or("PyTypeObject"));
        facts.slots().iter().map(|slot| (slot.name.to_owned(), row(slot))).collect()
    };
    entries(&rows(before), &rows(after))
}

/// Slot definitions with function, wrapper, flags and place among those of the same name.
pub(super) fn slotdefs(before: &Facts, after: &Facts) -> Vec<Entry> {
    let rows = |facts: &Facts| -> BTreeMap<String, String> {
        let text = |name: &Option<String>| name.clone().unwrap_or_else(|| "NULL".to_owned());
        let row = |def: &crate::facts::Slotdef| {
            let value = format!("{}, {}, flags {}, {:?}", text(&def.function), text(&def.wrapper), def.flags, def.doc);
            (format!("{} {}", def.name, def.slot), value)
        };
        facts.slotdefs.iter().map(row).collect()
    };
    entries(&rows(before), &rows(after))
}

/// Macros of the API with parameters and digest.
pub(super) fn macros(before: &Facts, after: &Facts) -> Vec<Entry> {
    let rows = |facts: &Facts| -> BTreeMap<String, String> {
        let row = |made: &crate::facts::Macro| {
            let parameters = made.parameters.as_ref().map(|names| format!("({}) ", names.join(", ")));
            (made.name.clone(), format!("{}{}", parameters.unwrap_or_default(), made.digest))
        };
        facts.macros.iter().map(row).collect()
    };
    entries(&rows(before), &rows(after))
}

/// Numbers of opcodes that both releases have.
pub(super) fn opcode_numbers(before: &Facts, after: &Facts) -> Vec<Entry> {
    let rows = |facts: &Facts| -> BTreeMap<String, String> {
        facts.opcodes.opcodes.iter().map(|opcode| (opcode.name.clone(), opcode.number.to_string())).collect()
    };
    let mut numbers = entries(&rows(before), &rows(after));
    numbers.retain(|entry| entry.before.is_some() && entry.after.is_some());
    numbers
}

/// Real opcodes with caches, flags and stack effect.
pub(super) fn opcodes(before: &Facts, after: &Facts) -> Vec<Entry> {
    let rows = |facts: &Facts| -> BTreeMap<String, String> {
        let real = facts.opcodes.opcodes.iter().filter(|opcode| opcode.kind == OpcodeKind::Real);
        let text = |expression: &Option<crate::facts::Expression>| expression.as_ref().map(ToString::to_string);
        real.map(|opcode| {
            let effect = match (text(&opcode.popped), text(&opcode.pushed), text(&opcode.effect)) {
                (Some(popped), Some(pushed), _) => format!("pops {popped}, pushes {pushed}"),
                (_, _, effect) => format!("effect {}", effect.unwrap_or_default()),
            };
            let value = format!("{} caches, {effect}, {}", opcode.caches, opcode.flags.join(" "));
            (opcode.name.clone(), value)
        })
        .collect()
    };
    entries(&rows(before), &rows(after))
}

/// Types by file and `tp_name`, since C variables are renamed when a static type becomes a heap type; with their variable where a
/// file has several of the name.
pub(super) fn types(before: &Facts, after: &Facts) -> Vec<TypeChange> {
    let shared = |facts: &Facts| -> BTreeSet<(String, String)> {
        let mut seen = BTreeSet::new();
        let names = facts.types.iter().map(|ty| (ty.unit().to_owned(), ty.tp_name.clone()));
        names.filter(|name| !seen.insert(name.clone())).collect()
    };
    let ambiguous: BTreeSet<_> = shared(before).union(&shared(after)).cloned().collect();
    let key = |ty: &Type| {
        let name = (ty.unit().to_owned(), ty.tp_name.clone());
        let variable = if ambiguous.contains(&name) { ty.c_name.clone() } else { String::new() };
        (name, variable)
    };
    let by_key = |facts: &'_ Facts| -> BTreeMap<_, usize> {
        facts.types.iter().enumerate().map(|(index, ty)| (key(ty), index)).collect()
    };
    let (old, new) = (by_key(before), by_key(after));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).cloned().collect();
    let mut found = Vec::new();
    for key in keys {
        let left = old.get(&key).and_then(|&index| before.types.get(index));
        let right = new.get(&key).and_then(|&index| after.types.get(index));
        let Some(shown) = right.or(left) else { continue };
        let changes = match (left, right) {
            (Some(left), Some(right)) => entries(&facets(left), &facets(right)),
            _ => Vec::new(),
        };
        let exists = [left.is_some(), right.is_some()];
        if exists != [true, true] || !changes.is_empty() {
            let (c_name, tp_name, file) = (shown.c_name.clone(), shown.tp_name.clone(), shown.unit().to_owned());
            found.push(TypeChange { c_name, tp_name, file, exists, changes });
        }
    }
    found
}

/// Everything that is compared of a type, by a name that says what it is.
fn facets(ty: &Type) -> BTreeMap<String, String> {
    let mut facets = BTreeMap::new();
    let kind = match ty.kind {
        TypeKind::Static => "static",
        TypeKind::Spec => "from a spec",
        TypeKind::StructSequence => "struct sequence",
    };
    facets.insert("kind".to_owned(), kind.to_owned());
    for (slot, value) in &ty.slots {
        let from = value.from.as_ref().map_or(String::new(), |from| format!(" (from {from})"));
        facets.insert(format!("slot {slot}"), format!("{}{from}", value.function));
    }
    let mut flags = ty.flags.clone();
    flags.sort();
    facets.insert("tp_flags".to_owned(), flags.join(" | "));
    facets.insert("tp_base".to_owned(), ty.base.clone().unwrap_or_else(|| "PyBaseObject_Type".to_owned()));
    for method in &ty.methods {
        let signature = method.signature.clone().unwrap_or_default();
        facets.insert(
            format!("method {}", method.name),
            format!("{} {} {signature}", method.function, method.flags.join(" | ")),
        );
    }
    for getset in &ty.getset {
        facets.insert(format!("getset {}", getset.name), {
            let name = |function: &Option<String>| function.clone().unwrap_or_else(|| "NULL".to_owned());
            format!("{} {}", name(&getset.get), name(&getset.set))
        });
    }
    for member in &ty.members {
        facets.insert(
            format!("member {}", member.name),
            format!(
                "{} {} {}",
                bare(&member.ty),
                member.field,
                member.flags.iter().map(bare).collect::<Vec<_>>().join(" | ")
            ),
        );
    }
    facets
}

/// A member's type or flag without the prefix that 3.12 gave it: `Py_T_INT` was `T_INT`, `Py_READONLY` was `READONLY`.
fn bare(name: impl AsRef<str>) -> String {
    name.as_ref().trim_start_matches('_').trim_start_matches("Py_").trim_start_matches("PY_").to_owned()
}
