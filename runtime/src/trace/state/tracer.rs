//! The state of a running trace: values, guards, overlays, side effects, graph; and the `Tracer` that holds it.
use crate::bytecode::{Code, Op};
use crate::domain::Domain;
use crate::graph::{CalledModule, Graph, Name, NodeId};
use crate::guard::Guard;
use crate::stored::Seen;
use crate::trace::state::id_dicts::IdDicts;
use crate::trace::state::journal::{InstructionStart, OrderedSet, Overlay, Tracked};
use crate::trace::state::namespaces::Global;
use crate::trace::state::outcome::{Effect, LockHold, Route};
use crate::trace::state::proxy::Proxy;
use crate::trace::state::small_sets::SmallSets;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyString, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::mem::take;
use std::sync::Arc;

/// State of a trace, without the proof of being attached: it can be set aside while C runs and calls back.
#[derive(Debug, Default)]
pub struct State {
    pub(crate) values: Vec<Value>,
    /// What there was when the last instruction began before which the trace could stop.
    pub(crate) start: crate::trace::state::journal::InstructionStart,
    /// Objects whose identity matters, by address; the values keep them alive.
    pub(crate) identity: FxHashMap<usize, ValueId>,
    pub(crate) aliases: crate::trace::state::aliases::Aliases,
    /// Numbers and text from outside that C has got, by address.
    pub(crate) passed_to_c: FxHashMap<usize, ValueId>,
    /// Values that were described at the end: their objects live on, so that no other object gets their address.
    pub(crate) described: Vec<Value>,
    /// Containers from outside that are being copied.
    pub(crate) copying: Vec<ValueId>,
    /// Tells this trace's proxies from others'.
    pub(crate) trace: u64,
    pub(crate) shared_caches: Arc<crate::trace::state::caches::SharedCaches>,
    /// Filters of warnings.
    pub(crate) filters: crate::trace::state::warnings::Filters,
    /// Classes of proxies from earlier traces.
    pub(crate) function_caches: Arc<crate::trace::state::caches::FunctionCaches>,
    /// Classes of proxies, by the address of the class that they stand for.
    pub(crate) proxy_classes: FxHashMap<usize, Py<PyType>>,
    pub(crate) proxies: FxHashMap<ValueId, Py<Proxy>>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) guard_requests: crate::trace::state::guard_requests::GuardRequests,
    /// Domains whose modes are guarded, by name.
    pub(crate) guarded_domains: OrderedSet<&'static str>,
    pub(crate) graph: Tracked<Graph>,
    pub(crate) inputs: Tracked<Vec<(NodeId, ValueId)>>,
    pub(crate) names: Tracked<FxHashMap<String, u32>>,
    pub(crate) private_copies: crate::trace::state::private_copies::PrivateCopies,
    pub(crate) attributes: Overlay<(ValueId, String), Option<ValueId>>,
    /// Numbers of classes, by the address of the class that has them.
    pub(crate) class_numbers: Overlay<(usize, String), ValueId>,
    /// Whether somebody has looked at a class of which the trace has set a number.
    pub(crate) stale_class: bool,
    pub(crate) cells: Overlay<ValueId, Option<ValueId>>,
    pub(crate) globals: Overlay<Global, Option<ValueId>>,
    /// Keeps the names of these alive, whose addresses are their keys.
    pub(crate) global_names: Vec<Py<PyString>>,
    pub(crate) effects: Tracked<Vec<Effect>>,
    pub(crate) routes: Vec<Route>,
    pub(crate) route: Vec<Name>,
    pub(crate) places: Vec<FramePosition>,
    /// What the values of `generator` are made of.
    pub(crate) generators: Tracked<FxHashMap<ValueId, crate::trace::state::generator::GeneratorObject>>,
    /// Functions that the instruction entered whose bodies do not stand in for this release's.
    pub(crate) stood_in: crate::semantics::StoodIn,
    /// Objects of `super`: class and receiver.
    pub(crate) supers: Tracked<FxHashMap<ValueId, (Py<PyType>, ValueId)>>,
    /// Sets and dicts from outside, and the step of the outermost frame at which C was first called on them.
    pub(crate) changed_sets: Tracked<FxHashMap<ValueId, u64>>,
    /// Whether the trace keeps account of what frames hold.
    pub(crate) track: bool,
    /// What each running frame holds, outermost first.
    pub(crate) held: Vec<crate::trace::state::lifetime::FrameReferences>,
    /// Weak references made here, by address: what they refer to, and their callbacks.
    pub(crate) weak: Tracked<FxHashMap<usize, (ValueId, Option<ValueId>)>>,
    /// What weak references made here refer to.
    pub(crate) weakly: Tracked<FxHashSet<ValueId>>,
    /// Whether the program has called the collector.
    pub(crate) has_collected: Tracked<bool>,
    /// Objects whose end would run code.
    pub(crate) finalisable: Tracked<Vec<ValueId>>,
    /// How many of the values are what the outermost frame was given.
    pub(crate) given: usize,
    /// Objects from outside whose end runs code.
    pub(crate) finalisers: crate::trace::state::lifetime::Finalisable,
    /// Dicts from outside that are seen through names.
    pub(crate) namespaces: Tracked<FxHashMap<ValueId, crate::trace::state::namespaces::Namespace>>,
    /// Dicts from outside that code runs in, by address, which no guard knows by identity: they may be others at the next call.
    pub(crate) given_globals: Tracked<FxHashMap<usize, ValueId>>,
    /// Instances from outside whose `__dict__`, the second value, was seen as a whole.
    pub(crate) seen_whole: Tracked<FxHashMap<ValueId, ValueId>>,
    /// Files that the trace has opened.
    pub(crate) files: Tracked<Vec<ValueId>>,
    /// Variables of the frames that tracebacks name.
    pub(crate) variables: Tracked<crate::trace::state::tracebacks::Variables>,
    /// Hashes that tuples keep because the trace has asked for them.
    pub(crate) kept_hashes: Tracked<FxHashMap<ValueId, isize>>,
    pub(crate) nesting: u32,
    /// How many functions the trace is in whose nodes are taken out of the graph.
    pub(crate) rehearsals: u32,
    /// How often C hashed an object by an address that it has in this trace alone.
    pub(crate) hashed_own: u64,
    pub(crate) created_at: Vec<u64>,
    pub(crate) steps: u64,
    /// How far what the trace has seen is so in other processes.
    pub(crate) seen: Seen,
    /// Code objects of the inlined frames under which the trace broke, innermost first.
    pub(crate) broken_frames: Vec<Py<PyAny>>,
    /// Inlined frames that go on where they stand, innermost first.
    pub(crate) nested_frames: Vec<crate::trace::state::outcome::NestedFrame>,
    /// Instructions so far before which the trace could stop: those of the outermost frame, and of frames entered by its calls.
    pub(crate) outer_step: u64,
    /// Those of the outermost frame.
    pub(crate) stop_places: crate::trace::state::caches::StopPlaces,
    /// How many there were when the last one of the outermost frame began.
    pub(crate) outermost_step: u64,
    pub(crate) stop_at: Option<u64>,
    /// Where the next trace is to stop, if that is not before the last of them.
    pub(crate) again_at: Option<u64>,
    /// Whether it stopped later than it was to, because the outermost frame could not be left yet.
    pub(crate) stopped_late: bool,
    pub(crate) depth: usize,
    pub(crate) max_steps: u64,
    pub(crate) max_depth: usize,
    pub(crate) passing_states: bool,
    pub(crate) may_draw: bool,
    /// Whether the trace is to hold for one state rather than break where a drawn number must be known.
    pub(crate) must_not_break: bool,
    /// Whether a backend gets the graph.
    pub(crate) backend: bool,
    /// The modules that are being called, outermost first, where a backend gets the graph.
    pub(crate) called_modules: Vec<(Arc<CalledModule>, Py<PyAny>)>,
    /// Whether the outermost frame may run as it is, this once.
    pub(crate) may_wait: bool,
    /// Private copies of objects of C classes from outside, whose state C can read and write as a whole.
    pub(crate) state_copies: Tracked<Vec<crate::trace::state::private_copies::StateCopy>>,
    /// Views of dicts from outside: of which dict, and by which method.
    pub(crate) views: Tracked<FxHashMap<ValueId, (ValueId, &'static str)>>,
    /// Loops of which the trace does not know how many steps they have.
    pub(crate) open_loops: Tracked<Vec<crate::trace::state::open_loops::OpenLoop>>,
    /// What compiled code has C make of whole containers from outside.
    pub(crate) wholes: Tracked<FxHashMap<ValueId, crate::trace::state::wholes::Whole>>,
    /// Texts that the trace has had interned, by their characters.
    pub(crate) interned: Tracked<FxHashMap<Vec<u8>, ValueId>>,
    /// Iterators of C from outside that the trace goes through.
    pub(crate) iterators: Tracked<Vec<crate::trace::state::iterators::IteratorUse>>,
    /// Generators of random numbers from outside that the trace has drawn from.
    pub(crate) drawing: Tracked<Vec<crate::trace::state::iterators::Drawing>>,
    /// Iterators of C from outside whose steps run code, and the trace's own that make these steps.
    pub(crate) steppers: Tracked<Vec<(ValueId, ValueId)>>,
    /// Contexts of decimal arithmetic.
    pub(crate) decimals: crate::trace::state::process::Decimals,
    /// Context variables, contexts and tokens.
    pub(crate) contexts: Tracked<crate::trace::state::context_variables::ContextVariables>,
    /// Locks from outside that the trace has used.
    pub(crate) locks: Tracked<Vec<crate::trace::state::process::Lock>>,
    /// Those of them that compiled code acquires first of all.
    pub(crate) acquired_first: Tracked<Vec<LockHold>>,
    /// Error handlers of codecs that the trace has registered.
    pub(crate) handlers: Tracked<Vec<crate::trace::state::process::Handler>>,
    /// Functions with a cache from outside that the trace has called.
    pub(crate) caches: Tracked<Vec<crate::trace::state::lru_caches::CacheUse>>,
    /// Objects looked at in searches for paths.
    pub(crate) searched: usize,
    /// Names and metaclasses of classes that C is making and has shown to nobody yet.
    pub(crate) unfinished_classes: Tracked<Vec<(String, Py<PyType>)>>,
    /// Classes that the trace has made.
    pub(crate) made_classes: crate::trace::state::made_classes::MadeClasses,
    /// What is handled in the running frame, or in the generator that runs: one item of CPython's stack of them.
    pub(crate) exc_info: Tracked<Option<ValueId>>,
    /// The items below: of whoever resumed the running generators, outermost first.
    pub(crate) exc_below: Tracked<Vec<Option<ValueId>>>,
    /// Where exceptions passed through, for their tracebacks.
    pub(crate) tracebacks: Tracked<crate::trace::state::tracebacks::Tracebacks>,
    /// Values that are `id()` of others.
    pub(crate) ids: Tracked<FxHashMap<ValueId, ValueId>>,
    /// Objects from outside whose numbers are keys, or (`true`) known, each once.
    pub(crate) kept_ids: Tracked<Vec<(ValueId, bool)>>,
    /// Dicts with such numbers for keys.
    pub(crate) id_dicts: IdDicts,
    /// Sets without an order.
    pub(crate) small_sets: SmallSets,
    /// Whether the trace has made a set.
    pub(crate) has_sets: bool,
    /// Objects that the trace made, of which it has seen what would be otherwise if they were made again: an address that a text tells, the
    /// order of a set of objects hashed by their addresses. With the step of the outermost frame at which it saw that.
    pub(crate) told: Tracked<FxHashMap<ValueId, u64>>,
    /// Lists for whose items C has made room in another way than the program does.
    pub(crate) with_other_room: Tracked<FxHashSet<ValueId>>,
    /// Known objects that a library made to answer a question, another one each time: where they leave the trace, they are made again.
    pub(crate) fresh_answers: Tracked<FxHashSet<ValueId>>,
    /// Frames begun so far.
    pub(crate) frames: u64,
    pub(crate) pending: Option<crate::trace::state::unwind::Unwind>,
    /// Signals that wait for the end of the trace.
    pub(crate) signals: Vec<i32>,
    pub(crate) domains: Vec<Arc<dyn Domain>>,
    /// What stands for values of the graph since something else than their contents has changed.
    pub(crate) examples: Tracked<FxHashMap<ValueId, Py<PyAny>>>,
    /// The nodes that have last changed graph values in place.
    pub(crate) changed_nodes: Tracked<FxHashMap<ValueId, NodeId>>,
    /// Changes of results of nodes in place.
    pub(crate) changed_by_graph: Tracked<Vec<crate::trace::state::outcome::GraphChange>>,
    /// The nodes whose results were changed in ways that cannot be taken back.
    pub(crate) final_changes: Tracked<Vec<NodeId>>,
    /// The nodes that give copies, though others that call the same do not.
    pub(crate) copies: Tracked<FxHashSet<NodeId>>,
    /// The nodes that no contents make raise, though they do others that call the same.
    pub(crate) sure_nodes: Tracked<FxHashSet<NodeId>>,
    /// Calls that give leaves their gradients.
    pub(crate) backward: crate::trace::state::backward::BackwardCalls,
    /// Nodes that were recorded where the graph calls something as a whole, and that are not part of it.
    pub(crate) dropped_nodes: Tracked<FxHashSet<NodeId>>,
    /// Modes of libraries that the trace has set.
    pub(crate) mode_changes: Tracked<Vec<crate::trace::state::process::ModeInForce>>,
    /// Values of the graph that are given to calls after it.
    pub(crate) used_after: Tracked<Vec<ValueId>>,
    /// Values of the graph that are one of several others.
    pub(crate) choices: Tracked<Vec<ValueId>>,
    /// Handles that calls after the graph give, and these calls.
    pub(crate) later_handles: FxHashMap<ValueId, crate::trace::state::wholes::Whole>,
    /// Modes that take over calls.
    pub(crate) taking_modes: Tracked<crate::trace::state::process::TakingModes>,
    /// The call whose operations the library's code hands to the trace.
    pub(crate) dispatched: crate::trace::state::process::Dispatched,
    /// Attributes that wrappers have while the graph runs, and what they hold.
    pub(crate) held_by_wrappers: Tracked<FxHashMap<(ValueId, String), ValueId>>,
    /// What restores modes of libraries where the graph raises, in the order in which they were set.
    pub(crate) restored_modes: Tracked<Vec<crate::trace::state::process::BoundCall>>,
    /// What of the process compiled code sets.
    pub(crate) settings: Tracked<Vec<&'static crate::trace::state::process::Setting>>,
    /// Symbolic numbers.
    pub(crate) numbers: crate::trace::state::numbers::Numbers,
    pub(crate) outer_globals: usize,
    /// Whether the outermost frame's builtins are the interpreter's.
    pub(crate) has_interpreter_builtins: bool,
    pub(crate) touched_types: OrderedSet<usize>,
    /// By class: names that are looked up on it; also those of what was rolled back.
    pub(crate) names_read: FxHashMap<usize, crate::guard::NamesRead>,
    /// The code of the outermost frame.
    pub(crate) outer_code: Option<Arc<Code>>,
}

