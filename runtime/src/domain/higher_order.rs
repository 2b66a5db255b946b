//! Operators that take functions, and calls of them.
use super::operation::Operand;
use pyo3::prelude::*;

/// An operator that takes functions.
#[derive(Debug)]
pub struct HigherOrder {
    /// Which arguments are the functions.
    pub bodies: &'static [usize],
    /// What it calls them with; nothing where the graphs get only what the functions use of the items of the argument `lifted`.
    pub formals: &'static [Formal],
    /// What it calls the functions after the first with, where that is something else.
    pub later: &'static [Formal],
    /// The argument that is a tuple whose last item is the last of the functions. In a trace that function comes after all arguments.
    pub nested: Option<usize>,
    /// Whether each function gets the tensors that it uses in an argument of its own, one after the other.
    pub apart: bool,
    /// Whether its functions are called where an item is read by an index that is a tensor without contents.
    pub indexed: bool,
    /// Which argument gets the tensors that the functions use; the number of its arguments, where those follow one by one.
    pub lifted: usize,
    /// How many arguments it takes.
    pub arity: usize,
    /// Keywords that it takes.
    pub options: &'static [&'static str],
    /// Whether a function that gives one tensor gives it alone, not in a tuple.
    pub single: bool,
    /// The argument that chooses between two functions, which the operator does not do itself where it is a truth.
    pub chooses: Option<usize>,
    /// The function as whose result the operator's is structured, which is a tuple otherwise.
    pub shaped: Option<usize>,
}

/// What an operator calls a function with.
#[derive(Clone, Copy, Debug)]
pub enum Formal {
    /// Each item of this argument.
    Whole(usize),
    /// The first of what each item of this argument consists of.
    First(usize),
    /// One number of a tensor like this argument.
    Item(usize),
    /// An index into such a tensor.
    Index(usize),
}

impl HigherOrder {
    /// What it calls the function at this place with.
    #[must_use]
    pub fn formals_of(&self, place: usize) -> &'static [Formal] {
        if place > 0 && !self.later.is_empty() { self.later } else { self.formals }
    }
}

/// A call of an operator that takes functions, which are graphs by now.
#[derive(Debug)]
pub struct GraphCall<'a, 'py> {
    /// The operator; the graph may call another one in its place.
    pub operator: &'a mut Bound<'py, PyAny>,
    /// Its operands; the graphs are still to be put in.
    pub operands: &'a mut Vec<Operand<'py>>,
    /// Its keyword arguments.
    pub named: &'a mut Vec<(String, Operand<'py>)>,
    /// What it takes.
    pub order: &'static HigherOrder,
    /// The arguments that the program gave.
    pub given: &'a [Operand<'py>],
    /// The graphs, and whether each gives its only result alone.
    pub graphs: Vec<(Bound<'py, PyAny>, bool)>,
    /// Whether the graph runs as it is recorded: no backend makes something else of it.
    pub as_recorded: bool,
    /// What stands for the results of each.
    pub examples: Vec<Vec<Bound<'py, PyAny>>>,
}
