//! A frame handler that splits every frame: each call of a function at its next instruction.
use super::counters::Counters;
use super::coverage::{CodeDigest, Pair, ReachedNote};
use super::split_function::{SplitFunction, with_closure};
use crate::bytecode::Code;
use crate::bytecode::shape::State;
use crate::ffi::frame::{Frame, ReplaceRefusal};
use crate::ffi::function;
use crate::ffi::hook::{Action, FrameHandler};
use crate::split::TransferConstants;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A code object with its globals, by address; both are kept alive by the table's entry.
type Identity = (usize, usize);

/// Code with the state before each instruction.
type UnsplitCode = (Arc<Code>, Arc<Vec<Option<State>>>);

/// One function's splits, an instruction after the other.
struct Splits {
    /// Keeps the code object and the globals alive.
    _function: Py<PyAny>,
    /// Decoded; `None` where no continuation can serve.
    code: Option<Arc<Code>>,
    /// Before each instruction: computed once, for it takes longer than a split.
    states: Arc<Vec<Option<State>>>,
    offsets: Vec<u32>,
    made: Vec<Option<Py<PyAny>>>,
    /// The function in the coverage.
    digest: Option<CodeDigest>,
}

/// What a frame is to be split at.
struct NextSplit {
    identity: Identity,
    digest: CodeDigest,
    /// Place among the reachable instructions.
    index: usize,
    offset: u32,
    /// The split code, or what it is made from.
    made: Result<Py<PyAny>, UnsplitCode>,
}

thread_local! {
    /// The pair that this thread's frame now being replaced is the first to try.
    static FIRST: Cell<Option<Pair>> = const { Cell::new(None) };
}

/// A function by file name, qualified name and first line.
pub(crate) type Named = (String, String, i32);

/// Splits every frame: each call of a function at its next instruction.
#[derive(Default)]
pub(crate) struct SplitEvery {
    /// What happened; `replaced` counts frames.
    pub counters: Arc<Counters>,
    splits: Mutex<FxHashMap<Identity, Splits>>,
    /// Code objects made here that start frames of their own.
    own: Mutex<FxHashSet<usize>>,
    every: bool,
    /// Functions left alone.
    whole: FxHashSet<Named>,
}

impl SplitEvery {
    pub fn new(counters: Arc<Counters>, every: bool, whole: FxHashSet<Named>) -> Self {
        Self { counters, splits: Mutex::default(), own: Mutex::default(), every, whole }
    }

    fn stays_whole(&self, code: &Code) -> bool {
        !self.whole.is_empty() && self.whole.contains(&(code.file.to_string(), code.qualname.clone(), code.firstlineno))
    }

    /// A function with the frame's code and globals, which keeps nothing else of the frame's own alive.
    fn stand_in(py: Python<'_>, frame: Frame<'_>) -> PyResult<Py<PyAny>> {
        let globals = frame.function(py).getattr("__globals__")?.cast_into::<PyDict>()?;
        Ok(function::new(&frame.code(py), &globals)?.unbind())
    }

    /// The code to split; where it cannot be, its instructions are counted under the reason.
    fn decoded(&self, py: Python<'_>, frame: Frame<'_>) -> Option<Code> {
        match Code::decode(&frame.code(py)) {
            Ok(code) if code.is_continuation(py) || self.stays_whole(&code) => None,
            Ok(code) => Some(code),
            Err(error) => {
                self.counters.refuse(&error.to_string(), 1);
                None
            }
        }
    }

