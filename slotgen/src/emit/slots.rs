//! The version-neutral `Slot`, and each release's slots, slot definitions and types.

use askama::Template;
use indexmap::IndexMap;

use super::{File, Header, RenderError, render};
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
    header: &'a Header,
    slots: Vec<Slot<'a>>,
}

#[derive(Template)]
#[template(path = "slotdefs.rs.jinja", escape = "none")]
struct SlotdefsTemplate<'a> {
    header: &'a Header,
    slotdefs: &'a [Slotdef],
}

#[derive(Template)]
#[template(path = "types.rs.jinja", escape = "none")]
struct TypesTemplate<'a> {
    header: &'a Header,
    types: Vec<Row<'a>>,
}

struct Row<'a> {
    fact: &'a Type,
    slots: Vec<(&'a str, &'a str, String)>,
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

fn path(header: &Header, name: &str) -> String {
    format!("src/v{}/{name}.rs", header.series.replace('.', "_"))
}

/// The slots that a release has, with their places in `PyHeapTypeObject`.
pub fn release_slots(header: &Header, facts: &Facts) -> Result<File, RenderError> {
    render(path(header, "slots"), &ReleaseTemplate { header, slots: facts.slots() })
}

/// `slotdefs[]` of a release.
pub fn release_slotdefs(header: &Header, facts: &Facts) -> Result<File, RenderError> {
    render(path(header, "slotdefs"), &SlotdefsTemplate { header, slotdefs: &facts.slotdefs })
}

/// The types of a release and what their slots hold.
pub fn release_types(header: &Header, facts: &Facts) -> Result<File, RenderError> {
    let order = facts.slots();
    let rows = facts.types.iter().filter(|ty| ty.kind != TypeKind::StructSequence).map(|ty| {
        let held = order.iter().filter_map(|slot| {
            let value = ty.slots.get(slot.name)?;
            let origin = match (&value.origin, &value.from) {
                (SlotOrigin::Own, _) => "Own".to_owned(),
                (SlotOrigin::Inherited, Some(from)) => format!("Inherited(\"{from}\")"),
                _ => "Ready".to_owned(),
            };
            Some((slot.name, value.function.as_str(), origin))
        });
        Row { fact: ty, slots: held.collect() }
    });
    render(path(header, "types"), &TypesTemplate { header, types: rows.collect() })
}
