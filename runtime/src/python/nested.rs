//! Nested functions: those that a compiled function calls natively because a break lies under them. They are compiled in their own right,
//! through the evaluation hook, while a compiled function runs.
use super::compiled::Compiled;
use super::shared::Options;
use super::unit::CompilationUnit;
use crate::bytecode::flag;
use crate::ffi::callable::{self, Choice, Dispatch};
use crate::ffi::frame::{Frame, ReplaceRefusal};
use crate::ffi::hook::{self, Action, FrameHandler};
use crate::ffi::{function, inspect};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefMethods, PyWeakrefReference};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

/// How many functions with closures of their own may be compiled for one code object.
const FUNCTIONS: usize = 8;

/// The code objects whose frames are compiled when they are reached.
#[derive(Debug, Default)]
struct NestedFrames {
    /// A bit per code object, by address: most frames are none of ours.
    filter: AtomicU64,
    codes: Mutex<FxHashMap<usize, Vec<NestedEntry>>>,
    installed: AtomicBool,
}

/// What to do with the frames of one code object on behalf of one session.
#[derive(Debug)]
struct NestedEntry {
    /// Keeps the address valid.
    _code: Py<PyAny>,
    /// Who expects it; gone with its function.
    by: Weak<CompilationUnit>,
    /// What was compiled for functions; not for those that have ended, whose continuations may still run.
    functions: Vec<(Py<PyWeakrefReference>, Arc<Compiled>)>,
}

static NESTED: std::sync::LazyLock<Arc<NestedFrames>> = std::sync::LazyLock::new(Arc::default);

struct Handler(Arc<NestedFrames>);

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
    for code in codes {
        // What awaits a coroutine sees it.
        if code.bind(py).getattr("co_flags")?.extract::<u32>()? & flag::ASYNC != 0 {
            continue;
        }
        let address = code.as_ptr() as usize;
        let nested = known.entry(address).or_default();
        dead.extend(nested.extract_if(.., |nested| nested.by.strong_count() == 0));
        if !nested.iter().any(|nested| nested.by.as_ptr() == Arc::as_ptr(unit)) {
            nested.push(NestedEntry { _code: code.clone_ref(py), by: Arc::downgrade(unit), functions: Vec::new() });
        }
        NESTED.filter.fetch_or(bit(address), Relaxed);
    }
    drop(known);
    drop(dead);
    if !NESTED.installed.load(Relaxed) && !hook::is_installed(py) {
        match hook::install(py, Box::new(Handler(Arc::clone(&NESTED)))) {
            Ok(()) => NESTED.installed.store(true, Relaxed),
            // Another thread has done so while this one looked whether the interpreter fits.
            Err(_) if hook::is_installed(py) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Forgets everything and takes the hook out.
pub(super) fn reset(py: Python<'_>) -> PyResult<()> {
    NESTED.filter.store(0, Relaxed);
    let taken = NESTED.codes.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
    drop(taken);
    if NESTED.installed.swap(false, Relaxed) { hook::uninstall(py) } else { Ok(()) }
}

impl NestedFrames {
    /// The dispatcher for this function, on behalf of the unit that asked last and still lives.
    fn dispatcher(&self, function: &Bound<'_, PyAny>, code: usize) -> Option<Arc<Compiled>> {
        let py = function.py();
        let mut known = self.codes.lock().ok()?;
        let nested = known.get_mut(&code)?.iter_mut().rev().find(|nested| nested.by.strong_count() > 0)?;
        if let Some((_, compiled)) = nested.functions.iter().find(|(known, _)| is_of(known, function)) {
            return Some(Arc::clone(compiled));
        }
        if nested.functions.len() >= FUNCTIONS {
            return None;
        }
        let unit = nested.by.upgrade()?;
        let options =
            Options { backend: unit.options.backend.as_ref().map(|backend| backend.clone_ref(py)), fullgraph: false };
        // Continuations need the function for its names and globals only.
        let like = function::from_code(&inspect::function_code(function)?, function).ok()?;
        let weak = PyWeakrefReference::new_with(function, ending(py, code).ok()?).ok()?;
        let made = Arc::new(Compiled::root(unit.nested(options, &like)));
        nested.functions.push((weak.unbind(), Arc::clone(&made)));
        Some(made)
    }
}

fn is_of(known: &Py<PyWeakrefReference>, function: &Bound<'_, PyAny>) -> bool {
    known.bind(function.py()).upgrade().is_some_and(|known| known.is(function))
}

/// What a function's weak reference calls at its end: forgets what was compiled for it, which holds its closure.
fn ending(py: Python<'_>, code: usize) -> PyResult<Bound<'_, PyCFunction>> {
    PyCFunction::new_closure(py, None, None, move |args, _| -> PyResult<()> {
        let gone = args.get_item(0)?;
        let taken = NESTED.codes.try_lock().ok().and_then(|mut known| {
            let mut functions = known.get_mut(&code)?.iter().flat_map(|nested| &nested.functions);
            let cache = functions.find(|(known, _)| known.is(&gone))?.1.cache();
            cache.lock().ok()?.take()
        });
        drop(taken);
        Ok(())
    })
}

impl FrameHandler for Handler {
    fn observe(&self, frame: Frame<'_>) -> bool {
        self.0.filter.load(Relaxed) & bit(frame.code_address()) != 0 && callable::active()
    }

    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action> {
        let function = frame.function(py);
        let Some(compiled) = self.0.dispatcher(&function, frame.code_address()) else { return Ok(Action::Run) };
        Ok(match compiled.choose(&function, frame.args(py))? {
            Choice::Run(entry) => Action::Call(entry),
            Choice::Original => Action::Run,
            Choice::Done(result) => Action::Done(result),
        })
    }

    fn declined(&self, _reason: ReplaceRefusal) {}
}
