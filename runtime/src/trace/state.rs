//! What a running trace keeps: values, guards, overlays, effects, the graph.
use super::ops::Global;
use super::outcome::{Effect, Hold, Route};
use super::rewind::{self, Grown, Seen, Watched};
use super::signal::{Traced, internal};
use super::token::Token;
use super::value::{New, Value, ValueId};
use crate::bytecode::{Code, Op};
use crate::domain::Domain;
use crate::graph::{Graph, Name, NodeId};
use crate::guard::Guard;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::mem::take;
use std::sync::Arc;

/// State of a trace, without the proof of being attached: it can be set aside while C runs and calls back.
#[derive(Debug, Default)]
pub struct State {
    pub(super) values: Vec<Value>,
    /// What there was when the last instruction began before which the trace could stop.
    pub(super) start: super::rewind::Start,
    /// Objects whose identity matters, by address; the values keep them alive.
    pub(super) identity: FxHashMap<usize, ValueId>,
    /// Numbers and text from outside that C has got, by address.
    pub(super) lent: FxHashMap<usize, ValueId>,
    /// Values that were described at the end: their objects live on, so that no other object gets their address.
    pub(super) described: Vec<Value>,
    /// Containers from outside that are being copied.
    pub(super) copying: Vec<ValueId>,
    /// Tells this trace's tokens from others'.
    pub(super) trace: u64,
    pub(super) lasting: Arc<super::Lasting>,
    /// Filters of warnings.
    pub(super) filters: super::warned::Filters,
    /// Classes of tokens from earlier traces.
    pub(super) kept: Arc<super::Kept>,
    /// Classes of tokens, by the address of the class they mirror.
    pub(super) mirrors: FxHashMap<usize, Py<PyType>>,
    pub(super) tokens: FxHashMap<ValueId, Py<Token>>,
    pub(super) guards: Vec<Guard>,
    pub(super) guarded: super::asked::Guarded,
    /// Domains whose modes are guarded, by name.
    pub(super) surrounded: Grown<&'static str>,
    pub(super) graph: Watched<Graph>,
    pub(super) inputs: Watched<Vec<(NodeId, ValueId)>>,
    pub(super) names: Watched<FxHashMap<String, u32>>,
    pub(super) shadows: super::shadows::Shadows,
    pub(super) attributes: Seen<(ValueId, String), Option<ValueId>>,
    pub(super) cells: Seen<ValueId, Option<ValueId>>,
    pub(super) globals: Seen<Global, Option<ValueId>>,
    /// Keeps the names of these alive, whose addresses are their keys.
    pub(super) global_names: Vec<Py<PyString>>,
    pub(super) effects: Watched<Vec<Effect>>,
    pub(super) routes: Vec<Route>,
    pub(super) route: Vec<Name>,
    pub(super) places: Vec<Place>,
    /// What the values of `generator` are made of.
    pub(super) generators: Watched<FxHashMap<ValueId, super::generator::Made>>,
    /// A function was entered whose body does not stand in for this release's.
    pub(super) stood_in: Option<generated::capi::FunctionId>,
    /// Objects of `super`: class and receiver.
    pub(super) supers: Watched<FxHashMap<ValueId, (Py<PyType>, ValueId)>>,
    /// Sets and dicts from outside, and the step of the outermost frame at which C was first called on them.
    pub(super) changed_sets: Watched<FxHashMap<ValueId, u64>>,
    /// Whether the trace keeps account of what frames hold.
    pub(super) track: bool,
    /// What each running frame holds, outermost first.
    pub(super) held: Vec<super::weak::Held>,
    /// Weak references made here, by address: what they refer to, and whether they have a callback.
    pub(super) weak: Watched<FxHashMap<usize, (ValueId, bool)>>,
    /// What weak references made here refer to.
    pub(super) weakly: Watched<FxHashSet<ValueId>>,
    /// Objects whose end would run code.
    pub(super) mortal: Watched<Vec<ValueId>>,
    /// How many of the values are what the outermost frame was given.
    pub(super) given: usize,
    /// Objects from outside whose end runs code.
    pub(super) mortals: super::mortal::Mortals,
    /// Dicts from outside that are seen through names.
    pub(super) namespaces: Watched<FxHashMap<ValueId, super::namespace::Names>>,
    /// Instances from outside whose `__dict__`, the second value, was seen as a whole.
    pub(super) seen_whole: Watched<FxHashMap<ValueId, ValueId>>,
    /// Files that the trace has opened.
    pub(super) files: Watched<Vec<ValueId>>,
    /// Variables of the frames that tracebacks name.
    pub(super) variables: Watched<super::frame_locals::Variables>,
    pub(super) nesting: u32,
    pub(super) born: Vec<u64>,
    pub(super) steps: u64,
    /// Code objects of the inlined frames under which the trace broke, innermost first.
    pub(super) broken_inside: Vec<Py<PyAny>>,
    /// Inlined frames that go on where they stand, innermost first.
    pub(super) left_inside: Vec<super::outcome::Entered>,
    /// Instructions so far before which the trace could stop: those of the outermost frame, and of frames entered by its calls.
    pub(super) outer_step: u64,
    /// How many there were when the last one of the outermost frame began.
    pub(super) outermost_step: u64,
    pub(super) stop_at: Option<u64>,
    /// Where the next trace is to stop, if that is not before the last of them.
    pub(super) again_at: Option<u64>,
    /// Whether it stopped later than it was to, because the outermost frame could not be left yet.
    pub(super) stopped_late: bool,
    pub(super) depth: usize,
    pub(super) max_steps: u64,
    pub(super) max_depth: usize,
    pub(super) passing_states: bool,
    /// Private copies of objects of C classes from outside, whose state C can read and write as a whole.
    pub(super) copied: Watched<Vec<super::copied::Copied>>,
    /// Contexts of decimal arithmetic.
    pub(super) decimals: super::decimals::Decimals,
    /// Context variables from outside that the trace has set.
    pub(super) context: Watched<FxHashMap<ValueId, ValueId>>,
    /// Locks from outside that the trace has used.
    pub(super) locks: Watched<Vec<super::call::Lock>>,
    /// Those of them that compiled code acquires first of all.
    pub(super) held_first: Watched<Vec<Hold>>,
    /// Error handlers of codecs that the trace has registered.
    pub(super) handlers: Watched<Vec<super::registered::Handler>>,
    /// Functions with a cache from outside that the trace has called.
    pub(super) caches: Watched<Vec<super::call::Remembered>>,
    /// Objects looked at in searches for paths.
    pub(super) searched: usize,
    /// Names and metaclasses of classes that C is making and has shown to nobody yet.
    pub(super) making: Watched<Vec<(String, Py<PyType>)>>,
    /// What is handled in the running frame, or in the generator that runs: one item of CPython's stack of them.
    pub(super) exc_info: Watched<Option<ValueId>>,
    /// The items below: of whoever resumed the running generators, outermost first.
    pub(super) exc_below: Watched<Vec<Option<ValueId>>>,
    /// Where exceptions passed through, for their tracebacks.
    pub(super) tracebacks: Watched<super::traceback::Tracebacks>,
    /// Values that are `id()` of others.
    pub(super) ids: Watched<FxHashMap<ValueId, ValueId>>,
    /// Frames begun so far.
    pub(super) frames: u64,
    pub(super) pending: Option<super::signal::Signal>,
    /// Signals that wait for the end of the trace.
    pub(super) signals: Vec<i32>,
    pub(super) domains: Vec<Arc<dyn Domain>>,
    /// The nodes that have last changed graph values in place.
    pub(super) changed_nodes: Watched<FxHashMap<ValueId, NodeId>>,
    /// Modes of libraries that the trace has set.
    pub(super) switched: Watched<Vec<super::modes::Switched>>,
    /// What of the process compiled code sets.
    pub(super) settings: Watched<Vec<&'static super::call::Setting>>,
    pub(super) outer_globals: usize,
    pub(super) touched_types: Grown<usize>,
    /// The code of the outermost frame.
    pub(super) outer_code: Option<Arc<Code>>,
}

