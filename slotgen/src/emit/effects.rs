//! The effects of the functions that Python code reaches, as a table of a release.

use std::collections::BTreeMap;

use askama::Template;

use super::{File, Header, RenderError, render};
use crate::facts::Facts;

#[derive(Template)]
#[template(path = "effects.rs.jinja", escape = "none")]
struct EffectsTemplate<'a> {
    header: &'a Header,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    owner: &'a str,
    name: &'a str,
    function: &'a str,
    bits: u16,
}

/// Slots that say how memory is managed.
pub const MEMORY: &[&str] = &[
    "tp_dealloc",
    "tp_traverse",
    "tp_clear",
    "tp_alloc",
    "tp_free",
    "tp_finalize",
    "tp_del",
    "tp_is_gc",
    "bf_releasebuffer",
];

/// The table of a release.
pub fn effects(header: &Header, facts: &Facts) -> Result<File, RenderError> {
    let mut known: BTreeMap<&str, Vec<(&str, u16)>> = BTreeMap::new();
    for row in &facts.effects {
        known.entry(&row.name).or_default().push((&row.file, row.bits()));
    }
    // A function of the type's own file; of any file that has the name, otherwise.
    let bits = |function: &str, file: &str| -> Option<u16> {
        let all = known.get(function)?;
        let own = all.iter().find(|(path, _)| *path == file);
        Some(own.map_or_else(|| all.iter().fold(0, |sum, (_, bits)| sum | bits), |(_, bits)| *bits))
    };
    let mut rows: BTreeMap<(&str, &str), (&str, u16)> = BTreeMap::new();
    for ty in &facts.types {
        let owner = ty.tp_name.as_str();
        for (slot, value) in ty.slots.iter().filter(|(slot, _)| !MEMORY.contains(&slot.as_str())) {
            if let Some(found) = bits(&value.function, &ty.file) {
                rows.insert((owner, slot), (&value.function, found));
            }
        }
        for method in &ty.methods {
            if let Some(found) = bits(&method.function, &ty.file) {
                rows.insert((owner, &method.name), (&method.function, found));
            }
        }
    }
    for row in &facts.module_functions {
        if let Some(found) = bits(&row.function, &row.file) {
            rows.insert((&row.module, &row.name), (&row.function, found));
        }
    }
    let rows = rows.into_iter().map(|((owner, name), (function, bits))| Row { owner, name, function, bits }).collect();
    let path = format!("src/v{}/effects.rs", header.series.replace('.', "_"));
    render(path, &EffectsTemplate { header, rows })
}