impl State {
    /// Empty, with room for what most traces need.
    pub(crate) fn roomy() -> Box<Self> {
        const VALUES: usize = 64;
        let mut state = Box::<Self>::default();
        if let Some(room) = ROOM.take() {
            (state.identity, state.proxies, state.proxy_classes) = (room.identity, room.proxies, room.proxy_classes);
            (state.created_at, state.guard_requests, state.globals, state.start) =
                (room.created_at, room.guard_requests, room.globals, room.start);
        } else {
            state.created_at.reserve(VALUES);
            state.identity.reserve(VALUES);
        }
        state.values.reserve(VALUES);
        state.guards.reserve(VALUES / 4);
        state
    }

    /// Empties what the next trace can fill again without asking for memory, when a trace is over.
    pub(crate) fn make_room(&mut self) {
        const MANY: usize = 512;
        if self.values.len().max(self.identity.len()).max(self.created_at.len()) > MANY {
            return;
        }
        let mut room = SpareTables {
            identity: take(&mut self.identity),
            proxies: take(&mut self.proxies),
            proxy_classes: take(&mut self.proxy_classes),
            created_at: take(&mut self.created_at),
            guard_requests: take(&mut self.guard_requests),
            globals: take(&mut self.globals),
            start: take(&mut self.start),
        };
        room.identity.clear();
        room.proxies.clear();
        room.proxy_classes.clear();
        room.created_at.clear();
        room.guard_requests.clear();
        room.globals.clear();
        room.start.forget();
        ROOM.set(Some(Box::new(room)));
    }

