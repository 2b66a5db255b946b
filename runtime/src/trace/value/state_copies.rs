//! C objects from outside whose whole state can be read and written: C works on a private copy, and guards ask for the state.
//!
//! Such a trace holds for one call as a rule, so only the first trace of a function may depend on such a state. What sets the state first, as a
//! seed does, depends on none.
use crate::ffi::{callee, types};
use crate::graph_break::PASSING_STATE;
use crate::guard::Check;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::private_copies::StateCopy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

/// A class of C, and its methods that read and write the state.
const CLASSES: &[(&str, &str, &str)] = &[("_random.Random", "getstate", "setstate")];

/// The method that puts another state in the place of the one before.
const SEED: &str = "seed";

/// Whether objects from outside of the class (`tp_name`) are copied for C.
pub(crate) fn has_state_copies(class: &str) -> bool {
    CLASSES.iter().any(|(name, ..)| *name == class)
}

impl<'py> Tracer<'py> {
    /// The copy of an object from outside on which this method of C works, called with these arguments; `None` for other methods and objects.
    pub(crate) fn copy_of(
        &mut self,
        method: &Bound<'py, PyAny>,
        value: ValueId,
        args: &[ValueId],
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let owner = callee::owner_of(method);
        let name = owner.as_ref().map(types::c_name).unwrap_or_default();
        let known = CLASSES.iter().find(|(class, ..)| *class == name);
        if let Some(state_copies) = self.state.state_copies.iter().find(|state_copies| state_copies.value == value) {
            // Another class's method may ask the object, whose state is the one before.
            return match known {
                Some(_) => Ok(Some(state_copies.copy.bind(self.py).clone())),
                None => unsupported("method of an object whose state the trace has changed", callee::name_of(method)),
            };
        }
        let (Some(owner), Some((_, read, write))) = (&owner, known) else { return Ok(None) };
        let (Some(object), Some(source)) = (self.real(value), self.source(value)) else { return Ok(None) };
        let replaces = self.replaces_state(&callee::name_of(method), args)?;
        if !replaces && !self.state.passing_states {
            return unsupported(PASSING_STATE, name);
        }
        self.class_of(value)?;
        self.refuse_draw_after_program()?;
        if !object.is_instance(owner).unwrap_or(false) {
            return Ok(None);
        }
        const SAME: &std::ffi::CStr = c"lambda read, then: lambda value: read(value) == then";
        let now = self.generator_now(value).unwrap_or_else(|| object.clone());
        let made = owner.getattr(*read).and_then(|read| {
            let write = owner.getattr(*write)?;
            let state = read.call1((&object,))?;
            let copy = owner.call0()?;
            write.call1((&copy, read.call1((&now,))?))?;
            let check = self.py.eval(SAME, None, None)?.call1((&read, &state))?;
            Ok((read, write, state, copy, check))
        });
        let (read, write, state, copy, check) = made.or_else(|error| internal(error.to_string()))?;
        if !replaces {
            self.guard_once(
                value,
                GuardRequest::STATE,
                source,
                Check::Call(check.unbind()),
                "the trace used the state of the object",
            );
        }
        let state_copies = StateCopy {
            value,
            copy: copy.clone().unbind(),
            write: write.unbind(),
            read: read.unbind(),
            before: (!replaces).then(|| state.unbind()),
        };
        self.state.state_copies.push(state_copies);
        Ok(Some(copy))
    }

    /// Whether a method puts another state in the place of whatever the object has, and cannot fail: seeded with a number that is known.
    fn replaces_state(&mut self, method: &str, args: &[ValueId]) -> Traced<bool> {
        let [seed] = args else { return Ok(false) };
        let class = self.class_of(*seed)?;
        let is_number = class.is(self.py.get_type::<PyInt>()) || class.is(self.py.get_type::<PyFloat>());
        Ok(method == SEED && is_number && !self.is_symbolic(*seed))
    }

    /// Copies that have changed become effects on what they copied.
    pub(crate) fn compare_copies(&mut self) -> Traced<()> {
        for index in 0..self.state.state_copies.len() {
            let state_copies = &self.state.state_copies[index];
            let (value, write) = (state_copies.value, state_copies.write.bind(self.py).clone());
            let now = state_copies
                .read
                .bind(self.py)
                .call1((&state_copies.copy,))
                .or_else(|error| internal(error.to_string()))?;
            let before = state_copies.before.as_ref().map(|before| before.bind(self.py));
            let is_same = before.map_or(Ok(false), |before| now.eq(before));
            if is_same.or_else(|error| internal(error.to_string()))? {
                continue;
            }
            let (callable, state) = (self.constant(write), self.constant(now));
            self.state.effects.push(Effect::Call { callable, args: vec![value, state] });
        }
        Ok(())
    }
}
