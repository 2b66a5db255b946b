//! Items appended to lists from outside: while the trace does nothing else with such a list, no guard asks what it holds.
//!
//! So a loop that breaks at each step and collects results is compiled once, not for each length. Where the trace looks at the list after
//! all, it gets a private copy, to which the items are appended as well.
use crate::names::name;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

impl<'py> Tracer<'py> {
    /// `list.append` on a list from outside of which the trace has no copy; `None`: it is another call.
    pub(crate) fn append_unread(
        &mut self,
        name: &str,
        owner: &Bound<'py, PyType>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let ("append", [list, item], true) = (name, args, owner.is(self.py.get_type::<PyList>())) else {
            return Ok(None);
        };
        let exact = self.real(*list).is_some_and(|object| object.is_exact_instance_of::<PyList>());
        let sourced = matches!(self.value(*list), Value::Real { source: Some(_), .. });
        if !exact || !sourced || self.state.private_copies.of(*list).is_some() || self.is_namespace(*list) {
            return Ok(None);
        }
        self.class_of(*list)?;
        let callable = self.appender()?;
        let callable = self.constant(callable);
        self.state.effects.push(Effect::Call { callable, args: vec![*list, *item] });
        Ok(Some(self.none()))
    }

    /// The trace looks at a value: if it is a list that it has appended to, it needs a copy with what was appended.
    pub(crate) fn settle_appends(&mut self, value: ValueId) -> Traced<()> {
        let appended = self.state.effects.iter().any(|effect| self.is_append_to(effect, Some(value)));
        if appended { self.private_copy(value).map(drop) } else { Ok(()) }
    }

    /// The copy of a list has just been made: it gets what the trace has appended to the list, in place of the list itself.
    pub(crate) fn repeat_appends(&mut self, list: ValueId) -> Traced<()> {
        if !self.state.effects.iter().any(|effect| self.is_append_to(effect, Some(list))) {
            return Ok(());
        }
        let (appends, rest) = std::mem::take(&mut *self.state.effects)
            .into_iter()
            .partition::<Vec<_>, _>(|effect| self.is_append_to(effect, Some(list)));
        *self.state.effects = rest;
        let copy = self.state.private_copies.of(list).map(|copy| copy.object.bind(self.py).clone());
        let Some(Ok(copy)) = copy.map(|copy| copy.cast_into_exact::<PyList>()) else {
            return internal("a list without a copy");
        };
        self.state.aliases.changed.insert(list);
        for append in appends {
            let Effect::Call { args, .. } = append else { continue };
            let Some(item) = args.get(1) else { continue };
            let native = self.stored(*item)?;
            copy.append(native).or_else(|error| internal(error.to_string()))?;
        }
        Ok(())
    }

    /// Whether an effect appends to a list, or to this one.
    pub(crate) fn is_append_to(&self, effect: &Effect, list: Option<ValueId>) -> bool {
        let Effect::Call { callable, args } = effect else { return false };
        let [to, _] = args.as_slice() else { return false };
        list.is_none_or(|list| list == *to)
            && self.real(*callable).is_some_and(|called| self.appender().is_ok_and(|appender| called.is(&appender)))
    }

    /// `list.append`.
    fn appender(&self) -> Traced<Bound<'py, PyAny>> {
        self.py.get_type::<PyList>().getattr(name!("append")).or_else(|error| internal(error.to_string()))
    }
}
