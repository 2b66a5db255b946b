//! The functions, found by name in the libraries that the program has loaded. None takes or gives an object whose layout PyTorch may change.
use crate::ffi::modules;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Of glibc: resolve all, and load nothing that is not loaded.
const RTLD_NOW: c_int = 2;
const RTLD_NOLOAD: c_int = 4;

/// `at::Tensor*`, which PyTorch's C functions call a handle.
pub(super) type Handle = *const c_void;

/// A C function that gives a value of a tensor; its result is 0 where it could.
pub(super) type Get<T> = unsafe extern "C" fn(Handle, *mut T) -> i32;

/// A function without arguments.
pub(super) type Ask<T> = unsafe extern "C" fn() -> T;

/// How `libstdc++` lays out a `std::deque`: it is empty where both ends are one place.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Deque {
    map: [usize; 2],
    start: [usize; 4],
    finish: [usize; 4],
}

impl Deque {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.start[0] == self.finish[0]
    }
}

/// The functions.
#[derive(Debug)]
pub(super) struct Functions {
    pub dim: Get<i64>,
    pub sizes: Get<*const i64>,
    pub strides: Get<*const i64>,
    pub dtype: Get<i32>,
    pub layout: Get<i32>,
    pub device_type: Get<i32>,
    pub device_index: Get<i32>,
    pub data_ptr: Get<usize>,
    /// In elements.
    pub storage_offset: Get<i64>,
    /// Bytes of an element of a dtype.
    pub element_size: unsafe extern "C" fn(i32) -> usize,
    /// Of a `c10::TensorImpl*`.
    pub requires_grad: unsafe extern "C" fn(*const c_void) -> bool,
    pub is_leaf: unsafe extern "C" fn(Handle) -> bool,
    pub is_view: unsafe extern "C" fn(Handle) -> bool,
    /// Of a view: a reference to the tensor that it looks at.
    pub base: unsafe extern "C" fn(Handle) -> Handle,
    pub is_conj: unsafe extern "C" fn(Handle) -> bool,
    pub is_neg: unsafe extern "C" fn(Handle) -> bool,
    pub is_inference: unsafe extern "C" fn(Handle) -> bool,
    pub grad: Ask<bool>,
    pub inference: Ask<bool>,
    pub autocast_cache: Ask<bool>,
    pub default_dtype: Ask<i8>,
    pub function_modes: Ask<i64>,
    pub dispatch_modes: Ask<i64>,
    /// Gives a `std::shared_ptr*`, whose first word is 0 where it is empty.
    pub tracing: Ask<*const usize>,
    /// 0 while classes take over calls with their instances.
    pub overrides: Ask<i32>,
    /// Whether the thread passes over all of these kinds of kernels, which are bits.
    pub excludes: unsafe extern "C" fn(u64) -> bool,
    /// Whether the process repeats what it warns of once, and what sets it.
    pub repeats_warnings: Ask<bool>,
    pub repeat_warnings: unsafe extern "C" fn(bool),
    /// Gives a struct that begins with a `std::deque`: [`Deque`].
    pub saving_hooks: Ask<*const Deque>,
    /// Gives a `std::vector*`, whose first two words are equal where it is empty.
    pub layers: Ask<*const [usize; 2]>,
}

