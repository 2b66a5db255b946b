//! The reviewed table of functions and macros whose bodies are not read: the C library, memory, reference counts, the error state.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::origin::Origin;
use super::summary::{Flags, Summary};

const TABLE: &str = include_str!("../../data/effects.toml");

/// How a call is read besides its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Arguments are values.
    #[default]
    Plain,
    /// Arguments are not evaluated in a release build.
    Unevaluated,
    /// The first argument, whatever it is.
    Same,
    /// `first = second`, or `first = NULL`; the old value is released.
    Assign,
    /// What the first argument points to.
    Load,
    /// `*first = second`.
    Store,
    /// A format of `PyUnicode_FromFormat` at this place.
    Format(usize),
    /// A format of `PyArg_Parse` at this place.
    Parse(usize),
}

/// What is known of a leaf.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Leaf {
    /// Its effects.
    pub summary: Summary,
    /// How its call is read.
    pub form: Form,
    /// Whether what it makes holds all its arguments.
    pub holds_arguments: bool,
    /// Why this is right.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    names: Vec<String>,
    does: Vec<String>,
    reason: String,
}

/// Variables, and members of the state of threads and the interpreter, that no program sees change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Benign {
    names: Vec<String>,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    modules: Vec<String>,
    #[serde(default)]
    changing: Vec<String>,
    #[serde(default)]
    benign: Vec<Benign>,
    #[serde(default)]
    cache: Vec<Benign>,
    leaf: Vec<Row>,
    slot: Vec<Row>,
}

/// The table.
#[derive(Debug)]
pub struct Leaves {
    /// Files of `Modules/` that are read; a path that ends in `/` names all below it.
    pub modules: Vec<String>,
    changing: Vec<String>,
    benign: BTreeSet<String>,
    caches: BTreeSet<String>,
    exact: FxHashMap<String, Leaf>,
    patterns: Vec<(String, Leaf)>,
    slots: BTreeMap<String, Leaf>,
    /// Which pattern names fit that were asked before.
    asked: RefCell<FxHashMap<String, Option<usize>>>,
}

/// A row of the table is wrong.
#[derive(Debug, thiserror::Error)]
#[error("slotgen/data/effects.toml: {0}")]
pub struct LeafError(String);

impl Leaves {
    /// Reads the table that is part of this crate.
    pub fn load() -> Result<Self, LeafError> {
        Self::read(TABLE)
    }

    /// Reads a table.
    pub fn read(text: &str) -> Result<Self, LeafError> {
        let table: Table = toml::from_str(text).map_err(|error| LeafError(error.to_string()))?;
        let (mut exact, mut patterns) = (FxHashMap::default(), Vec::new());
        for row in &table.leaf {
            let leaf = leaf(row)?;
            for name in &row.names {
                if name.contains('*') {
                    patterns.push((name.clone(), leaf.clone()));
                } else if exact.insert(name.clone(), leaf.clone()).is_some() {
                    return Err(LeafError(format!("`{name}` has two rows; keep one")));
                }
            }
        }
        let mut slots = BTreeMap::new();
        for row in &table.slot {
            slots.extend(row.names.iter().cloned().zip(std::iter::repeat(leaf(row)?)));
        }
        if let Some(row) = table.benign.iter().chain(&table.cache).find(|row| row.reason.trim().is_empty()) {
            return Err(LeafError(format!("{}: a row needs a reason", row.names.join(", "))));
        }
        let caches = table.cache.into_iter().flat_map(|row| row.names).collect();
        let benign = table.benign.into_iter().flat_map(|row| row.names).collect();
        Ok(Self {
            modules: table.modules,
            changing: table.changing,
            benign,
            caches,
            exact,
            patterns,
            slots,
            asked: RefCell::default(),
        })
    }

    /// The row of a function or macro.
    pub fn find(&self, name: &str) -> Option<&Leaf> {
        if let Some(leaf) = self.exact.get(name) {
            return Some(leaf);
        }
        let known = self.asked.borrow().get(name).copied();
        let at = known.unwrap_or_else(|| {
            let at = self.patterns.iter().position(|(pattern, _)| matches(pattern, name));
            self.asked.borrow_mut().insert(name.to_owned(), at);
            at
        });
        at.and_then(|at| self.patterns.get(at)).map(|(_, leaf)| leaf)
    }