    fn splits(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Splits> {
        let function = Self::stand_in(py, frame)?;
        let code = self.decoded(py, frame);
        let states = code.as_ref().and_then(|code| code.states().ok()).unwrap_or_default();
        let reachable = |code: &Code| {
            let pairs = code.instrs.iter().zip(&states).filter(|(_, state)| state.is_some());
            pairs.filter_map(|(instr, _)| instr.offset).collect::<Vec<_>>()
        };
        let offsets = code.as_ref().map(reachable).unwrap_or_default();
        let made = offsets.iter().map(|_| None).collect();
        let digest = code.as_ref().map(CodeDigest::of);
        if let (Some(code), Some(digest)) = (&code, digest) {
            let file = code.file.to_string();
            let file = file.rsplit('/').next().unwrap_or_default();
            let name = || format!("{file}:{} {}", code.firstlineno, code.qualname);
            self.counters.coverage.add(digest, name, offsets.len());
        }
        Ok(Splits { _function: function, code: code.map(Arc::new), states: Arc::new(states), offsets, made, digest })
    }

    /// What to split next for this frame.
    fn take(&self, py: Python<'_>, frame: Frame<'_>) -> Option<NextSplit> {
        let identity = (frame.code_address(), frame.globals_address());
        let known = self.splits.lock().ok()?.contains_key(&identity);
        let fresh = (!known).then(|| self.splits(py, frame)).transpose().ok()?;
        let mut table = self.splits.lock().ok()?;
        let splits = match fresh {
            Some(fresh) => table.entry(identity).or_insert(fresh),
            None => table.get_mut(&identity)?,
        };
        let unsplit = (splits.code.clone()?, Arc::clone(&splits.states));
        let digest = splits.digest?;
        let index = self.counters.coverage.next(digest)?;
        let offset = *splits.offsets.get(index)?;
        let made = splits.made.get(index)?.as_ref().map(|made| made.clone_ref(py));
        Some(NextSplit { identity, digest, index, offset, made: made.ok_or(unsplit) })
    }

    fn is_own(&self, code: usize) -> bool {
        self.own.lock().is_ok_and(|own| own.contains(&code))
    }

    fn make(
        &self,
        py: Python<'_>,
        frame: Frame<'_>,
        turn: &NextSplit,
        (code, states): &UnsplitCode,
    ) -> PyResult<Option<Py<PyAny>>> {
        let offset = turn.offset;
        let Some(at) = code.index_at(offset) else { return Ok(None) };
        let Some(state) = states.get(at).and_then(Option::as_ref) else { return Ok(None) };
        let split_function = Arc::new(SplitFunction {
            offset,
            every: self.every,
            function: Self::stand_in(py, frame)?,
            constants: TransferConstants::new(py)?,
            continuations: Mutex::default(),
            reached: Some(ReachedNote {
                coverage: Arc::clone(&self.counters.coverage),
                function: turn.digest,
                index: turn.index,
                noted: AtomicBool::new(false),
            }),
        });
        let mut split = split_function.split_at(py, code, at, state)?;
        if !split.delegates() {
            return Ok(Some(split.assemble(py)?.unbind()));
        }
        // The generator's own frame is as large as the function's code wants: it takes a function to have a larger one.
        split.flatten();
        let made = split.assemble(py)?;
        let mut own = self.own.lock().map_err(|_| PyRuntimeError::new_err("poisoned"))?;
        own.insert(made.as_ptr() as usize);
        Ok(Some(made.unbind()))
    }
}

impl FrameHandler for SplitEvery {
    fn observe(&self, _frame: Frame<'_>) -> bool {
        self.counters.frames.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action> {
        if self.is_own(frame.code_address()) {
            return Ok(Action::Run);
        }
        let Some(turn) = self.take(py, frame) else { return Ok(Action::Run) };
        let made = match &turn.made {
            Ok(made) => made.clone_ref(py),
            Err(unsplit) => {
                let Some(made) = self.make(py, frame, &turn, unsplit)? else { return Ok(Action::Run) };
                let copy = made.clone_ref(py);
                let mut table = self.splits.lock().map_err(|_| PyRuntimeError::new_err("poisoned"))?;
                if let Some(slot) = table.get_mut(&turn.identity).and_then(|splits| splits.made.get_mut(turn.index)) {
                    *slot = Some(copy);
                }
                made
            }
        };
        let first = self.counters.coverage.tried(turn.digest, turn.index);
        self.counters.pairs.fetch_add(u64::from(first.is_some()), Ordering::Relaxed);
        FIRST.set(first);
        self.counters.replaced.fetch_add(1, Ordering::Relaxed);
        if self.is_own(made.as_ptr() as usize) {
            return Ok(Action::Call(with_closure(made.bind(py), &frame.function(py))?.unbind()));
        }
        Ok(Action::Replace(made))
    }

    fn declined(&self, _reason: ReplaceRefusal) {
        if let Some(pair) = FIRST.take() {
            self.counters.coverage.untried(pair);
            self.counters.pairs.fetch_sub(1, Ordering::Relaxed);
        }
        self.counters.replaced.fetch_sub(1, Ordering::Relaxed);
        self.counters.declined.fetch_add(1, Ordering::Relaxed);
    }
}
