//! Materialises what leaves the trace: describes each value so that emitted code can make it again.
use crate::ffi::snapshot::original;
use crate::ffi::types;
use crate::names::{interned, name};
use crate::trace::state::materialised::{Escape, Materialised};
use crate::trace::state::outcome::{Effect, End};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::internal;
use crate::trace::state::value::{New, Value, ValueId, ValueSet};
use crate::trace::value::kinds::is_set;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PySlice, PyTuple};

/// A generator whose handlers compiled code would have to put back.
const LEFT_INSIDE: &str = "a generator that is left inside try or with";

/// Instances of classes of this package that have this attribute never leave a trace.
const WITHIN: &str = "_slotrt_within";

impl<'py> Tracer<'py> {
    /// Describes everything that emitted code needs to make again.
    pub(crate) fn finish(&mut self, end: &mut End) -> Materialised<()> {
        self.refuse_known_draws()?;
        let suspended = self.left_suspended();
        for generator in &suspended {
            if !self.closes_silently(*generator)? {
                return self.escape(*generator, LEFT_INSIDE);
            }
        }
        if let Some(file) = self.left_open() {
            self.close_files();
            return self.escape(file, "a file that is left open");
        }
        if let Some(object) = self.ended(end)? {
            return self.escape(object, "an object whose end runs code within the trace");
        }
        if let Some(escape) = self.lost_inside(end).or_else(|| self.passed_from_outside()) {
            return Ok(Err(escape));
        }
        if let Err(escape) = self.compare_private_copies()? {
            return Ok(Err(escape));
        }
        self.compare_copies()?;
        self.advance_iterators()?;
        self.compare_contexts()?;
        self.replay_contexts()?;
        if let Some(object) = self.finaliser_in_guards() {
            return self.escape(object, "an object whose end runs code, which guards would keep alive");
        }
        if let Some(escape) = self.guard_shared_dicts() {
            return Ok(Err(escape));
        }
        self.leave_taking_modes()?;
        self.guard_changed();
        self.guard_kin();
        self.guard_memory()?;
        self.guard_contents()?;
        self.guard_kept_ids();
        self.guard_open_loops()?;
        crate::trace::finish::coalesce::merge(&mut self.state.effects);
        if let End::Return { kept: locals, .. } | End::Break { locals, .. } = &*end {
            self.guard_arguments(locals);
        }
        let mut work = end.values();
        work.extend(self.state.effects.iter().flat_map(effect_values));
        let mut seen = ValueSet::default();
        if let Err(escape) = self.materialise_all(work, &mut seen)? {
            return Ok(Err(escape));
        }
        if let End::Return { kept, value, .. } = end {
            if self.is_observed(&seen) || self.several_end(*value) {
                let kept = kept.iter().flatten().copied().collect();
                if let Err(escape) = self.materialise_all(kept, &mut seen)? {
                    return Ok(Err(escape));
                }
            } else {
                kept.clear();
            }
        }
        if let Some(generator) = suspended.into_iter().find(|generator| seen.contains(*generator)) {
            return self.escape(generator, LEFT_INSIDE);
        }
        if let Some(coroutine) = self.never_awaited(&seen) {
            return self.escape(coroutine, "a coroutine that is left before it is awaited");
        }
        self.guard_existence();
        Ok(Ok(()))
    }

    #[inline(never)]
    pub(crate) fn escape<T>(&self, id: ValueId, what: impl Into<String>) -> Materialised<T> {
        let step = self.state.created_at.get(id.0 as usize).copied().unwrap_or(0).saturating_sub(1);
        Ok(Err(Escape { step, what: what.into() }))
    }

    /// The trace must end before it saw what would be otherwise if the object were made again.
    fn before_it_was_told(&self, id: ValueId) -> Escape {
        let step = self.state.told.get(&id).copied().unwrap_or(0).saturating_sub(1);
        let is_set = self.owned(id).is_some_and(|object| is_set(&object));
        let what =
            if is_set { "set whose order the trace has seen" } else { "object whose address a text or a hash tells" };
        Escape { step, what: what.into() }
    }

