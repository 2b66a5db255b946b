//! Splitting a code object at any instruction: run it natively there, then hand the frame's state over to a continuation.
//!
//! The state goes over in a *packet*, a tuple `(continuation, mark, observers, *arguments)` that the frame returns and whose
//! receiver calls: the frame is replaced, so that a break inside a loop costs no stack. NULLs, unbound variables and the
//! exception being handled are taken down and put up again by bytecode alone. Observers are frame objects that outlive their
//! frames: they get the variables of the frame that ends last.
//!
//! A generator or coroutine keeps its frame, for others hold it: there the rest runs as another generator (coroutine), to
//! which the frame delegates as `yield from` (`await`) does. That one hands over by returning a packet, so that however often
//! a generator is broken, two frames stay. The variables of a module's or class's body lie in a namespace,
//! which is the packet's last value.
mod caller;
mod continuation;
mod delegate;
mod dialect;
pub(crate) mod everywhere;
mod hand_over;
pub(crate) mod interrupts;
pub(crate) mod ledger;
mod lineage;
mod resumed;

pub use resumed::{Part, Resumed, resumed};

use super::code::{Code, LocalKind};
use super::error::Error;
use super::flag;
use super::instr::Label;
use super::shape::{Bound, Entry, Shape, State};
use generated::opcodes::Op;
use pyo3::exceptions::{PyBaseException, PyStopIteration};
use pyo3::prelude::*;
use std::sync::Arc;

/// A split code object.
#[derive(Debug)]
pub struct Split {
    /// The original with temporaries and hand-over blocks: started at its first instruction it behaves like the original
    /// up to `entry`, and hands over after it.
    pub code: Code,
    /// The instruction that runs natively: where a prologue jumps to once locals and stack are as the state says.
    pub entry: Label,
    /// First instruction after the frame's start (`MAKE_CELL`…, `RESUME`): where a prologue is inserted.
    pub body: Label,
    /// One per successor of the instruction.
    pub continuations: Vec<Continuation>,
}

/// What runs after a hand-over.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// Names it among the continuations of the same root: equal keys, equal code.
    pub key: Key,
    /// Index in the split code's constants where the continuation's callable belongs.
    pub constant: usize,
    /// How control came here.
    pub way: Way,
    root: Arc<Code>,
}

/// What a continuation depends on, besides the root code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Index of the root's instruction that runs first.
    pub resume: usize,
    /// Stack and slots before it.
    pub state: State,
}

impl Continuation {
    /// The continuation's code: a function whose parameters are the packet's values, in order.
    pub fn build(&self, py: Python<'_>, marks: &Marks) -> Result<Code, Refusal> {
        let cargo = Cargo::new(&self.root, &self.key.state);
        Ok(continuation::build(py, &self.root, self.key.resume, &cargo, marks)?)
    }

    /// The line where it goes on; -1 where there is none.
    #[must_use]
    pub fn line(&self) -> i32 {
        self.root.line(self.key.resume)
    }

    /// Whether its code has other instructions than the root's besides the prologue: that of an asynchronous generator has, so
    /// that places in it do not stand for places in the root.
    pub(crate) fn is_rebuilt(&self) -> bool {
        self.root.flags & flag::ASYNC_GENERATOR != 0
    }

    /// The code object that all continuations of this family descend from.
    #[must_use]
    pub fn root(&self) -> &Py<PyAny> {
        &self.root.original
    }
}

/// A way out of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the next instruction.
    Next,
    /// To its jump target.
    Jump,
    /// To its exception handler.
    Raise,
}

/// Why no continuation can serve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The code object itself is damaged.
    #[error(transparent)]
    Damaged(#[from] Error),
    /// Bodies of modules and classes are not compiled, though they can be split.
    #[error("the body of a module or class keeps its variables in a namespace")]
    Namespace,
    /// Generators and coroutines are not compiled, though they can be split.
    #[error("a generator's or coroutine's frame cannot be replaced by another")]
    Generator,
    /// The instruction cannot be reached.
    #[error("instruction {0} is unreachable or does not exist")]
    Unreachable(usize),
}

/// Placeholder constants of a hand-over.
#[derive(Debug)]
pub struct Marks {
    /// Stands for an unbound variable in a packet; never visible to programs.
    pub unbound: Py<PyAny>,
    /// Stands behind the continuation in a packet.
    packet: Py<PyAny>,
    /// An exception instance that `PUSH_EXC_INFO` may set for the length of one instruction.
    pub exception: Py<PyAny>,
    /// What the rest of an asynchronous generator, a coroutine then, calls in place of `INTRINSIC_STOPITERATION_ERROR`.
    stop_error: Py<PyAny>,
    /// `StopIteration`, for releases without `CLEANUP_THROW`.
    stop_iteration: Py<PyAny>,
    /// Calls what it is subscribed with.
    caller: Py<caller::Caller>,
    /// The same with keywords.
    keyword_caller: Py<caller::KeywordCaller>,
    /// Goes on with what a continuation hands over.
    follower: Py<caller::Follower>,
    /// Makes what goes on with a packet when it is called.
    suspender: Py<caller::Suspender>,
    /// Gives the frame objects that wait for the running frame's variables.
    observers: Py<caller::Observers>,
    /// Shows them to those while the frame runs.
    sharer: Py<caller::Sharer>,
    /// Gives the running frame's namespace, for releases without `LOAD_LOCALS`.
    namespace: Py<PyAny>,
}

