//! Names that mean the same in several releases, and operations that only look.

/// A function's name without what releases changed about it alone: underscores before it became public, the lock that its caller
/// holds, the kind of reference that it gives.
pub(crate) fn function(name: &str) -> String {
    let mut name = name.trim_start_matches('_');
    for end in ["_lock_held", "_unlocked", "_impl", "Ref", "_lock_held_impl"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    match name {
        "PyObject_LookupSpecialId" => "PyObject_LookupSpecial",
        "PyType_LookupId" | "PyType_LookupRefAndVersion" | "PyType_LookupStackRefAndVersion" => "PyType_Lookup",
        "PyObject_GetAttrId" => "PyObject_GetAttr",
        name => name,
    }
    .to_owned()
}

/// Whether a method of the world only looks at an object, so that it does not matter when.
pub(crate) fn only_looks(name: &str) -> bool {
    const LOOKS: [&str; 12] = [
        "is",
        "Py_Is",
        "global",
        "_Py_ID",
        "_Py_STR",
        "Py_TYPE",
        "Py_IS_TYPE",
        "has_suite",
        "slot",
        "slot_at",
        "function",
        "item",
    ];
    let test = name.starts_with("Py") && (name.ends_with("_Check") || name.ends_with("_CheckExact"));
    let part = ["_GET_SIZE", "_GET_ITEM", "_AS_STRING", "PyUnicode_KIND", "PyUnicode_DATA", "Py_SIZE"];
    LOOKS.contains(&name)
        || test
        || name == "is_function"
        || name == "variable"
        || part.iter().any(|end| name.ends_with(end))
}

/// Calls that only make room: a program sees the object, and not where it lies.
pub(super) fn allocates(name: &str) -> bool {
    const ROOM: [&str; 7] = [
        "PyObject_GC_New",
        "PyObject_New",
        "PyObject_Malloc",
        "PyObject_GC_NewVar",
        "PyMem_Malloc",
        "PyMem_New",
        "PyMem_Calloc",
    ];
    ROOM.contains(&name.trim_start_matches('_'))
}

/// Methods of Rust that change how a value is held, and not the value.
pub(super) fn only_holds(method: &str) -> bool {
    const HOLDS: [&str; 14] = [
        "clone",
        "cloned",
        "as_ref",
        "as_str",
        "as_deref",
        "as_deref_mut",
        "as_mut",
        "to_owned",
        "to_string",
        "into",
        "iter",
        "as_slice",
        "to_vec",
        "copied",
    ];
    HOLDS.contains(&method)
}

/// Functions that set an exception: the type comes first, then the message.
pub(super) fn raises(name: &str) -> bool {
    name.starts_with("PyErr_Format")
        || name.starts_with("PyErr_Set")
        || name == "PyErr_BadInternalCall"
        || name == "PyErr_NoMemory"
}

/// Calls that no program can see: the world's own reason to stop, memory and references, threads, versions, assertions.
pub(crate) fn without_meaning(name: &str) -> bool {
    const PARTS: [&str; 34] = [
        "unsupported",
        "freelist",
        "FreeList",
        "FREELIST",
        "INCREF",
        "DECREF",
        "Py_CLEAR",
        "SETREF",
        "NewRef",
        "REFCNT",
        "DeferredRefcount",
        "IsUniquelyReferenced",
        "StackRef_",
        "CStack",
        "ThreadState_GET",
        "InterpreterState_GET",
        "HoldsTstate",
        "GILState_Check",
        "StopTheWorld",
        "StartTheWorld",
        "TRASHCAN",
        "assert",
        "ASSERT",
        "CRITICAL_SECTION",
        "PyErr_NoMemory",
        "PyMem_",
        "PyObject_Free",
        "PyObject_Malloc",
        "PyObject_Init",
        "PyObject_GC_",
        "RESET_HASH_CACHE",
        "version_tag",
        "watcher_tag",
        "state_global_version",
    ];
    PARTS.iter().any(|part| name.contains(part))
}
