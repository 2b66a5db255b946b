//! Objects whose end runs code of the program: an instruction that lets one of them go runs natively, so that the code runs where, when and
//! in the order in which plain Python runs it.
//!
//! Plain Python ends an object at the instruction that drops the last reference. A compiled frame holds what it was given until the
//! trace is over, so a trace must not reach past such an instruction. After each instruction of the outermost frame the trace follows
//! strong references from what the frame, and whatever outlives it, holds by then; where one of the objects is no longer found, the
//! instruction is a graph break. Who else may hold the object is not known, so it may turn out to be one for nothing.
use super::asked::Asked;
use super::finish::Escape;
use super::frame::{Flow, Frame};
use super::generator::Made;
use super::outcome::{Effect, End, StackEntry};
use super::signal::{Signal, Traced, hints, stop};
use super::state::Tracer;
use super::value::{Met, New, Value, ValueId};
use crate::ffi::{callee, inspect, referents, types};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::names::{interned, name};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCapsule, PyCode, PyFunction, PyModule, PyType};
use rustc_hash::{FxHashMap, FxHashSet};

/// References that the search for such objects looks at when a trace begins.
const MAX_LOOKED_AT: usize = 1_000;

/// References that the search looks at behind an object that compiled code would keep.
const MAX_KEPT: usize = 100;

/// Objects that one search for a way to them visits.
const MAX_VISITED: usize = 5_000;

/// The objects, and how far they were looked for.
#[derive(Debug, Default)]
pub(super) struct Mortals {
    objects: Vec<Py<PyAny>>,
    /// Copies of containers from outside whose content was looked at.
    shadows: usize,
}

/// How much of an object must be quiet at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quiet {
    /// The object, whatever it holds.
    Itself,
    /// What ends with it, too.
    Altogether,
}

impl Quiet {
    fn asked(self) -> Asked {
        match self {
            Self::Itself => Asked::END,
            Self::Altogether => Asked::WHOLE_END,
        }
    }
}

impl DomainCheck for Quiet {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Itself => !is_mortal(value),
            Self::Altogether => is_lasting(value) || !ending_runs_code(value, &|_| 0),
        }
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).downcast_ref::<Self>() == Some(self)
    }

    fn describe(&self) -> String {
        "runs no code when it ends".to_owned()
    }
}

impl<'py> Tracer<'py> {
    /// Looks for such objects among what would end with the values that the outermost frame was given.
    pub(super) fn find_mortals(&mut self, frame: &Frame) {
        self.state.given = self.state.values.len();
        let given = frame.locals.iter().flatten().filter_map(|value| self.real(*value));
        let given: Vec<_> = given.filter(|object| !super::known::is_scalar(object) && !is_lasting(object)).collect();
        let ending = referents::freed_with(given, MAX_LOOKED_AT, &|_| 0);
        self.state.mortals.objects =
            ending.iter().filter(|object| is_mortal(object)).map(|object| object.clone().unbind()).collect();
    }

    /// After an instruction of the outermost frame that went well: a graph break if it let one of the objects go.
    pub(super) fn check_mortals(&mut self, frame: &Frame, flow: Flow) -> Traced<()> {
        if !matches!(flow, Flow::Next | Flow::Jump(_)) || frame.pc < frame.leave.first {
            return Ok(());
        }
        if self.state.mortals.shadows != self.state.shadows.len() {
            self.find_in_shadows();
        }
        if self.state.mortals.objects.is_empty() || self.holds_all(frame) {
            return Ok(());
        }
        let Some(lost) = self.first_lost(self.held_by(frame)) else { return Ok(()) };
        let_go(&lost)
    }

    /// One of the objects that an inlined frame has let go, and nobody else holds where the trace ends; the outermost frame's
    /// instruction must run natively.
    pub(super) fn lost_inside(&self, end: &End) -> Option<Escape> {
        let End::Break { inner, .. } = end else { return None };
        if inner.is_empty() || self.state.mortals.objects.is_empty() {
            return None;
        }
        self.first_lost(end.values())?;
        Some(Escape { step: self.state.outermost_step, what: "an object whose end runs code is let go".into() })
    }

    /// Whether several such objects end when the outermost frame ends with this result: the order is that of its variables.
    pub(super) fn several_end(&mut self, result: ValueId) -> bool {
        self.state.mortals.objects.len() > 1 && {
            let alive = self.reached(vec![result]);
            self.state.mortals.objects.iter().filter(|object| !alive.contains(&(object.as_ptr() as usize))).count() > 1
        }
    }

