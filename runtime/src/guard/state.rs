//! Conditions of guards, made again from their states.
use super::condition::DomainCheck;
use super::contents::all_different::{ALL_DIFFERENT, AllDifferent};
use super::contents::dead_reference::{DEAD_REFERENCE, DeadReference};
use super::contents::deque_limit::{DEQUE_LIMIT, DequeLimit};
use super::contents::empty_slot::{EMPTY_SLOT, EmptySlot};
use super::contents::has_item::{HAS_ITEM, HasItem};
use super::contents::iterators_apart::{ITERATOR_APART, IteratorApart};
use super::contents::key_order::{KEY_ORDER, KeyOrder};
use super::contents::no_attributes::{NO_ATTRIBUTES, NoAttributes};
use super::contents::null_member::{NULL_MEMBER, NullMember};
use super::contents::same_value::{SAME_VALUE, SameValue};
use super::number_condition::{NUMBERS, NumberCondition};
use super::unobserved::{UNOBSERVED, Unobserved};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The condition that has written this state under this name; `None`: it is none of these.
///
/// # Errors
/// Where it is no state of such a condition.
pub fn check_of(name: &str, state: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> {
    Ok(Some(match name {
        KEY_ORDER => Box::new(KeyOrder(state.cast::<PyTuple>()?.clone().unbind())),
        HAS_ITEM => Box::new(HasItem::of_state(state)?),
        EMPTY_SLOT => Box::new(EmptySlot(state.clone().unbind())),
        NO_ATTRIBUTES => Box::new(NoAttributes),
        NULL_MEMBER => Box::new(NullMember(state.extract()?)),
        DEQUE_LIMIT => Box::new(DequeLimit(state.extract::<(Option<usize>,)>()?.0)),
        SAME_VALUE => match SameValue::of(state) {
            Some(check) => Box::new(check),
            None => return Ok(None),
        },
        NUMBERS => match NumberCondition::of_state(state)? {
            Some(check) => Box::new(check),
            None => return Ok(None),
        },
        ITERATOR_APART => Box::new(IteratorApart),
        UNOBSERVED => Box::new(Unobserved),
        ALL_DIFFERENT => Box::new(AllDifferent),
        DEAD_REFERENCE => Box::new(DeadReference),
        _ => return Ok(None),
    }))
}
