//! One object over several paths: a value for each path, or one for all.
//!
//! Where the caller chooses both paths, each has a value of its own: what the trace learns of one value it learns for one path, and no
//! guard says that the paths lead to one object. `is` adds that guard. A change to the object, or C that observes its identity, needs
//! one value: then the trace is made again, and merges the values of that object.
use crate::ffi::{ordered_dict, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::finalisable::is_finalisable;
use crate::trace::value::kinds::has_c_base;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet, PyTuple};

/// What is to be done about another path to an object.
pub(crate) enum Alias {
    /// This value was reached over the same path.
    Same(ValueId),
    /// One value stands for this path, too: a guard says so.
    Merge(ValueId),
    /// The path gets a value of its own, beside this one.
    Apart(ValueId),
}

impl<'py> Tracer<'py> {
    /// An object that `first` stands for was reached over another path.
    pub(crate) fn alias(&self, object: &Bound<'py, PyAny>, first: ValueId, source: &Source) -> Alias {
        let mut near = None;
        for known in std::iter::once(first).chain(self.state.aliases.of(first)) {
            match self.source(known) {
                Some(path) if path == *source => return Alias::Same(known),
                Some(path) if self.shares_value(&path, source) => near = near.or(Some(known)),
                _ => {}
            }
        }
        match near {
            Some(near) => Alias::Merge(near),
            None if self.may_have_several_values(first, object) && !self.is_found_in_objects(first, source) => {
                Alias::Apart(first)
            }
            None => Alias::Merge(first),
        }
    }

    /// Whether two paths that lead to one object share its value.
    fn shares_value(&self, one: &Source, other: &Source) -> bool {
        let merged = &self.state.aliases.merged;
        !chosen_apart(one, other) || merged.contains(one) && merged.contains(other)
    }

    /// Whether both paths to an array lead through objects: what these share, they share for long, as networks and optimisers do parameters.
    fn is_found_in_objects(&self, first: ValueId, source: &Source) -> bool {
        let is_array = self.real(first).is_some_and(|object| self.domain_of(&object.get_type()).is_some());
        is_array && ![Some(source.clone()), self.source(first)].iter().flatten().any(Source::is_part_of_argument)
    }

    /// Whether the end of the trace finds every change to such an object, and whoever observes its identity asks the trace.
    fn may_have_several_values(&self, value: ValueId, object: &Bound<'py, PyAny>) -> bool {
        if !matches!(self.value(value), Value::Real { .. }) {
            return false;
        }
        let class = object.get_type();
        if self.domain_of(&class).is_some() {
            return true;
        }
        if types::is_c_type(&class) {
            return object.is_exact_instance_of::<PyList>()
                || object.is_exact_instance_of::<PyTuple>()
                || object.is_exact_instance_of::<PySet>()
                || ordered_dict::exact(object).is_some();
        }
        !has_c_base(&class) && !is_finalisable(object)
    }

    /// Guards that two values are one object, or are not; whether they are.
    pub(crate) fn guard_identity(&mut self, left: ValueId, right: ValueId, why: &'static str) -> bool {
        let same = self.real(left).zip(self.real(right)).is_some_and(|(left, right)| left.is(&right));
        let (Some(one), Some(other)) = (self.source(left), self.source(right)) else { return same };
        let fixed = matches!((&one, &other), (Source::Constant(_), Source::Constant(_)));
        let pair = (left.min(right), left.max(right));
        if !fixed && self.state.aliases.compared.insert(pair) {
            let (one, other) = if matches!(one, Source::Constant(_)) { (other, one) } else { (one, other) };
            let check = if same { Check::SameAs(other) } else { Check::NotSameAs(other) };
            self.guard(one, check, why);
        }
        same
    }

    /// Notes which of the containers from outside C has just changed: it may change them back before the trace ends.
    pub(crate) fn note_changes(&mut self, natives: &[Bound<'py, PyAny>]) {
        if self.state.private_copies.is_empty() {
            return;
        }
        for native in natives {
            let value = self.state.identity.get(&(native.as_ptr() as usize)).copied();
            let copy = value.and_then(|value| self.state.private_copies.of(value));
            let Some(copy) = copy.filter(|copy| copy.object.is(native)) else { continue };
            if !self.state.aliases.changed.contains(copy.value) && copy.is_changed(self.py) {
                self.state.aliases.changed.insert(copy.value);
            }
        }
    }

    /// Some operations of C on two sets ask first whether they are one set: the order of what they give depends on it.
    ///
    /// CPython: Objects/setobject.c, `set_intersection`, `set_difference_update_internal`.
    pub(crate) fn rely_on_two_sets(&mut self, operands: &[ValueId]) {
        let Some((first, rest)) = operands.split_first().filter(|(first, _)| self.is_outside_set(**first)) else {
            return;
        };
        for other in rest {
            if self.is_outside_set(*other) {
                self.rely_on_difference(*first, *other);
            }
        }
    }

    fn is_outside_set(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| object.is_instance_of::<PySet>())
    }

    /// C asks whether two objects are equal: it has found them to be two objects before, by their proxies.
    pub(crate) fn rely_on_difference(&mut self, value: ValueId, other: ValueId) {
        let (Some(one), Some(object)) = (self.real(value), self.real(other)) else { return };
        // Which object a number is does not matter.
        if value == other || !one.get_type().is(object.get_type()) || self.is_of_numbers(&one.get_type()) {
            return;
        }
        if self.guard_identity(value, other, "C compared two objects") {
            self.state.aliases.observed.extend([value, other]);
        }
    }
}

/// Whether the caller chooses where each of the paths begins, so that they may lead to one object in one call and to two in the next.
fn chosen_apart(one: &Source, other: &Source) -> bool {
    let namespace = |source: &Source| matches!(source, Source::Dict(_));
    (one.is_given() || other.is_given()) && one.origin() != other.origin() && !namespace(one) && !namespace(other)
}
