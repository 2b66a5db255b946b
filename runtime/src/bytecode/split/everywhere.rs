//! Functions that break at a given instruction and go on in continuations: splitting proven without a tracer.
use super::super::code::Code;
use super::super::shape::State;
use super::ledger::{Arrival, Content, Pair};
use super::{Key, Marks, Refusal, split_any};
use crate::ffi::callable::{self, Args, Chosen, Dispatch};
use crate::ffi::frame::{Declined, Frame};
use crate::ffi::function;
use crate::ffi::handlers::Counters;
use crate::ffi::hook::{Action, FrameHandler};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// All continuations of one function, broken at one instruction.
struct Family {
    /// Byte offset of the instruction in the function's code.
    offset: u32,
    /// Whether continuations break there again.
    every: bool,
    function: Py<PyAny>,
    marks: Marks,
    continuations: Mutex<FxHashMap<Key, Py<PyAny>>>,
    /// Who is told that a continuation was entered.
    arrival: Option<Arrival>,
}

struct Broken {
    family: Arc<Family>,
    /// Whether this is the function itself: the one that shows the family's objects to the collector.
    root: bool,
    code: Mutex<Option<Code>>,
    entry: OnceLock<Py<PyAny>>,
}

impl Dispatch for Broken {
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Chosen> {
        let py = args.py();
        if let Some(arrival) = self.family.arrival.as_ref().filter(|_| !self.root) {
            arrival.note();
        }
        if let Some(entry) = self.entry.get() {
            return Ok(Chosen::Run(entry.clone_ref(py)));
        }
        let code = self.code.lock().ok().and_then(|mut code| code.take());
        let code = code.ok_or_else(|| PyRuntimeError::new_err("a continuation was entered while it was being made"))?;
        let made = self.family.install(py, &code, function)?;
        let entry = self.entry.get_or_init(|| made.unbind());
        Ok(Chosen::Run(entry.clone_ref(py)))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if self.root {
            visit(&self.family.function);
            // Held only while the table is changed, never while Python code runs.
            if let Ok(known) = self.family.continuations.try_lock() {
                known.values().for_each(&mut *visit);
            }
        }
        if let Some(entry) = self.entry.get() {
            visit(entry);
        }
    }

    fn clear(&self) {
        let taken = self.family.continuations.lock().map(|mut known| std::mem::take(&mut *known));
        drop(taken);
    }
}

impl Family {
    /// `code` with a hand-over after the instruction; `None` where that is unreachable.
    fn split_code(self: &Arc<Self>, py: Python<'_>, code: &Code) -> PyResult<Option<Code>> {
        let Some(at) = code.index_at(self.offset) else { return Ok(None) };
        let Some(state) = code.states()?.into_iter().nth(at).flatten() else { return Ok(None) };
        self.split_at(py, code, at, &state).map(Some)
    }

    /// `code`, in this state before the instruction, with a hand-over after it.
    fn split_at(self: &Arc<Self>, py: Python<'_>, code: &Code, at: usize, state: &State) -> PyResult<Code> {
        let mut split = split_any(py, code, at, state, &self.marks).map_err(refused)?;
        for continuation in &split.continuations {
            let callable = self.continuation(py, continuation)?;
            split.code.consts[continuation.constant] = callable;
        }
        Ok(split.code)
    }

    /// The function that runs `code` up to the instruction and hands over; all of it where the instruction is unreachable.
    fn install<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        code: &Code,
        like: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(mut code) = self.split_code(py, code)? else {
            return function::from_code(&code.assemble(py)?, like);
        };
        code.flatten();
        let assembled = code.assemble(py)?;
        let root = self.function.bind(py);
        if like.is(root) { with_closure(&assembled, root) } else { function::from_code(&assembled, like) }
    }

    fn continuation(self: &Arc<Self>, py: Python<'_>, wanted: &super::Continuation) -> PyResult<Py<PyAny>> {
        let poisoned = || PyRuntimeError::new_err("the table of continuations is poisoned");
        if let Some(known) = self.continuations.lock().map_err(|_| poisoned())?.get(&wanted.key) {
            return Ok(known.clone_ref(py));
        }
        let code = wanted.build(py, &self.marks).map_err(refused)?;
        let plain = function::from_code(&code.assemble(py)?, self.function.bind(py))?;
        let again = self.every && !wanted.is_rebuilt();
        let code = Mutex::new(again.then_some(code));
        let entry = OnceLock::new();
        if !again {
            let _ = entry.set(plain.clone().unbind());
        }
        let made =
            callable::new(&plain, Box::new(Broken { family: Arc::clone(self), root: false, code, entry }), true)?
                .unbind();
        let mut known = self.continuations.lock().map_err(|_| poisoned())?;
        Ok(known.entry(wanted.key.clone()).or_insert(made).clone_ref(py))
    }
}

/// A function with the code and everything else as in `like`; slots of a hand-over may look like free variables.
fn with_closure<'py>(code: &Bound<'py, PyAny>, like: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let made = function::from_code(code, like)?;
    if let Ok(cells) = like.getattr("__closure__")?.cast_into::<PyTuple>() {
        function::set_closure(&made, &cells)?;
    }
    made.setattr("__name__", like.getattr("__name__")?)?;
    made.setattr("__qualname__", like.getattr("__qualname__")?)?;
    Ok(made)
}

