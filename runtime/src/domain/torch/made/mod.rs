//! Tensors that are made of what is none, and the other way round: arrays of numpy, lists of numbers, classes that are called.
//!
//! In: a call and its operands. Out: what it gives. It must not know the tracer.
mod arrays;
mod constructors;
mod listed;

use crate::domain::Operand;
use pyo3::prelude::*;

/// Functions that make tensors of lists of numbers, and the method of tensors that does.
const MAKERS: &[&str] = &["tensor", "as_tensor", "asarray"];
const METHOD: &str = "new_tensor";

/// The function that takes nothing but an array.
const OF_ARRAYS: &str = "from_numpy";

/// What such calls may be told: where the new tensor is.
const DEVICE: &str = "device";

/// Whether an operation of this name makes a tensor of the list that it is given.
pub(super) fn makes_of_lists(name: &str) -> bool {
    MAKERS.contains(&name) || name == METHOD
}

/// The tensor whose method makes another one, and what that is made of; `None`: the call makes none of what it is given.
fn made_of<'a, 'py>(name: &str, args: &'a [Operand<'py>]) -> Option<(Option<&'a Bound<'py, PyAny>>, &'a Operand<'py>)> {
    match args {
        [data] if MAKERS.contains(&name) || name == OF_ARRAYS => Some((None, data)),
        [Operand::Graph { example, .. }, data] if name == METHOD => Some((Some(example), data)),
        _ => None,
    }
}
