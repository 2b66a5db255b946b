//! Modes of a library that take over calls of its functions while they are active.
use super::operation::{Callee, HandedOver, ModeChange};
use crate::graph_break::Break;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;

/// What a function does with such modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeStep {
    /// It makes its argument active.
    Begin,
    /// It ends the innermost mode, and gives it.
    End,
    /// It gives the mode at a place, outermost first.
    Get,
}

/// Modes of a library that take over calls of its functions while they are active.
pub trait TakingModes {
    /// Takes the program's modes away as long as the answer lives: they do not see what the compiler calls.
    fn set_aside(&self, py: Python<'_>) -> PyResult<Option<Box<dyn Any>>>;
    /// Has the modes of the thread be as they are now when the answer ends, whatever is called meanwhile.
    fn keep(&self, py: Python<'_>) -> PyResult<Box<dyn Any>>;
    /// Those modes, outermost first.
    fn outer<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>>;
    /// Whether nothing is active in the thread but so many objects that stand for modes of a trace.
    fn are_of_trace(&self, py: Python<'_>, count: usize) -> bool;
    /// What a function does with modes; `None`: nothing.
    fn step(&self, function: &Bound<'_, PyAny>) -> Option<ModeStep>;
    /// The change that makes something active that stands for a mode, or ends the innermost such.
    fn marker<'py>(&self, py: Python<'py>, begins: bool) -> PyResult<ModeChange<'py>>;
    /// Whether active modes take over calls now.
    fn take_over(&self, py: Python<'_>) -> bool;
    /// Whether they see this being called.
    fn see(&self, callee: &Callee<'_>) -> Result<bool, Box<Break>>;
    /// What the library hands to a mode of an operation, of these arguments; `None` where it hands over nothing.
    fn handed<'py>(
        &self,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
        kwargs: &Bound<'py, PyDict>,
    ) -> Result<Option<HandedOver<'py>>, Box<Break>>;
    /// What begins a mode, what ends one, what takes all away before a graph runs, and what puts them back.
    fn functions<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 4]>;
}