    /// What containers from outside hold can go by a change of the container.
    fn find_in_shadows(&mut self) {
        let from = self.state.mortals.shadows.min(self.state.shadows.len());
        let copied = self.state.shadows[from..].iter().filter_map(|shadow| self.real(shadow.value));
        let copied: Vec<_> = copied.collect();
        self.state.mortals.shadows = self.state.shadows.len();
        for object in copied {
            let held = referents::direct(&object, MAX_LOOKED_AT).into_iter();
            let held = held.filter(|held| !super::known::is_scalar(held) && !is_lasting(held));
            let ending = held
                .flat_map(|held| referents::freed_with(vec![held], MAX_KEPT, &|address| self.references_to(address)));
            for held in ending.filter(is_mortal).collect::<Vec<_>>() {
                if !self.state.mortals.objects.iter().any(|known| known.is(&held)) {
                    self.state.mortals.objects.push(held.unbind());
                }
            }
        }
    }

    /// References that the trace itself has to an object from outside.
    fn references_to(&self, address: usize) -> usize {
        let value = self.state.identity.get(&address).map(|value| self.value(*value));
        let is_it = |value: &Value| matches!(value, Value::Real { object, .. } if object.as_ptr() as usize == address);
        let mortals = self.state.mortals.objects.iter().filter(|object| object.as_ptr() as usize == address);
        usize::from(value.is_some_and(is_it)) + mortals.count()
    }

    /// Whether the frame itself holds each of the objects.
    fn holds_all(&self, frame: &Frame) -> bool {
        self.state.mortals.objects.iter().all(|object| {
            let value = self.state.identity.get(&(object.as_ptr() as usize));
            value.is_some_and(|value| {
                matches!(self.value(*value), Value::Real { .. })
                    && (frame.locals.contains(&Some(*value)) || frame.stack.contains(&StackEntry::Object(*value)))
            })
        })
    }

    fn held_by(&self, frame: &Frame) -> Vec<ValueId> {
        let stack = frame.stack.iter().filter_map(|entry| match entry {
            StackEntry::Object(value) => Some(*value),
            StackEntry::Null | StackEntry::Callee => None,
        });
        let locals = frame.locals.iter().flatten().copied();
        let others = frame.closure.iter().copied().chain(frame.namespace).chain(*self.state.exc_info);
        stack.chain(locals).chain(others).chain(self.state.exc_below.iter().flatten().copied()).collect()
    }

