//! Instances in residual programs: while an object is the same as before, what it leads to is watched, not looked for.
//!
//! A path that begins at an argument is looked for at each call, for the argument may be another one. Where it is the same as in the call
//! that the program was made with, its attributes are entries of a dict, and those are watched. What nobody tells of is looked at: which
//! object it is, which class it has, and which `__dict__`.
//!
//! The object is told by its address: programs would see a weak reference. Another one that comes to lie there is taken for it only if it has
//! the same class and the same `__dict__`, whose end would be told. Nothing else of it is relied on, so what holds for one holds for the other.
use super::plan::{Plan, State};
use crate::ffi::watch::{Owner, Word};
use crate::ffi::{inspect, types};
use crate::guard::step::{Action, Step};
use crate::guard::test::Test;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use std::sync::Arc;

impl<'py> Plan<'_, 'py> {
    /// Has calls look whether a register holds the same object as now; false where that would gain nothing.
    pub(in crate::guard) fn anchor(&mut self, index: usize, into: usize) -> bool {
        let (Some(pins), Ok(mark)) = (&self.pins, u32::try_from(index)) else { return false };
        let Some(value) = self.found[into].clone() else { return false };
        let class = value.get_type();
        let plain = !value.is_instance_of::<PyType>() && !types::has_own_fields(&class);
        if !plain
            || !pins.bases.contains(&into)
            || self.changes.is_frequent(index)
            || !self.watches_class(index, &class)
        {
            return false;
        }
        let address = value.as_ptr() as usize;
        let guard = self.program.steps[index].guard;
        let register = self.place(into, guard);
        let test = Arc::new(Test::Anchor(address));
        if let Some(pins) = &mut self.pins {
            pins.anchors.push((self.steps.len(), mark));
        }
        self.steps.push(Step { guard, action: Action::Check { register, test } });
        self.owners[into] = Some(Owner::AtHand(address));
        true
    }

    /// Watches a class that the program looks at.
    fn watches_class(&mut self, index: usize, class: &Bound<'py, PyType>) -> bool {
        let looked = self.pins.as_ref().is_some_and(|pins| pins.classes.contains(&(class.as_ptr() as usize)));
        looked && self.set(index, |watch, mark| watch.class(class, mark))
    }

    /// How the object in a fixed register is known to live.
    fn owner(&self, register: usize) -> Option<Owner> {
        self.owners[register].clone().or_else(|| self.objects[register].clone().map(Owner::Held))
    }

    /// Has calls look at a word, unless they do.
    fn look(&mut self, index: usize, word: impl FnOnce(&Owner, u32) -> Option<Word>, register: usize) -> bool {
        let (Some(owner), Ok(mark)) = (self.owner(register), u32::try_from(index)) else { return false };
        if self.changes.is_frequent(index) {
            return false;
        }
        match (word(&owner, mark), &mut self.pins) {
            (Some(word), Some(pins)) => {
                pins.words.push(word);
                true
            }
            _ => false,
        }
    }

    /// Whether calls look that the object in a register has the class which it has now, and would be told of the end of the class.
    pub(in crate::guard) fn is_classed(&mut self, index: usize, register: usize) -> bool {
        let Some(pins) = &self.pins else { return false };
        if pins.classed.contains(&register) {
            return true;
        }
        let Ok(value) = self.fixed(register).cloned() else { return false };
        let class = value.get_type();
        // Of a class that ends while nobody looks, another one may come to lie where it was.
        let stays = types::is_immutable(&class) || self.watches_class(index, &class);
        let looked = stays && self.look(index, |owner, mark| Word::of_class(owner, &value, mark), register);
        if looked && let Some(pins) = &mut self.pins {
            pins.classed.insert(register);
        }
        looked
    }

    /// The `__dict__` of the object in a register, where calls look that it has this one.
    fn namespace(&mut self, index: usize, register: usize) -> Option<Bound<'py, PyDict>> {
        if !self.is_classed(index, register) {
            return None;
        }
        let value = self.fixed(register).ok()?.clone();
        let dict = inspect::own_dict(&value);
        if !self.pins.as_ref()?.spaced.contains(&register) {
            let told = self.set(index, |watch, mark| types::keep_in_dict(&value, &dict) && watch.end(&dict, mark));
            if !told || !self.look(index, |owner, mark| Word::of_namespace(owner, &value, &dict, mark), register) {
                return None;
            }
            self.pins.as_mut()?.spaced.insert(register);
        }
        dict.cast_into().ok()
    }

    /// Whether what a register holds is the `__dict__` of the object in another one.
    pub(in crate::guard) fn is_namespace(&mut self, index: usize, register: usize, into: usize) -> bool {
        let dict = self.namespace(index, register);
        dict.is_some_and(|dict| self.found[into].as_ref().is_some_and(|found| found.is(&dict)))
    }

    /// An attribute of an instance that its `__dict__` has: watched there, if nothing in its class comes first.
    pub(in crate::guard) fn instance_attribute(
        &mut self,
        index: usize,
        base: usize,
        name: &Bound<'py, PyString>,
        into: usize,
    ) -> Option<State> {
        let class = self.fixed(base).ok()?.get_type();
        if comes_first(&class, name) || !self.watches_class(index, &class) {
            return None;
        }
        let dict = self.namespace(index, base)?;
        let held = dict.get_item(name).ok()??;
        if !self.found[into].as_ref().is_some_and(|found| found.is(&held)) {
            return None;
        }
        Some(self.entry(index, Some(dict.as_any()), name.as_any(), into, "an attribute of an object"))
    }
}

/// Whether an attribute of a class comes before one of the instance, or may come to: it is a data descriptor, or could be made one.
fn comes_first(class: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> bool {
    types::lookup(class, name).is_some_and(|found| {
        let kind = found.get_type();
        !types::is_immutable(&kind) || types::slot(&kind, Slot::tp_descr_set).is_some()
    })
}