impl Marks {
    /// What prologues call through, so that no signal is handled there.
    pub(crate) fn caller<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.caller.bind(py).as_any().clone()
    }

    /// The same with keywords.
    pub(crate) fn keyword_caller<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.keyword_caller.bind(py).as_any().clone()
    }

    /// `suspender[packet]` gives a callable that goes on with the packet, whatever it is called with.
    pub(crate) fn suspender<'py>(&self, py: Python<'py>) -> pyo3::Bound<'py, PyAny> {
        self.suspender.bind(py).as_any().clone()
    }

    /// New marks; one set per module is enough.
    pub fn new(py: Python<'_>) -> PyResult<Self> {
        // Not by an import: that would ask the globals and the modules of the program.
        Ok(Self {
            unbound: py.get_type::<PyAny>().call0()?.unbind(),
            packet: crate::ffi::callable::mark(py)?.clone().unbind(),
            exception: py.get_type::<PyBaseException>().call0()?.unbind(),
            stop_error: delegate::stop_error(py)?.into_any().unbind(),
            stop_iteration: py.get_type::<PyStopIteration>().into_any().unbind(),
            caller: Py::new(py, caller::Caller)?,
            keyword_caller: Py::new(py, caller::KeywordCaller)?,
            follower: Py::new(py, caller::Follower)?,
            suspender: Py::new(py, caller::Suspender)?,
            observers: Py::new(py, caller::Observers)?,
            sharer: Py::new(py, caller::Sharer)?,
            namespace: dialect::namespace(py)?.into_any().unbind(),
        })
    }
}

/// Whether a packet can hand over this kind of code's frame, as compiled code does it: that of a generator only where a
/// frame that stays delegates to it.
pub fn supported(py: Python<'_>, code: &Code) -> Result<(), Refusal> {
    if code.flags & flag::OPTIMIZED == 0 {
        return Err(Refusal::Namespace);
    }
    match code.flags & flag::GENERATOR_LIKE {
        0 => Ok(()),
        flag::GENERATOR if code.is_continuation(py) => Ok(()),
        _ => Err(Refusal::Generator),
    }
}

/// A generator function's code that hands its frame over before the first instruction of its body, and delegates to what comes of
/// that.
pub fn hand_over_at_start(py: Python<'_>, code: &Code, marks: &Marks) -> Result<Split, Refusal> {
    let start = code.instrs.iter().position(|instr| instr.op == Op::RESUME).ok_or(Refusal::Unreachable(0))?;
    split_any(py, code, start, &code.state_at(start)?, marks)
}

/// Splits `code` at instruction `at`, before which the frame is in `state`.
///
/// Before the end of the frame's start (`MAKE_CELL`…, `RESUME`) there is nothing to split: `at` then means `RESUME`, or
/// the instruction where a continuation resumes.
pub fn split(py: Python<'_>, code: &Code, at: usize, state: &State, marks: &Marks) -> Result<Split, Refusal> {
    supported(py, code)?;
    split_any(py, code, at, state, marks)
}

/// As [`split`], also for generators, coroutines, and bodies of modules and classes.
pub(crate) fn split_any(
    py: Python<'_>,
    code: &Code,
    at: usize,
    state: &State,
    marks: &Marks,
) -> Result<Split, Refusal> {
    let start = code.instrs.iter().position(|instr| instr.op == Op::RESUME).ok_or(Refusal::Unreachable(at))?;
    let origin = lineage::Origin::of(py, code, start);
    let early = at < start || origin.instr(at).is_err();
    let (at, state) = if early { (origin.first, code.state_at(origin.first)?) } else { (at, state.clone()) };
    let entry = code.instrs.get(at).ok_or(Refusal::Unreachable(at))?.id;
    let body = code.instrs.get(start + 1).ok_or(Refusal::Unreachable(start + 1))?.id;
    let mut split = Split { code: code.duplicate(py), entry, body, continuations: Vec::new() };
    let site = hand_over::Site { original: code, origin: &origin, at, marks };
    hand_over::install(py, &mut split, &site, state)?;
    Ok(split)
}

impl Code {
    /// The state before one instruction, over all ways that lead there.
    pub fn state_at(&self, index: usize) -> Result<State, Refusal> {
        self.state_before(index).ok_or(Refusal::Unreachable(index))
    }
}

/// What a packet carries, in the order of the continuation's parameters.
#[derive(Clone, Debug)]
struct Cargo {
    /// Plain locals that become parameters in their own slots: `0..prefix`.
    prefix: usize,
    /// Later slots (cells, free variables) that hold something.
    slots: Vec<(usize, Bound)>,
    /// The value stack.
    stack: Shape,
    /// All slots.
    bound: Vec<Bound>,
    /// Whether the frame's variables lie in a namespace, which then is the packet's last value.
    namespace: bool,
    /// Whether the frame stays and delegates.
    delegates: bool,
}

impl Cargo {
    fn new(code: &Code, state: &State) -> Self {
        let nlocals = code.nlocals();
        let prefix = state.bound[..nlocals].iter().rposition(|bound| *bound != Bound::No).map_or(0, |last| last + 1);
        let later = (nlocals..code.locals.len()).filter(|slot| state.bound[*slot] != Bound::No);
        let slots = later.map(|slot| (slot, state.bound[slot])).collect();
        Self {
            prefix,
            slots,
            stack: state.stack.clone(),
            bound: state.bound.clone(),
            namespace: code.flags & flag::OPTIMIZED == 0,
            delegates: code.flags & flag::GENERATOR_LIKE != 0,
        }
    }

    /// Stack entries that travel: objects as themselves, a handled exception for each previous one.
    fn carried(&self) -> usize {
        self.stack.iter().filter(|entry| **entry != Entry::Null).count()
    }

    /// Parameters beyond the plain locals.
    fn extras(&self) -> usize {
        self.slots.len() + self.carried()
    }
}

fn is_free(code: &Code, slot: usize) -> bool {
    code.locals.get(slot).is_some_and(|local| local.kind.contains(LocalKind::FREE))
}
