//! Nested functions: those that a compiled function calls natively because a break lies under them. They are compiled in their own right,
//! through the evaluation hook, while a compiled function runs.
use super::compiled::Compiled;
use super::unit::CompilationUnit;
use crate::ffi::callable::{self, Choice, Dispatch};
use crate::ffi::frame::{Frame, ReplaceRefusal};
use crate::ffi::hook::{self, Action, FrameHandler};
use crate::ffi::other_compiler;
use crate::ffi::{function, inspect};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

/// With how many globals a code object may be compiled.
const GLOBALS: usize = 8;

/// The code objects whose frames are compiled when they are reached.
#[derive(Debug, Default)]
struct NestedFrames {
    /// A bit per code object, by address: most frames are none of ours.
    filter: AtomicU64,
    codes: Mutex<FxHashMap<usize, Vec<NestedEntry>>>,
    installed: AtomicBool,
}

/// What to do with the frames of one code object on behalf of those that compile alike.
#[derive(Debug)]
struct NestedEntry {
    /// Keeps the address valid.
    _code: Py<PyAny>,
    /// The units of functions whose calls lead there; each is gone with its function.
    by: Vec<Weak<CompilationUnit>>,
    /// What was compiled, by globals; functions that were made anew share it.
    compiled: Vec<(Py<PyAny>, Arc<Compiled>)>,
}

static NESTED: std::sync::LazyLock<Arc<NestedFrames>> = std::sync::LazyLock::new(Arc::default);

/// Compiles nested functions.
pub(super) struct Handler(Arc<NestedFrames>);

/// The handler, for one that stands in its place.
pub(super) fn handler() -> Handler {
    Handler(Arc::clone(&NESTED))
}

/// Takes the hook out for another handler, which is to ask this one.
pub(super) fn step_aside(py: Python<'_>) -> PyResult<()> {
    if NESTED.installed.swap(false, Relaxed) && hook::is_installed(py) { hook::uninstall(py) } else { Ok(()) }
}

/// Puts it in again, if there is something to compile.
pub(super) fn step_in(py: Python<'_>) -> PyResult<()> {
    if NESTED.filter.load(Relaxed) == 0 || NESTED.installed.swap(true, Relaxed) {
        return Ok(());
    }
    hook::install(py, Box::new(handler()))
}

fn bit(address: usize) -> u64 {
    1 << ((address >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

/// Has frames of these code objects compiled when the unit's native calls reach them.
pub(super) fn register(py: Python<'_>, unit: &Arc<CompilationUnit>, codes: &[Py<PyAny>]) -> PyResult<()> {
    if codes.is_empty() {
        return Ok(());
    }
    let Ok(mut known) = NESTED.codes.lock() else { return Ok(()) };
    let mut dead = Vec::new();
    known.retain(|_, nested| {
        nested.iter_mut().for_each(|nested| nested.by.retain(|by| by.strong_count() > 0));
        dead.extend(nested.extract_if(.., |nested| nested.by.is_empty()));
        !nested.is_empty()
    });
    for code in codes {
        let address = code.as_ptr() as usize;
        let nested = known.entry(address).or_default();
        let root = Weak::clone(unit.root());
        match nested.iter_mut().find(|nested| nested.serves(unit)) {
            Some(nested) if nested.by.iter().any(|by| by.ptr_eq(&root)) => {}
            Some(nested) => nested.by.push(root),
            None => nested.push(NestedEntry { _code: code.clone_ref(py), by: vec![root], compiled: Vec::new() }),
        }
        NESTED.filter.fetch_or(bit(address), Relaxed);
    }
    drop(known);
    drop(dead);
    if hook::is_installed(py) || NESTED.installed.swap(true, Relaxed) {
        return Ok(());
    }
    match hook::install(py, Box::new(Handler(Arc::clone(&NESTED)))) {
        // Another thread has done so while this one looked whether the interpreter fits.
        Err(error) if !hook::is_installed(py) => {
            NESTED.installed.store(false, Relaxed);
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Forgets everything and takes the hook out.
pub(super) fn reset(py: Python<'_>) -> PyResult<()> {
    NESTED.filter.store(0, Relaxed);
    let taken = NESTED.codes.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
    drop(taken);
    if NESTED.installed.swap(false, Relaxed) {
        if hook::is_installed(py) {
            return hook::uninstall(py);
        }
        hook::forget(py);
    }
    Ok(())
}

impl NestedEntry {
    /// A unit that asked for it and still lives.
    fn unit(&self) -> Option<Arc<CompilationUnit>> {
        self.by.iter().find_map(Weak::upgrade)
    }

    /// Whether what it has compiled is right for the unit.
    fn serves(&self, unit: &CompilationUnit) -> bool {
        self.unit().is_some_and(|by| by.compiles_like(unit))
    }
}

impl NestedFrames {
    /// The dispatcher for this function, on behalf of those that asked last and still live.
    fn dispatcher(&self, function: &Bound<'_, PyAny>, code: usize) -> Option<Arc<Compiled>> {
        let mut known = self.codes.lock().ok()?;
        let nested = known.get_mut(&code)?.iter_mut().rev().find(|nested| nested.unit().is_some())?;
        let globals = inspect::globals(function)?;
        if let Some((_, compiled)) = nested.compiled.iter().find(|(known, _)| known.is(&globals)) {
            return Some(Arc::clone(compiled));
        }
        if nested.compiled.len() >= GLOBALS {
            return None;
        }
        let unit = nested.unit()?;
        // Continuations need the function for its names and globals only.
        let like = function::from_code(&inspect::function_code(function)?, function).ok()?;
        let made = Arc::new(Compiled::of_code(unit.nested(&like)));
        nested.compiled.push((globals.unbind(), Arc::clone(&made)));
        Some(made)
    }
}

impl FrameHandler for Handler {
    fn observe(&self, frame: Frame<'_>) -> bool {
        self.0.filter.load(Relaxed) & bit(frame.code_address()) != 0 && callable::active()
    }

    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action> {
        if other_compiler::runs(py) {
            return Ok(Action::Run);
        }
        let function = frame.function(py);
        let Some(compiled) = self.0.dispatcher(&function, frame.code_address()) else { return Ok(Action::Run) };
        let values = frame.values();
        let args = values.args(py);
        if compiled.is_amid_change(args) {
            return Ok(Action::Natively);
        }
        Ok(match compiled.choose(&function, args)? {
            Choice::Run(entry) => Action::Call(function::with_closure(entry.bind(py), &function)?.unbind()),
            Choice::Original => Action::Run,
            Choice::Done(result) => Action::Done(result),
        })
    }

    fn declined(&self, _reason: ReplaceRefusal) {}
}
