//! Classes whose operations a library hands to a method of Python when all else of a call is done: below gradients.
use super::operation::Callee;
use crate::graph_break::Break;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The attribute of what stands for a value: the numbers of the trace and of the value.
pub const STANDS_FOR: &str = "_slotrt_value";

/// A callable, and the positional arguments that do with it what is called.
pub type PlainCall<'py> = (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

/// Classes whose operations a library hands to a method of Python when all else of a call is done.
pub trait Dispatching {
    /// Whether it is such a class.
    fn dispatches(&self, class: &Bound<'_, PyType>) -> bool;
    /// Whether objects of such a class tell by themselves what is asked.
    fn tells_of_itself(&self, callee: &Callee<'_>) -> bool;
    /// The class of what stands for values: `answer` gets the operations on its instances.
    fn stand_in_class<'py>(&self, answer: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyType>>;
    /// What stands for the value of this number: like `example`, and handing all that is done with it to the trace. Gradients follow it where
    /// they follow the value.
    fn stand_in<'py>(
        &self,
        class: &Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
        value: (u64, u32),
    ) -> Result<Bound<'py, PyAny>, Box<Break>>;
    /// The callable that does what is called; `None`: nobody knows it.
    fn plain_call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
    ) -> Result<Option<PlainCall<'py>>, Box<Break>>;
    /// Whether a function of Python is the library's own, which its code of C may call: it runs as it is.
    fn is_own(&self, function: &Bound<'_, PyAny>) -> bool;
    /// Whether gradients would follow the object, where anything runs that they follow.
    fn is_followed(&self, example: &Bound<'_, PyAny>) -> bool;
    /// What stands for a new object like `like`, which gradients follow where `is_followed`; `None`: it is none that is known to be new.
    fn example_followed<'py>(&self, like: &Bound<'py, PyAny>, is_followed: bool)
    -> PyResult<Option<Bound<'py, PyAny>>>;
    /// Whether what a call gave is a view, or changed in place, or an operand was changed.
    fn is_tied(&self, object: &Bound<'_, PyAny>) -> bool;
    /// Whether what stands for an operand was changed in place.
    fn is_changed(&self, object: &Bound<'_, PyAny>) -> bool;
    /// Whether a call gives an object the memory of another one, and changes nothing that anybody sees of wrappers but that.
    fn ties(&self, callee: &Callee<'_>) -> bool;
    /// What stands for the result of a call that the graph makes as it is: `object` stood for it while the library's code ran, `like` is an
    /// example of what the class's method gave, `given` are the operands' stand-ins and examples.
    fn native_example<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        like: &Bound<'py, PyAny>,
        given: &[(Bound<'py, PyAny>, Bound<'py, PyAny>)],
    ) -> Result<Bound<'py, PyAny>, Box<Break>>;
    /// Whether a call tells something of classes alone: it consists of no operation.
    fn asks_for_classes(&self, callee: &Callee<'_>) -> bool;
    /// Whether what a call gives is changed wherever what stands for an operand is.
    fn changes_with(&self, object: &Bound<'_, PyAny>, operand: &Bound<'_, PyAny>) -> PyResult<bool>;
}
