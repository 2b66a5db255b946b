//! Items appended to lists and deques from outside: while the trace asks no more of such a list than its length, its truth and single items, no guard
//! asks what it holds.
//!
//! So a loop that breaks at each step and collects results is compiled once, not for each length. Where the trace looks at the list as a
//! whole, it gets a private copy, to which the items are appended as well.
use crate::ffi::containers::{self, Container, Kind};
use crate::names::name;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// `append` on a list or deque from outside of which the trace has no copy, and `extend` on a list; `None`: it is another call, or nobody
    /// knows the items.
    pub(crate) fn append_unread(
        &mut self,
        name: &str,
        owner: &Bound<'py, PyType>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let &[list, given] = args else { return Ok(None) };
        let of = self.real(list).and_then(|object| of_sequence(&object)).filter(|of| of.base.is(owner));
        let Some(of) = of.filter(|_| self.is_uncopied_sequence(list)) else { return Ok(None) };
        let item = match name {
            "append" if self.takes_one_more(list)? => given,
            "extend" if of.kind == Kind::List => match self.items_to_append(list, given)? {
                Some(items) => items,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.class_of(list)?;
        let callable = of.method(name).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(callable);
        self.state.effects.push(Effect::Call { callable, args: vec![list, item] });
        Ok(Some(self.none()))
    }

    /// What an iterable gives that the trace has made, or a list or tuple from outside, in a tuple; `None`: it is another one.
    fn items_to_append(&mut self, list: ValueId, given: ValueId) -> Traced<Option<ValueId>> {
        let is_list_itself = self.real(list).zip(self.real(given)).is_some_and(|(list, given)| list.is(&given));
        let items = match self.items_made(given) {
            Some(items) => items,
            None if is_list_itself => return Ok(None),
            None => match self.unread_items(given, None)? {
                Some(items) => items,
                None => return Ok(None),
            },
        };
        let items = items.into_iter().map(|item| self.stored(item)).collect::<Traced<Vec<_>>>()?;
        let items = PyTuple::new(self.py, items).or_else(|error| self.raise_error(error))?;
        Ok(Some(self.own(items.into_any())))
    }

    /// Whether it is a list or deque from outside of which the trace has no copy.
    pub(super) fn is_uncopied_sequence(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| of_sequence(&object).is_some())
            && matches!(self.value(value), Value::Real { source: Some(_), .. })
            && self.state.private_copies.of(value).is_none()
            && !self.is_namespace(value)
    }

    /// What the trace has appended to a list of which it has no copy, in order.
    pub(super) fn appended(&mut self, list: ValueId) -> Vec<ValueId> {
        let appends = self.state.effects.iter().filter(|effect| self.is_append_to(effect, Some(list)));
        let given: Vec<_> = appends.filter_map(|effect| self.append_of(effect)).collect();
        let mut appended = Vec::new();
        for (item, is_one) in given {
            match is_one {
                true => appended.push(item),
                false => appended.extend(self.items_made(item).unwrap_or_default()),
            }
        }
        appended
    }

    /// The trace looks at a value: if it is a list that it has appended to, it needs a copy with what was appended.
    pub(crate) fn settle_appends(&mut self, value: ValueId) -> Traced<()> {
        let appended = self.state.effects.iter().any(|effect| self.is_append_to(effect, Some(value)));
        if appended && self.private_copy(value)?.is_none() {
            self.container_copy(value)?;
        }
        Ok(())
    }

    /// The copy of a list has just been made: it gets what the trace has appended to the list, in place of the list itself.
    pub(crate) fn repeat_appends(&mut self, list: ValueId) -> Traced<()> {
        let appended = self.appended(list);
        if !self.state.effects.iter().any(|effect| self.is_append_to(effect, Some(list))) {
            return Ok(());
        }
        let effects = std::mem::take(&mut *self.state.effects);
        *self.state.effects = effects.into_iter().filter(|effect| !self.is_append_to(effect, Some(list))).collect();
        let copy = self.state.private_copies.of(list).map(|copy| copy.object.bind(self.py).clone());
        let Some(copy) = copy else { return internal("a list without a copy") };
        self.state.aliases.changed.insert(list);
        for item in appended {
            let native = self.stored(item)?;
            let done = copy.call_method1(name!("append"), (native,));
            done.or_else(|error| internal(error.to_string()))?;
        }
        Ok(())
    }

    /// Whether an effect appends to a list, or to this one.
    pub(crate) fn is_append_to(&self, effect: &Effect, list: Option<ValueId>) -> bool {
        let Effect::Call { args, .. } = effect else { return false };
        let is_to = args.first().is_some_and(|to| list.is_none_or(|list| list == *to));
        is_to && self.append_of(effect).is_some()
    }

    /// What an effect appends, and whether that is one item, not a tuple of them; `None`: it is another effect.
    fn append_of(&self, effect: &Effect) -> Option<(ValueId, bool)> {
        let Effect::Call { callable, args } = effect else { return None };
        let &[to, item] = args.as_slice() else { return None };
        let (called, of) = (self.real(*callable)?, of_sequence(&self.real(to)?)?);
        let is = |name| of.method(name).is_ok_and(|method| called.is(&method));
        if is("append") { Some((item, true)) } else { is("extend").then_some((item, false)) }
    }
}

/// What the class of C is of a list or deque, of no derived class.
pub(super) fn of_sequence<'py>(object: &Bound<'py, PyAny>) -> Option<Container<'py>> {
    let class = object.get_type();
    containers::of(&class).filter(|of| of.base.is(&class) && matches!(of.kind, Kind::List | Kind::Deque))
}