fn refused(refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::Damaged(error) => error.into(),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// A callable like `function` that runs natively up to and with the instruction at byte offset `offset`, hands its frame
/// over there, and goes on in a continuation; with `every`, again each time it comes by.
#[pyfunction]
#[pyo3(signature = (function, offset, every = true))]
pub(crate) fn break_at<'py>(function: &Bound<'py, PyAny>, offset: u32, every: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let code = Code::decode(&function.getattr("__code__")?)?;
    let at = code.index_at(offset);
    let at = at.ok_or_else(|| PyValueError::new_err(format!("no instruction at offset {offset}")))?;
    let state = code.state_at(at).map_err(refused)?;
    let marks = Marks::new(py)?;
    split_any(py, &code, at, &state, &marks).map_err(refused)?;
    let continuations = Mutex::new(FxHashMap::default());
    let function_of = function.clone().unbind();
    let family = Arc::new(Family { offset, every, function: function_of, marks, continuations, arrival: None });
    let broken = Broken { family, root: true, code: Mutex::new(Some(code)), entry: OnceLock::new() };
    callable::new(function, Box::new(broken), false)
}

/// A code object with its globals, by address; both are kept alive by the table's entry.
type Identity = (usize, usize);

/// Code with the state before each instruction.
type Unsplit = (Arc<Code>, Arc<Vec<Option<State>>>);

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
    /// The function in the ledger.
    content: Option<Content>,
}

/// What a frame is to be split at.
struct Turn {
    identity: Identity,
    content: Content,
    /// Place among the reachable instructions.
    index: usize,
    offset: u32,
    /// The split code, or what it is made from.
    made: Result<Py<PyAny>, Unsplit>,
}

thread_local! {
    /// The pair that this thread's frame now being replaced is the first to try.
    static FIRST: Cell<Option<Pair>> = const { Cell::new(None) };
}

/// A function by file name, qualified name and first line.
pub(crate) type Named = (String, String, i32);

/// Breaks every frame: each call of a function at its next instruction.
#[derive(Default)]
pub(crate) struct Everywhere {
    /// What happened; `replaced` counts frames.
    pub counters: Arc<Counters>,
    splits: Mutex<FxHashMap<Identity, Splits>>,
    /// Code objects made here that start frames of their own.
    own: Mutex<FxHashSet<usize>>,
    every: bool,
    /// Functions left alone.
    whole: FxHashSet<Named>,
}

impl Everywhere {
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
        let content = code.as_ref().map(Content::of);
        if let (Some(code), Some(content)) = (&code, content) {
            let file = code.file.to_string();
            let file = file.rsplit('/').next().unwrap_or_default();
            let name = || format!("{file}:{} {}", code.firstlineno, code.qualname);
            self.counters.ledger.enroll(content, name, offsets.len());
        }
        Ok(Splits { _function: function, code: code.map(Arc::new), states: Arc::new(states), offsets, made, content })
    }

    /// What to split next for this frame.
    fn take(&self, py: Python<'_>, frame: Frame<'_>) -> Option<Turn> {
        let identity = (frame.code_address(), frame.globals_address());
        let known = self.splits.lock().ok()?.contains_key(&identity);
        let fresh = (!known).then(|| self.splits(py, frame)).transpose().ok()?;
        let mut table = self.splits.lock().ok()?;
        let splits = match fresh {
            Some(fresh) => table.entry(identity).or_insert(fresh),
            None => table.get_mut(&identity)?,
        };
        let unsplit = (splits.code.clone()?, Arc::clone(&splits.states));
        let content = splits.content?;
        let index = self.counters.ledger.next(content)?;
        let offset = *splits.offsets.get(index)?;
        let made = splits.made.get(index)?.as_ref().map(|made| made.clone_ref(py));
        Some(Turn { identity, content, index, offset, made: made.ok_or(unsplit) })
    }

    fn is_own(&self, code: usize) -> bool {
        self.own.lock().is_ok_and(|own| own.contains(&code))
    }

    fn make(
        &self,
        py: Python<'_>,
        frame: Frame<'_>,
        turn: &Turn,
        (code, states): &Unsplit,
    ) -> PyResult<Option<Py<PyAny>>> {
        let offset = turn.offset;
        let Some(at) = code.index_at(offset) else { return Ok(None) };
        let Some(state) = states.get(at).and_then(Option::as_ref) else { return Ok(None) };
        let family = Arc::new(Family {
            offset,
            every: self.every,
            function: Self::stand_in(py, frame)?,
            marks: Marks::new(py)?,
            continuations: Mutex::default(),
            arrival: Some(Arrival {
                ledger: Arc::clone(&self.counters.ledger),
                function: turn.content,
                index: turn.index,
                noted: AtomicBool::new(false),
            }),
        });
        let mut split = family.split_at(py, code, at, state)?;
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

impl FrameHandler for Everywhere {
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
        let first = self.counters.ledger.tried(turn.content, turn.index);
        self.counters.pairs.fetch_add(u64::from(first.is_some()), Ordering::Relaxed);
        FIRST.set(first);
        self.counters.replaced.fetch_add(1, Ordering::Relaxed);
        if self.is_own(made.as_ptr() as usize) {
            return Ok(Action::Call(with_closure(made.bind(py), &frame.function(py))?.unbind()));
        }
        Ok(Action::Replace(made))
    }

    fn declined(&self, _reason: Declined) {
        if let Some(pair) = FIRST.take() {
            self.counters.ledger.untried(pair);
            self.counters.pairs.fetch_sub(1, Ordering::Relaxed);
        }
        self.counters.replaced.fetch_sub(1, Ordering::Relaxed);
        self.counters.declined.fetch_add(1, Ordering::Relaxed);
    }
}
