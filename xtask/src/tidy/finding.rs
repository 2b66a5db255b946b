//! What a rule reports.
/// A broken rule, at a place, with the way out.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the workspace root.
    pub path: String,
    /// One-based line; 0 for the file as a whole.
    pub line: usize,
    /// Name of the rule.
    pub rule: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}
