//! Differences between the traced releases that neither the instruction set nor generated code shows.
use pyo3::prelude::*;

/// Where `COMPARE_OP` has the comparison's number.
pub(crate) const COMPARISON: u32 = if cfg!(Py_3_13) {
    5
} else if cfg!(Py_3_12) {
    4
} else {
    0
};

/// Whether `COMPARE_OP` asks for a truth value.
pub(crate) fn compares_to_bool(arg: u32) -> bool {
    cfg!(Py_3_13) && arg & 16 != 0
}

/// C itself keeps a `StopIteration` from leaving a generator, and ends a delegation that was thrown into; later a handler of
/// the compiler's does both (`INTRINSIC_STOPITERATION_ERROR`, `CLEANUP_THROW`).
pub(crate) const GENERATORS_END_IN_C: bool = cfg!(not(Py_3_12));

/// `throw(type, value, traceback)` is as good as `throw(value)`; later it warns.
pub(crate) const THROWS_IN_PARTS: bool = cfg!(not(Py_3_12));

/// `close()` gives what the generator returned on the way.
pub(crate) const CLOSE_GIVES_VALUE: bool = cfg!(Py_3_13);

/// The `StopIteration` with what a generator returned has no context: `_PyGen_SetStopIterationValue` sets it as it is.
pub(crate) const VALUES_STOP_WITHOUT_CONTEXT: bool = cfg!(Py_3_14);

/// Unpacking says how many values there are where there are too many.
pub(crate) const COUNTS_UNPACKED: bool = cfg!(Py_3_14);

/// What the error about an object that cannot be awaited says.
pub(crate) fn not_awaitable(class: &str) -> String {
    if cfg!(Py_3_14) {
        format!("'{class}' object can't be awaited")
    } else {
        format!("object {class} can't be used in 'await' expression")
    }
}

/// Whether the error of a module that is called names what it may have been meant for. CPython: `object_is_not_callable`.
pub(crate) const MODULES_NAME_WHAT_IS_MEANT: bool = cfg!(Py_3_12);

/// Errors about what a method gave name the class of its object, with its module, and say what it must give.
pub(crate) const NAMES_CLASS_AND_METHOD: bool = cfg!(Py_3_15);

/// What is no mapping in a display of a dict is asked for its keys again, and an `AttributeError` of its own goes on.
pub(crate) const ASKS_AGAIN_FOR_KEYS: bool = cfg!(Py_3_15);

/// What the error about a class pattern that names no class says.
pub(crate) const NO_CLASS_IN_PATTERN: &str =
    if cfg!(Py_3_15) { "class pattern must refer to a class" } else { "called match pattern must be a class" };

/// `type()` makes a class of a frozendict, too, and words the error about something else with that.
pub(crate) const TAKES_FROZEN_NAMESPACES: bool = cfg!(Py_3_15);

/// What `__bool__ = None` raises is no longer what a call of `None` raises.
pub(crate) const NAMES_WHAT_HAS_NO_TRUTH: bool = cfg!(Py_3_14);

/// `print >> stream` has no error of its own.
pub(crate) const PRINT_IS_LIKE_ANY: bool = cfg!(Py_3_14);

/// Whether the group that `except*` makes of a single exception has a traceback that names the frame: since these patch releases.
pub(crate) fn wrapped_groups_name_the_frame(py: Python<'_>) -> bool {
    let version = py.version_info();
    match version.minor {
        ..=11 => false,
        12 => version.patch >= 9,
        13 => version.patch >= 2,
        _ => true,
    }
}
