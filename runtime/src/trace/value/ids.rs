//! `id()` of objects that the trace made, or that no guard can hold: a number that can be compared and used as a key, but that C code may not look into.
//!
//! Plain Python's number is not known before the object leaves the trace, so this one cannot leave.
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;

/// What [`New::Opaque`] calls such a number.
pub(crate) const KIND: &str = "id() of an object that the trace made";

/// What [`New::Opaque`] calls the number that `gc.collect()` gives.
const COLLECTED: &str = "the number of objects that the collector finds";

impl<'py> Tracer<'py> {
    /// `gc.collect()`: compiled code calls it when it has made its other changes; what it finds then is not known.
    pub(crate) fn collect(&mut self, function: &Bound<'py, PyAny>) -> Traced<ValueId> {
        self.rely_on_quiet_collector()?;
        let callable = self.constant(function.clone());
        self.state.effects.push(crate::trace::state::outcome::Effect::Call { callable, args: Vec::new() });
        Ok(self.push(Value::New(New::Opaque(COLLECTED))))
    }

    /// The collector calls nobody and keeps nothing back: `gc.callbacks`, `gc.set_debug`.
    fn rely_on_quiet_collector(&mut self) -> Traced<()> {
        const QUIET: &std::ffi::CStr = c"lambda module: not (module.callbacks or module.garbage or module.get_debug())";
        let parts = self.py.import("gc").and_then(|module| Ok((module, self.py.eval(QUIET, None, None)?)));
        let (module, quiet) = parts.or_else(|error| crate::trace::state::unwind::internal(error.to_string()))?;
        if !quiet.call1((&module,)).and_then(|quiet| quiet.is_truthy()).unwrap_or(false) {
            return unsupported("collection that a program follows", "gc.callbacks, gc.garbage or gc.set_debug()");
        }
        let source = crate::guard::source::Source::constant(module.as_any());
        let check = crate::guard::Check::Call(quiet.unbind());
        self.guard(source, check, "the trace asked for a collection, which calls nobody");
        Ok(())
    }

    /// Whether the name stands for a number.
    pub(crate) fn is_number_kind(name: &str) -> bool {
        name == KIND || name == COLLECTED
    }

    /// `id(value)`.
    pub(crate) fn id_of(&mut self, value: ValueId) -> Traced<ValueId> {
        if let Some(object) = self.real(value).and_then(|_| self.same_object(value)) {
            let address = pyo3::types::PyInt::new(self.py, object.as_ptr() as usize).into_any();
            return Ok(self.constant(address));
        }
        if !matches!(self.value(value), Value::New(New::Owned(_) | New::Opaque(_)) | Value::Real { .. }) {
            return unsupported(KIND, "a method or a graph value");
        }
        if let Some((id, _)) = self.state.ids.iter().find(|(_, of)| **of == value) {
            return Ok(*id);
        }
        let id = self.push(Value::New(New::Opaque(KIND)));
        self.state.ids.insert(id, value);
        Ok(id)
    }

    /// C asks, for the program, what hangs on the address of an object that the trace made: that is another one once it leaves.
    pub(crate) fn refuse_address(&mut self, callable: ValueId, value: ValueId) -> Traced<()> {
        let id = self.import("builtins", "id")?;
        // The value that came last: C has made the object for this very call, and may make the next one in its place.
        let last = value.0 as usize + 1 == self.state.values.len();
        let made = matches!(self.value(value), Value::New(New::Owned(_)) | Value::Real { source: None, .. });
        if last && made && self.real(callable).is_some_and(|callable| callable.is(&id)) {
            return unsupported(KIND, "an object that C makes and lets go");
        }
        let has_any = self.real(callable).is_some_and(|callable| !callable.is(&id) && self.sees_addresses(&callable));
        if !has_any || self.owned(value).is_none() {
            return Ok(());
        }
        if self.has_lasting_hash(value) {
            Ok(())
        } else {
            unsupported("hash by address", "an object that the trace made")
        }
    }

    /// Whether the value is such a number.
    pub(crate) fn is_id(&self, value: ValueId) -> bool {
        matches!(self.value(value), Value::New(New::Opaque(KIND)))
    }

    /// `id(a) == other`: numbers of objects that live at the same time differ; what was known of one that is gone may come again.
    pub(crate) fn same_id(&mut self, one: ValueId, other: ValueId) -> Traced<bool> {
        if one == other {
            return Ok(true);
        }
        let both = [one, other].map(|id| self.state.ids.get(&id).copied());
        let of_outside = |of: &Option<ValueId>| of.is_some_and(|of| matches!(self.value(of), Value::Real { .. }));
        match both {
            [Some(one), Some(other)] if both.iter().all(of_outside) => return self.is(one, other),
            [None, _] | [_, None] if both.iter().any(of_outside) => {
                return unsupported(KIND, "of an object from outside, compared with a number");
            }
            _ => {}
        }
        for (id, of) in [one, other].into_iter().zip(both) {
            match of {
                Some(of) => self.rely_on_life(of)?,
                None if self.class_of(id)?.is(self.py.get_type::<pyo3::types::PyInt>()) => {}
                None => return unsupported(KIND, "compared with something else"),
            }
        }
        Ok(false)
    }

    /// What C gets for the hash: any number will do, as long as it stays.
    pub(crate) fn hash_of_id(&mut self, id: ValueId) -> Traced<isize> {
        if self.state.nesting == 0 {
            return unsupported(KIND, "hashed");
        }
        self.state.hashed_own += 1;
        let of = self.state.ids.get(&id).and_then(|of| self.owned(*of));
        Ok(of.map_or(isize::from(id.0 as i16), |object| object.as_ptr() as isize >> 4))
    }
}
