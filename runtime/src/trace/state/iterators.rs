//! Iterators from outside that the trace goes through, and generators of random numbers that it draws from.
use super::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// How far the trace has gone through an iterator, which itself stays where it was.
#[derive(Debug)]
pub(crate) struct IteratorUse {
    pub(crate) value: ValueId,
    /// Steps of the trace; the last may have met the end.
    pub(crate) steps: usize,
    pub(crate) has_ended: bool,
    /// Whether no code runs when the iterator lets go of what it goes through.
    pub(crate) ends_silently: bool,
    /// The next items as they were first asked for, in tuples of 1, 2, 4 … items.
    pub(crate) ahead: Vec<Py<PyTuple>>,
    /// What the trace had changed when it last made sure that the iterator reads none of it.
    pub(crate) apart_from: Vec<ValueId>,
}

/// How far the trace has gone with a generator of random numbers, which itself stays as it was.
#[derive(Debug)]
pub(crate) struct Drawing {
    pub(crate) value: ValueId,
    /// How many numbers it has drawn.
    pub(crate) steps: usize,
    /// The generator that goes on from there.
    pub(crate) next: ValueId,
}