impl State {
    /// Empty, with room for what most traces need.
    pub(super) fn roomy() -> Box<Self> {
        const VALUES: usize = 64;
        let mut state = Box::<Self>::default();
        if let Some(room) = ROOM.take() {
            (state.identity, state.tokens, state.mirrors) = (room.identity, room.tokens, room.mirrors);
            (state.born, state.guarded, state.globals, state.start) =
                (room.born, room.guarded, room.globals, room.start);
        } else {
            state.born.reserve(VALUES);
            state.identity.reserve(VALUES);
        }
        state.values.reserve(VALUES);
        state.guards.reserve(VALUES / 4);
        state
    }

    /// Empties what the next trace can fill again without asking for memory, when a trace is over.
    pub(super) fn make_room(&mut self) {
        const MANY: usize = 512;
        if self.values.len().max(self.identity.len()).max(self.born.len()) > MANY {
            return;
        }
        let mut room = Room {
            identity: take(&mut self.identity),
            tokens: take(&mut self.tokens),
            mirrors: take(&mut self.mirrors),
            born: take(&mut self.born),
            guarded: take(&mut self.guarded),
            globals: take(&mut self.globals),
            start: take(&mut self.start),
        };
        room.identity.clear();
        room.tokens.clear();
        room.mirrors.clear();
        room.born.clear();
        room.guarded.clear();
        room.globals.clear();
        room.start.forget();
        ROOM.set(Some(Box::new(room)));
    }

