//! The residual guard program: what is left to check at each call while nothing changes that CPython tells of.
use super::quick::Quick;
use crate::ffi::Args;
use crate::ffi::watch::{Watch, Word};
use crate::guard::load::Registers;
use crate::guard::step::Step;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How often a step's object may change after a few calls before it is looked at again at each call.
const CHANGES: u8 = 4;

/// Calls for which setting a watch was worth its while, whatever broke it then.
const WORTH: u32 = 64;

/// The residual program: the steps that a call runs instead of all, for as long as the watch holds.
#[derive(Debug, Default)]
pub struct Residual {
    pub(in crate::guard) steps: Vec<Step>,
    pub(in crate::guard) registers: usize,
    /// The steps again, for calls that need not know which of them fails.
    pub(in crate::guard) quick: Quick,
    pub(in crate::guard) watch: Option<Watch>,
    /// Which classes and namespaces objects have on the way, which nobody tells of: looked at last.
    pub(in crate::guard) words: Box<[Word]>,
    /// Steps that compare with the object that the program was made with, and the steps of the whole program that they stand for.
    pub(in crate::guard) anchors: Vec<(usize, u32)>,
    /// The step, plus one, whose object was another in a call.
    pub(in crate::guard) elsewhere: AtomicU32,
    /// Calls that it was used for.
    pub(in crate::guard) served: AtomicU32,
    /// The guard that fails at each call as long as the watch holds.
    pub fails: Option<usize>,
    /// Of each guard, what becomes of it; nothing where one fails.
    pub modes: Vec<GuardMode>,
}

/// Why a residual program does not allow a call.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// The guard of this step does not hold.
    Fails(usize),
    /// It is for other objects, or something has changed: all guards have to be checked. With the step that found out.
    Unknown(Option<usize>),
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
    pub(in crate::guard) unknown: FxHashSet<usize>,
}

impl ChangeCounts {
    /// Counts what broke a watch, unless that was worth its while: twice, where it served no call at all.
    pub fn note(&mut self, residual: &Residual) {
        let served = residual.served.load(Relaxed);
        if served >= WORTH {
            return;
        }
        let mut causes = residual.watch.as_ref().map(Watch::causes).unwrap_or_default();
        if causes.is_empty() {
            causes.extend(residual.elsewhere.load(Relaxed).checked_sub(1));
        }
        for cause in causes {
            let cause = cause as usize;
            if self.counts.len() <= cause {
                self.counts.resize(cause + 1, 0);
            }
            self.counts[cause] = self.counts[cause].saturating_add(if served == 0 { 2 } else { 1 });
        }
    }

    /// Whether the step's object changes too often to be watched.
    pub(in crate::guard) fn is_frequent(&self, step: usize) -> bool {
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

    /// Whether all of it holds. Where it does not, [`check`](Self::check) says why.
    #[must_use]
    pub fn allows<'py>(&self, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> bool {
        self.quick.holds(args, function) && self.is_current(args.py(), |_| true)
    }

    /// Runs the steps from `from` on; those before it are known to hold, and what they found is in the registers.
    ///
    /// # Errors
    /// Why the code is not right for the call, or the program does not say.
    pub fn check<'py>(
        &self,
        from: usize,
        registers: &mut Registers<'py>,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Result<(), Stop> {
        let registers = self.room(registers);
        if let Some(failed) = self.steps[from..].iter().position(|step| !step.run(registers, args, function)) {
            return Err(self.stop(from + failed));
        }
        if self.is_current(args.py(), |_| true) { Ok(()) } else { Err(Stop::Unknown(None)) }
    }

    /// Whether some of the steps hold, those before them being known to; what they find is put into the registers.
    pub(in crate::guard) fn run<'py>(
        &self,
        steps: std::ops::Range<usize>,
        registers: &mut Registers<'py>,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> bool {
        let registers = self.room(registers);
        self.steps[steps].iter().all(|step| step.run(registers, args, function))
    }

    fn room<'a, 'py>(&self, registers: &'a mut Registers<'py>) -> &'a mut [Option<Bound<'py, PyAny>>] {
        if registers.len() < self.registers {
            registers.resize(self.registers, None);
        }
        registers.as_mut_slice()
    }

    /// Whether what it says of objects is still so in a call whose steps may not have been run: those that it knows by their addresses
    /// must be arguments.
    #[must_use]
    pub fn is_current_for(&self, args: Args<'_, '_>) -> bool {
        self.is_current(args.py(), |address| args.iter().any(|value| value.as_ptr() as usize == address))
    }

    /// Whether what it says of objects is still so: nothing has changed, and each has the class and the namespace that it had.
    fn is_current(&self, py: Python<'_>, at_hand: impl Fn(usize) -> bool) -> bool {
        let other = self.words.iter().find(|word| !word.holds(py, &at_hand));
        if let Some(word) = other {
            self.elsewhere.store(word.mark.saturating_add(1), Relaxed);
        }
        other.is_none() && self.holds()
    }

    /// What it means that a step failed.
    pub fn stop(&self, step: usize) -> Stop {
        let anchor = self.anchors.iter().find(|(anchor, _)| *anchor == step);
        if let Some((_, mark)) = anchor {
            self.elsewhere.store(mark.saturating_add(1), Relaxed);
        }
        // What was found through the watch is gone with it.
        if anchor.is_some() || !self.holds() { Stop::Unknown(Some(step)) } else { Stop::Fails(step) }
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
