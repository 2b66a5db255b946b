//! What share of the functions that matter is translated: parts of C files by name, and all slot functions by the tables.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::fixpoint::Translation;
use crate::facts::{Facts, SlotOrigin};

/// A group of functions and what became of them.
#[derive(Debug, Clone, Serialize)]
pub struct Share {
    /// What is counted.
    pub name: String,
    /// How many are translated.
    pub translated: usize,
    /// How many there are.
    pub total: usize,
    /// Those that are not translated: name and why.
    pub left: Vec<(String, String)>,
    /// Those that are not counted: name and why.
    pub out: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    part: Vec<Part>,
    slots: Slots,
}

/// A part of a C file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    file: String,
    name: String,
    names: Vec<String>,
    #[serde(default)]
    but: Vec<But>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct But {
    names: Vec<String>,
    reason: String,
}

/// The slots that are not counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slots {
    folder: String,
    but: Vec<But>,
}

/// What became of each function: nothing said is "translated".
type Fates = BTreeMap<(String, String), Option<String>>;

/// The shares of the parts that `parts.toml` names, and of the slot functions.
pub fn shares(translation: &Translation, facts: &Facts) -> Result<Vec<Share>, String> {
    let parts: Parts = toml::from_str(include_str!("parts.toml")).map_err(|error| format!("parts.toml: {error}"))?;
    let fates = fates(translation);
    let mut out: Vec<Share> = parts.part.iter().map(|part| part_share(part, &fates)).collect();
    out.push(slots(&parts.slots, &fates, facts));
    Ok(out)
}

fn fates(translation: &Translation) -> Fates {
    let mut fates = Fates::new();
    let world = &translation.world;
    for (file, name) in world.defined.keys().filter(|(_, name)| world.contracts.kept(name)) {
        let reason = world.contracts.get(name).map_or("", |row| row.reason.as_str());
        fates.insert((file.clone(), name.clone()), Some(format!("asked of the world: {reason}")));
    }
    for left in &translation.left {
        fates.insert((left.unit.clone(), left.name.clone()), Some(left.construct.clone()));
    }
    for one in translation.translated.values().flatten() {
        fates.insert((one.file().to_owned(), one.name().to_owned()), None);
    }
    fates
}

fn part_share(part: &Part, fates: &Fates) -> Share {
    let mut share = Share { name: part.name.clone(), translated: 0, total: 0, left: Vec::new(), out: Vec::new() };
    let mine = fates.iter().filter(|((file, name), _)| *file == part.file && is_one(&part.names, name));
    for ((_, name), fate) in mine {
        match part.but.iter().find(|but| is_one(&but.names, name)) {
            Some(but) => share.out.push((name.clone(), but.reason.clone())),
            None => share.count(name, fate.as_deref()),
        }
    }
    share
}

/// The functions that types fill their slots with.
fn slots(which: &Slots, fates: &Fates, facts: &Facts) -> Share {
    let name = format!("slot functions of {}", which.folder);
    let mut share = Share { name, translated: 0, total: 0, left: Vec::new(), out: Vec::new() };
    for but in &which.but {
        share.out.push((but.names.join(", "), but.reason.clone()));
    }
    let mut keys: BTreeSet<(String, String)> = BTreeSet::new();
    for ty in facts.types.iter().filter(|ty| ty.file.starts_with(&which.folder)) {
        for (slot, value) in &ty.slots {
            let counted = value.origin == SlotOrigin::Own && !which.but.iter().any(|but| is_one(&but.names, slot));
            if counted {
                keys.extend(home(&ty.file, &value.function, fates, facts));
            }
        }
    }
    for (file, name) in keys.into_iter().filter(|(file, _)| file.starts_with(&which.folder)) {
        match fates.get(&(file.clone(), name.clone())) {
            Some(fate) => share.count(&name, fate.as_deref()),
            None => share.count(&name, Some(&format!("is not in a part of {file} that is translated"))),
        }
    }
    share
}

/// The file that defines a function that a type of another file may use.
fn home(file: &str, name: &str, fates: &Fates, facts: &Facts) -> Option<(String, String)> {
    let here = (file.to_owned(), name.to_owned());
    if fates.contains_key(&here) {
        return Some(here);
    }
    if let Some(key) = fates.keys().find(|(_, other)| other == name) {
        let own = facts.functions.iter().any(|function| function.name == name && function.file == file);
        return Some(if own { here } else { key.clone() });
    }
    let found = facts.functions.iter().find(|function| function.name == name)?;
    Some((found.file.clone(), name.to_owned()))
}

impl Share {
    fn count(&mut self, name: &str, why_not: Option<&str>) {
        self.total += 1;
        match why_not {
            None => self.translated += 1,
            Some(why) => self.left.push((name.to_owned(), why.to_owned())),
        }
    }

    /// The share in percent; of nothing, all is translated.
    pub fn percent(&self) -> f64 {
        if self.total == 0 { 100.0 } else { 100.0 * self.translated as f64 / self.total as f64 }
    }
}

/// Whether a name is one of the patterns, in which `*` stands for any text.
fn is_one(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| {
        let mut parts = pattern.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let parts: Vec<&str> = parts.collect();
        let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
        for part in middle {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        let matches = |pattern: &str, name: &str| is_one(&[pattern.to_owned()], name);
        assert!(matches("slot_*", "slot_nb_or") && matches("*", "x") && matches("Py_*_Check*", "Py_Dict_CheckExact"));
        assert!(!matches("slot_", "slot_nb_or") && !matches("*_dealloc", "dealloc_type") && !matches("a*b*c", "acb"));
    }

    #[test]
    fn every_row_gives_a_reason() -> Result<(), toml::de::Error> {
        let parts: Parts = toml::from_str(include_str!("parts.toml"))?;
        let rows = parts.part.iter().flat_map(|part| &part.but).chain(&parts.slots.but);
        assert!(rows.into_iter().all(|row| !row.reason.is_empty()));
        Ok(())
    }
}
