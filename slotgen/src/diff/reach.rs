//! Who calls whom, and which functions are entries: those that fill slots, and those that Rust is generated from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Generated, Key};
use crate::facts::{Facts, Function, SlotOrigin};

/// Deepest chain of calls that counts as reaching.
const DEPTH: u32 = 6;

/// How many slots and generated functions are named for one function.
const NAMED: usize = 12;

/// A function by file and name.
pub(super) fn key(function: &Function) -> Key {
    (function.unit().to_owned(), function.name.clone())
}

/// The call graph of a release.
pub(super) struct Reach<'f> {
    facts: &'f Facts,
    by_key: FxHashMap<(&'f str, &'f str), usize>,
    /// Function → callers.
    callers: Vec<Vec<usize>>,
    /// Function → slots that it fills in some type, or stands for in `slotdefs[]`.
    slots: Vec<BTreeSet<&'f str>>,
    is_generated: Vec<bool>,
    wrappers: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

/// What reaches a function.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Roots {
    /// All, nearest first.
    pub slots: Vec<String>,
    pub generated: Vec<String>,
    /// The nearest alone, sorted.
    pub nearest_slots: Vec<String>,
    pub nearest_generated: Vec<String>,
}

impl<'f> Reach<'f> {
    pub fn new(facts: &'f Facts, generated: &Generated) -> Self {
        let count = facts.functions.len();
        let mut made = Self {
            facts,
            by_key: FxHashMap::default(),
            callers: vec![Vec::new(); count],
            slots: vec![BTreeSet::new(); count],
            is_generated: facts.functions.iter().map(|function| generated.contains(&key(function))).collect(),
            wrappers: BTreeMap::new(),
        };
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, function) in facts.functions.iter().enumerate() {
            made.by_key.insert((function.unit(), &function.name), index);
            by_name.entry(&function.name).or_default().push(index);
        }
        let resolve = |unit: &str, name: &str| -> Option<usize> {
            let candidates = by_name.get(name)?;
            let known = |index: &&usize| facts.functions.get(**index);
            let own = candidates.iter().find(|index| known(index).is_some_and(|function| function.unit() == unit));
            let public = || candidates.iter().find(|index| known(index).is_some_and(|function| !function.is_static));
            own.or_else(public).copied()
        };
        for (caller, function) in facts.functions.iter().enumerate() {
            for callee in function.calls.iter().filter_map(|name| resolve(function.unit(), name)) {
                made.callers[callee].push(caller);
            }
        }
        for ty in &facts.types {
            for (slot, value) in ty.slots.iter().filter(|(_, value)| value.origin == SlotOrigin::Own) {
                if let Some(index) = resolve(ty.unit(), &value.function) {
                    made.slots[index].insert(slot);
                }
            }
        }
        for def in &facts.slotdefs {
            let function = def.function.as_ref().and_then(|name| resolve("Objects/typeobject.c", name));
            if let Some(index) = function {
                made.slots[index].insert(&def.slot);
            }
            if let Some(wrapper) = &def.wrapper {
                made.wrappers.entry(wrapper).or_default().insert(&def.slot);
            }
        }
        made
    }

    /// The function of a key.
    pub fn function(&self, key: &Key) -> Option<&'f Function> {
        self.facts.functions.get(*self.by_key.get(&(key.0.as_str(), key.1.as_str()))?)
    }

    /// The functions of a file whose names pass a test.
    pub fn named_in(&self, file: &str, test: &dyn Fn(&str) -> bool) -> Vec<&'f Function> {
        self.facts.functions.iter().filter(|function| function.unit() == file && test(&function.name)).collect()
    }

    /// The slots that a function fills.
    pub fn fills(&self, key: &Key) -> Vec<String> {
        let index = self.by_key.get(&(key.0.as_str(), key.1.as_str()));
        let slots = index.and_then(|&index| self.slots.get(index));
        slots.map_or(Vec::new(), |slots| slots.iter().map(|slot| (*slot).to_owned()).collect())
    }

    /// The slots whose special methods a function of `typeobject.c` wraps.
    pub fn wraps(&self, key: &Key) -> Vec<String> {
        let wrapped = self.wrappers.get(key.1.as_str()).filter(|_| key.0 == "Objects/typeobject.c");
        wrapped.map_or(Vec::new(), |slots| slots.iter().map(|slot| (*slot).to_owned()).collect())
    }

    /// Whether Rust is generated from the function.
    pub fn is_generated(&self, key: &Key) -> bool {
        let index = self.by_key.get(&(key.0.as_str(), key.1.as_str()));
        index.and_then(|&index| self.is_generated.get(index)).copied().unwrap_or(false)
    }

    /// How many functions reach a function through calls; a slot that Python classes have counts for many.
    pub fn used_by(&self, start: &Key) -> usize {
        const EVERY_CLASS: usize = 500;
        let Some(&start) = self.by_key.get(&(start.0.as_str(), start.1.as_str())) else { return 0 };
        let defines = |index: usize| {
            let name = self.facts.functions.get(index).map(|function| function.name.as_str());
            self.facts.slotdefs.iter().any(|def| def.function.as_deref() == name)
        };
        let mut seen = FxHashSet::from_iter([start]);
        let mut waiting = VecDeque::from([(start, 0)]);
        let mut count = if defines(start) { EVERY_CLASS } else { 0 };
        while let Some((index, depth)) = waiting.pop_front() {
            count += 1 + self.slots.get(index).map_or(0, BTreeSet::len);
            let callers = self.callers.get(index).into_iter().flatten().filter(|_| depth < DEPTH);
            waiting.extend(callers.filter(|caller| seen.insert(**caller)).map(|&caller| (caller, depth + 1)));
        }
        count
    }

    /// Slots and generated functions from which a function is reached through calls.
    pub fn roots(&self, start: &Key) -> Roots {
        let mut roots = Roots::default();
        let Some(&start) = self.by_key.get(&(start.0.as_str(), start.1.as_str())) else { return roots };
        let mut seen = FxHashSet::from_iter([start]);
        let mut waiting = VecDeque::from([(start, 0)]);
        let (mut slots_at, mut generated_at) = (DEPTH, DEPTH);
        while let Some((index, depth)) = waiting.pop_front() {
            for slot in self.slots.get(index).into_iter().flatten() {
                add(&mut roots.slots, slot);
                if depth <= slots_at {
                    slots_at = depth;
                    add(&mut roots.nearest_slots, slot);
                }
            }
            if index != start && self.is_generated.get(index).copied().unwrap_or(false) {
                let name = self.facts.functions.get(index).map_or("", |function| &function.name);
                add(&mut roots.generated, name);
                if depth <= generated_at {
                    generated_at = depth;
                    add(&mut roots.nearest_generated, name);
                }
            }
            if depth == DEPTH || (roots.slots.len() >= NAMED && roots.generated.len() >= NAMED) {
                continue;
            }
            for &caller in self.callers.get(index).into_iter().flatten() {
                if seen.insert(caller) {
                    waiting.push_back((caller, depth + 1));
                }
            }
        }
        roots.nearest_slots.sort();
        roots.nearest_generated.sort();
        roots
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if names.len() < NAMED && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
