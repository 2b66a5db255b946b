//! Compares private copies of containers with the originals; the differences become side effects.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::set_table::SetLayout;
use crate::ffi::{ordered_dict, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::lifetime::finalisers::EndsSilently;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PySet};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Key and value.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

impl<'py> Tracer<'py> {
    /// Changes to the private copies become effects on what they copied.
    pub(crate) fn compare_private_copies(&mut self) -> Materialised<()> {
        for index in 0..self.state.private_copies.len() {
            let private_copy = &self.state.private_copies[index];
            let (value, object, original) = (
                private_copy.value,
                private_copy.object.bind(self.py).clone(),
                private_copy.original.bind(self.py).clone(),
            );
            self.keep_hash_of(value, &object)?;
            let before = self.state.effects.len();
            if let Ok(first) = original.cast::<PyList>() {
                self.compare_items(value, &object, first)?;
            } else if let (Ok(dict), Ok(first)) = (object.cast::<PyDict>(), original.cast::<PyDict>()) {
                if let Err(escape) = self.compare_dicts(value, dict, first)? {
                    return Ok(Err(escape));
                }
            } else if let (Ok(now), Ok(first)) = (object.cast_exact::<PyByteArray>(), original.cast_exact::<PyBytes>())
            {
                self.compare_bytes(value, now, first)?;
            } else if object.is_exact_instance_of::<PyMemoryView>() && object.getattr(name!("nbytes")).is_err() {
                return Ok(Err(self.before_change(value, "a memoryview from outside that is released")));
            } else if let (Ok(set), Ok(first)) = (object.cast::<PySet>(), original.cast::<PySet>()) {
                let compared = self.compare_sets(value, set, first)?;
                if let Err(escape) = compared {
                    return Ok(Err(escape));
                }
            }
            if self.state.effects.len() > before {
                self.guard_removed(value, &object, &original)?;
                self.guard_removed_keys(value, &object, &original)?;
                if let Err(escape) = self.refuse_own_hashes_outside(value, &object, before)? {
                    return Ok(Err(escape));
                }
            }
        }
        Ok(Ok(()))
    }

    /// The items of a list or deque.
    fn compare_items(&mut self, value: ValueId, now: &Bound<'py, PyAny>, then: &Bound<'py, PyList>) -> Traced<()> {
        let Some(container) = containers::of(&now.get_type()) else { return internal("no container") };
        let items = container.items(now).or_else(|error| internal(error.to_string()))?;
        if items.len() == then.len() && items.iter().zip(then.iter()).all(|(now, then)| now.is(&then)) {
            return Ok(());
        }
        if now.is_exact_instance_of::<PyList>() {
            let values = self.absorb_all(items.into_iter());
            self.state.effects.push(Effect::ReplaceList { list: value, values });
            return Ok(());
        }
        let items = PyList::new(self.py, items).or_else(|error| internal(error.to_string()))?;
        let items = self.own(items.into_any());
        self.call_at_end(&container, "clear", vec![value])?;
        self.call_at_end(&container, "extend", vec![value, items])
    }

    /// At the end of the trace a method of the container's C class is called.
    fn call_at_end(&mut self, container: &Container<'py>, name: &str, args: Vec<ValueId>) -> Traced<()> {
        let method = container.method(name).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(method);
        self.state.effects.push(Effect::Call { callable, args });
        Ok(())
    }

    /// An entry of a dict is set, or deleted, as its C class does it.
    fn set_entry(
        &mut self,
        dict: &Bound<'py, PyDict>,
        object: ValueId,
        (key, hash): (ValueId, Option<isize>),
        value: Option<ValueId>,
    ) -> Traced<()> {
        let class = dict.get_type();
        if let Some(hash) = hash {
            return self.set_hashed_entry(object, key, hash, value);
        }
        match (containers::of(&class).filter(|_| !types::is_c_type(&class)), value) {
            (Some(container), Some(value)) => self.call_at_end(&container, "__setitem__", vec![object, key, value])?,
            (Some(container), None) => self.call_at_end(&container, "__delitem__", vec![object, key])?,
            (None, Some(value)) => self.state.effects.push(Effect::SetItem { object, key, value }),
            (None, None) => self.state.effects.push(Effect::DelItem { object, key }),
        }
        Ok(())
    }