    /// The exception that is handled, as `sys.exception()` says. CPython: `_PyErr_GetTopmostException`.
    pub(crate) fn handled(&self) -> Option<ValueId> {
        self.exc_info.or_else(|| self.exc_below.iter().rev().find_map(|item| *item))
    }
}

/// Where a frame stands, for reports.
#[derive(Debug)]
pub struct FramePosition {
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
    pub(crate) op: Op,
    /// Index of the instruction.
    pub(crate) at: usize,
    pub(crate) function: Py<PyAny>,
    pub(crate) serial: u64,
    /// How long the way was when the frame began.
    pub(crate) route: usize,
}

/// The tracer: state plus the proof of being attached to the interpreter.
#[allow(missing_debug_implementations)]
pub struct Tracer<'py> {
    pub(crate) py: Python<'py>,
    pub(crate) state: Box<State>,
    /// Takes the state's place while C runs.
    pub(crate) spare: SpareState,
}

thread_local! {
    /// An empty state from an earlier trace.
    static SPARE: Cell<Option<Box<State>>> = const { Cell::new(None) };
    /// What is left of an earlier trace.
    static ROOM: Cell<Option<Box<SpareTables>>> = const { Cell::new(None) };
}

/// Parts of a state, empty, with room for what another trace puts there.
struct SpareTables {
    identity: FxHashMap<usize, ValueId>,
    proxies: FxHashMap<ValueId, Py<Proxy>>,
    proxy_classes: FxHashMap<usize, Py<PyType>>,
    created_at: Vec<u64>,
    guard_requests: crate::trace::state::guard_requests::GuardRequests,
    globals: Overlay<Global, Option<ValueId>>,
    start: InstructionStart,
}

