//! Functions whose text changed, by what reaches them.

use std::collections::{BTreeMap, BTreeSet};

use super::reach::{Reach, Roots, key};
use super::{FunctionChange, Functions, Generated, Key, ReachedGroup};
use crate::facts::{Facts, Function};

/// All changes, grouped.
pub(super) fn functions(before: &Facts, after: &Facts, generated: &Generated) -> Functions {
    let keys: BTreeSet<Key> = before.functions.iter().chain(&after.functions).map(key).collect();
    let (old, new) = (Reach::new(before, generated), Reach::new(after, generated));
    let mut found = Functions::default();
    let mut groups: BTreeMap<(Vec<String>, Vec<String>), Vec<FunctionChange>> = BTreeMap::new();
    for key in keys {
        let (left, right) = (old.function(&key), new.function(&key));
        let what = match (left, right) {
            (Some(left), Some(right)) if left.digest == right.digest => continue,
            (Some(_), Some(_)) => "changed",
            (None, _) => "added",
            (_, None) => "removed",
        };
        let reach = if right.is_some() { &new } else { &old };
        let Some(shown) = right.or(left) else { continue };
        let roots = reach.roots(&key);
        let is_generated = reach.is_generated(&key);
        let mut change = change(shown, what, left, right, is_generated, &roots);
        let (fills, wraps) = (reach.fills(&key), reach.wraps(&key));
        if !wraps.is_empty() {
            change.slots = wraps;
            found.wrappers.push(change);
        } else if !fills.is_empty() {
            for slot in fills {
                found.by_slot.entry(slot).or_default().push(change.clone());
            }
        } else if is_generated {
            found.generated.push(change);
        } else if change.slots.is_empty() && change.generated_from.is_empty() {
            found.by_file.entry(key.0).or_default().push(change);
        } else {
            groups.entry((roots.nearest_generated, roots.nearest_slots)).or_default().push(change);
        }
    }
    // What generated functions reach comes first.
    let mut groups: Vec<ReachedGroup> = groups
        .into_iter()
        .map(|((generated, slots), functions)| ReachedGroup { generated, slots, functions })
        .collect();
    groups.sort_by_key(|group| group.generated.is_empty());
    found.reached = groups;
    found
}

fn change(
    shown: &Function,
    what: &'static str,
    left: Option<&Function>,
    right: Option<&Function>,
    is_generated: bool,
    roots: &Roots,
) -> FunctionChange {
    let strings = |function: Option<&Function>| -> BTreeSet<String> {
        function.map_or(BTreeSet::new(), |function| function.strings.iter().cloned().collect())
    };
    let (old, new) = (strings(left), strings(right));
    FunctionChange {
        name: shown.name.clone(),
        file: shown.file.clone(),
        line: shown.line,
        what,
        is_generated,
        slots: roots.slots.clone(),
        generated_from: roots.generated.clone(),
        strings_added: new.difference(&old).cloned().collect(),
        strings_removed: old.difference(&new).cloned().collect(),
    }
}
