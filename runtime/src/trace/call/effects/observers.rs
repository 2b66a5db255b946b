//! Functions of C after which frames of this thread are told to somebody: a graph break is told, too.

/// Their modules or classes, with their names.
const FUNCTIONS: &[(&str, &str)] = &[
    ("_lsprof.Profiler", "enable"),
    ("sys", "_setprofileallthreads"),
    ("sys", "_settraceallthreads"),
    ("sys", "setprofile"),
    ("sys", "settrace"),
    ("sys.monitoring", "set_events"),
    ("sys.monitoring", "set_local_events"),
];

/// Whether it is one of them.
pub(crate) fn sets_observers(owner: &str, name: &str) -> bool {
    FUNCTIONS.contains(&(owner, name))
}

/// Whether one of them has the name, and is an entry of a module.
pub(crate) fn is_name_of_one(name: &str) -> bool {
    FUNCTIONS.iter().any(|(owner, own)| *own == name && owner.starts_with("sys"))
}
