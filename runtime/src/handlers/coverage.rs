//! Which instructions were split and reached: per function, by a digest of its code.
use crate::bytecode::Code;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A digest of a function's code: the same in every process, and for code objects made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodeDigest(u64);

impl CodeDigest {
    pub fn of(code: &Code) -> Self {
        let mut hasher = FxHasher::default();
        let file = &*code.file;
        file.rsplit('/').next().unwrap_or_default().hash(&mut hasher);
        (&code.qualname, code.firstlineno, &code.names).hash(&mut hasher);
        code.instrs.iter().for_each(|instr| (instr.op.name(), instr.arg, instr.offset).hash(&mut hasher));
        Self(hasher.finish())
    }
}

/// The progress of one function.
#[derive(Clone, Debug)]
struct Progress {
    name: String,
    next: usize,
    /// Per reachable instruction: whether a call ran that was split there.
    tried: Vec<bool>,
    /// Whether control came there, so that the frame was transferred.
    reached: Vec<bool>,
}

/// A row of the report: reachable instructions, those tried and those reached as hexadecimal bit strings.
pub type Row = (usize, String, String);

/// Which (function, instruction) pairs were tried. A *pair* is tried when a call of the function ran from code split at the
/// instruction; it is *reached* when that call came to the instruction and transferred its frame.
#[derive(Debug, Default)]
pub struct Coverage(Mutex<FxHashMap<CodeDigest, Progress>>);

/// One pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    function: CodeDigest,
    index: usize,
}

impl Coverage {
    fn table(&self) -> MutexGuard<'_, FxHashMap<CodeDigest, Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the function.
    pub(super) fn add(&self, function: CodeDigest, name: impl FnOnce() -> String, reachable: usize) {
        let none = || vec![false; reachable];
        self.table().entry(function).or_insert_with(|| Progress {
            name: name(),
            next: 0,
            tried: none(),
            reached: none(),
        });
    }

    /// The function's next instruction, by its place among the reachable ones.
    pub(super) fn next(&self, function: CodeDigest) -> Option<usize> {
        let mut table = self.table();
        let progress = table.get_mut(&function)?;
        let index = progress.next.checked_rem(progress.tried.len())?;
        progress.next += 1;
        Some(index)
    }

    /// A call runs from code split there; gives the pair if it is the first one.
    pub(super) fn tried(&self, function: CodeDigest, index: usize) -> Option<Pair> {
        let mut table = self.table();
        let tried = table.get_mut(&function)?.tried.get_mut(index)?;
        (!std::mem::replace(tried, true)).then_some(Pair { function, index })
    }

    /// That call did not come about.
    pub(super) fn untried(&self, pair: Pair) {
        if let Some(progress) = self.table().get_mut(&pair.function) {
            progress.tried[pair.index] = false;
        }
    }

    fn reach(&self, function: CodeDigest, index: usize) {
        if let Some(reached) = self.table().get_mut(&function).and_then(|progress| progress.reached.get_mut(index)) {
            *reached = true;
        }
    }

    /// How many functions, reachable instructions in them, pairs tried, pairs reached, and functions tried at every instruction.
    #[must_use]
    pub fn counts(&self) -> [usize; 5] {
        let table = self.table();
        let count = |of: fn(&Progress) -> usize| table.values().map(of).sum();
        let set = |bits: &[bool]| bits.iter().filter(|bit| **bit).count();
        let tried = table.values().map(|progress| set(&progress.tried)).sum();
        let reached = table.values().map(|progress| set(&progress.reached)).sum();
        let whole = count(|progress| usize::from(progress.tried.iter().all(|tried| *tried)));
        [table.len(), count(|progress| progress.tried.len()), tried, reached, whole]
    }

    /// Every function with its rows, under a name that tells it from all others.
    #[must_use]
    pub fn rows(&self) -> BTreeMap<String, Row> {
        let table = self.table();
        let row = |progress: &Progress| (progress.tried.len(), bits(&progress.tried), bits(&progress.reached));
        table
            .iter()
            .map(|(CodeDigest(hash), progress)| (format!("{} {hash:016x}", progress.name), row(progress)))
            .collect()
    }
}

/// Four bits a digit, the first one lowest.
fn bits(set: &[bool]) -> String {
    let digit = |four: &[bool]| four.iter().rev().fold(0, |digit, bit| digit << 1 | u32::from(*bit));
    set.chunks(4).filter_map(|four| char::from_digit(digit(four), 16)).collect()
}

/// Notes that the frame of a split call was transferred: control has reached the instruction.
#[derive(Debug)]
pub(super) struct ReachedNote {
    pub coverage: Arc<Coverage>,
    pub function: CodeDigest,
    pub index: usize,
    pub noted: std::sync::atomic::AtomicBool,
}

impl ReachedNote {
    pub fn note(&self) {
        if !self.noted.swap(true, std::sync::atomic::Ordering::Relaxed) {
            self.coverage.reach(self.function, self.index);
        }
    }
}