    /// The exception that is handled, as `sys.exception()` says. CPython: `_PyErr_GetTopmostException`.
    pub(super) fn handled(&self) -> Option<ValueId> {
        self.exc_info.or_else(|| self.exc_below.iter().rev().find_map(|item| *item))
    }
}

/// Where a frame stands, for reports.
#[derive(Debug)]
pub struct Place {
    pub(super) file: Arc<str>,
    pub(super) line: u32,
    pub(super) op: Op,
    pub(super) function: Py<PyAny>,
    pub(super) serial: u64,
}

/// The tracer: state plus the proof of being attached to the interpreter.
#[allow(missing_debug_implementations)]
pub struct Tracer<'py> {
    pub(super) py: Python<'py>,
    pub(super) state: Box<State>,
    /// Takes the state's place while C runs.
    pub(super) spare: Spare,
}

thread_local! {
    /// An empty state from an earlier trace.
    static SPARE: Cell<Option<Box<State>>> = const { Cell::new(None) };
    /// What is left of an earlier trace.
    static ROOM: Cell<Option<Box<Room>>> = const { Cell::new(None) };
}

/// Parts of a state, empty, with room for what another trace puts there.
struct Room {
    identity: FxHashMap<usize, ValueId>,
    tokens: FxHashMap<ValueId, Py<Token>>,
    mirrors: FxHashMap<usize, Py<PyType>>,
    born: Vec<u64>,
    guarded: super::asked::Guarded,
    globals: Seen<Global, Option<ValueId>>,
    start: rewind::Start,
}

/// An empty state that takes the place of a trace's own while C runs.
#[derive(Debug, Default)]
pub(super) struct Spare(Option<Box<State>>);

impl Spare {
    fn take(&mut self) -> Box<State> {
        self.0.take().or_else(|| SPARE.take()).unwrap_or_default()
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(spare) = self.0.take() {
            SPARE.set(Some(spare));
        }
    }
}

impl<'py> Tracer<'py> {
    pub(super) fn push(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.state.values.len() as u32);
        self.state.values.push(value);
        self.state.born.push(self.state.outer_step);
        id
    }

    pub(super) fn value(&self, id: ValueId) -> &Value {
        &self.state.values[id.0 as usize]
    }

    /// The real object behind a value that existed before the trace or is a constant; installs no guard.
    pub(super) fn real(&self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(id) {
            Value::Real { object, .. } => Some(object.bind(self.py).clone()),
            Value::Proxy { .. } | Value::New(_) => None,
        }
    }

    /// The private real object of a value made during the trace.
    pub(super) fn owned(&self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(id) {
            Value::New(New::Owned(object)) => Some(object.bind(self.py).clone()),
            _ => None,
        }
    }

    /// A handle for an object made by C during the trace.
    pub(super) fn own(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        let address = object.as_ptr() as usize;
        let id = self.push(Value::New(New::Owned(object.unbind())));
        self.state.identity.insert(address, id);
        id
    }

    pub(super) fn none(&mut self) -> ValueId {
        let none = self.py.None().into_bound(self.py);
        self.constant(none)
    }

    pub(super) fn import(&self, module: &str, name: &str) -> Traced<Bound<'py, PyAny>> {
        match crate::ffi::snapshot::original(self.py, module, name) {
            Ok(object) => Ok(object),
            Err(error) => internal(format!("{module}.{name}: {error}")),
        }
    }

    pub(super) fn domain_of(&self, class: &Bound<'py, PyType>) -> Option<Arc<dyn Domain>> {
        self.state.domains.iter().find(|domain| domain.claims(class)).cloned()
    }

    /// Runs C code; what it asks of tokens, and Python frames that it begins, lead back into the trace.
    pub(super) fn with_callbacks<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let result = self.with_callbacks_on_scalars(run);
        rewind::changed();
        result
    }

    /// The same where C gets nothing that it could change.
    pub(super) fn with_callbacks_on_scalars<T>(&mut self, run: impl FnOnce() -> T) -> T {
        self.enter_context();
        let handlers = self.put_handlers();
        self.listen();
        let spare = self.spare.take();
        let outer = super::token::enter(std::mem::replace(&mut self.state, spare));
        let result = crate::ffi::hook::intercept(self.py, super::token::answer, run);
        self.spare = Spare(Some(std::mem::replace(&mut self.state, super::token::leave(outer))));
        self.heard();
        self.take_handlers(handlers);
        self.leave_context();
        result
    }
}