    fn first_lost(&self, work: Vec<ValueId>) -> Option<Bound<'py, PyAny>> {
        let alive = self.reached(work);
        let lost = self.state.mortals.objects.iter().find(|object| !alive.contains(&(object.as_ptr() as usize)));
        lost.map(|object| object.bind(self.py).clone())
    }

    /// Addresses of the objects to which strong references lead from these values and from what outlives the trace.
    fn reached(&self, mut work: Vec<ValueId>) -> FxHashSet<usize> {
        let wanted: FxHashSet<usize> =
            self.state.mortals.objects.iter().map(|object| object.as_ptr() as usize).collect();
        work.extend(self.outliving());
        let mut attributes: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        for ((owner, _), value) in self.state.attributes.iter() {
            attributes.entry(*owner).or_default().extend(value);
        }
        let (mut objects, mut values, mut visited) = (Vec::new(), Met::default(), FxHashSet::default());
        let mut missing = wanted.len();
        while visited.len() < MAX_VISITED && missing > 0 {
            if let Some(object) = objects.pop() {
                let object: Bound<'py, PyAny> = object;
                let address = object.as_ptr() as usize;
                match self.value_of_token(&object).or_else(|| self.state.identity.get(&address).copied()) {
                    Some(value) if !values.contains(value) => work.push(value),
                    _ if visited.insert(address) => {
                        missing -= usize::from(wanted.contains(&address));
                        objects.extend(strongly_held(&object));
                    }
                    _ => {}
                }
                continue;
            }
            let Some(value) = work.pop() else { break };
            if values.insert(value) {
                objects.extend(self.object_of(value));
                work.extend(self.parts_of(value));
                work.extend(attributes.get(&value).into_iter().flatten());
            }
        }
        visited
    }

    /// Values that places outside hold, or will hold.
    fn outliving(&self) -> Vec<ValueId> {
        let sources: FxHashMap<_, _> =
            self.state.shadows.iter().filter_map(|shadow| Some((self.source(shadow.value)?, shadow.value))).collect();
        let shadows: Vec<_> = sources.iter().filter(|(source, _)| !is_within(source, &sources)).collect();
        let shadows = shadows.into_iter().map(|(_, value)| *value);
        let globals = self.state.globals.values().chain(self.state.cells.values()).flatten().copied();
        let effects = self.state.effects.iter().flat_map(|effect| match effect {
            Effect::SetItem { key, value, .. } => vec![*key, *value],
            Effect::Call { args, .. } => args.clone(),
            _ => Vec::new(),
        });
        shadows.chain(globals).chain(effects).collect()
    }

    /// The object that stands for a value: of a container that C works on, the copy.
    fn object_of(&self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        if let Some(shadow) = self.state.shadows.of(value) {
            return Some(shadow.object.bind(self.py).clone());
        }
        self.real(value).or_else(|| self.owned(value))
    }

    /// Values that a value of the tracer's own is made of.
    fn parts_of(&self, value: ValueId) -> Vec<ValueId> {
        let mut parts = match self.value(value) {
            Value::New(New::Method { function, receiver }) => vec![*function, *receiver],
            _ => Vec::new(),
        };
        parts.extend(self.state.supers.get(&value).map(|(_, receiver)| *receiver));
        match self.state.generators.get(&value) {
            Some(Made::Frame(generator)) => parts.extend(generator.frame.iter().flat_map(|frame| self.held_by(frame))),
            Some(Made::Wrapper(held) | Made::Wrapped(held)) => parts.push(*held),
            Some(Made::Send { generator, .. } | Made::Throw { generator, .. }) => parts.push(*generator),
            None => {}
        }
        parts
    }

    /// A graph break before a place outside lets go of what it holds, if code runs at the end of that; else a guard that none does.
    pub(super) fn before_overwriting(&mut self, held: Option<ValueId>) -> Traced<()> {
        let Some(held) = held else { return Ok(()) };
        match self.real(held) {
            Some(object)
                if !is_lasting(&object) && ending_runs_code(&object, &|address| self.references_to(address)) =>
            {
                let_go(&object)
            }
            _ => {
                self.guard_end(held, Quiet::Altogether);
                Ok(())
            }
        }
    }

    /// The same for a slot of an object from outside, without a guard.
    pub(super) fn before_overwriting_slot(&self, object: ValueId, slot: &Bound<'py, PyAny>) -> Traced<()> {
        let held = self.real(object).and_then(|object| slot.call_method1(intern!(self.py, "__get__"), (object,)).ok());
        match held {
            Some(held) if !is_lasting(&held) && ending_runs_code(&held, &|address| self.references_to(address)) => {
                let_go(&held)
            }
            _ => Ok(()),
        }
    }

    /// Guards that no code runs at the end of a value that is let go, unless its type says so.
    pub(super) fn guard_end(&mut self, value: ValueId, quiet: Quiet) {
        let (Some(object), Some(source)) = (self.real(value), self.source(value)) else { return };
        let has_type = self.state.guarded.asks(value, Asked::SAYS_TYPE);
        if has_type && (super::known::is_scalar(&object) || is_lasting(&object)) {
            return;
        }
        self.guard_once(value, quiet.asked(), source, Check::Domain(Box::new(quiet)), "the trace let go of it");
    }

    /// Guards that the arguments which no longer stand in their places at the end are quiet.
    pub(super) fn guard_arguments(&mut self, locals: &[Option<ValueId>]) {
        for value in (0..self.state.given).map(|index| ValueId(index as u32)) {
            let Value::Real { object, source: Some(Source::Local(slot)) } = self.value(value) else { continue };
            let stays = locals.get(*slot as usize).copied().flatten() == Some(value);
            if !stays && !is_mortal(object.bind(self.py)) {
                self.guard_end(value, Quiet::Itself);
            }
        }
    }

    /// Such an object that guards would hold on to, as what a path begins with.
    pub(super) fn mortal_in_guards(&self) -> Option<ValueId> {
        let mut last = std::ptr::null_mut();
        self.state.guards.iter().find_map(|guard| {
            let constant = guard.source.beginning()?.bind(self.py);
            if std::mem::replace(&mut last, constant.as_ptr()) == constant.as_ptr()
                || super::known::is_definition(constant)
                || !is_mortal(constant)
            {
                return None;
            }
            self.state.identity.get(&(constant.as_ptr() as usize)).copied()
        })
    }

    /// A graph break of the outermost frame because of what it let go, with the trace where it was before the instruction.
    pub(super) fn refused_end(&mut self, frame: &mut Frame, signal: Signal) -> Signal {
        match signal {
            Signal::Break(reason) if self.state.go_back(frame) => Signal::Here(reason),
            signal => {
                // Not within the instruction: who holds the object there is not asked.
                self.state.again_at = Some(self.state.outermost_step);
                signal
            }
        }
    }
}

