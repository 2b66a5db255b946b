//! Heap types with a vectorcall: how they are made, and how their calls reach Rust.
use pyo3::ffi;
use pyo3::impl_::trampoline::{MethodDef, fastcall_cfunction_with_keywords};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::marker::PhantomData;

/// Flags of a type whose instances are called by the vectorcall protocol: made by us alone, collected.
pub(super) const FLAGS: c_ulong = ffi::Py_TPFLAGS_DEFAULT
    | ffi::Py_TPFLAGS_HAVE_GC
    | ffi::Py_TPFLAGS_HAVE_VECTORCALL
    | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION
    | ffi::Py_TPFLAGS_IMMUTABLETYPE;

/// Flags of a type whose instances own nothing and are not called: made by us alone. It is not immutable: what an immutable type of C does is
/// taken for known, and run natively within traces.
pub(super) const PLAIN: c_ulong = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;

/// A heap type whose instances have the layout of `Instance`.
pub(super) struct HeapType<Instance> {
    pub name: &'static CStr,
    pub flags: c_ulong,
    /// Read-only; `__vectorcalloffset__` is among them where instances are called.
    pub members: Vec<ffi::PyMemberDef>,
    pub methods: Vec<ffi::PyMethodDef>,
    /// Without `tp_call`, `tp_members`, `tp_methods` and the end mark.
    pub slots: Vec<(c_int, *mut c_void)>,
    pub layout: PhantomData<Instance>,
}

impl<Instance> HeapType<Instance> {
    /// Makes the type.
    ///
    /// # Safety
    /// Members and slots must fit the layout, which begins with a `PyObject`.
    pub unsafe fn make(self, py: Python<'_>) -> PyResult<Py<PyType>> {
        let given = self.slots.into_iter().map(|(slot, pfunc)| ffi::PyType_Slot { slot, pfunc });
        let mut slots: Vec<ffi::PyType_Slot> = given.collect();
        let mut slot = |slot: c_int, pfunc: *mut c_void| slots.push(ffi::PyType_Slot { slot, pfunc });
        if self.flags & ffi::Py_TPFLAGS_HAVE_VECTORCALL != 0 {
            slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void);
        }
        // SAFETY: an all-zero definition is the end mark of either array.
        unsafe {
            slot(ffi::Py_tp_members, ended(self.members, std::mem::zeroed()).cast());
            slot(ffi::Py_tp_methods, ended(self.methods, std::mem::zeroed()).cast());
        }
        slot(0, std::ptr::null_mut());
        let mut spec = ffi::PyType_Spec {
            name: self.name.as_ptr(),
            basicsize: size_of::<Instance>() as c_int,
            itemsize: 0,
            flags: self.flags as _,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: the spec describes `Instance`, as the caller promises; its arrays live for ever, the rest is copied.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
        Ok(class.cast_into::<PyType>()?.unbind())
    }
}

/// An array for C with its end mark, for as long as the process lives.
fn ended<Definition>(mut definitions: Vec<Definition>, end: Definition) -> *mut Definition {
    definitions.push(end);
    definitions.leak().as_mut_ptr()
}

/// A member that Python code reads.
pub(super) fn member(name: &'static CStr, type_code: c_int, offset: usize) -> ffi::PyMemberDef {
    ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code,
        offset: offset.cast_signed(),
        flags: ffi::Py_READONLY,
        doc: std::ptr::null(),
    }
}

/// One call by the vectorcall protocol.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub args: *const *mut ffi::PyObject,
    pub nargsf: usize,
    pub kwnames: *mut ffi::PyObject,
    pub alive: PhantomData<&'a Py<PyAny>>,
}

impl Call<'_> {
    /// # Safety
    /// The fields must follow the vectorcall protocol.
    pub unsafe fn run<'py>(self, callable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: as the caller promises; the result is new or NULL with an exception set.
        unsafe {
            let result = ffi::PyObject_Vectorcall(callable.as_ptr(), self.args, self.nargsf, self.kwnames);
            Bound::from_owned_ptr_or_err(callable.py(), result)
        }
    }
}

/// A layout whose instances are called.
pub(super) trait Vectorcalled {
    /// # Safety
    /// `this` must be an instance, and `call` follow the vectorcall protocol.
    unsafe fn called<'py>(this: &Bound<'py, PyAny>, call: Call<'_>) -> PyResult<Bound<'py, PyAny>>;
}

struct Entry<Instance>(PhantomData<Instance>);

impl<Instance: Vectorcalled> MethodDef<fastcall_cfunction_with_keywords::Func> for Entry<Instance> {
    const METH: fastcall_cfunction_with_keywords::Func = enter::<Instance>;
}

/// What instances hold as their vectorcall function; a panic becomes an exception.
pub(super) unsafe extern "C" fn vectorcall<Instance: Vectorcalled>(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with the arguments of the vectorcall protocol, which `enter` expects.
    unsafe { fastcall_cfunction_with_keywords::<Entry<Instance>>(callable, args, nargsf.cast_signed(), kwnames) }
}

unsafe fn enter<Instance: Vectorcalled>(
    py: Python<'_>,
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: ffi::Py_ssize_t,
    kwnames: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    let call = Call { args, nargsf: nargsf.cast_unsigned(), kwnames, alive: PhantomData };
    // SAFETY: the interpreter calls only instances of the type through this function.
    unsafe { Ok(Instance::called(&Borrowed::from_ptr(py, callable), call)?.into_ptr()) }
}
