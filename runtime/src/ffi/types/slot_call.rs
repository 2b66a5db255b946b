//! Calling the C function that a slot holds.
use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Signature of a slot function, with the arguments that are no objects.
#[derive(Clone, Copy, Debug)]
pub enum Signature {
    /// `unaryfunc`.
    Unary,
    /// `binaryfunc`.
    Binary,
    /// `ternaryfunc`; a missing third operand is NULL.
    Ternary,
    /// `ssizeargfunc`.
    Index(isize),
    /// `richcmpfunc`.
    Compare(i32),
}

/// Calls a slot function on objects.
///
/// `function` must have been read by [`crate::ffi::types::slot_pointer`] from a slot of this signature in the type of one of the operands; that is
/// what makes the address a function that takes these objects.
pub fn call<'py>(function: usize, args: &[Bound<'py, PyAny>], signature: Signature) -> PyResult<Bound<'py, PyAny>> {
    let arity = match signature {
        Signature::Unary | Signature::Index(_) => 1..=1,
        Signature::Binary | Signature::Compare(_) => 2..=2,
        Signature::Ternary => 2..=3,
    };
    let (Some(first), true, true) = (args.first(), arity.contains(&args.len()), function != 0) else {
        return Err(PySystemError::new_err("slot function with other operands than its signature has"));
    };
    let at = |index: usize| args.get(index).map_or(std::ptr::null_mut(), |arg| arg.as_ptr());
    // SAFETY: the caller read the address from a slot of this signature; the operands are live; the result is a new reference or NULL
    // with an exception set.
    unsafe {
        let result = match signature {
            Signature::Unary => std::mem::transmute::<usize, ffi::unaryfunc>(function)(at(0)),
            Signature::Binary => std::mem::transmute::<usize, ffi::binaryfunc>(function)(at(0), at(1)),
            Signature::Ternary => std::mem::transmute::<usize, ffi::ternaryfunc>(function)(at(0), at(1), at(2)),
            Signature::Index(n) => std::mem::transmute::<usize, ffi::ssizeargfunc>(function)(at(0), n),
            Signature::Compare(op) => std::mem::transmute::<usize, ffi::richcmpfunc>(function)(at(0), at(1), op),
        };
        Bound::from_owned_ptr_or_err(first.py(), result)
    }
}
