//! Codes in words.
use core::ffi::{CStr, c_char};

/// A code in words, for messages. Any number may be passed; the text is static, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

fn text(status: i32) -> &'static CStr {
    match status {
        0 => c"done",
        1 => c"a pointer that must not be NULL is NULL",
        2 => c"the tables do not hold this CPython release; slotrt_release_at lists those that they hold",
        3 => c"the index is not below the count of the table",
        4 => c"the release has nothing of that name or number",
        5 => c"the release has it, but this is not known of it",
        6 => c"the program was compiled against a version of slotrt's header that this library does not serve",
        7 => c"an argument is not one that the function takes",
        20 => c"no Python interpreter is running in this process, or it is being finalised",
        21 => c"the calling thread does not hold the GIL",
        22 => c"the runtime belongs to another interpreter than the one that the thread runs in",
        23 => c"the interpreter is of another release than the one that this library was built for",
        24 => c"the handle was closed, or never was one of this library",
        25 => c"another evaluation hook, or another copy of slotrt, is in the way",
        26 => c"a Python exception was raised",
        27 => c"a fault of slotrt",
        _ => c"no code of slotrt",
    }
}
