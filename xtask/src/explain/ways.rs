//! The ways from an operation through C to the function of a slot.
use crate::audit::coverage::rows::{Kind, Row};
use crate::audit::dossier::Archive;
use crate::audit::index::Entry;

/// From the functions that read a slot to the function in it; from a function of a module or a method to the API that it calls.
pub fn ways(archive: &Archive, rows: &[&Row]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for row in rows {
        let Some(function) = &row.function else { continue };
        match row.kind {
            Kind::Slot | Kind::Slotdef => {
                let slot = row.name.rsplit('/').next().unwrap_or_default();
                let readers = archive.readers(slot).into_iter();
                for (unit, name) in
                    readers.filter(|(unit, name)| unit.starts_with("Objects/") && name.starts_with("Py"))
                {
                    let mut way = helpers(archive, name, unit);
                    way.push(function.clone());
                    found.push(way);
                }
            }
            Kind::Function | Kind::Method => {
                found.extend(inward(archive, function, row.file.as_deref().unwrap_or_default()))
            }
            _ => {}
        }
    }
    let mut unique: Vec<Vec<String>> = Vec::new();
    found.into_iter().for_each(|way| {
        if !unique.contains(&way) {
            unique.push(way)
        }
    });
    unique
}

/// A function and those of its file that it passes an operator on to: `PyNumber_Or`, `binary_op`, `binary_op1`.
fn helpers(archive: &Archive, name: &str, unit: &str) -> Vec<String> {
    let mut way = vec![name.to_owned()];
    while let Some(next) = way.last().and_then(|last| archive.index.find(last, unit)).and_then(|last| {
        let calls = last.calls.iter().filter(|call| call.contains("op") && !call.contains("error"));
        let mut entries = calls.filter_map(|call| archive.index.find(call, unit));
        entries.find(|entry| entry.is_static && entry.unit == *unit && !way.contains(&entry.name))
    }) {
        way.push(next.name.clone());
    }
    way
}

/// A function, what does its work (`_impl`), and the functions of the object protocol that this calls.
fn inward(archive: &Archive, function: &str, file: &str) -> Vec<Vec<String>> {
    let Some(entry) = archive.index.find(function, file) else { return Vec::new() };
    let worker =
        entry.calls.iter().find(|call| call.ends_with("_impl")).and_then(|call| archive.index.find(call, &entry.unit));
    let last: &Entry = worker.unwrap_or(entry);
    let start: Vec<String> = std::iter::once(entry).chain(worker).map(|entry| entry.name.clone()).collect();
    let protocol = |call: &&String| {
        ["PyNumber_", "PySequence_", "PyMapping_", "PyObject_"].iter().any(|head| call.starts_with(head))
    };
    let known = last.calls.iter().filter(protocol).filter_map(|call| archive.index.find(call, "Objects/abstract.c"));
    known.map(|entry| start.iter().cloned().chain(helpers(archive, &entry.name, &entry.unit)).collect()).collect()
}
