//! What can be watched, and how it can change.

/// What a watch is set on. Addresses are those of live objects: a dict and a function say when they die, a class changes before.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The entry of a dict under keys of this hash.
    Entry(usize, isize),
    /// Which keys a dict has, in which order.
    Names(usize),
    /// All of a dict.
    Whole(usize),
    /// Whether a dict still lives.
    End(usize),
    /// A class and its bases.
    Class(usize),
    /// Code and defaults of a function.
    Function(usize),
}

/// What happened to a dict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Another value under a key that is there.
    Value,
    /// A key came or went.
    Name,
    /// Anything.
    All,
}
