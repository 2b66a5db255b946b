//! `slotrt.InternalError`: a fault of slotrt itself.
pyo3::create_exception!(
    slotrt,
    InternalError,
    pyo3::exceptions::PyException,
    "A fault of slotrt itself; please report it."
);
