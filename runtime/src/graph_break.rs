//! A graph break: why a trace cannot go on.

/// Kind of the break at a call that a library runs natively as a whole.
pub const RUN_AS_A_WHOLE: &str = "call of a function that PyTorch runs as a whole";

/// Kind of the break at an operation that something else looks at, as long as it does.
pub const OVERRIDDEN: &str = "operations of PyTorch are overridden";

/// Kind of the break at a call in which a part of the program gets ready, at its first call.
pub const GETS_READY: &str = "call in which a module gets ready";

/// Kind of the break at a call that writes down what the program does.
pub const KEEPS_RECORDS: &str = "call of a function that keeps a log";

/// Kind of the break at a call that reads or changes a state which is another at each call.
pub const PASSING_STATE: &str = "state that changes from call to call";

/// Kind of the break at a call after which frames may be told to somebody.
pub const SETS_OBSERVERS: &str = "call after which frames are told to somebody";

/// Kinds of breaks where a stretch of the program runs natively, with no graph work to be done in between.
pub const STRETCHES: [&str; 4] = [RUN_AS_A_WHOLE, OVERRIDDEN, GETS_READY, KEEPS_RECORDS];

/// Kinds of breaks that are there because somebody asks for them.
pub const ASKED_FOR: [&str; 2] = [EXPLICIT, ASKED_TO_STOP];

/// Kind of the break at a call of `graph_break`, or of what the program has disabled.
pub const EXPLICIT: &str = "explicit";

/// Kind of the break after as many instructions as the session says.
pub const ASKED_TO_STOP: &str = "asked to stop";

/// A graph break in four parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Kind of break, from a closed list: `call to unknown C function`.
    pub kind: String,
    /// The particulars: names, types, slot.
    pub context: String,
    /// What that means, in a sentence.
    pub explanation: String,
    /// What the user may do, from a closed list.
    pub hints: Vec<String>,
}
