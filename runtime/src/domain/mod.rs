//! What is recorded into the graph instead of being executed: plug-ins, one per array library.
pub mod numpy;
pub mod torch;

use crate::guard::DomainCheck;
use crate::trace::outcome::Break;
use crate::trace::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// An array library as the tracer sees it.
pub trait Domain: std::fmt::Debug {
    /// Name for reports: `numpy`.
    fn name(&self) -> &'static str;
    /// Whether objects of this exact class are values of the graph.
    fn claims(&self, class: &Bound<'_, PyType>) -> bool;
    /// Whether calls of this object are the domain's business, whatever the arguments (`numpy.add`, `numpy.zeros`).
    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool;
    /// One operation with at least one argument of the domain, or of a callable of the domain. `Err` is a graph break.
    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<Answer<'py>, Box<Break>>;
    /// The condition under which a trace that saw `example` is right for another object of the same class.
    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>>;
    /// What reports say of a value: `ndarray[float64, (2, 3)]`.
    fn describe(&self, example: &Bound<'_, PyAny>) -> String;
}

/// What is called.
#[derive(Debug)]
pub enum Callee<'py> {
    /// The C function in this slot of a claimed type (`nb_add`, `nb_inplace_add`, `mp_subscript`, `mp_ass_subscript`, `nb_bool`,
    /// `mp_length`, `tp_iter`, `tp_richcompare` with the operation as a known last argument), called with the slot's own arguments.
    Slot(&'static str),
    /// A callable that the domain claims.
    Function(Bound<'py, PyAny>),
    /// A method of the first argument, which is a value of the domain.
    Method(String),
    /// Reading an attribute of the only argument, which is a value of the domain; a method is not read but called.
    GetAttr(String),
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Operand<'py> {
    /// A value of the domain: `example` has its metadata (never its contents, which the trace must not look at).
    Graph {
        /// The tracer's name for it.
        value: ValueId,
        /// An object of the same type and metadata.
        example: Bound<'py, PyAny>,
    },
    /// An object that is known and guarded.
    Known(Bound<'py, PyAny>),
    /// A tuple.
    Tuple(Vec<Operand<'py>>),
    /// A list.
    List(Vec<Operand<'py>>),
    /// `slice(start, stop, step)`.
    Slice(Box<[Operand<'py>; 3]>),
    /// Something else, of this class: the domain breaks, or answers `NotImplemented` where its C code would without looking further.
    Foreign(Bound<'py, PyType>),
}

/// What the domain says to an operation.
#[derive(Debug)]
pub enum Answer<'py> {
    /// Record `target(*args, **kwargs)`; the result is as `example`.
    Node {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
        /// An object with the result's type and metadata.
        example: Bound<'py, PyAny>,
    },
    /// Known from the metadata alone: `x.shape`, `x.dtype`, `len(x)`.
    Constant(Bound<'py, PyAny>),
    /// `NotImplemented`: the other operand is asked.
    NotImplemented,
    /// The operation raises, whatever the contents.
    Raised(PyErr),
}

/// The domains whose libraries the program has imported.
pub fn loaded(py: Python<'_>) -> Vec<std::rc::Rc<dyn Domain>> {
    let mut domains: Vec<std::rc::Rc<dyn Domain>> = Vec::new();
    if let Ok(Some(numpy)) = numpy::new(py) {
        domains.push(std::rc::Rc::new(numpy));
    }
    if let Ok(Some(torch)) = torch::new(py) {
        domains.push(std::rc::Rc::new(torch));
    }
    domains
}
