//! Weak references from outside that the trace follows.
//!
//! What such a reference refers to when the trace begins lives on as long as those who hold it then. So the trace looks at what it has let
//! go of itself so far: a graph break, if the object could have ended with that.
use crate::ffi::{inspect, referents, types, weak_references};
use crate::guard::source::Source;
use crate::guard::{Check, DeadReference};
use crate::names::interned;
use crate::trace::lifetime::reachability::MAX_VISITED;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::finalisable::{is_finalisable, strongly_held};
use crate::trace::value::kinds::is_scalar;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType, PyWeakrefReference};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// References that the search for what ends with what was let go looks at.
const MAX_LOOKED_AT: usize = 5_000;

const WHY: &str = "the trace followed the weak reference";

impl<'py> Tracer<'py> {
    /// What a call of a weak reference from outside gives; `None`: it is none, or its class calls something else.
    pub(crate) fn follow_outside(&mut self, reference: ValueId, class: &Bound<'py, PyType>) -> Traced<Option<ValueId>> {
        let plain = self.py.get_type::<PyWeakrefReference>();
        if !types::is_subtype(class, &plain) || types::slot(class, Slot::tp_call) != types::slot(&plain, Slot::tp_call)
        {
            return Ok(None);
        }
        let (Some(object), Some(source)) = (self.real(reference), self.source(reference)) else { return Ok(None) };
        self.rely_on_class(class);
        let Some(referent) = weak_references::referent(&object) else {
            self.guard_once(reference, GuardRequest::STATE, source, Check::Domain(Box::new(DeadReference)), WHY);
            return Ok(Some(self.none()));
        };
        self.refuse_ended(&referent)?;
        Ok(Some(self.sourced(referent, Source::WeakReferent(Arc::new(source)))))
    }

    /// A graph break if an object from outside may have ended with what the trace has let go of.
    pub(crate) fn refuse_ended(&mut self, object: &Bound<'py, PyAny>) -> Traced<()> {
        match self.outlives(object)? {
            true => Ok(()),
            false => unsupported("weak reference to an object that may be gone", types::name(&object.get_type())),
        }
    }

    /// Whether nothing that the trace has done lets go of an object from outside.
    pub(crate) fn outlives(&self, object: &Bound<'py, PyAny>) -> Traced<bool> {
        let is_it = |ending: &Bound<'py, PyAny>| ending.is(object);
        if !self.state.track
            && (*self.state.has_collected || self.freed_with(self.arguments_let_go()).iter().any(is_it))
        {
            return Err(Unwind::Track);
        }
        Ok(self.ending().is_some_and(|ending| !ending.iter().any(is_it)))
    }

    /// What ends with what the trace has let go of; `None`: nobody can tell.
    pub(super) fn ending(&self) -> Option<Vec<Bound<'py, PyAny>>> {
        let mut let_go = self.let_go()?;
        if self.state.track {
            let_go.extend(self.arguments(true));
        }
        let ending = self.freed_with(let_go);
        (ending.len() < MAX_LOOKED_AT).then_some(ending)
    }

    /// Whether the trace holds all that it was given, and has let nothing go that the collector may end.
    pub(crate) fn holds_all_given(&self) -> bool {
        let Some(mut let_go) = self.let_go() else { return false };
        let_go.extend(self.arguments(true));
        let_go.iter().all(is_scalar)
    }

    /// An object whose end runs code, and to which arguments lead: all of them, or those that the outermost frame does not hold any more.
    pub(crate) fn finalisable_argument(&self, dropped: bool) -> Option<Bound<'py, PyAny>> {
        let (mut work, mut visited) = (self.arguments(dropped), FxHashSet::default());
        while let Some(object) = work.pop() {
            if is_scalar(&object) || !visited.insert(object.as_ptr() as usize) {
                continue;
            }
            // Of too many objects nobody can tell.
            if visited.len() > MAX_VISITED || is_finalisable(&object) {
                return Some(object);
            }
            work.extend(strongly_held(&object));
        }
        None
    }

    /// Objects that the trace was given, all or those that the outermost frame does not hold any more.
    fn arguments(&self, dropped: bool) -> Vec<Bound<'py, PyAny>> {
        let outermost = self.state.held.first();
        let stays = |value: &ValueId| outermost.is_some_and(|frame| frame.variables().contains(&Some(*value)));
        let arguments = (0..self.state.given).map(|index| ValueId(index as u32));
        arguments.filter(|value| !(dropped && stays(value))).filter_map(|value| self.real(value)).collect()
    }

    /// Arguments that the trace may have let go of: not those that the frame holds in which something is called now.
    fn arguments_let_go(&self) -> Vec<Bound<'py, PyAny>> {
        let caller = &self.state.start;
        let is_held = |value: &ValueId| caller.calls && caller.locals.contains(&Some(*value));
        let arguments = (0..self.state.given).map(|index| ValueId(index as u32));
        arguments.filter(|value| !is_held(value)).filter_map(|value| self.real(value)).collect()
    }

    /// What ends if all that hold these let them go.
    fn freed_with(&self, held: Vec<Bound<'py, PyAny>>) -> Vec<Bound<'py, PyAny>> {
        let held: Vec<_> = held.into_iter().filter(|held| !is_scalar(held)).collect();
        referents::freed_with(held, MAX_LOOKED_AT, &|address| self.references_to(address))
    }

    /// What places outside no longer hold because of the trace; `None`: nobody can tell.
    fn let_go(&self) -> Option<Vec<Bound<'py, PyAny>>> {
        let mut let_go = Vec::new();
        for (index, effect) in self.state.effects.iter().enumerate() {
            if let Some(gone) = self.let_go_by_entry(index) {
                let_go.extend(gone);
                continue;
            }
            match effect {
                Effect::SetAttr { object, name, .. } | Effect::DelAttr { object, name } => {
                    let_go.extend(inspect::own_attribute(&self.real(*object)?, &interned(self.py, name)));
                }
                Effect::SetGlobal { globals, name, .. } | Effect::DelGlobal { globals, name } => {
                    let globals = self.real(*globals)?;
                    let_go.extend(globals.cast::<PyDict>().ok()?.get_item(name).ok().flatten());
                }
                Effect::SetCell { cell, .. } => let_go.extend(inspect::cell_content(&self.real(*cell)?)),
                Effect::Call { args, .. } if self.is_append_to(effect, None) => {
                    // A deque that is full lets go of as many as it gets.
                    let to = args.first().and_then(|to| self.real(*to)).filter(|to| !to.is_instance_of::<PyList>());
                    to.iter().for_each(|deque| let_go.extend(referents::direct(deque, MAX_LOOKED_AT)));
                }
                Effect::SetItem { .. } | Effect::DelItem { .. } | Effect::ReplaceList { .. } | Effect::Call { .. } => {
                    return None;
                }
            }
        }
        let changed = self.state.private_copies.iter().filter(|copy| copy.is_changed(self.py));
        for copy in changed {
            let_go.extend(referents::direct(&self.real(copy.value)?, MAX_LOOKED_AT));
        }
        for used in self.state.iterators.iter().filter(|used| used.has_ended) {
            let_go.extend(self.real(used.value));
        }
        Some(let_go)
    }
}