impl Functions {
    /// Those of the PyTorch that the program has imported; `None` where one is missing.
    pub fn get(py: Python<'_>) -> Option<&'static Self> {
        static FOUND: PyOnceLock<Option<Functions>> = PyOnceLock::new();
        if let Some(found) = FOUND.get(py) {
            return found.as_ref();
        }
        let native = modules::imported(intern!(py, "torch._C"))?;
        let path = native.getattr(intern!(py, "__file__")).and_then(|path| path.extract::<String>());
        let found = path.ok().and_then(|path| CString::new(path).ok()).and_then(|path| Self::of(&path));
        FOUND.get_or_init(py, || found).as_ref()
    }

    /// Of a library, and of those that it was linked with.
    fn of(library: &CStr) -> Option<Self> {
        // SAFETY: the path is a C string; nothing is loaded, and the handle stays open: modules of Python are never unloaded.
        let library = unsafe { dlopen(library.as_ptr(), RTLD_NOW | RTLD_NOLOAD) };
        if library.is_null() {
            return None;
        }
        // Only of `libstdc++` have strings such a name: then deques are laid out as [`Deque`] says.
        // SAFETY: the pointer is not used.
        let _strings: usize =
            unsafe { symbol(library, c"_ZN2at23SavedTensorDefaultHooks26get_disabled_error_messageB5cxx11Ev") }?;
        // SAFETY: each type is what PyTorch's headers say of the function of that name: the C functions in `aoti_torch/c/shim.h`, the C++
        // functions by their mangled names, which name their parameters. Their results are numbers, or references, which are pointers.
        unsafe {
            Some(Self {
                dim: symbol(library, c"aoti_torch_get_dim")?,
                sizes: symbol(library, c"aoti_torch_get_sizes")?,
                strides: symbol(library, c"aoti_torch_get_strides")?,
                dtype: symbol(library, c"aoti_torch_get_dtype")?,
                layout: symbol(library, c"aoti_torch_get_layout")?,
                device_type: symbol(library, c"aoti_torch_get_device_type")?,
                device_index: symbol(library, c"aoti_torch_get_device_index")?,
                data_ptr: symbol(library, c"aoti_torch_get_data_ptr")?,
                storage_offset: symbol(library, c"aoti_torch_get_storage_offset")?,
                element_size: symbol(library, c"aoti_torch_dtype_element_size")?,
                requires_grad: symbol(library, c"_ZNK3c1010TensorImpl13requires_gradEv")?,
                is_leaf: symbol(library, c"_ZNK2at10TensorBase7is_leafEv")?,
                is_view: symbol(library, c"_ZNK2at10TensorBase7is_viewEv")?,
                base: symbol(library, c"_ZNK2at10TensorBase5_baseEv")?,
                is_conj: symbol(library, c"_ZN2at6native7is_conjERKNS_6TensorE")?,
                is_neg: symbol(library, c"_ZN2at6native6is_negERKNS_6TensorE")?,
                is_inference: symbol(library, c"_ZN2at6native12is_inferenceERKNS_6TensorE")?,
                grad: symbol(library, c"_ZN3c108GradMode10is_enabledEv")?,
                inference: symbol(library, c"_ZN3c1013InferenceMode10is_enabledEv")?,
                autocast_cache: symbol(library, c"_ZN2at8autocast25is_autocast_cache_enabledEv")?,
                default_dtype: symbol(library, c"_ZN3c1031get_default_dtype_as_scalartypeEv")?,
                function_modes: symbol(library, c"_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv")?,
                dispatch_modes: symbol(library, c"_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv")?,
                tracing: symbol(library, c"_ZN5torch3jit6tracer15getTracingStateEv")?,
                overrides: symbol(library, c"_ZN2at4impl22PythonTorchFunctionTLS18get_disabled_stateEv")?,
                excludes: symbol(library, c"_ZN3c104impl31tls_is_dispatch_keyset_excludedENS_14DispatchKeySetE")?,
                repeats_warnings: symbol(library, c"_ZN3c1012WarningUtils14get_warnAlwaysEv")?,
                repeat_warnings: symbol(library, c"_ZN3c1012WarningUtils14set_warnAlwaysEb")?,
                saving_hooks: symbol(library, c"_ZN2at23SavedTensorDefaultHooks13get_tls_stateEv")?,
                layers: symbol(library, c"_ZN2at9functorch20getDynamicLayerStackEv")?,
            })
        }
    }
}

/// A function by name.
///
/// # Safety
/// `library` must be a handle, and `Function` the type of a pointer to that function.
unsafe fn symbol<Function: Copy>(library: *mut c_void, name: &CStr) -> Option<Function> {
    const { assert!(size_of::<Function>() == size_of::<*mut c_void>()) };
    // SAFETY: as the caller promises; a pointer to a function is as large as one to data.
    unsafe {
        let found = dlsym(library, name.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute_copy::<*mut c_void, Function>(&found))
    }
}
