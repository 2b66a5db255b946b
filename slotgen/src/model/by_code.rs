//! What code does to types at run time, from reviewed data: bases before types are readied, slots after.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::{SlotOrigin, SlotValue, Type};

const DATA: &str = include_str!("../../data/set_by_code.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    row: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    from: Option<String>,
    until: Option<String>,
    #[serde(default)]
    types: Vec<String>,
    file: Option<String>,
    #[serde(default)]
    holds: BTreeMap<String, String>,
    base: Option<String>,
    #[serde(default)]
    sets: BTreeMap<String, String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers; a test asserts that each row has one"))]
    reason: String,
}

// A test asserts that the embedded table parses.
static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| toml::from_str::<Data>(DATA).map(|data| data.row).unwrap_or_default());

/// Gives types the bases that nothing else names.
pub(super) fn bases(types: &mut [Type], release: &str) {
    for row in ROWS.iter().filter(|row| row.counts(release) && row.base.is_some()) {
        for ty in types.iter_mut().filter(|ty| row.concerns(ty)) {
            ty.base = ty.base.take().or_else(|| row.base.clone());
        }
    }
}

/// Fills slots of readied types.
pub(super) fn slots(types: &mut [Type], release: &str) {
    for row in ROWS.iter().filter(|row| row.counts(release)) {
        for ty in types.iter_mut().filter(|ty| row.concerns(ty)) {
            for (slot, function) in &row.sets {
                let value = SlotValue { function: function.clone(), origin: SlotOrigin::Own, from: None };
                ty.slots.insert(slot.clone(), value);
                ty.assigned.push(slot.clone());
            }
        }
    }
}

impl Row {
    fn counts(&self, release: &str) -> bool {
        let after = |bound: &String| numbers(release) >= numbers(bound);
        // `until = "3.14"` includes 3.14.2.
        let before =
            |bound: &String| numbers(release).starts_with(&numbers(bound)) || numbers(release) <= numbers(bound);
        self.from.as_ref().is_none_or(after) && self.until.as_ref().is_none_or(before)
    }

    fn concerns(&self, ty: &Type) -> bool {
        let holds =
            |(slot, function): (&String, &String)| ty.slots.get(slot).is_some_and(|held| held.function == *function);
        let placed = self.file.as_ref().is_none_or(|file| ty.unit().rsplit('/').next() == Some(file));
        self.types.contains(&ty.c_name) || (!self.holds.is_empty() && placed && self.holds.iter().all(holds))
    }
}

fn numbers(release: &str) -> Vec<u32> {
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    release.split('.').filter_map(|part| digits(part).parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_reason_and_an_effect() {
        let data: Data = toml::from_str(DATA).unwrap();
        for row in &data.row {
            assert!(row.reason.len() > 20 && (row.base.is_some() || !row.sets.is_empty()), "{row:?}");
            assert_ne!(row.types.is_empty(), row.holds.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn rows_count_for_their_releases() {
        let row = |from: &str, until: &str| Row {
            from: Some(from.to_owned()),
            until: Some(until.to_owned()),
            types: Vec::new(),
            file: None,
            holds: BTreeMap::new(),
            base: None,
            sets: BTreeMap::new(),
            reason: String::new(),
        };
        assert!(row("3.9", "3.13").counts("3.13.5") && row("3.9", "3.13").counts("3.9.0"));
        assert!(!row("3.9", "3.13").counts("3.14.0a1") && !row("3.10", "3.13").counts("3.9.18"));
    }
}
