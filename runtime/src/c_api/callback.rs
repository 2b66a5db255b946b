//! Calls of the host's functions. An exception of C++ that leaves one is caught, and told as a Python exception.
use super::error::{remember, words};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ffi::{CStr, c_int, c_void};

/// What the host wants to get with each call. It is the host's to see to it that other threads may use it: callbacks run on the thread whose
/// call leads to them, which holds the GIL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data(pub *mut c_void);

impl Data {
    /// As an argument.
    pub fn word(self) -> *const c_void {
        self.0.cast_const()
    }
}

// SAFETY: the pointer is only handed back, by threads that hold the GIL.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

/// Calls a function of the host with up to four arguments of a word each; `Err` is what was thrown or raised.
///
/// # Safety
/// `function` is a C function of these arguments, and may be called so.
pub(super) unsafe fn call(py: Python<'_>, function: *const c_void, args: [*const c_void; 4]) -> PyResult<usize> {
    let mut thrown = std::ptr::null_mut();
    // SAFETY: as the caller promises; what the function throws is caught.
    let result = unsafe { slotrt_guarded_call(function, args.as_ptr(), &raw mut thrown) };
    if !thrown.is_null() {
        drop(PyErr::take(py));
        // SAFETY: it was caught just now, and nobody else has it.
        return Err(PyRuntimeError::new_err(unsafe { end(thrown) }));
    }
    match PyErr::take(py) {
        Some(error) => Err(error),
        None => Ok(result),
    }
}

/// Tells an error of a callback: to `sys.unraisablehook`, and as the thread's last error.
pub(super) fn tell(py: Python<'_>, error: PyErr, about: &Bound<'_, PyAny>) {
    remember(&words(py, &error));
    error.write_unraisable(py, Some(about));
}

// `slotrt_guarded_call(function, args, thrown)`: calls the function with four words, and returns what it returns. Where an exception of
// another language unwinds it, the personality has the unwinder go on at the landing, which stores the exception and returns 0.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.slotrt_guarded_call,\"ax\",@progbits",
    ".p2align 4",
    ".globl slotrt_guarded_call",
    ".hidden slotrt_guarded_call",
    ".type slotrt_guarded_call,@function",
    "slotrt_guarded_call:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    ".cfi_offset rbx, -24",
    "sub rsp, 8",
    "mov rbx, rdx",
    "mov r10, rdi",
    "mov r11, rsi",
    "mov rdi, [r11]",
    "mov rsi, [r11 + 8]",
    "mov rdx, [r11 + 16]",
    "mov rcx, [r11 + 24]",
    "call r10",
    "2:",
    "add rsp, 8",
    "pop rbx",
    "pop rbp",
    "ret",
    ".globl slotrt_guarded_landing",
    ".hidden slotrt_guarded_landing",
    "slotrt_guarded_landing:",
    "mov [rbx], rax",
    "xor eax, eax",
    "jmp 2b",
    ".cfi_endproc",
    ".size slotrt_guarded_call, . - slotrt_guarded_call",
    ".popsection",
    personality = sym personality,
);

unsafe extern "C" {
    fn slotrt_guarded_call(function: *const c_void, args: *const *const c_void, thrown: *mut *mut c_void) -> usize;
    fn slotrt_guarded_landing();
    fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut c_void, address: usize);
    fn _Unwind_DeleteException(exception: *mut c_void);
    fn dlsym(handle: *mut c_void, name: *const std::ffi::c_char) -> *mut c_void;
}

/// Phases and answers of the unwinder, as the Itanium ABI for C++ has them.
const SEARCH: c_int = 1;
const FORCED: c_int = 8;
const HANDLER_FOUND: c_int = 6;
const INSTALL_CONTEXT: c_int = 7;
const CONTINUE: c_int = 8;

/// The register `rax`, by its number in DWARF.
const RAX: c_int = 0;

/// Catches whatever unwinds a guarded call, but for the end of a thread.
unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & FORCED != 0 {
        return CONTINUE;
    }
    if actions & SEARCH != 0 {
        return HANDLER_FOUND;
    }
    // SAFETY: the unwinder's own arguments; the landing belongs to the frame that it asks about.
    unsafe {
        _Unwind_SetGR(context, RAX, exception as usize);
        _Unwind_SetIP(context, slotrt_guarded_landing as *const () as usize);
    }
    INSTALL_CONTEXT
}

/// Ends an exception that was caught; says what it was. C++'s own functions do so where the process has them.
///
/// # Safety
/// `exception` was caught, and is ended once.
unsafe fn end(exception: *mut c_void) -> String {
    // SAFETY: the names are those of the C++ ABI, with these signatures; `RTLD_DEFAULT` is NULL.
    unsafe {
        let find = |name: &CStr| dlsym(std::ptr::null_mut(), name.as_ptr());
        let found = [c"__cxa_begin_catch", c"__cxa_end_catch", c"__cxa_current_exception_type"].map(find);
        if found.iter().any(|function| function.is_null()) {
            _Unwind_DeleteException(exception);
            return "an exception of another language left a callback of the host".to_owned();
        }
        let begin: unsafe extern "C" fn(*mut c_void) -> *mut c_void = std::mem::transmute(found[0]);
        let end: unsafe extern "C" fn() = std::mem::transmute(found[1]);
        let current: unsafe extern "C" fn() -> *const [*const std::ffi::c_char; 2] = std::mem::transmute(found[2]);
        begin(exception);
        let class = current();
        let name = if class.is_null() { c"unknown" } else { CStr::from_ptr((*class)[1]) };
        let text = format!(
            "a C++ exception of type {} left a callback of the host",
            name.to_string_lossy().trim_start_matches('*')
        );
        end();
        text
    }
}
