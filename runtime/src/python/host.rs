//! What a host beside Python needs: frames compiled as it decides, and array libraries that it brings along.
use super::compiled::Compiled;
use super::nested;
use super::session::Session;
use super::shared::Options;
use super::unit::CompilationUnit;
use crate::bytecode::flag;
use crate::domain::Domain;
use crate::ffi::callable::{self, Choice, Dispatch};
use crate::ffi::frame::{Frame, ReplaceRefusal};
use crate::ffi::hook::{self, Action, FrameHandler};
use crate::ffi::{function, inspect, other_compiler};
use crate::names::name;
use crate::trace::SharedCaches;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// With how many globals a code object may be compiled.
const GLOBALS: usize = 8;

/// Adds an array library: what it says becomes nodes of graphs, in every trace that begins from now on.
///
/// # Errors
/// What looking at the interpreter raises, where this is the first use of the runtime.
pub fn add_domain(py: Python<'_>, domain: Arc<dyn Domain>) -> PyResult<()> {
    SharedCaches::shared(py)?.domains.add(domain);
    Ok(())
}

/// What a host says of a code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it natively, and do not ask again.
    Skip,
    /// Run this frame natively.
    Run,
    /// Compile it, and do not ask again.
    Compile,
}

/// A host that is asked about frames.
pub trait Host: Send + Sync {
    /// Decides about the code object of a frame, which is about to run for this function.
    fn decide(&self, code: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> Decision;
}

/// What is known of a code object.
struct Known {
    /// Keeps its address valid.
    _code: Py<PyAny>,
    decision: Decision,
    /// What was compiled, by globals.
    compiled: Vec<(Py<PyAny>, Arc<Compiled>)>,
}

/// Asks the host about the frames that no compiled function runs, and has those below one compiled as elsewhere.
struct HostFrames<H> {
    host: H,
    session: Py<Session>,
    backend: Option<Py<PyAny>>,
    nested: nested::Handler,
    known: Mutex<FxHashMap<usize, Known>>,
}

/// Installs the hook with a host.
pub fn install<H: Host + 'static>(
    py: Python<'_>,
    session: &Bound<'_, PyAny>,
    backend: Option<Py<PyAny>>,
    host: H,
) -> PyResult<()> {
    let session = session.cast::<Session>()?.clone().unbind();
    nested::step_aside(py)?;
    let handler = HostFrames { host, session, backend, nested: nested::handler(), known: Mutex::default() };
    hook::install(py, Box::new(handler))
}

/// Takes it out; functions that are compiled stay so.
pub fn uninstall(py: Python<'_>) -> PyResult<()> {
    hook::uninstall(py)?;
    nested::step_in(py)
}

impl<H: Host> HostFrames<H> {
    /// What is known of a frame's code; asks the host where nothing is.
    fn decision(&self, code: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> Decision {
        let address = code.as_ptr() as usize;
        let found = self.known.lock().ok().and_then(|known| known.get(&address).map(|known| known.decision));
        if let Some(found) = found {
            return found;
        }
        let decision = self.host.decide(code, function);
        if decision != Decision::Run
            && let Ok(mut known) = self.known.lock()
        {
            known.insert(address, Known { _code: code.clone().unbind(), decision, compiled: Vec::new() });
        }
        decision
    }

    /// The dispatcher of a function that is to be compiled.
    fn dispatcher(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        code: &Bound<'_, PyAny>,
    ) -> Option<Arc<Compiled>> {
        let globals = inspect::globals(function)?;
        let mut known = self.known.lock().ok()?;
        let made = &mut known.get_mut(&(code.as_ptr() as usize))?.compiled;
        if let Some((_, compiled)) = made.iter().find(|(known, _)| known.is(&globals)) {
            return Some(Arc::clone(compiled));
        }
        if made.len() >= GLOBALS {
            return None;
        }
        let backend = self.backend.as_ref().map(|backend| backend.clone_ref(py));
        let options = Options { backend, fullgraph: false, dynamic: None, recompile_limit: None };
        // Continuations need the function for its names and globals only.
        let like = function::from_code(code, function).ok()?;
        let unit = CompilationUnit::new(Arc::clone(&self.session.get().shared), options, &like);
        let compiled = Arc::new(Compiled::of_code(unit));
        made.push((globals.unbind(), Arc::clone(&compiled)));
        Some(compiled)
    }

    fn is_skipped(&self, address: usize) -> bool {
        self.known.lock().is_ok_and(|known| known.get(&address).is_some_and(|known| known.decision == Decision::Skip))
    }
}

impl<H: Host> FrameHandler for HostFrames<H> {
    fn observe(&self, frame: Frame<'_>) -> bool {
        if callable::active() { self.nested.observe(frame) } else { !self.is_skipped(frame.code_address()) }
    }

    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action> {
        if callable::active() {
            return self.nested.enter(py, frame);
        }
        if other_compiler::runs(py) || callable::runs_natively() {
            return Ok(Action::Run);
        }
        let (code, function) = (frame.code(py), frame.function(py));
        // Bodies of modules and classes have no variables of their own to trace.
        if code.getattr(name!("co_flags"))?.extract::<u32>()? & flag::OPTIMIZED == 0 {
            return Ok(Action::Run);
        }
        if self.decision(&code, &function) != Decision::Compile {
            return Ok(Action::Run);
        }
        let Some(compiled) = self.dispatcher(py, &function, &code) else { return Ok(Action::Run) };
        let values = frame.values();
        let args = values.args(py);
        if compiled.is_amid_change(args) {
            return Ok(Action::Natively);
        }
        Ok(match compiled.choose(&function, args)? {
            Choice::Run(entry) => Action::Enter(function::with_closure(entry.bind(py), &function)?.unbind()),
            Choice::Original => Action::Run,
            Choice::Done(result) => Action::Done(result),
        })
    }

    fn declined(&self, _reason: ReplaceRefusal) {}
}