    /// What a list or dict from outside no longer holds must be quiet at its end.
    fn guard_removed(&mut self, container: ValueId, now: &Bound<'py, PyAny>, then: &Bound<'py, PyAny>) -> Traced<()> {
        let Some(source) = self.source(container) else { return Ok(()) };
        let items = |object: &Bound<'py, PyAny>| match (object.cast::<PyDict>(), containers::of(&object.get_type())) {
            (Ok(dict), _) => dict.iter().collect::<Vec<_>>(),
            (_, Some(of)) if matches!(of.kind, Kind::List | Kind::Deque) => {
                of.items(object).into_iter().flatten().map(|item| (item.clone(), item)).collect()
            }
            _ => Vec::new(),
        };
        let left: FxHashSet<usize> = items(now).iter().map(|(_, item)| item.as_ptr() as usize).collect();
        for (index, (key, item)) in items(then).into_iter().enumerate() {
            let path = match now.cast::<PyDict>() {
                Ok(dict) if crate::trace::value::kinds::is_scalar(&key) => source.entry_of(dict, &key),
                Ok(dict) if dict.is_exact_instance_of::<PyDict>() => {
                    Source::Item(Arc::new(Source::Values(Arc::new(source.clone()))), index)
                }
                Ok(_) => continue,
                Err(_) => self.item_path(now, &source, index)?,
            };
            if !left.contains(&(item.as_ptr() as usize)) {
                self.guard(path, Check::Domain(Box::new(EndsSilently::Altogether)), "the trace let go of it");
            }
        }
        Ok(())
    }

    fn compare_sets(&mut self, value: ValueId, now: &Bound<'py, PySet>, then: &Bound<'py, PySet>) -> Materialised<()> {
        let layouts = SetLayout::of(now).and_then(|now| Ok((now, SetLayout::of(then)?)));
        let (Some(now), Some(then)) = layouts.or_else(|error| internal(error.to_string()))? else {
            return internal("layout of a set");
        };
        if now.same(&then, self.py) {
            return Ok(Ok(()));
        }
        let keys = self.absorb_all(now.keys(self.py).iter());
        for key in &keys {
            if !self.has_lasting_hash(*key) || self.state.hashed_own > 0 && self.hashes_itself(*key) {
                return Ok(Err(
                    self.before_change(value, "a set from outside with a key that is hashed by its address")
                ));
            }
        }
        let give = Bound::new(self.py, now).and_then(|layout| layout.getattr(name!("give")));
        let give = give.or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(give);
        let args = std::iter::once(value).chain(keys).collect();
        self.state.effects.push(Effect::Call { callable, args });
        Ok(Ok(()))
    }

    fn compare_dicts(
        &mut self,
        object: ValueId,
        now: &Bound<'py, PyDict>,
        then: &Bound<'py, PyDict>,
    ) -> Materialised<()> {
        let hashes = match self.own_hashes(object, now, then)? {
            Ok(hashes) => hashes,
            Err(escape) => return Ok(Err(escape)),
        };
        let hash = |key: &Bound<'py, PyAny>| hashes.get(&(key.as_ptr() as usize)).copied();
        let (before, after): (Vec<_>, Vec<_>) = (then.iter().collect(), now.iter().collect());
        let held = |pairs: &[Pair<'py>]| -> FxHashMap<usize, usize> {
            pairs.iter().map(|(key, value)| (key.as_ptr() as usize, value.as_ptr() as usize)).collect()
        };
        let (held_before, held_after) = (held(&before), held(&after));
        let is_kept = |key: &Bound<'py, PyAny>| held_after.contains_key(&(key.as_ptr() as usize));
        let kept = before.iter().filter(|(key, _)| is_kept(key));
        let in_order = after.iter().zip(kept).all(|((key, _), (kept, _))| key.is(kept));
        let stays = |key: &Bound<'py, PyAny>| in_order && is_kept(key);
        for (key, _) in &before {
            if !stays(key) {
                let hash = hash(key);
                let key = self.absorb(key.clone());
                self.set_entry(now, object, (key, hash), None)?;
            }
        }
        for (key, value) in &after {
            let unchanged = held_before.get(&(key.as_ptr() as usize)) == Some(&(value.as_ptr() as usize));
            if !in_order || !unchanged {
                let hash = hash(key);
                let (key, value) = (self.absorb(key.clone()), self.absorb(value.clone()));
                self.set_entry(now, object, (key, hash), Some(value))?;
            }
        }
        if ordered_dict::is_derived(now) {
            let added = after
                .into_iter()
                .map(|(key, _)| key)
                .filter(|key| !in_order || !held_before.contains_key(&(key.as_ptr() as usize)));
            self.compare_orders(object, [now, then], &stays, added)?;
        }
        Ok(Ok(()))
    }

    /// Moves keys of an `OrderedDict` that do not come to stand in their order: those that stay stand before those that are added.
    fn compare_orders(
        &mut self,
        object: ValueId,
        [now, then]: [&Bound<'py, PyDict>; 2],
        stays: &dyn Fn(&Bound<'py, PyAny>) -> bool,
        added: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> Traced<()> {
        // Keys that are proxies are asked for their hashes.
        let both =
            self.with_callbacks_on_scalars(|| PyResult::Ok((ordered_dict::order(then)?, ordered_dict::order(now)?)));
        let (before, after) = both.or_else(|error| internal(error.to_string()))?;
        let reached = before.into_iter().filter(stays).chain(added);
        if reached.zip(&after).all(|(reached, wanted)| reached.is(wanted)) {
            return Ok(());
        }
        let Some(container) = containers::of(&now.get_type()) else { return internal("no OrderedDict") };
        for key in after {
            let args = vec![object, self.absorb(key)];
            self.call_at_end(&container, "move_to_end", args)?;
        }
        Ok(())
    }
}
