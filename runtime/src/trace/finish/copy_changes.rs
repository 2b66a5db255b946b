//! Compares private copies of containers with the originals; the differences become side effects.
use crate::ffi::ordered_dict;
use crate::ffi::set_table::SetLayout;
use crate::guard::Check;
use crate::guard::source::{Fixed, Source};
use crate::names::name;
use crate::trace::lifetime::finalisers::EndsSilently;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};
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
            let before = self.state.effects.len();
            if let (Ok(list), Ok(first)) = (object.cast::<PyList>(), original.cast::<PyList>()) {
                let same = list.len() == first.len() && list.iter().zip(first.iter()).all(|(now, then)| now.is(&then));
                if !same {
                    let values = self.absorb_all(list.iter());
                    self.state.effects.push(Effect::ReplaceList { list: value, values });
                }
            } else if let (Ok(dict), Ok(first)) = (object.cast::<PyDict>(), original.cast::<PyDict>()) {
                self.compare_dicts(value, dict, first)?;
            } else if let (Ok(set), Ok(first)) = (object.cast::<PySet>(), original.cast::<PySet>()) {
                let compared = self.compare_sets(value, set, first)?;
                if let Err(escape) = compared {
                    return Ok(Err(escape));
                }
            }
            if self.state.effects.len() > before {
                self.guard_removed(value, &object, &original);
                if let Err(escape) = self.refuse_own_hashes_outside(value, before)? {
                    return Ok(Err(escape));
                }
            }
        }
        Ok(Ok(()))
    }

    /// What a list or dict from outside no longer holds must be quiet at its end.
    fn guard_removed(&mut self, container: ValueId, now: &Bound<'py, PyAny>, then: &Bound<'py, PyAny>) {
        let Some(source) = self.source(container).map(Arc::new) else { return };
        let items = |object: &Bound<'py, PyAny>| match (object.cast::<PyDict>(), object.cast::<PyList>()) {
            (Ok(dict), _) => dict.iter().map(|(key, value)| (Fixed::new(&key), value)).collect::<Vec<_>>(),
            (_, Ok(list)) => list.iter().map(|item| (Fixed::new(&item), item)).collect(),
            _ => Vec::new(),
        };
        let left: FxHashSet<usize> = items(now).iter().map(|(_, item)| item.as_ptr() as usize).collect();
        for (index, (key, item)) in items(then).into_iter().enumerate() {
            let path = match then.is_instance_of::<PyDict>() {
                true if crate::trace::value::kinds::is_scalar(key.0.bind(self.py)) => {
                    Source::DictItem(Arc::clone(&source), key)
                }
                true => continue,
                false => Source::Item(Arc::clone(&source), index),
            };
            if !left.contains(&(item.as_ptr() as usize)) {
                self.guard(path, Check::Domain(Box::new(EndsSilently::Altogether)), "the trace let go of it");
            }
        }
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
            if !self.has_lasting_hash(*key) {
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

    fn compare_dicts(&mut self, object: ValueId, now: &Bound<'py, PyDict>, then: &Bound<'py, PyDict>) -> Traced<()> {
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
                let key = self.absorb(key.clone());
                self.state.effects.push(Effect::DelItem { object, key });
            }
        }
        for (key, value) in &after {
            let unchanged = held_before.get(&(key.as_ptr() as usize)) == Some(&(value.as_ptr() as usize));
            if !in_order || !unchanged {
                let (key, value) = (self.absorb(key.clone()), self.absorb(value.clone()));
                self.state.effects.push(Effect::SetItem { object, key, value });
            }
        }
        if ordered_dict::is_ordered_dict(now) {
            let added = after
                .into_iter()
                .map(|(key, _)| key)
                .filter(|key| !in_order || !held_before.contains_key(&(key.as_ptr() as usize)));
            self.compare_orders(object, [now, then], &stays, added)?;
        }
        Ok(())
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
        let method = now.get_type().getattr(name!("move_to_end")).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(method);
        for key in after {
            let args = vec![object, self.absorb(key)];
            self.state.effects.push(Effect::Call { callable, args });
        }
        Ok(())
    }
}
