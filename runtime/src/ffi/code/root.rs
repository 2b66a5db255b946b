//! The code that a program knows, kept with code that runs in its place.
use super::extra::{self, Place};
use crate::bytecode::{Code, Instr, Local, LocalKind, Op};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock};

/// What is kept with code that runs in another one's place.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Root {
    code: Py<PyCode>,
    /// The places in it for those in the other code, in bytes; `None`: it has no such place.
    places: Mutex<FxHashMap<i32, Option<i32>>>,
    /// The other code's slot for each of its own.
    slots: OnceLock<Box<[Option<usize>]>>,
}

/// Code that runs in another one's place, with that one.
#[derive(Debug)]
pub struct StandIn<'py> {
    made: Bound<'py, PyCode>,
    root: Bound<'py, Root>,
}

/// The code runs in place of `root`, as its frames show when they have ended.
///
/// # Errors
/// Where one of them is no code object, or there is no memory.
pub fn keep(made: &Bound<'_, PyAny>, root: &Bound<'_, PyAny>) -> PyResult<()> {
    if made.is(root) {
        return Ok(());
    }
    let root = Root { code: root.cast::<PyCode>()?.clone().unbind(), places: Mutex::default(), slots: OnceLock::new() };
    extra::set(made.cast()?, Place::Root, Bound::new(made.py(), root)?.into_any())
}

/// The code with the one in whose place it runs; `None` for any other code.
#[must_use]
pub fn stand_in<'py>(code: &Bound<'py, PyAny>) -> Option<StandIn<'py>> {
    let made = code.cast::<PyCode>().ok()?;
    let root = extra::get(made, Place::Root).ok()??.cast_into_exact().ok()?;
    Some(StandIn { made: made.clone(), root })
}

impl<'py> StandIn<'py> {
    /// The code that the program knows.
    #[must_use]
    pub fn root(&self) -> Bound<'py, PyAny> {
        self.root.get().code.bind(self.root.py()).clone().into_any()
    }

    /// The slot of each of its variables in the code that runs.
    ///
    /// # Errors
    /// Where one of the two cannot be decoded.
    pub fn slots(&self) -> PyResult<&[Option<usize>]> {
        let known = &self.root.get().slots;
        if let Some(slots) = known.get() {
            return Ok(slots);
        }
        let slots = same_slots(&Code::read(&self.root())?, &Code::read(&self.made)?);
        Ok(known.get_or_init(|| slots))
    }

    /// The place in it of the same operation at the same place in the source.
    ///
    /// # Errors
    /// Where one of the two cannot be decoded.
    pub fn place(&self, offset: i32) -> PyResult<Option<i32>> {
        let poisoned = |_| PyRuntimeError::new_err("the places of a code object are poisoned");
        let places = || self.root.get().places.lock().map_err(poisoned);
        if let Some(known) = places()?.get(&offset) {
            return Ok(*known);
        }
        let (own, root) = (Code::read(&self.made)?, Code::read(&self.root())?);
        let found = u32::try_from(offset).ok().and_then(|offset| same_place(offset, &own.instrs, &root.instrs));
        places()?.insert(offset, found);
        Ok(found)
    }
}

/// For each variable of a code object, the slot that another one has for it.
fn same_slots(root: &Code, made: &Code) -> Box<[Option<usize>]> {
    let is_free = |local: &Local| local.kind.contains(LocalKind::FREE);
    let same = |one: &Local, other: &Local| one.name == other.name && is_free(one) == is_free(other);
    root.locals.iter().map(|local| made.locals.iter().position(|own| same(local, own))).collect()
}

/// The place in `root` of the operation that an offset in `made` is of. Up to 3.12 a frame that has called stands behind the operation, on the
/// last of its inline caches.
fn same_place(offset: u32, made: &[Instr], root: &[Instr]) -> Option<i32> {
    let own = made.iter().rfind(|instr| instr.offset.is_some_and(|start| start <= offset))?;
    let there = |at: &usize| root[*at].position.line > 0 && root[*at].position == own.position;
    let mut places = (0..root.len()).filter(there);
    let same = places.clone().find(|at| root[*at].op == own.op);
    // Code that runs in another one's place calls by subscription.
    let call = || places.clone().find(|at| root[*at].op.name().starts_with("CALL"));
    let found = same.or_else(call);
    let found = found.or_else(|| places.rfind(|at| !matches!(root[*at].op, Op::POP_TOP | Op::NOP)))?;
    let start = root[found].offset?;
    let behind = || {
        let next = root.get(found + 1)?;
        next.offset?.checked_sub(2 * (u32::from(next.prefixes) + 1))
    };
    let place = if own.offset == Some(offset) { start } else { behind().unwrap_or(start).max(start) };
    i32::try_from(place).ok()
}
