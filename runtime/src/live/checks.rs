//! `PyX_Check` and `PyX_CheckExact`: which types each asks for.

/// The type in the name of a check, and whether subclasses pass.
pub(crate) fn checked(name: &str) -> Option<(&str, bool)> {
    match name.strip_suffix("_CheckExact") {
        Some(stem) => Some((stem, true)),
        None => name.strip_suffix("_Check").map(|stem| (stem, false)),
    }
}

/// The types that a check asks for, by the start of its name.
pub(crate) fn types(stem: &str) -> Option<&'static [&'static str]> {
    Some(match stem {
        "PyAnySet" => &["PySet_Type", "PyFrozenSet_Type"],
        "PyBool" => &["PyBool_Type"],
        "PyByteArray" => &["PyByteArray_Type"],
        "PyBytes" => &["PyBytes_Type"],
        "PyCFunction" => &["PyCFunction_Type"],
        "PyCell" => &["PyCell_Type"],
        "PyCode" => &["PyCode_Type"],
        "PyComplex" => &["PyComplex_Type"],
        "PyDict" => &["PyDict_Type"],
        "PyDictItems" => &["PyDictItems_Type"],
        "PyDictKeys" => &["PyDictKeys_Type"],
        "PyDictViewSet" => &["PyDictKeys_Type", "PyDictItems_Type"],
        "PyFloat" => &["PyFloat_Type"],
        "PyFrozenSet" => &["PyFrozenSet_Type"],
        "PyFunction" => &["PyFunction_Type"],
        "PyInstanceMethod" => &["PyInstanceMethod_Type"],
        "PyList" => &["PyList_Type"],
        "PyLong" => &["PyLong_Type"],
        "PyMemoryView" => &["PyMemoryView_Type"],
        "PyMethod" => &["PyMethod_Type"],
        "PyModule" => &["PyModule_Type"],
        "PyRange" => &["PyRange_Type"],
        "PySet" => &["PySet_Type"],
        "PySlice" => &["PySlice_Type"],
        "PyTuple" => &["PyTuple_Type"],
        "PyType" => &["PyType_Type"],
        "PyUnicode" => &["PyUnicode_Type"],
        "_PyGenericAlias" => &["Py_GenericAliasType"],
        "_PyUnion" => &["_PyUnion_Type"],
        _ => return None,
    })
}
