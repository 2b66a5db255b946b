//! A graph break: why a trace cannot go on.

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
