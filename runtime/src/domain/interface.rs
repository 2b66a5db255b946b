//! What a domain is: the operations that it gets, and how it answers.
use crate::graph::ValueId;
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// An array library as the tracer sees it.
pub trait Domain: std::fmt::Debug + Send + Sync {
    /// Name for reports: `numpy`.
    fn name(&self) -> &'static str;
    /// Whether objects of this exact class are values of the graph.
    fn claims(&self, class: &Bound<'_, PyType>) -> bool;
    /// Whether calls of this object are the domain's business, whatever the arguments (`numpy.add`, `numpy.zeros`).
    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool;
    /// Why a call of this Python function is to run natively, as a whole.
    fn leaves_alone(&self, _function: &Bound<'_, PyAny>) -> Option<Box<Break>> {
        None
    }
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
    /// Whether an attribute of this object from outside is another object that it holds, which no operation of a graph replaces.
    fn holds(&self, _object: &Bound<'_, PyAny>, _attribute: &str) -> bool {
        false
    }
    /// The condition under which inputs of a graph lie in memory as these do, as far as the graph may change some of them in place.
    fn memory_guard(&self, _inputs: &[Bound<'_, PyAny>], _changed: &[bool]) -> Option<Box<dyn DomainCheck>> {
        None
    }
    /// Whether what a node gives is an object of its own, never an operand and never shared.
    fn gives_new_objects(&self) -> bool {
        false
    }
    /// The guard on the state of the library, its modes, under which the domain's answers are right.
    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>>;
    /// The context variable that its operations read when they run, which is in the graph.
    fn context_variable(&self) -> Option<&Py<PyAny>> {
        None
    }
    /// Whether it is a function by which programs ask whether a compiler runs them. Within a trace it gives `True`.
    fn asks_for_compiler(&self, _function: &Bound<'_, PyAny>, _name: &str) -> bool {
        false
    }
    /// The class of what a node gives that has this example.
    fn class_of<'py>(&self, example: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        example.get_type()
    }
    /// For each operation that was recorded: its name, how often the domain knew what it gives, and how often it asked the library.
    fn metadata_counts(&self) -> Vec<(String, [u64; 2])> {
        Vec::new()
    }
    /// Begins to count anew.
    fn reset_counts(&self) {}
    /// What reports say of a value: `ndarray[float64, (2, 3)]`.
    fn describe(&self, example: &Bound<'_, PyAny>) -> String;
}

/// A guard on the state of a library as a whole.
#[derive(Debug)]
pub struct GlobalStateGuard {
    /// What reports name as the object that is checked: the library's module.
    pub object: Py<PyAny>,
    /// What must hold.
    pub check: Box<dyn DomainCheck>,
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

/// How a domain answers an operation.
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
    /// Record `target(*args, **kwargs)`, which gives a sequence, and what picks its items.
    Parts {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
        /// `list`, `tuple` or a named tuple of C, full of objects with the items' types and metadata.
        example: Bound<'py, PyAny>,
        /// `operator.getitem`.
        getitem: Bound<'py, PyAny>,
    },
    /// Record `target(*args, **kwargs)`, which changes its first operand and gives that operand, or `None`.
    Change {
        /// The Python callable that the graph calls.
        target: Bound<'py, PyAny>,
        /// Positional arguments.
        args: Vec<Operand<'py>>,
        /// Keyword arguments.
        kwargs: Vec<(String, Operand<'py>)>,
        /// An object with the type and metadata of the operand after the change.
        example: Bound<'py, PyAny>,
        /// The operand, if the operation gives it.
        gives: Option<ValueId>,
    },
    /// Record `target(*args)`, which sets a mode of the thread. It is in force for the rest of the trace, too, and put back when that
    /// has ended.
    ModeChange(Box<ModeChange<'py>>),
    /// The operand itself, where the operation has nothing to do.
    Same(ValueId),
    /// Known from the metadata alone: `x.shape`, `x.dtype`, `len(x)`.
    Constant(Bound<'py, PyAny>),
    /// The result of this function on plain arguments: state of the library or the thread. A guard calls the function again.
    Guarded(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>),
    /// `NotImplemented`: the other operand is asked.
    NotImplemented,
    /// The operation raises, whatever the contents.
    Raised(PyErr),
}

/// A callable, and what it is called with.
pub type Call<'py> = (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

/// A change of a mode of the thread.
#[derive(Debug)]
pub struct ModeChange<'py> {
    /// What sets it.
    pub set: Call<'py>,
    /// The call that restores what is in force now; `None` where nothing is to be restored.
    pub undo: Option<Call<'py>>,
    /// The call that reads the mode: once the trace has set it, its result is no state from outside.
    pub question: Option<Call<'py>>,
}
