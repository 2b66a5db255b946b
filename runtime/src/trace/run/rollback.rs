//! Going back to the start of an instruction where the trace can stop without tracing again, where it has changed nothing before
//! it broke.
use crate::trace::run::frame::Frame;
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::tracer::State;
use crate::trace::state::value::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};

thread_local! {
    /// Whether the last such instruction of the running trace has changed what earlier ones left.
    static CHANGED: Cell<bool> = const { Cell::new(false) };
}

/// Notes that something was changed that going back cannot restore.
pub(crate) fn changed() {
    CHANGED.set(true);
}

/// A part of the state that tells when it is changed.
#[derive(Debug, Default)]
pub(crate) struct Watched<T>(T);

impl<T> Deref for Watched<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Watched<T> {
    fn deref_mut(&mut self) -> &mut T {
        changed();
        &mut self.0
    }
}

/// A set that knows in which order it grew.
#[derive(Debug)]
pub(crate) struct Grown<T> {
    set: FxHashSet<T>,
    order: Vec<T>,
}

impl<T> Default for Grown<T> {
    fn default() -> Self {
        Self { set: FxHashSet::default(), order: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Grown<T> {
    /// Whether it is new.
    pub(crate) fn insert(&mut self, item: T) -> bool {
        let new = self.set.insert(item);
        if new {
            self.order.push(item);
        }
        new
    }

    fn truncate(&mut self, length: usize) {
        for item in self.order.drain(length..) {
            self.set.remove(&item);
        }
    }
}

/// What stands for parts of the world outside: first sights of them are taken back, later changes are not.
#[derive(Debug)]
pub(crate) struct Seen<K, V> {
    map: FxHashMap<K, V>,
    order: Vec<K>,
}

impl<K, V> Default for Seen<K, V> {
    fn default() -> Self {
        Self { map: FxHashMap::default(), order: Vec::new() }
    }
}

impl<K, V> Deref for Seen<K, V> {
    type Target = FxHashMap<K, V>;

    fn deref(&self) -> &FxHashMap<K, V> {
        &self.map
    }
}

impl<K: Clone + Eq + Hash, V> Seen<K, V> {
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

    fn truncate(&mut self, length: usize) {
        for key in self.order.drain(length..) {
            self.map.remove(&key);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
        self.order.clear();
    }
}

/// What there was when an instruction began.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// Of which frame.
    serial: u64,
    pc: usize,
    stack: Vec<StackEntry>,
    locals: Vec<Option<ValueId>>,
    values: usize,
    guards: usize,
    guarded: usize,
    classes: usize,
    surrounded: usize,
    globals: usize,
    cells: usize,
    attributes: usize,
    shadows: usize,
    route: usize,
    routes: usize,
    depth: usize,
    steps: u64,
}

impl Start {
    /// No instruction has begun.
    pub(crate) fn forget(&mut self) {
        self.serial = 0;
    }
}

/// A nested trace, which whoever waits for it cannot take back.
pub(crate) struct Nested;

impl Drop for Nested {
    fn drop(&mut self) {
        changed();
    }
}

impl State {
    /// An instruction begins before which the trace can stop.
    pub(crate) fn begin_instruction(&mut self, frame: &Frame) {
        CHANGED.set(false);
        let start = &mut self.start;
        (start.serial, start.pc) = (frame.serial, frame.pc);
        start.stack.clone_from(&frame.stack);
        start.locals.clone_from(&frame.locals);
        start.values = self.values.len();
        start.guards = self.guards.len();
        start.guarded = self.guarded.len();
        start.classes = self.touched_types.order.len();
        start.surrounded = self.surrounded.order.len();
        start.globals = self.globals.order.len();
        start.cells = self.cells.order.len();
        start.attributes = self.attributes.order.len();
        start.shadows = self.shadows.len();
        (start.route, start.routes) = (self.route.len(), self.routes.len());
        (start.depth, start.steps) = (self.depth, self.steps);
    }

    /// Whether the last such instruction is this frame's and has changed nothing that going back could not restore.
    pub(crate) fn can_go_back(&self, frame: &Frame) -> bool {
        self.start.serial == frame.serial && !CHANGED.get() && !self.track && self.pending.is_none()
    }

    /// Makes as if it had not begun; `false`, and nothing done, where it has changed something.
    pub(crate) fn go_back(&mut self, frame: &mut Frame) -> bool {
        if !self.can_go_back(frame) {
            return false;
        }
        let start = &mut self.start;
        frame.pc = start.pc;
        std::mem::swap(&mut frame.stack, &mut start.stack);
        std::mem::swap(&mut frame.locals, &mut start.locals);
        let first = start.values as u32;
        self.described.extend(self.values.drain(start.values..));
        self.born.truncate(start.values);
        self.identity.retain(|_, id| id.0 < first);
        self.lent.retain(|_, id| id.0 < first);
        self.tokens.retain(|id, _| id.0 < first);
        self.guards.truncate(start.guards);
        self.guarded.truncate(start.guarded);
        self.touched_types.truncate(start.classes);
        self.surrounded.truncate(start.surrounded);
        self.globals.truncate(start.globals);
        self.cells.truncate(start.cells);
        self.attributes.truncate(start.attributes);
        for shadow in self.shadows.truncate(start.shadows) {
            self.identity.remove(&(shadow.object.as_ptr() as usize));
        }
        self.route.truncate(start.route);
        self.routes.truncate(start.routes);
        (self.depth, self.steps) = (start.depth, start.steps);
        self.outer_step -= 1;
        true
    }
}
