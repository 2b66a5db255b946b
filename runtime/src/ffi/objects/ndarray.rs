//! The head of numpy's array struct, read without going through Python.
use crate::names::name;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_char, c_int};

/// `PyArrayObject_fields` (`numpy/ndarraytypes.h`) up to its flags; the same in numpy 1 and 2.
#[repr(C)]
struct Fields {
    head: ffi::PyObject,
    data: *mut c_char,
    nd: c_int,
    dimensions: *mut isize,
    strides: *mut isize,
    base: *mut ffi::PyObject,
    descr: *mut ffi::PyObject,
    flags: c_int,
}

/// Metadata of an array, borrowed from it.
#[derive(Debug)]
pub struct Metadata<'a> {
    /// Lengths of the axes.
    pub shape: &'a [isize],
    /// Address of the dtype object.
    pub descr: usize,
    /// C contiguous 1, Fortran contiguous 2, aligned 0x100, writeable 0x400.
    pub flags: i32,
}

/// Reads an array's metadata.
///
/// `array` must be an object of `numpy.ndarray` or a subclass whose layout [`agrees`] has confirmed; the caller checks the type.
#[must_use]
pub fn metadata<'a>(array: &'a Bound<'_, PyAny>) -> Metadata<'a> {
    // SAFETY: by contract the object starts with these fields, and `dimensions` holds `nd` lengths as long as it lives.
    unsafe {
        let fields = &*array.as_ptr().cast::<Fields>();
        let shape: &[isize] = match usize::try_from(fields.nd) {
            Ok(axes) if axes > 0 && !fields.dimensions.is_null() => std::slice::from_raw_parts(fields.dimensions, axes),
            _ => &[],
        };
        Metadata { shape, descr: fields.descr as usize, flags: fields.flags }
    }
}

/// Whether the struct of this numpy is the one known here: compares an array's fields with its attributes.
pub fn agrees(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let basic = array.get_type().getattr(name!("__basicsize__"))?.extract::<usize>()?;
    if basic < size_of::<Fields>() {
        return Ok(false);
    }
    let shape: Vec<isize> = array.getattr(name!("shape"))?.extract()?;
    let flags: i32 = array.getattr(name!("flags"))?.getattr(name!("num"))?.extract()?;
    // SAFETY: the object is at least as large as the fields; only plain integers and pointers are read, none is followed.
    let nd = unsafe { (*array.as_ptr().cast::<Fields>()).nd };
    if usize::try_from(nd) != Ok(shape.len()) {
        return Ok(false);
    }
    let read = metadata(array);
    Ok(read.shape == shape && read.descr == array.getattr(name!("dtype"))?.as_ptr() as usize && read.flags == flags)
}
