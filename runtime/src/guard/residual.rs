//! The residual guard program: what is left to check at each call while nothing changes that CPython tells of.
use super::load::Registers;
use super::step::Step;
use crate::ffi::Args;
use crate::ffi::watch::Watch;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How often a step's object may change after a few calls before it is looked at again at each call.
const CHANGES: u8 = 4;

/// Calls for which setting a watch was worth its while, whatever broke it then.
const WORTH: u32 = 64;

/// The residual program: the steps that a call runs instead of all, for as long as the watch holds.
#[derive(Debug)]
pub struct Residual {
    pub(super) steps: Vec<Step>,
    pub(super) registers: usize,
    pub(super) watch: Option<Watch>,
    /// Calls that it was used for.
    pub(super) served: AtomicU32,
    /// The guard that fails at each call as long as the watch holds.
    pub fails: Option<usize>,
    /// Of each guard, what becomes of it; nothing where one fails.
    pub modes: Vec<GuardMode>,
}

/// Whether a guard is checked at each call or watched, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardMode {
    /// At each call, because this can change unnoticed.
    Checked(&'static str),
    /// Only after this has changed.
    Watched(&'static str),
}

/// How often the object behind each step has changed between calls.
#[derive(Debug, Default)]
pub struct ChangeCounts {
    counts: Vec<u8>,
    /// Steps whose failure nothing tells the end of.
    pub(super) unknown: FxHashSet<usize>,
}

impl ChangeCounts {
    /// Counts what broke a watch, unless that was worth its while.
    pub fn note(&mut self, residual: &Residual) {
        if residual.served.load(Relaxed) >= WORTH {
            return;
        }
        let Some(cause) = residual.watch.as_ref().and_then(Watch::cause) else { return };
        let cause = cause as usize;
        if self.counts.len() <= cause {
            self.counts.resize(cause + 1, 0);
        }
        self.counts[cause] = self.counts[cause].saturating_add(1);
    }

    /// Whether the step's object changes too often to be watched.
    pub(super) fn is_frequent(&self, step: usize) -> bool {
        self.counts.get(step).is_some_and(|count| *count >= CHANGES)
    }
}

impl Residual {
    /// Whether nothing that it relies on has changed.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.watch.as_ref().is_none_or(Watch::holds)
    }

    /// Calls that it was used for.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.served.load(Relaxed)
    }

    /// Counts a call. Threads may count one for two: it is about many or few.
    pub fn serve(&self) {
        self.served.store(self.served.load(Relaxed).saturating_add(1), Relaxed);
    }

    /// Runs the steps from `from` on; those before it are known to hold, and what they found is in the registers. Else the step that failed.
    pub fn check<'py>(
        &self,
        from: usize,
        registers: &mut Registers<'py>,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Result<(), usize> {
        if registers.len() < self.registers {
            registers.resize(self.registers, None);
        }
        let registers = registers.as_mut_slice();
        match self.steps[from..].iter().position(|step| !step.run(registers, args, function)) {
            Some(failed) => Err(from + failed),
            None => Ok(()),
        }
    }

    /// The guard that a step belongs to.
    #[must_use]
    pub fn guard_of(&self, step: usize) -> usize {
        self.steps.get(step).map_or(0, |step| step.guard)
    }

    /// How many steps both begin with.
    #[must_use]
    pub fn shared(&self, other: &Self, py: Python<'_>) -> usize {
        self.steps.iter().zip(&other.steps).take_while(|(one, other)| one.same(other, py)).count()
    }
}
