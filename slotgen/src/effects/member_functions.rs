//! Which functions the members of structures may hold: what bodies assign to them, and what static tables have there.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::lower::{Declarations, parse};

/// What a member may hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Functions {
    pub functions: BTreeSet<usize>,
    /// Slots of types that are copied there.
    pub slots: BTreeSet<String>,
    /// Whether something else is stored there too.
    pub open: bool,
}

/// What members may hold, by name.
#[derive(Debug, Default)]
pub(super) struct MemberFunctions(pub BTreeMap<String, Functions>);

impl MemberFunctions {
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
