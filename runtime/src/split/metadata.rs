//! The root of a continuation: continuations of continuations are made from the same code, so that a break in a loop reaches the
//! continuation that the iteration before has.
use super::continuation::{Continuation, Exit, Key};
use super::packet_layout::PacketLayout;
use super::refusal::Refusal;
use crate::bytecode::shape::{Bound, Entry, State};
use crate::bytecode::{Code, Op, Position, flag};
use crate::ffi::root;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What a continuation's code keeps of its root; one of its constants, which no instruction uses.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(crate) struct ResumeMetadata {
    root: Arc<Code>,
    /// Instructions before the copy of the root's.
    prologue: usize,
    /// Root's instruction for each of the code's; `None` for those of a prologue or put in later.
    instrs: Arc<[Option<usize>]>,
    /// The instruction that is the first of the root's to run.
    first: usize,
    /// Slots below this are the root's own; then come `extras` parameters, then the rest of the root's.
    prefix: usize,
    extras: usize,
    /// What the continuation depends on besides the root.
    key: Key,
}

impl ResumeMetadata {
    /// Of `code`, which after `prologue` instructions of its own goes on at `first`.
    pub(super) fn new(
        continuation: &Continuation,
        code: &Code,
        prologue: usize,
        first: usize,
        layout: &PacketLayout,
    ) -> Self {
        let (root, key) = (Arc::clone(&continuation.root), continuation.key.clone());
        let indices = root.indices();
        let instrs: Arc<[_]> = code.instrs.iter().map(|instr| indices.get(instr.id)).collect();
        Self { root, prologue, instrs, first, prefix: layout.prefix, extras: layout.extras(), key }
    }

    /// What the continuation is made from.
    #[must_use]
    pub(crate) fn root(&self) -> Arc<Code> {
        Arc::clone(&self.root)
    }

    /// The slots whose values are others each time that the loop comes here again in which the continuation of this code goes on: variables
    /// that the loop sets, and what lies on the stack. None where it goes on in no loop.
    #[must_use]
    pub(crate) fn loop_slots(&self, code: &Code) -> FxHashSet<u32> {
        let leading = code.leading(self.first, &code.indices());
        let in_loop = || code.instrs.iter().enumerate().skip(self.prologue).filter(|(index, _)| leading[*index]);
        if in_loop().all(|(index, _)| index == self.first) {
            return FxHashSet::default();
        }
        let set = in_loop().filter(|(_, instr)| instr.op == Op::STORE_FAST).map(|(_, instr)| instr.arg);
        set.chain(self.prefix as u32..(self.prefix + self.extras) as u32).collect()
    }

    /// The continuation that the code was built for.
    #[must_use]
    pub(crate) fn continuation(&self) -> Continuation {
        Continuation { key: self.key.clone(), constant: usize::MAX, way: Exit::Next, root: Arc::clone(&self.root) }
    }
}

/// A code object and the root that its continuations are made from.
pub(super) struct RootCode {
    pub root: Arc<Code>,
    /// Root's instruction for each of the code's; `None` for those that it has not.
    instrs: Arc<[Option<usize>]>,
    /// Root's slot for each of the code's; `None` for parameters that only carry state.
    slots: Vec<Option<usize>>,
    /// First instruction of the program proper: after the frame's start, or where a continuation resumes.
    pub first: usize,
}

impl RootCode {
    pub fn of(py: Python<'_>, code: &Code, start: usize) -> Self {
        let all = code.consts.iter().rev().filter_map(|constant| constant.bind(py).cast::<ResumeMetadata>().ok());
        match all.map(|metadata| metadata.get()).next() {
            Some(metadata) => Self::descendant(code, metadata),
            None => Self::itself(py, code, start),
        }
    }

    fn itself(py: Python<'_>, code: &Code, start: usize) -> Self {
        let root = as_root(py, code);
        let indices = root.indices();
        let instrs = code.instrs.iter().map(|instr| indices.get(instr.id)).collect();
        Self { root: Arc::new(root), instrs, slots: (0..code.locals.len()).map(Some).collect(), first: start }
    }

    fn descendant(code: &Code, metadata: &ResumeMetadata) -> Self {
        let own = |slot: usize| {
            if slot < metadata.prefix {
                Some(slot)
            } else {
                slot.checked_sub(metadata.extras).filter(|own| *own >= metadata.prefix)
            }
        };
        Self {
            root: Arc::clone(&metadata.root),
            instrs: Arc::clone(&metadata.instrs),
            slots: (0..code.locals.len()).map(own).collect(),
            first: metadata.first,
        }
    }

    /// The root's instruction.
    pub fn instr(&self, index: usize) -> Result<usize, Refusal> {
        self.instrs.get(index).copied().flatten().ok_or(Refusal::Unreachable(index))
    }

    /// The places on the stack at which packets of its frames carry an iterator for a sequence that is read by an index, and nothing
    /// for the index. Generators show the sequence, so that theirs carry both.
    pub fn indices(&self, state: &State) -> Vec<usize> {
        if self.root.delegates() {
            return Vec::new();
        }
        (0..state.stack.len()).filter(|place| state.stack[*place] == Entry::IndexOrNull).collect()
    }

    /// The state in terms of the root's slots.
    pub fn state(&self, state: &State) -> State {
        let mut bound = vec![Bound::No; self.root.locals.len()];
        for (slot, value) in state.bound.iter().enumerate() {
            if let Some(entry) = self.slots.get(slot).copied().flatten().and_then(|own| bound.get_mut(own)) {
                *entry = *value;
            }
        }
        let mut stack = state.stack.clone();
        self.indices(state).into_iter().for_each(|place| stack[place] = Entry::Null);
        State { stack, bound }
    }

