//! The effects of the functions that Python code reaches, as rows of a release.

use std::collections::BTreeMap;

use crate::facts::Facts;

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

/// Lines by owner and name: name, C function, bits.
pub fn effect_rows(facts: &Facts) -> BTreeMap<String, String> {
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
    rows.into_iter()
        .map(|((owner, name), (function, bits))| (format!("{owner}\0{name}"), format!("{name} {function} {bits}")))
        .collect()
}
