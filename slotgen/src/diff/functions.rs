//! Functions whose text changed, and the slots and protocol functions that reach them through calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{FunctionChange, Functions};
use crate::facts::{Facts, Function, SlotOrigin};

/// Files whose public functions are the object protocol.
const PROTOCOL: &[&str] = &["Objects/abstract.c", "Objects/object.c", "Objects/call.c"];

/// How many slots and protocol functions are named for one function.
const NAMED: usize = 12;

/// Deepest chain of calls that counts as reaching.
const DEPTH: u32 = 6;

type Key = (String, String);

fn key(function: &Function) -> Key {
    (function.unit().to_owned(), function.name.clone())
}

/// All changes, grouped.
pub(super) fn functions(before: &Facts, after: &Facts) -> Functions {
    let index = |facts: &'_ Facts| -> BTreeMap<Key, usize> {
        facts.functions.iter().enumerate().map(|(index, function)| (key(function), index)).collect()
    };
    let (old, new) = (index(before), index(after));
    let (old_reach, new_reach) = (Reach::new(before), Reach::new(after));
    let mut found = Functions::default();
    let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let left = old.get(key).and_then(|&index| before.functions.get(index));
        let right = new.get(key).and_then(|&index| after.functions.get(index));
        let what = match (left, right) {
            (Some(left), Some(right)) if left.digest == right.digest => continue,
            (Some(_), Some(_)) => "changed",
            (None, _) => "added",
            (_, None) => "removed",
        };
        let reach = if right.is_some() { &new_reach } else { &old_reach };
        let Some(shown) = right.or(left) else { continue };
        let change = change(shown, what, left, right, reach);
        let own = reach.slots.get(&key.1).filter(|_| reach.fills(key));
        match own {
            Some(slots) => {
                for slot in slots {
                    found.by_slot.entry(slot.clone()).or_default().push(change.clone());
                }
            }
            None => found.by_file.entry(key.0.clone()).or_default().push(change),
        }
    }
    found
}

fn change(
    shown: &Function,
    what: &'static str,
    left: Option<&Function>,
    right: Option<&Function>,
    reach: &Reach<'_>,
) -> FunctionChange {
    let strings = |function: Option<&Function>| -> BTreeSet<String> {
        function.map_or(BTreeSet::new(), |function| function.strings.iter().cloned().collect())
    };
    let (old, new) = (strings(left), strings(right));
    let (slots, protocol) = reach.roots(&key(shown));
    FunctionChange {
        name: shown.name.clone(),
        file: shown.file.clone(),
        line: shown.line,
        what,
        slots,
        protocol,
        // A function that came or went is not told string by string.
        strings_added: if what == "changed" { new.difference(&old).cloned().collect() } else { Vec::new() },
        strings_removed: if what == "changed" { old.difference(&new).cloned().collect() } else { Vec::new() },
    }
}

/// Who calls whom, and which functions are entries.
struct Reach<'f> {
    /// Function → callers.
    callers: FxHashMap<Key, Vec<&'f Function>>,
    /// Function name → slots that it fills in some type, or stands for in `slotdefs[]`.
    slots: BTreeMap<String, BTreeSet<String>>,
    /// Units of the functions that fill slots, where the name alone is not unique.
    filled: FxHashSet<Key>,
}

impl<'f> Reach<'f> {
    fn new(facts: &'f Facts) -> Self {
        let defined: FxHashMap<&str, Vec<&Function>> =
            facts.functions.iter().fold(FxHashMap::default(), |mut map, function| {
                map.entry(function.name.as_str()).or_insert_with(Vec::new).push(function);
                map
            });
        let resolve = |unit: &str, name: &str| {
            let candidates = defined.get(name)?;
            let own = candidates.iter().find(|function| function.unit() == unit);
            own.or_else(|| candidates.iter().find(|function| !function.is_static)).map(|function| key(function))
        };
        let mut callers: FxHashMap<Key, Vec<&Function>> = FxHashMap::default();
        for function in &facts.functions {
            for callee in function.calls.iter().filter_map(|name| resolve(function.unit(), name)) {
                callers.entry(callee).or_default().push(function);
            }
        }
        let mut slots: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut filled = FxHashSet::default();
        for ty in &facts.types {
            for (slot, value) in ty.slots.iter().filter(|(_, value)| value.origin == SlotOrigin::Own) {
                slots.entry(value.function.clone()).or_default().insert(slot.clone());
                filled.extend(resolve(ty.unit(), &value.function));
            }
        }
        for def in &facts.slotdefs {
            for function in def.function.iter().chain(&def.wrapper) {
                slots.entry(function.clone()).or_default().insert(def.slot.clone());
                filled.extend(resolve("Objects/typeobject.c", function));
            }
        }
        Self { callers, slots, filled }
    }

    fn fills(&self, key: &Key) -> bool {
        self.filled.contains(key)
    }

    /// Slots and protocol functions from which a function is reached, nearest first.
    fn roots(&self, start: &Key) -> (Vec<String>, Vec<String>) {
        let (mut slots, mut protocol) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        let mut waiting = VecDeque::from([(start.clone(), 0)]);
        seen.insert(start.clone());
        while let Some((key, depth)) = waiting.pop_front() {
            if self.fills(&key) {
                for slot in self.slots.get(&key.1).into_iter().flatten() {
                    if slots.len() < NAMED && !slots.contains(slot) {
                        slots.push(slot.clone());
                    }
                }
            }
            let is_public = key.1.starts_with("Py") || key.1.starts_with("_Py");
            if is_public && PROTOCOL.contains(&key.0.as_str()) && protocol.len() < NAMED {
                protocol.push(key.1.clone());
            }
            if depth == DEPTH || (slots.len() >= NAMED && protocol.len() >= NAMED) {
                continue;
            }
            for caller in self.callers.get(&key).into_iter().flatten() {
                let caller = self::key(caller);
                if seen.insert(caller.clone()) {
                    waiting.push_back((caller, depth + 1));
                }
            }
        }
        (slots, protocol)
    }
}
