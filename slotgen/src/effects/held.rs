//! Which functions the members of structures may hold: what bodies assign to them, and what static tables have there.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::program::{Callee, Program};
use super::state::assignments;
use crate::lower::{Declarations, Expr, Kind, parse};

/// What a member may hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Functions {
    pub functions: BTreeSet<usize>,
    /// Slots of types that are copied there.
    pub slots: BTreeSet<String>,
    /// Whether something else is stored there too.
    open: bool,
}

/// What members may hold, by name.
#[derive(Debug, Default)]
pub(super) struct Held(BTreeMap<String, Functions>);

impl Held {
    pub fn get(&self, member: &str) -> Option<&Functions> {
        self.0.get(member).filter(|held| !(held.open || held.functions.is_empty() && held.slots.is_empty()))
    }
}

/// Names in a static table, with the member in which each stands.
pub(super) type Table = Vec<(String, String)>;

/// The tables of structures that a text has at its top level.
pub(super) fn tables(text: &str, known: &Declarations) -> Vec<Table> {
    let Some(tree) = parse(text) else { return Vec::new() };
    let root = tree.root_node();
    let mut found = Vec::new();
    for node in named(root).into_iter().filter(|node| node.kind() == "declaration") {
        let Some(ty) = node.child_by_field_name("type") else { continue };
        let ty = ty.child_by_field_name("name").unwrap_or(ty);
        let Some(order) = text.get(ty.byte_range()).and_then(|name| known.structs.get(name)) else { continue };
        let mut table = Vec::new();
        for child in named(node).into_iter().filter(|child| child.kind() == "init_declarator") {
            if let Some(value) = child.child_by_field_name("value") {
                rows(text, value, order, &mut table);
            }
        }
        found.push(table);
    }
    found
}

fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).unwrap_or(u32::MAX);
    (0..count).filter_map(|index| node.named_child(index)).filter(|child| child.kind() != "comment").collect()
}

fn rows(text: &str, list: Node<'_>, order: &[String], table: &mut Table) {
    for (index, item) in named(list).into_iter().enumerate() {
        match item.kind() {
            "initializer_list" => rows(text, item, order, table),
            "initializer_pair" => {
                let member = item.child_by_field_name("designator").and_then(|node| text.get(node.byte_range()));
                if let (Some(member), Some(value)) = (member, item.child_by_field_name("value")) {
                    if value.kind() == "initializer_list" {
                        rows(text, value, order, table);
                    } else if let Some(name) = last(text, value) {
                        table.push((member.trim_start_matches('.').to_owned(), name));
                    }
                }
            }
            _ => {
                if let (Some(member), Some(name)) = (order.get(index), last(text, item)) {
                    table.push((member.clone(), name));
                }
            }
        }
    }
}

/// The name that an initialiser ends with, casts aside.
fn last(text: &str, node: Node<'_>) -> Option<String> {
    let mut words = text.get(node.byte_range())?.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let word = words.rfind(|word| !word.is_empty())?;
    (word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word != "NULL").then(|| word.to_owned())
}

/// Reads all bodies and tables.
pub(super) fn find(program: &Program, tables: &[(usize, Table)]) -> Held {
    let mut held = Held::default();
    for (unit, table) in tables {
        for (member, name) in table {
            if let Callee::Function(id) = program.resolve(*unit, name) {
                held.0.entry(member.clone()).or_default().functions.insert(id);
            }
        }
    }
    for defined in &program.functions {
        assignments(&defined.function, &mut |target, value| {
            if let Kind::Member(_, member) = &target.kind {
                let entry = held.0.entry(member.clone()).or_default();
                value_of(program, defined.unit, member, value, entry);
            }
        });
    }
    held
}

fn value_of(program: &Program, unit: usize, member: &str, value: &Expr, into: &mut Functions) {
    match &value.kind {
        Kind::Null | Kind::Int(_) => {}
        Kind::Cast(_, _, inner) | Kind::AddressOf(inner) => value_of(program, unit, member, inner, into),
        Kind::Assign(_, right) => value_of(program, unit, member, right, into),
        Kind::Conditional(_, yes, no) => {
            value_of(program, unit, member, yes, into);
            value_of(program, unit, member, no, into);
        }
        Kind::Name(name) => match program.resolve(unit, name) {
            Callee::Function(id) => drop(into.functions.insert(id)),
            _ => into.open = true,
        },
        Kind::Member(_, from) if from == member => {}
        Kind::Member(_, slot) if program.is_slot(slot) => drop(into.slots.insert(slot.clone())),
        _ => into.open = true,
    }
}
