//! A compiled frame: a function, or one continuation of it.
use super::frame_cache::Cache;
use super::unit::CompilationUnit;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// One function, or one continuation of it.
#[derive(Debug)]
pub struct Compiled {
    pub(super) unit: Arc<CompilationUnit>,
    /// Where a continuation goes on.
    pub(super) resumed: Option<ResumePoint>,
    /// Whether functions with other cells run the same: they bring theirs along.
    pub(super) any_closure: bool,
    pub(super) cache: Arc<Mutex<Cache>>,
    /// Whether the function only passes calls on to another callable.
    pub(super) forwarder: bool,
    /// Whether it was called under the stance that runs first calls as they are.
    pub(super) called: AtomicBool,
}

/// Where a continuation goes on.
#[derive(Clone, Copy, Debug)]
pub struct ResumePoint {
    /// The line.
    pub line: i32,
    /// Whether the frame stopped before the instruction, within a trace that ended there.
    pub entered: bool,
}

impl Compiled {
    /// The unit's address, and whether the frame stopped before the instruction where this goes on; `None` for what is no continuation.
    pub fn continues(&self) -> Option<(usize, bool)> {
        self.resumed.map(|resumed| (Arc::as_ptr(&self.unit) as usize, resumed.entered))
    }

    /// The function itself.
    pub fn root(unit: Arc<CompilationUnit>) -> Self {
        Self::beginning(unit)
    }

    fn beginning(unit: Arc<CompilationUnit>) -> Self {
        let cache = Arc::default();
        unit.shared.register(&cache, &unit.options, &unit, &unit.kept);
        Self { unit, resumed: None, any_closure: false, cache, forwarder: false, called: AtomicBool::default() }
    }

    /// Whatever function is made of the code.
    pub fn of_code(unit: Arc<CompilationUnit>) -> Self {
        let mut made = Self::beginning(unit);
        made.any_closure = true;
        made
    }

    /// The same for a function that only passes calls on.
    pub fn forwarder(unit: Arc<CompilationUnit>) -> Self {
        let mut made = Self::beginning(unit);
        made.forwarder = true;
        made
    }

    /// The continuation that goes on there.
    pub fn continuation(unit: Arc<CompilationUnit>, resumed: ResumePoint) -> Self {
        let mut made = Self::beginning(unit);
        made.resumed = Some(resumed);
        made
    }

    /// What the unit keeps of a continuation to forget it by.
    pub fn cache(&self) -> Arc<Mutex<Cache>> {
        Arc::clone(&self.cache)
    }
}
