//! Classes of C whose instances are called, by name.

/// Whether this is a class of functions and methods of C.
pub(crate) fn is_of_c(class: &str) -> bool {
    matches!(
        class,
        "builtin_function_or_method"
            | "builtin_method"
            | "method_descriptor"
            | "wrapper_descriptor"
            | "method-wrapper"
            | "classmethod_descriptor"
    )
}

/// The attribute that an instance of this class of C calls when it is called.
pub(crate) fn called_on(class: &str) -> Option<&'static str> {
    match class {
        "functools.partial" => Some("func"),
        "method" | "staticmethod" => Some("__func__"),
        "types.GenericAlias" => Some("__origin__"),
        _ => None,
    }
}

/// Whether a call of an instance of this class of C comes to the call of a function.
pub(crate) fn forwards_calls(class: &str) -> bool {
    is_of_c(class) || class == "function" || called_on(class).is_some()
}
