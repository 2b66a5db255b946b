//! What a node of a graph does besides giving something new: what has to be taken back where the graph raises.
use pyo3::prelude::*;

/// What calling something in a graph does besides giving a new object.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct NodeEffects {
    /// The contents of its operands can make it raise.
    pub raises: bool,
    /// It does nothing but raise where contents are not as it says: a backend may change inputs before it.
    pub checks: bool,
    /// What it gives may share memory with its first operand.
    pub shares_first: bool,
    /// What it gives may share memory with any operand, and it may change any.
    pub is_unknown: bool,
    /// It changes no contents, though it is unknown.
    pub keeps_contents: bool,
    /// It may give several things that share memory with its first operand.
    pub gives_several: bool,
    /// It takes numbers from a generator of random ones.
    pub draws: bool,
    /// It counts how deep modes are nested.
    pub nests: bool,
    /// Positions of operands that it changes, beside the first one of an operation that is recorded as a change.
    pub writes: Vec<usize>,
    /// The position of the operand whose contents alone decide whether it raises; `None`: any may.
    pub raises_by: Option<usize>,
}

impl NodeEffects {
    /// Nothing is known of it.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            raises: true,
            checks: false,
            shares_first: true,
            is_unknown: true,
            keeps_contents: false,
            gives_several: true,
            draws: true,
            nests: false,
            writes: Vec::new(),
            raises_by: None,
        }
    }
}

/// What calling something with certain operands does.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallEffects {
    /// What it gives shares no memory with its operands, though others that call the same do.
    pub copies: bool,
    /// Where it raises, it has changed nothing.
    pub raises_first: bool,
    /// It may be, or call, a function of the program's.
    pub runs_program: bool,
    /// Whether no contents make it raise, though they do of other calls of the function.
    pub is_sure: bool,
}

/// What a domain saves before a graph runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SavedParts {
    /// The state of the generator of random numbers.
    pub random: bool,
    /// How deep modes are nested.
    pub nesting: bool,
}

/// What a domain has saved.
pub trait SavedState: Send + Sync {
    /// Puts it back; the modes are those that were in force when it was saved.
    fn restore(&self, py: Python<'_>) -> PyResult<()>;
    /// Whether it can be put back: it is saved whole, or nothing has changed what is not.
    fn is_whole(&self, _py: Python<'_>) -> bool {
        true
    }
}
