//! Collects the rows of a release from the facts, the generated modules and the tables of the runtime.
use super::rows::{Column, Coverage, Head, Kind, Row, State};
use super::states::States;
use crate::audit::usage::{self, Usage};
use crate::place;
use crate::testing::{DECODED, bodies};
use crate::ui;
use anyhow::Result;
use slotgen::emit::MEMORY;
use slotgen::facts::{Facts, Function, Type};
use std::collections::BTreeMap;

/// What is covered of a release, with counts of uses where an interpreter of the release is there.
pub fn collect(series: &str) -> Result<Coverage> {
    let facts = slotgen::committed(&place::root().join("generated"), series)?;
    let usage = usage::of(&facts, series).unwrap_or_else(|error| {
        ui::note(format!("uses are not counted: {error:#}"));
        Usage::default()
    });
    collect_with(series, usage)
}

/// The same with counts that are given.
pub fn collect_with(series: &str, usage: Usage) -> Result<Coverage> {
    let facts = slotgen::committed(&place::root().join("generated"), series)?;
    let bodies = bodies(series).filter(|_| crate::testing::SUPPORTED.iter().any(|known| known == series));
    // What C functions do is read from the release whose bodies the runtime runs.
    let claims = match &bodies {
        Some(other) if other != series => slotgen::committed(&place::root().join("generated"), other)?,
        _ => facts.clone(),
    };
    let states = States::read(series, bodies.as_deref(), &facts, &claims)?;
    let has_functions = !facts.functions.is_empty();
    let functions = by_name(if has_functions { &facts } else { &claims });
    let mut collector = Collector { facts: &facts, functions, has_functions, usage: &usage, states, rows: Vec::new() };
    let slots: Vec<Column> = columns(&facts);
    for ty in &facts.types {
        collector.type_rows(ty, &slots);
    }
    collector.slotdefs();
    collector.module_functions();
    collector.opcodes(series)?;
    collector.vocabulary();
    let rows = collector.rows;
    let filled = rows.iter().filter(|row| row.kind == Kind::Slot).count();
    let types: Vec<Head> = facts.types.iter().map(head).collect();
    Ok(Coverage {
        release: facts.release.clone(),
        digest: facts.digest.clone(),
        bodies,
        counted: usage.counted,
        absent: (slots.len() * types.len()).saturating_sub(filled),
        totals: Coverage::count(&rows),
        slots,
        types,
        rows,
    })
}

fn columns(facts: &Facts) -> Vec<Column> {
    let seen = facts.slots().into_iter().filter(|slot| !MEMORY.contains(&slot.name));
    seen.map(|slot| Column {
        name: slot.name.to_owned(),
        suite: slot.suite.map(str::to_owned),
        signature: slot.signature.to_owned(),
    })
    .collect()
}

fn head(ty: &Type) -> Head {
    Head { name: ty.tp_name.clone(), c_name: ty.c_name.clone(), file: ty.file.clone(), line: ty.line }
}

/// Functions by name; a name may stand in several files.
pub fn by_name(facts: &Facts) -> BTreeMap<&str, Vec<&Function>> {
    let mut found: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    facts.functions.iter().for_each(|function| found.entry(&function.name).or_default().push(function));
    found
}

struct Collector<'f> {
    facts: &'f Facts,
    /// The release's functions, or those of the release that stands in for it.
    functions: BTreeMap<&'f str, Vec<&'f Function>>,
    /// Whether they are its own: else their lines and digests say nothing of it.
    has_functions: bool,
    usage: &'f Usage,
    states: States<'f>,
    rows: Vec<Row>,
}