    /// The code's slot for a root's slot.
    pub fn slot(&self, root: usize) -> usize {
        self.slots.iter().position(|own| *own == Some(root)).unwrap_or(root)
    }
}

/// What continuations of code are made from, which is none of a continuation.
pub(super) fn as_root(py: Python<'_>, code: &Code) -> Code {
    let mut root = code.duplicate(py);
    root.split_fused(|_| true);
    root
}

/// What the code of a continuation holds among its constants; `None` for any other code.
///
/// # Errors
/// `AttributeError` for anything but a code object.
pub(crate) fn metadata_in<'py>(code: &pyo3::Bound<'py, PyAny>) -> PyResult<Option<pyo3::Bound<'py, ResumeMetadata>>> {
    let constants = code.getattr(intern!(code.py(), "co_consts"))?.cast_into::<PyTuple>()?;
    Ok(constants.iter().rev().find_map(|constant| constant.cast_into_exact::<ResumeMetadata>().ok()))
}

/// The unit of a continuation's code that stands on the line of a unit of its root's.
pub(super) fn own_unit(code: &pyo3::Bound<'_, PyAny>, unit: u32) -> PyResult<Option<u32>> {
    let metadata = metadata_in(code)?;
    let root = metadata.as_ref().map(|metadata| &metadata.get().root);
    let from = root.and_then(|root| root.instrs.iter().find(|instr| instr.offset == Some(unit * 2)));
    let Some(from) = from else { return Ok(None) };
    let line = Some(from.position.line).filter(|line| *line > 0);
    for row in code.call_method0(intern!(code.py(), "co_lines"))?.try_iter()? {
        let (start, _, own): (u32, u32, Option<i32>) = row?.extract()?;
        if own == line {
            return Ok(Some(start / 2));
        }
    }
    Ok(None)
}

/// The code that a continuation's code was made from; any other code itself.
#[must_use]
pub(crate) fn root_of<'py>(code: &pyo3::Bound<'py, PyAny>) -> pyo3::Bound<'py, PyAny> {
    let metadata = metadata_in(code).ok().flatten();
    metadata.map_or_else(|| code.clone(), |found| found.get().root.original.bind(code.py()).clone())
}

impl Code {
    /// A code object that runs in place of the one that this was made from: its frames show that one in tracebacks.
    ///
    /// # Errors
    /// Where the instructions do not fit together, or there is no memory.
    pub fn assemble_in_place<'py>(&self, py: Python<'py>) -> PyResult<pyo3::Bound<'py, PyAny>> {
        let made = self.assemble(py)?;
        let root = self.metadata(py).map_or(&self.original, |metadata| &metadata.root.original);
        root::keep(&made, root.bind(py))?;
        Ok(made)
    }

    /// Whether this is a continuation's code.
    #[must_use]
    pub fn is_continuation(&self, py: Python<'_>) -> bool {
        self.metadata(py).is_some()
    }

    /// The slots of a continuation that bring what lay on the stack; none of other code.
    #[must_use]
    pub fn brought(&self, py: Python<'_>) -> std::ops::Range<usize> {
        self.metadata(py).map_or(0..0, |metadata| metadata.prefix..metadata.prefix + metadata.extras)
    }

    fn metadata<'a>(&'a self, py: Python<'a>) -> Option<&'a ResumeMetadata> {
        self.consts.iter().rev().find_map(|constant| Some(constant.bind(py).cast_exact::<ResumeMetadata>().ok()?.get()))
    }

    /// Which unit of the root's code the instruction is: what handlers of frames that are transferred get for `lasti`.
    #[must_use]
    pub fn root_unit(&self, py: Python<'_>, index: usize) -> Option<u32> {
        let instr = match self.metadata(py) {
            Some(metadata) => metadata.root.instrs.get((*metadata.instrs.get(index)?)?),
            None => self.instrs.get(index),
        };
        Some(instr?.offset? / 2)
    }

    /// The place in the source of a unit of the root's code.
    #[must_use]
    pub fn position_of_unit(&self, py: Python<'_>, unit: u32) -> Option<Position> {
        let instrs = self.metadata(py).map_or(&self.instrs, |metadata| &metadata.root.instrs);
        instrs.iter().find(|instr| instr.offset == Some(unit * 2)).map(|instr| instr.position)
    }

    /// Index from which on a frame can be left: after its start, or the prologue of a continuation.
    #[must_use]
    pub fn first_left_at(&self, py: Python<'_>) -> usize {
        let start = self.start().map_or(0, |resume| resume + 1);
        self.prologue(py).max(start)
    }

    /// Instructions of a continuation that its root has not, and that no prologue is: a frame is never left before one of these.
    #[must_use]
    pub fn put_in(&self, py: Python<'_>) -> Vec<usize> {
        let Some(metadata) = self.metadata(py) else { return Vec::new() };
        (metadata.prologue..metadata.instrs.len()).filter(|index| metadata.instrs[*index].is_none()).collect()
    }

    /// Whether its frame stays after a transfer, and delegates.
    pub(crate) fn delegates(&self) -> bool {
        self.flags & flag::GENERATOR_LIKE != 0
    }

    /// Instructions of a continuation before the copy of its root's; 0 for other code.
    #[must_use]
    pub fn prologue(&self, py: Python<'_>) -> usize {
        self.metadata(py).map_or(0, |metadata| metadata.prologue)
    }
}
