//! A frame that waits for the call instruction which has entered it: called, it goes on with a hand-over packet.
//!
//! As with a Python function there is nothing between the two frames that counts for the limit of recursion: the call goes by the
//! vectorcall protocol.
use super::{InternalError, object};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::ffi::{c_int, c_ulong, c_void};
use std::mem::{offset_of, size_of};

/// Memory layout of an instance.
#[repr(C)]
struct Suspended {
    ob_base: ffi::PyObject,
    vectorcall: ffi::vectorcallfunc,
    /// NULL once it goes on.
    packet: *mut ffi::PyObject,
}

/// A callable that goes on with the packet, once, whatever it is called with.
pub fn suspended(packet: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = packet.py();
    let class = class(py)?.as_type_ptr();
    // SAFETY: the type is ours, its instances have the layout of `Suspended`; the memory comes zeroed.
    unsafe {
        let made = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class, 0))?;
        let this = made.as_ptr().cast::<Suspended>();
        (*this).vectorcall = vectorcall;
        (*this).packet = packet.into_ptr();
        Ok(made)
    }
}

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Ok(CLASS.get_or_try_init(py, || make(py))?.bind(py))
}

const FLAGS: c_ulong = ffi::Py_TPFLAGS_DEFAULT
    | ffi::Py_TPFLAGS_HAVE_GC
    | ffi::Py_TPFLAGS_HAVE_VECTORCALL
    | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION
    | ffi::Py_TPFLAGS_IMMUTABLETYPE;

fn make(py: Python<'_>) -> PyResult<Py<PyType>> {
    // SAFETY: an all-zero member definition is the end mark of the array.
    let mut members: [ffi::PyMemberDef; 2] = unsafe { std::mem::zeroed() };
    members[0] = ffi::PyMemberDef {
        name: c"__vectorcalloffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset_of!(Suspended, vectorcall).cast_signed(),
        flags: ffi::Py_READONLY,
        doc: std::ptr::null(),
    };
    let members = Box::leak(Box::new(members));
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(0, std::ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"slotrt.SuspendedFrame".as_ptr(),
        basicsize: size_of::<Suspended>() as c_int,
        itemsize: 0,
        flags: FLAGS as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec describes `Suspended`; its member array lives for ever, the rest is copied.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
    Ok(class.cast_into::<PyType>()?.unbind())
}

struct Vectorcall;

impl pyo3::impl_::trampoline::MethodDef<pyo3::impl_::trampoline::fastcall_cfunction_with_keywords::Func>
    for Vectorcall
{
    const METH: pyo3::impl_::trampoline::fastcall_cfunction_with_keywords::Func = enter;
}

unsafe extern "C" fn vectorcall(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with the arguments of the vectorcall protocol, which `enter` does not read.
    unsafe {
        pyo3::impl_::trampoline::fastcall_cfunction_with_keywords::<Vectorcall>(
            callable,
            args,
            nargsf.cast_signed(),
            kwnames,
        )
    }
}

unsafe fn enter(
    py: Python<'_>,
    callable: *mut ffi::PyObject,
    _args: *const *mut ffi::PyObject,
    _count: ffi::Py_ssize_t,
    _names: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: the interpreter calls only instances of our type through this function; the field is NULL or owned.
    let packet = unsafe {
        let packet = std::mem::replace(&mut (*callable.cast::<Suspended>()).packet, std::ptr::null_mut());
        Bound::from_owned_ptr_or_opt(py, packet)
    };
    let packet = packet.ok_or_else(|| InternalError::new_err("a frame that has gone on already is called"))?;
    Ok(object::go_on(packet)?.into_ptr())
}

unsafe extern "C" fn traverse(object: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector with an instance of our type; nothing is run but `visit`, on borrowed pointers.
    unsafe {
        let packet = (*object.cast::<Suspended>()).packet;
        let stop = visit(ffi::Py_TYPE(object).cast(), arg);
        if stop != 0 || packet.is_null() { stop } else { visit(packet, arg) }
    }
}

unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: called by the collector with an instance of our type; the packet is dropped after the field is NULL.
    unsafe {
        let packet = std::mem::replace(&mut (*object.cast::<Suspended>()).packet, std::ptr::null_mut());
        ffi::Py_XDECREF(packet);
    }
    0
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: called once, with the last reference gone; the type of a heap type's instance is released last.
    unsafe {
        let class = ffi::Py_TYPE(object);
        ffi::PyObject_GC_UnTrack(object.cast());
        clear(object);
        ffi::PyObject_GC_Del(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}