/// Whether the path leads through an argument or another of the containers: then that one must be found first.
fn is_within(source: &Source, containers: &FxHashMap<Source, ValueId>) -> bool {
    match source {
        Source::Item(base, _) | Source::DictItem(base, _) => source.is_argument() || containers.contains_key(&**base),
        _ => source.is_argument(),
    }
}

fn let_go<T>(object: &Bound<'_, PyAny>) -> Traced<T> {
    stop(
        "object whose end runs code is let go",
        types::name(&object.get_type()),
        "the instruction runs natively, so that the object ends where the program lets it go",
        hints::COVERAGE,
    )
}

/// What outlives every call that uses it: only the collector ends it.
fn is_lasting(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyType>() || object.is_instance_of::<PyModule>() || object.is_exact_instance_of::<PyCode>()
}

/// Whether code of the program runs when the object ends, or what only it holds. What functions hold they need: it is not looked at.
pub(super) fn leads_to_code(object: &Bound<'_, PyAny>) -> bool {
    !super::known::is_scalar(object) && !is_lasting(object) && !object.is_callable() && ending_runs_code(object, &|_| 0)
}

fn ending_runs_code(object: &Bound<'_, PyAny>, own: &dyn Fn(usize) -> usize) -> bool {
    !super::known::is_scalar(object) && referents::freed_with(vec![object.clone()], MAX_KEPT, own).iter().any(is_mortal)
}

/// What the object holds, as far as it is not the world that it lives in.
fn strongly_held<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if is_lasting(object) || super::known::is_scalar(object) {
        return Vec::new();
    }
    let held = referents::direct(object, MAX_VISITED);
    if !object.is_exact_instance_of::<PyFunction>() {
        return held;
    }
    let world = [inspect::globals(object), inspect::builtins(object)];
    held.into_iter().filter(|held| !world.iter().flatten().any(|world| world.is(held))).collect()
}

/// Whether code of the program runs when the object ends: a finaliser, the callback of a weak reference, the rest of a generator.
fn is_mortal(object: &Bound<'_, PyAny>) -> bool {
    if !referents::is_end_observed(object) || is_lasting(object) {
        return false;
    }
    let (py, class) = (object.py(), object.get_type());
    let suspended = match &*types::c_name(&class) {
        "generator" => intern!(py, "gi_suspended"),
        "coroutine" => intern!(py, "cr_suspended"),
        "async_generator" => intern!(py, "ag_suspended"),
        _ => return has_finaliser(&class) || has_callback(object, &class),
    };
    object.getattr(suspended).is_ok_and(|suspended| suspended.is_truthy().unwrap_or(false))
}

/// Whether the end of instances runs Python code of the class: a `__del__`, or what C's own asks of files. CPython: `iobase_finalize`.
pub(super) fn has_finaliser(class: &Bound<'_, PyType>) -> bool {
    const ASKED: [&str; 7] =
        ["close", "closed", "flush", "_finalizing", "__getattribute__", "__getattr__", "__setattr__"];
    let Some(found) = types::lookup(class, intern!(class.py(), "__del__")) else { return false };
    let python = |name: &str| {
        let found = types::lookup(class, &interned(class.py(), name));
        found.is_some_and(|found| callee::owner_of(&found).is_none())
    };
    types::c_name(&found.get_type()) != "wrapper_descriptor" || ASKED.into_iter().any(python)
}

fn has_callback(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> bool {
    if types::weaklistoffset(class) == 0 {
        return false;
    }
    let py = object.py();
    let references = crate::ffi::snapshot::original(py, "_weakref", "getweakrefs").and_then(|get| get.call1((object,)));
    references.and_then(|references| references.try_iter()).is_ok_and(|references| {
        references.flatten().any(|reference| {
            let callback = reference.getattr(intern!(py, "__callback__"));
            callback.is_ok_and(|callback| !callback.is_none() && !is_own(&callback))
        })
    })
}

/// Whether it is a function of this crate, as the caches have them, which no program notices.
fn is_own(callback: &Bound<'_, PyAny>) -> bool {
    let receiver = callback.cast::<PyCFunction>().ok().and_then(|function| function.getattr(name!("__self__")).ok());
    receiver.is_some_and(|receiver| receiver.is_exact_instance_of::<PyCapsule>())
}
