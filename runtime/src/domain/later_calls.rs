//! Calls that compiled code makes after the graph: they say what is to be done with gradients when there are some.
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What a call gives that changes only what is done later with its first argument, and where compiled code makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaterCall {
    /// After the graph; a handle.
    GivesHandle,
    /// After the graph; nothing.
    GivesNothing,
    /// After the graph; an object, of which the trace knows nothing.
    GivesObject,
    /// In the graph, where that has made the argument, so that a call that goes back through the graph finds it done; nothing.
    InGraph,
}

/// What a library knows of such calls.
pub trait LaterCalls {
    /// Whether a call of this function may be made after the graph: it changes only what is done later with its first argument.
    fn is_called_after(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// What such a call of so many arguments on what `example` stands for gives; `None`: it may raise.
    fn called_after(
        &self,
        _function: &Bound<'_, PyAny>,
        _example: &Bound<'_, PyAny>,
        _count: usize,
    ) -> Option<LaterCall> {
        None
    }
    /// The class of what such calls give.
    fn class_of_handles<'py>(&self, _py: Python<'py>) -> Option<Bound<'py, PyType>> {
        None
    }
    /// Whether a function undoes what such a call does, given the handle that this gave, and gives nothing.
    fn removes_handle(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether [`LaterCalls::later_attribute`] knows an attribute of this name.
    fn may_be_later(&self, _attribute: &str) -> bool {
        false
    }
    /// The function that gives an attribute of what `example` stands for once the graph has run; it is an object, never `None`, and the trace
    /// knows nothing else of it. `None`: it is known what the attribute is, or that is nowhere known.
    fn later_attribute<'py>(&self, _example: &Bound<'py, PyAny>, _attribute: &str) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// The function that does what a method of such an object, which `giver` gives, does, called with the object first: such a call, too, or one
    /// of which [`LaterCalls::asked_of_giver`] knows.
    fn later_method<'py>(&self, _giver: &Bound<'py, PyAny>, _name: &str) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// The function that gives what another one gives, which does what a method of such an object does, and is called with what the object
    /// belongs to.
    fn asked_of_giver<'py>(&self, _function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether what `giver` gives is the memory of an array.
    fn gives_storage(&self, _giver: &Bound<'_, PyAny>) -> bool {
        false
    }
}