impl<'f> Collector<'f> {
    /// The function that a file means by a name.
    fn function(&self, name: &str, unit: &str) -> Option<&'f Function> {
        let all = self.functions.get(name)?;
        let own = all.iter().find(|function| function.unit() == unit);
        own.or_else(|| all.iter().find(|function| !function.is_static)).or(all.first()).copied()
    }

    fn row(&self, kind: Kind, owner: &str, name: &str, function: Option<(&str, &str)>, uses: u64) -> Row {
        let id = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
        let found = function.and_then(|(function, unit)| self.function(function, unit));
        Row {
            id,
            kind,
            owner: owner.to_owned(),
            name: name.to_owned(),
            state: State::Break,
            function: function.map(|(function, _)| function.to_owned()),
            file: found.map(|function| function.file.clone()),
            line: found.filter(|_| self.has_functions).map(|function| function.line),
            digest: found.filter(|_| self.has_functions).map(|function| function.digest.clone()),
            from: None,
            why: String::new(),
            uses,
        }
    }

    fn slot_uses(&self, slot: &str) -> u64 {
        let rows = self.facts.slotdefs.iter().filter(|row| row.slot == slot);
        rows.map(|row| self.usage.special(&row.name)).sum()
    }

    fn type_rows(&mut self, ty: &'f Type, slots: &[Column]) {
        let owner = ty.tp_name.as_str();
        for column in slots {
            let Some(value) = ty.slots.get(&column.name) else { continue };
            let uses = self.slot_uses(&column.name);
            let mut row = self.row(Kind::Slot, owner, &column.name, Some((&value.function, ty.unit())), uses);
            row.from.clone_from(&value.from);
            let unit = self.function(&value.function, ty.unit()).map_or(ty.unit(), Function::unit);
            (row.state, row.why) = self.states.slot(owner, column, &value.function, unit);
            self.rows.push(row);
        }
        for method in &ty.methods {
            let uses = self.usage.name_of(owner, &method.name);
            let mut row = self.row(Kind::Method, owner, &method.name, Some((&method.function, ty.unit())), uses);
            (row.state, row.why) = self.states.function(owner, &method.name, &method.function, &ty.file);
            self.rows.push(row);
        }
        for getter in &ty.getset {
            let function = getter.get.as_deref().or(getter.set.as_deref()).map(|name| (name, ty.unit()));
            let mut row =
                self.row(Kind::Getter, owner, &getter.name, function, self.usage.name_of(owner, &getter.name));
            (row.state, row.why) = self.states.attribute(&getter.name, "the getter");
            self.rows.push(row);
        }
        for member in &ty.members {
            let mut row = self.row(Kind::Member, owner, &member.name, None, self.usage.name_of(owner, &member.name));
            row.file = Some(ty.file.clone());
            (row.state, row.why) = self.states.attribute(&member.name, "PyMember_GetOne");
            self.rows.push(row);
        }
    }

    fn slotdefs(&mut self) {
        for def in &self.facts.slotdefs {
            let unit = "Objects/typeobject.c";
            let function = def.function.as_deref().map(|name| (name, unit));
            let name = format!("{}/{}", def.name, def.slot);
            let mut row = self.row(Kind::Slotdef, "slotdefs", &name, function, self.usage.special(&def.name));
            (row.state, row.why) = self.states.slotdef(def);
            self.rows.push(row);
        }
    }

    fn module_functions(&mut self) {
        for found in &self.facts.module_functions {
            let uses = self.usage.globals.get(&found.name).filter(|_| found.module == "builtins").copied();
            let module = format!("{}.", found.module);
            let uses = uses.unwrap_or_else(|| self.usage.name_of(&module, &found.name));
            let function = Some((found.function.as_str(), found.file.as_str()));
            let mut row = self.row(Kind::Function, &found.module, &found.name, function, uses);
            (row.state, row.why) = self.states.function(&found.module, &found.name, &found.function, &found.file);
            self.rows.push(row);
        }
    }

    fn opcodes(&mut self, series: &str) -> Result<()> {
        if !DECODED.iter().any(|known| known == series) {
            return Ok(());
        }
        for name in crate::audit::opcodes::operations(series)? {
            let uses = self.usage.operations.get(&name).copied().unwrap_or(0);
            let mut row = self.row(Kind::Opcode, "", &name, None, uses);
            (row.state, row.why) = self.states.opcode(&name);
            self.rows.push(row);
        }
        Ok(())
    }

    fn vocabulary(&mut self) {
        for name in self.states.vocabulary() {
            let mut row = self.row(Kind::Vocabulary, "CApi", &name, Some((&name, "")), 0);
            (row.state, row.why) = self.states.word(&name);
            self.rows.push(row);
        }
    }
}
