//! Reasons of guards that code asks for: they decide the order of guards.

/// Why a question to the system is guarded: other threads may run while it is asked.
pub const READS_SYSTEM: &str = "the trace asked the system";

/// Why the state of a library is guarded.
pub(crate) const SURROUNDINGS: &str = "operations are recorded or answered";

/// Why a lock is guarded.
pub(crate) const USED_LOCK: &str = "the trace used the lock";

/// Why a file from outside is guarded.
pub(crate) const READS_FILE: &str = "the trace asked a file from outside";

/// Why a function that C called is guarded.
pub(crate) const CALLED_BY_C: &str = "C called the function";
