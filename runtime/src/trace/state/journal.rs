//! Collections that record their changes, so that an instruction can be rolled back.
use super::outcome::StackEntry;
use super::value::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};

thread_local! {
    /// Whether the last such instruction of the running trace has changed what earlier ones left.
    static CHANGED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the last instruction before which the trace can stop has changed what earlier ones left.
pub(crate) fn has_changed() -> bool {
    CHANGED.get()
}

/// Such an instruction begins: it has changed nothing yet.
pub(crate) fn forget_changes() {
    CHANGED.set(false);
}

/// Notes that something was changed that going back cannot restore.
pub(crate) fn changed() {
    CHANGED.set(true);
}

/// A part of the state that tells when it is changed.
#[derive(Debug, Default)]
pub(crate) struct Tracked<T>(T);

impl<T> Deref for Tracked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Tracked<T> {
    fn deref_mut(&mut self) -> &mut T {
        changed();
        &mut self.0
    }
}

/// A set that knows in which order it grew.
#[derive(Debug)]
pub(crate) struct OrderedSet<T> {
    pub(crate) set: FxHashSet<T>,
    pub(crate) order: Vec<T>,
}

impl<T> Default for OrderedSet<T> {
    fn default() -> Self {
        Self { set: FxHashSet::default(), order: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> OrderedSet<T> {
    /// Whether it is new.
    pub(crate) fn insert(&mut self, item: T) -> bool {
        let new = self.set.insert(item);
        if new {
            self.order.push(item);
        }
        new
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        for item in self.order.drain(length..) {
            self.set.remove(&item);
        }
    }
}

/// What stands for parts of the world outside: first sights of them are taken back, later changes are not.
#[derive(Debug)]
pub(crate) struct Overlay<K, V> {
    pub(crate) map: FxHashMap<K, V>,
    pub(crate) order: Vec<K>,
    /// Changes that nobody may see for now, and whether somebody has.
    pub(crate) hidden: FxHashSet<K>,
    pub(crate) is_seen: Cell<bool>,
}

impl<K, V> Default for Overlay<K, V> {
    fn default() -> Self {
        Self { map: FxHashMap::default(), order: Vec::new(), hidden: FxHashSet::default(), is_seen: Cell::new(false) }
    }
}

impl<K, V> Deref for Overlay<K, V> {
    type Target = FxHashMap<K, V>;

    fn deref(&self) -> &FxHashMap<K, V> {
        &self.map
    }
}

impl<K: Clone + Eq + Hash, V> Overlay<K, V> {
    /// What stands for a part of the world.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        if !self.hidden.is_empty() && self.hidden.contains(key) {
            self.is_seen.set(true);
        }
        self.map.get(key)
    }

    /// Seen for the first time, as it is outside.
    pub(crate) fn see(&mut self, key: K, value: V) {
        if self.map.insert(key.clone(), value).is_none() {
            self.order.push(key);
        }
    }

    /// The trace changes it.
    pub(crate) fn change(&mut self, key: K, value: V) {
        changed();
        self.see(key, value);
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        for key in self.order.drain(length..) {
            self.map.remove(&key);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
        self.order.clear();
    }
}

/// How much was known of aliases at an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AliasMark {
    pub(super) observed: usize,
    pub(super) changed: usize,
    pub(super) compared: usize,
}

/// What there was when an instruction began.
#[derive(Debug, Default)]
pub(crate) struct InstructionStart {
    /// Of which frame.
    pub(crate) serial: u64,
    /// Whether it calls something, so that the frame holds its variables until it ends.
    pub(crate) calls: bool,
    pub(crate) pc: usize,
    pub(crate) stack: Vec<StackEntry>,
    pub(crate) locals: Vec<Option<ValueId>>,
    pub(crate) values: usize,
    pub(crate) guards: usize,
    pub(crate) guard_requests: usize,
    pub(crate) classes: usize,
    pub(crate) guarded_domains: usize,
    pub(crate) aliases: AliasMark,
    pub(crate) globals: usize,
    pub(crate) cells: usize,
    pub(crate) attributes: usize,
    pub(crate) class_numbers: usize,
    pub(crate) private_copies: usize,
    pub(crate) route: usize,
    pub(crate) routes: usize,
    pub(crate) depth: usize,
    pub(crate) steps: u64,
    pub(crate) relations: usize,
}

impl InstructionStart {
    /// No instruction has begun.
    pub(crate) fn forget(&mut self) {
        self.serial = 0;
    }
}

/// A nested trace, which whoever waits for it cannot take back.
pub(crate) struct NestedTrace;

impl Drop for NestedTrace {
    fn drop(&mut self) {
        changed();
    }
}
