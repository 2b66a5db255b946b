//! Numbers that arrays of a library hold, and what calls of the graph make of them.
use super::{Operand, RangeRule};
use crate::graph::Node;
use crate::guard::DomainCheck;
use crate::symbol::Operation;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A number, by operands of a call.
#[derive(Clone, Debug)]
pub enum HeldNumber<'py> {
    /// The number that the operand is, or holds.
    Of(Operand<'py>),
    /// A number that is known.
    Known(f64),
    /// What an operation makes of others.
    Applied(Operation, Vec<Self>),
}

/// A condition on an array, a function that is true of it, under which a call gives a number of it.
#[derive(Debug)]
pub struct ToldByCheck<'py> {
    /// The function.
    pub check: Bound<'py, PyAny>,
    /// The number; `None`: where the array lies.
    pub told: Option<Bound<'py, PyAny>>,
}

/// An operand whose numbers choose something, and which numbers choose what is there.
#[derive(Clone, Debug)]
pub struct Choice<'py> {
    /// The operand.
    pub operand: Operand<'py>,
    /// The least number.
    pub least: i64,
    /// The greatest number.
    pub most: i64,
    /// A number that chooses nothing, and may be outside of these.
    pub beside: Option<i64>,
}

/// What a library knows of numbers that its arrays hold.
pub trait HeldNumbers {
    /// Whether an array is one float alone: it has no dimensions.
    fn is_float(&self, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether an array has one element, or nobody knows how many.
    fn may_be_one_number(&self, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// The float that an array from outside holds now, as guards find it.
    fn held_number(&self, _object: &Bound<'_, PyAny>) -> Option<f64> {
        None
    }
    /// The function that gives the greatest of such arrays (`max`), or the least (`min`), and what stands for that: one of the arrays itself, and
    /// nobody knows which. `None`: it may raise, or they differ in more than their contents.
    fn extreme<'py>(
        &self,
        _py: Python<'py>,
        _name: &str,
        _arrays: &[Operand<'py>],
    ) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        None
    }
    /// Whether this gives the address at which an array lies.
    fn is_address(&self, _target: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// A condition on an array from outside under which such a call gives what it gives now, or the address of the array; `None`: none is needed.
    fn told_by_check<'py>(
        &self,
        _target: &Bound<'py, PyAny>,
        _object: &Bound<'py, PyAny>,
    ) -> PyResult<Option<ToldByCheck<'py>>> {
        Ok(None)
    }
    /// Whether what a node gives lies where its first operand lies.
    fn keeps_address(&self, _target: &Bound<'_, PyAny>, _node: &Node) -> bool {
        false
    }
    /// The address of an array from outside, as guards find it.
    fn address(&self, _object: &Bound<'_, PyAny>) -> Option<usize> {
        None
    }
    /// Between which numbers those lie that a call gives, or holds in what it gives; without `target` an array from outside. `None`: nobody
    /// knows, or all contents are possible that `example` may have.
    fn range_rule<'py>(
        &self,
        _target: Option<&Bound<'py, PyAny>>,
        _args: &[Operand<'py>],
        _kwargs: &[(String, Operand<'py>)],
        _example: Option<&Bound<'py, PyAny>>,
    ) -> Option<RangeRule> {
        None
    }
    /// The operand that chooses items of another, if a call raises for no other contents than a choice that is out of range: its place, and
    /// among how many it chooses.
    fn chosen_among(&self, _target: &Bound<'_, PyAny>, _args: &[Operand<'_>]) -> Option<(usize, i64)> {
        None
    }
    /// The operands whose numbers choose something, if a call raises for no other contents than a choice of what is not there.
    fn choices<'py>(
        &self,
        _target: &Bound<'py, PyAny>,
        _args: &[Operand<'py>],
        _kwargs: &[(String, Operand<'py>)],
    ) -> Option<Vec<Choice<'py>>> {
        None
    }
    /// The condition that an array from outside holds only integers that choose what is there; `None`: it holds others now.
    fn guard_of_choice(&self, _object: &Bound<'_, PyAny>, _choice: &Choice<'_>) -> Option<Box<dyn DomainCheck>> {
        None
    }
    /// What a call gives that tells which elements of an array count, if all of so many do; `None`: it is no such call.
    fn all_chosen<'py>(
        &self,
        _target: &Bound<'py, PyAny>,
        _count: i64,
        _kwargs: &Bound<'py, PyDict>,
    ) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// What a call gives that does nothing else, where all contents are known.
    fn computed<'py>(
        &self,
        _target: &Bound<'py, PyAny>,
        _args: &Bound<'py, PyTuple>,
        _kwargs: &Bound<'py, PyDict>,
    ) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// The numbers that a call leaves in what it changes, in their order, or the one that it gives, or holds in what it gives; `None`: nobody
    /// knows. `example`: of the latter.
    fn numbers_held_after<'py>(
        &self,
        _target: &Bound<'py, PyAny>,
        _args: &[Operand<'py>],
        _kwargs: &[(String, Operand<'py>)],
        _example: &Bound<'py, PyAny>,
    ) -> Option<Vec<HeldNumber<'py>>> {
        None
    }
}