    /// Whether a variable, or a member of the state of a thread or the interpreter, is nothing that a program sees change.
    pub fn is_benign(&self, name: &str) -> bool {
        self.benign.contains(name)
    }

    /// Whether a variable is filled with what is always the same, so that neither reading nor setting it is an effect.
    pub fn is_cache(&self, name: &str) -> bool {
        self.caches.contains(name)
    }

    /// Whether a slot is there to change its object; `*` is the slot that cannot be told.
    pub fn is_changing(&self, slot: &str) -> bool {
        self.changing.iter().any(|pattern| if pattern == "*" { slot == "*" } else { matches(pattern, slot) })
    }

    /// The row of a slot that no Python code is reached through.
    pub fn slot(&self, name: &str) -> Option<&Leaf> {
        self.slots.get(name)
    }
}

/// Whether a name fits a pattern with one `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
}

fn leaf(row: &Row) -> Result<Leaf, LeafError> {
    let mut leaf = Leaf { reason: row.reason.clone(), ..Leaf::default() };
    if row.reason.trim().is_empty() {
        return Err(LeafError(format!("{}: a row needs a reason", row.names.join(", "))));
    }
    for word in &row.does {
        effect(&mut leaf, word).ok_or_else(|| {
            LeafError(format!("{}: `{word}` is no effect that a row can state", row.names.join(", ")))
        })?;
    }
    Ok(leaf)
}

fn effect(leaf: &mut Leaf, text: &str) -> Option<()> {
    if let Some(flag) = Flags::of_word(text) {
        leaf.summary.flags = leaf.summary.flags.or(flag);
        return Some(());
    }
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let summary = &mut leaf.summary;
    let index = |word: &str| word.strip_prefix("arg").unwrap_or(word).parse::<usize>().ok();
    match verb {
        "unevaluated" => leaf.form = Form::Unevaluated,
        "same" => leaf.form = Form::Same,
        "assigns" => leaf.form = Form::Assign,
        "loads" => leaf.form = Form::Load,
        "writes" => leaf.form = Form::Store,
        "format" => leaf.form = Form::Format(index(rest)?),
        "parse" => leaf.form = Form::Parse(index(rest)?),
        "nothing" => {}
        "reads" => drop(summary.reads.add(Origin::of_word(rest)?)),
        "mutates" => drop(summary.mutates.add(Origin::of_word(rest)?)),
        "releases" => drop(summary.releases.add(Origin::of_word(rest)?)),
        "returns" => drop(summary.returns.add(Origin::of_word(rest)?)),
        "holds" if rest == "arguments" => leaf.holds_arguments = true,
        "holds" => drop(summary.holds.add(Origin::of_word(rest)?)),
        "calls" => drop(summary.calls.insert(index(rest)?)),
        "slot" => {
            let (slot, of) = rest.split_once(" of ")?;
            summary.slots.entry(slot.to_owned()).or_default().add(Origin::of_word(of)?);
        }
        "sets" => {
            let (to, what) = rest.split_once(" to ").unwrap_or((rest, "nothing"));
            let to = index(to)?;
            summary.sets.add(Origin::parameter(to));
            summary.stores.entry(to).or_default().add(Origin::of_word(what)?);
        }
        "stores" => {
            let (what, into) = rest.split_once(" in ")?;
            let into = index(into)?;
            summary.mutates.add(Origin::parameter(into));
            summary.stores.entry(into).or_default().add(Origin::of_word(what)?);
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_every_row_has_a_reason() {
        let leaves = Leaves::load().unwrap();
        assert_eq!(leaves.find("Py_INCREF").unwrap().form, Form::Plain);
        assert!(leaves.find("no_such_function").is_none());
        assert!(matches("FT_ATOMIC_LOAD_*", "FT_ATOMIC_LOAD_PTR") && !matches("A*", "B"));
    }

    #[test]
    fn wrong_rows_are_named() {
        let row = |does: &str, reason: &str| {
            let text = format!(
                "modules = []\nslot = []\n[[leaf]]\nnames = [\"f\"]\ndoes = [\"{does}\"]\nreason = \"{reason}\"\n"
            );
            Leaves::read(&text).map(|_| ()).unwrap_err().to_string()
        };
        assert!(row("dances", "x").contains("`dances`"));
        assert!(row("raises", " ").contains("needs a reason"));
    }
}
