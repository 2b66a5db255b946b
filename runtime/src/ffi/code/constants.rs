//! The constants of compiled code, which may be objects of any kind.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyCode, PyComplex, PyDict, PyEllipsis, PyFloat, PyFrozenSet, PyInt, PyNone, PySlice, PyString,
    PyTuple, PyType,
};

/// A tuple of constants. Code objects hash theirs: where some are no values as compilers make them, the tuple is of a class that hashes by
/// address, so that programs can put the code of a frame into a set, and run nothing of the constants' own with that.
pub(super) fn tuple<'py>(py: Python<'py>, constants: &[Py<PyAny>]) -> PyResult<Bound<'py, PyTuple>> {
    let plain = PyTuple::new(py, constants.iter().map(|constant| constant.bind(py)))?;
    match plain.iter().all(|constant| is_value(&constant)) {
        true => Ok(plain),
        false => Ok(class(py)?.call1((plain,))?.cast_into()?),
    }
}

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let made = CLASS.get_or_try_init(py, || {
        let (object, namespace) = (py.get_type::<PyAny>(), PyDict::new(py));
        namespace.set_item(intern!(py, "__slots__"), PyTuple::empty(py))?;
        namespace.set_item(intern!(py, "__module__"), intern!(py, "slotrt"))?;
        for method in [intern!(py, "__hash__"), intern!(py, "__eq__"), intern!(py, "__ne__")] {
            namespace.set_item(method, object.getattr(method)?)?;
        }
        let bases = PyTuple::new(py, [py.get_type::<PyTuple>()])?;
        let made = py.get_type::<PyType>().call1((intern!(py, "constants"), bases, namespace))?;
        Ok::<_, PyErr>(made.cast_into::<PyType>()?.unbind())
    })?;
    Ok(made.bind(py))
}

/// Whether it is a value that a compiler puts among constants.
fn is_value(constant: &Bound<'_, PyAny>) -> bool {
    if let Ok(items) = constant.cast_exact::<PyTuple>() {
        return items.iter().all(|item| is_value(&item));
    }
    // From 3.14 on compilers put slices there; before, they may have no hash.
    if constant.is_exact_instance_of::<PySlice>() {
        let part = |name| constant.getattr(name).is_ok_and(|part| is_value(&part));
        let parts = [intern!(constant.py(), "start"), intern!(constant.py(), "stop"), intern!(constant.py(), "step")];
        return constant.py().version_info() >= (3, 14) && parts.into_iter().all(part);
    }
    constant.is_exact_instance_of::<PyInt>()
        || constant.is_exact_instance_of::<PyString>()
        || constant.is_exact_instance_of::<PyNone>()
        || constant.is_exact_instance_of::<PyBool>()
        || constant.is_exact_instance_of::<PyFloat>()
        || constant.is_exact_instance_of::<PyBytes>()
        || constant.is_exact_instance_of::<PyComplex>()
        || constant.is_exact_instance_of::<PyEllipsis>()
        || constant.is_exact_instance_of::<PyFrozenSet>()
        || constant.is_exact_instance_of::<PyCode>()
}
