//! The version-neutral `Slot`, and each release's slots, slot definitions and types.

use std::collections::BTreeMap;

use askama::Template;
use indexmap::IndexMap;

use super::file::{File, Header, RenderError, render, text};
use crate::facts::{Facts, Slot, SlotOrigin, Slotdef, Type, TypeKind};

#[derive(Template)]
#[template(path = "slot.rs.jinja", escape = "none")]
struct SlotTemplate<'a> {
    header: &'a Header,
    suites: Vec<&'a str>,
    slots: Vec<Slot<'a>>,
}

#[derive(Template)]
#[template(path = "slots.rs.jinja", escape = "none")]
struct ReleaseTemplate<'a> {
    slots: Vec<Slot<'a>>,
}

#[derive(Template)]
#[template(path = "slotdefs.rs.jinja", escape = "none")]
struct SlotdefsTemplate<'a> {
    slotdefs: &'a [Slotdef],
}

/// Two releases disagree about where a slot is.
#[derive(Debug, thiserror::Error)]
#[error(
    "slot `{slot}` is at another place in {release} than in the releases before it; `Slot` must become per release"
)]
pub struct SlotMismatch {
    slot: String,
    release: String,
}

/// Why a table of several releases could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A template failed.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// Releases disagree.
    #[error(transparent)]
    Slot(#[from] SlotMismatch),
}

/// `Slot` and `Suite`: the union over the releases given, oldest first, which must agree on every place.
pub fn slots(header: &Header, releases: &[&Facts]) -> Result<File, TableError> {
    let mut union: IndexMap<&str, Slot<'_>> = IndexMap::new();
    for facts in releases {
        for slot in facts.slots() {
            let known = union.entry(slot.name).or_insert(slot);
            if (known.suite, known.offset, known.signature) != (slot.suite, slot.offset, slot.signature) {
                return Err(SlotMismatch { slot: slot.name.to_owned(), release: facts.release.clone() }.into());
            }
        }
    }
    // A slot that a later release added goes to its place in the struct.
    let mut order: Vec<&str> = Vec::new();
    for slot in union.values() {
        if !order.contains(&slot.suite.unwrap_or_default()) {
            order.push(slot.suite.unwrap_or_default());
        }
    }
    let place =
        |slot: &Slot<'_>| (order.iter().position(|suite| *suite == slot.suite.unwrap_or_default()), slot.offset);
    let mut slots: Vec<_> = union.into_values().collect();
    slots.sort_by_key(place);
    let suites = order.iter().copied().filter(|suite| !suite.is_empty()).collect();
    Ok(render("src/slots.rs".to_owned(), &SlotTemplate { header, suites, slots })?)
}

/// The slots that a release has, with their places in `PyHeapTypeObject`: a module without a header.
pub fn release_slots(facts: &Facts) -> Result<String, RenderError> {
    text("slots", &ReleaseTemplate { slots: facts.slots() })
}

/// `slotdefs[]` of a release: a module without a header.
pub fn release_slotdefs(facts: &Facts) -> Result<String, RenderError> {
    text("slotdefs", &SlotdefsTemplate { slotdefs: &facts.slotdefs })
}

/// The types of a release and what their slots hold: rows by C file and name.
pub fn type_rows(facts: &Facts) -> BTreeMap<String, String> {
    let order = facts.slots();
    let types = facts.types.iter().filter(|ty| ty.kind != TypeKind::StructSequence);
    types.map(|ty| (format!("{}\0{}", ty.unit(), ty.c_name), type_row(ty, &order))).collect()
}

fn type_row(ty: &Type, order: &[Slot<'_>]) -> String {
    let held = order.iter().filter_map(|slot| {
        let value = ty.slots.get(slot.name)?;
        // What an inherited slot holds, the base's row says.
        let held = match (&value.origin, &value.from) {
            (SlotOrigin::Own, _) => value.function.clone(),
            (SlotOrigin::Inherited, Some(from)) => format!("<{from}"),
            _ => format!("+{}", value.function),
        };
        Some(format!("{} {held}", slot.name))
    });
    let held: Vec<String> = held.collect();
    let words: Vec<&str> = held.iter().map(String::as_str).collect();
    format!(
        "Type {{\n        c_name: {:?}, tp_name: {:?}, file: {:?}, base: {:?}, heap: {},\n        slots: \"\n{}        \",\n    }}",
        ty.c_name,
        ty.tp_name,
        ty.unit(),
        ty.base,
        ty.kind != TypeKind::Static,
        super::filled(&words, 12),
    )
}