/// An empty state that takes the place of a trace's own while C runs.
#[derive(Debug, Default)]
pub(crate) struct SpareState(pub(crate) Option<Box<State>>);

impl SpareState {
    pub(crate) fn take(&mut self) -> Box<State> {
        self.0.take().or_else(|| SPARE.take()).unwrap_or_default()
    }
}

impl Drop for SpareState {
    fn drop(&mut self) {
        if let Some(spare) = self.0.take() {
            SPARE.set(Some(spare));
        }
    }
}

impl<'py> Tracer<'py> {
    pub(crate) fn push(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.state.values.len() as u32);
        self.state.values.push(value);
        self.state.created_at.push(self.state.outer_step);
        id
    }

    pub(crate) fn value(&self, id: ValueId) -> &Value {
        &self.state.values[id.0 as usize]
    }

    /// The real object behind a value that existed before the trace or is a constant; installs no guard.
    pub(crate) fn real(&self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(id) {
            Value::Real { object, .. } => Some(object.bind(self.py).clone()),
            Value::Node { .. } | Value::New(_) => None,
        }
    }

    /// The private real object of a value made during the trace.
    pub(crate) fn owned(&self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(id) {
            Value::New(New::Owned(object)) => Some(object.bind(self.py).clone()),
            _ => None,
        }
    }

    /// The object that a value is, whoever made it.
    pub(crate) fn at_hand(&self, id: ValueId) -> Option<Bound<'py, PyAny>> {
        self.real(id).or_else(|| self.owned(id))
    }

    /// A handle for an object made by C during the trace.
    pub(crate) fn own(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        let address = object.as_ptr() as usize;
        self.state.has_sets |= object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>();
        let id = self.push(Value::New(New::Owned(object.unbind())));
        self.state.identity.insert(address, id);
        id
    }

    pub(crate) fn none(&mut self) -> ValueId {
        let none = self.py.None().into_bound(self.py);
        self.constant(none)
    }

    pub(crate) fn import(&self, module: &str, name: &str) -> Traced<Bound<'py, PyAny>> {
        match crate::ffi::snapshot::original(self.py, module, name) {
            Ok(object) => Ok(object),
            Err(error) => internal(format!("{module}.{name}: {error}")),
        }
    }

    /// Whether it is an object of a domain that has memory, which others may share.
    pub(crate) fn has_memory(&self, object: &Bound<'py, PyAny>) -> bool {
        self.domain_of(&object.get_type()).is_some_and(|domain| domain.has_memory())
    }

    pub(crate) fn domain_of(&self, class: &Bound<'py, PyType>) -> Option<Arc<dyn Domain>> {
        self.state.domains.iter().find(|domain| domain.claims(class)).cloned()
    }
}
