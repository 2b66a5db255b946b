//! Splitting a code object at an instruction.
use super::constants::TransferConstants;
use super::continuation::Split;
use super::metadata::RootCode;
use super::refusal::{Refusal, supported};
use super::transfer::{Site, install};
use crate::bytecode::Code;
use crate::bytecode::shape::State;
use pyo3::prelude::*;

/// A generator function's code that transfers its frame before the first instruction of its body, and delegates to the continuation.
pub fn transfer_at_start(py: Python<'_>, code: &Code, constants: &TransferConstants) -> Result<Split, Refusal> {
    let start = code.start().ok_or(Refusal::Unreachable(0))?;
    split_any(py, code, start, &code.state_at(start)?, constants)
}

/// Splits `code` at instruction `at`, before which the frame is in `state`.
///
/// Before the end of the frame's start (`MAKE_CELL`…, `RESUME`) there is nothing to split: `at` then means `RESUME`, or
/// the instruction where a continuation resumes.
pub fn split(
    py: Python<'_>,
    code: &Code,
    at: usize,
    state: &State,
    constants: &TransferConstants,
) -> Result<Split, Refusal> {
    supported(py, code)?;
    split_any(py, code, at, state, constants)
}

/// As [`split`], also for generators, coroutines, and bodies of modules and classes.
pub(crate) fn split_any(
    py: Python<'_>,
    code: &Code,
    at: usize,
    state: &State,
    constants: &TransferConstants,
) -> Result<Split, Refusal> {
    let start = code.start().ok_or(Refusal::Unreachable(at))?;
    let root = RootCode::of(py, code, start);
    let early = at < start || root.instr(at).is_err();
    let (at, state) = if early { (root.first, code.state_at(root.first)?) } else { (at, state.clone()) };
    let entry = code.instrs.get(at).ok_or(Refusal::Unreachable(at))?.id;
    let body = code.instrs.get(start + 1).ok_or(Refusal::Unreachable(start + 1))?.id;
    let mut native = code.duplicate(py);
    native.count_references();
    let mut split = Split { code: native, entry, body, continuations: Vec::new() };
    let site = Site { original: code, root: &root, at, constants };
    install(py, &mut split, &site, state)?;
    Ok(split)
}

impl Code {
    /// The state before one instruction, over all ways that lead there.
    pub fn state_at(&self, index: usize) -> Result<State, Refusal> {
        self.state_before(index).ok_or(Refusal::Unreachable(index))
    }
}