    fn materialise_all(&mut self, mut work: Vec<ValueId>, seen: &mut ValueSet) -> Materialised<()> {
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.describe(id)? {
                Ok(children) => work.extend(children),
                Err(escape) => return Ok(Err(escape)),
            }
        }
        Ok(Ok(()))
    }

    fn describe(&mut self, id: ValueId) -> Materialised<Vec<ValueId>> {
        if self.release_context(id) {
            return Ok(Ok(Vec::new()));
        }
        if let Some(hash) = self.state.kept_hashes.get(&id).copied()
            && self.real(id).is_none()
        {
            self.keep_hash(id, hash)?;
        }
        match self.value(id) {
            Value::Real { object, source: None }
                if crate::trace::value::finalisable::leads_to_code(object.bind(self.py)) =>
            {
                self.escape(id, "an object whose end runs code, which compiled code would keep alive")
            }
            Value::Node { node, .. } if self.state.dropped_nodes.contains(node) => {
                self.escape(id, "a result of what the graph calls as a whole")
            }
            Value::Real { object, source: None } if self.state.fresh_answers.contains(&id) => {
                let object = object.bind(self.py).clone();
                match object.is_instance_of::<PyTuple>() {
                    true => self.materialise_owned(id, &object),
                    false => self.materialise_answer(id, &object),
                }
            }
            Value::Real { .. } | Value::Node { .. } => Ok(Ok(Vec::new())),
            Value::New(_) if self.state.told.contains_key(&id) => Ok(Err(self.before_it_was_told(id))),
            Value::New(New::Owned(object)) => {
                let object = object.bind(self.py).clone();
                self.materialise_owned(id, &object)
            }
            Value::New(New::Method { function, receiver }) => {
                let (function, receiver) = (*function, *receiver);
                self.materialise_method(id, function, receiver)
            }
            Value::New(New::Opaque(what)) => {
                let what = *what;
                if let Some(described) = self.describe_generator(id)? {
                    return described;
                }
                if let Some(described) = self.describe_token(id)? {
                    return described;
                }
                if let Some(described) = self.describe_context(id)? {
                    return described;
                }
                if let Some(described) = self.describe_whole(id).or_else(|| self.describe_handle(id)) {
                    return described;
                }
                if let Some(described) = self.describe_open_loop(id)? {
                    return described;
                }
                self.refuse_collected(what)?;
                self.describe_super(id).unwrap_or_else(|| self.escape(id, what))
            }
            Value::New(new) => Ok(Ok(new.items())),
        }
    }

    fn materialise_method(&mut self, id: ValueId, function: ValueId, receiver: ValueId) -> Materialised<Vec<ValueId>> {
        let Some(object) = self.at_hand(function) else {
            return Ok(Ok(vec![function, receiver]));
        };
        // Methods that are told their class (METH_METHOD) do not survive a `__get__` without one. What is bound and knows no class is no
        // descriptor of C: `PyMethod_New` bound it.
        let is_python = types::is_c_class(&object.get_type(), "function");
        let Some(class) = crate::ffi::callee::owner_of(&object).filter(|_| !is_python) else {
            return Ok(Ok(vec![function, receiver]));
        };
        if self.real(receiver).is_some_and(|receiver| receiver.is_none()) {
            return self.materialise_method_of_none(id, &object, receiver);
        }
        match object.getattr(name!("__get__")) {
            Ok(get) if self.owned(function).is_none() => {
                let (callable, class) = (self.constant(get), self.constant(class.into_any()));
                let args = vec![receiver, class];
                self.set(id, New::Call { callable, args: args.clone(), state: None }, args)
            }
            _ => self.escape(id, "bound C method"),
        }
    }

    /// `__get__` takes `None` for no object at all: its methods come by their names.
    fn materialise_method_of_none(
        &mut self,
        id: ValueId,
        method: &Bound<'py, PyAny>,
        none: ValueId,
    ) -> Materialised<Vec<ValueId>> {
        let parts =
            original(self.py, "builtins", "getattr").and_then(|get| Ok((get, method.getattr(name!("__name__"))?)));
        let (get, name) = parts.or_else(|error| internal(error.to_string()))?;
        let (callable, name) = (self.constant(get), self.constant(name));
        let args = vec![none, name];
        self.set(id, New::Call { callable, args: args.clone(), state: None }, args)
    }

    pub(crate) fn set(&mut self, id: ValueId, new: New, children: Vec<ValueId>) -> Materialised<Vec<ValueId>> {
        let described = std::mem::replace(&mut self.state.values[id.0 as usize], Value::New(new));
        self.state.described.push(described);
        Ok(Ok(children))
    }

    pub(crate) fn absorb_all(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Vec<ValueId> {
        items.map(|item| self.absorb(item)).collect()
    }

    fn materialise_owned(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let class = object.get_type();
        if !types::is_c_type(&class) && types::own(&class, &interned(self.py, WITHIN)).is_some() {
            return self.escape(id, "an object that stands for one of a library's within a trace alone");
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            let items = self.absorb_all(list.iter());
            return self.set(id, New::List(items.clone()), items);
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            self.keep_hash_of(id, object)?;
            let items = self.absorb_all(tuple.iter());
            return self.set(id, New::Tuple(items.clone()), items);
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            let pairs: Vec<_> = dict.iter().map(|(key, value)| (self.absorb(key), self.absorb(value))).collect();
            let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
            if keys.into_iter().any(|key| self.hashes_itself(key)) {
                return self.materialise_hashed_dict(id, dict);
            }
            let children = pairs.iter().flat_map(|(key, value)| [*key, *value]).collect();
            return self.set(id, New::Dict(pairs), children);
        }
        if object.is_exact_instance_of::<PySet>() {
            return self.materialise_set(id, object);
        }
        if object.is_exact_instance_of::<PyFrozenSet>() {
            return self.materialise_frozenset(id, object);
        }
        if object.is_exact_instance_of::<PySlice>() {
            let mut bounds = Vec::new();
            for name in ["start", "stop", "step"] {
                let bound = object.getattr(name).or_else(|error| internal(error.to_string()))?;
                bounds.push(self.absorb(bound));
            }
            let [start, stop, step] = bounds[..] else { return internal("slice") };
            return self.set(id, New::Slice([start, stop, step]), bounds);
        }
        if object.is_instance_of::<PyBaseException>() {
            return self.materialise_exception(id, object);
        }
        self.materialise_other(id, object)
    }

    /// Whether the trace has changed anything outside so far.
    pub(crate) fn has_changed_something(&self) -> bool {
        !self.state.effects.is_empty()
            || !self.state.acquired_first.is_empty()
            || !self.state.state_copies.is_empty()
            || self.has_contexts()
            || self.state.contexts.has_changes()
            || self.state.private_copies.iter().any(|private_copy| private_copy.is_changed(self.py))
    }
}

fn effect_values(effect: &Effect) -> Vec<ValueId> {
    match effect {
        Effect::SetAttr { object, value, .. } => vec![*object, *value],
        Effect::DelAttr { object, .. } => vec![*object],
        Effect::SetItem { object, key, value } => vec![*object, *key, *value],
        Effect::DelItem { object, key } => vec![*object, *key],
        Effect::ReplaceList { list, values } => std::iter::once(*list).chain(values.iter().copied()).collect(),
        Effect::SetGlobal { globals, value, .. } => vec![*globals, *value],
        Effect::DelGlobal { globals, .. } => vec![*globals],
        Effect::SetCell { cell, value } => std::iter::once(*cell).chain(*value).collect(),
        Effect::Call { callable, args } => std::iter::once(*callable).chain(args.iter().copied()).collect(),
    }
}
