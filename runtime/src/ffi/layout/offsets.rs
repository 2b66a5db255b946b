//! Byte offsets of fields in CPython's private structures.
/// Offsets in `PyCodeObject`.
pub(in crate::ffi) mod code {
    use crate::ffi::release::PyCodeObject;
    use std::mem::offset_of;
    pub const CO_FLAGS: usize = offset_of!(PyCodeObject, co_flags);
    pub const CO_ARGCOUNT: usize = offset_of!(PyCodeObject, co_argcount);
    pub const CO_NLOCALSPLUS: usize = offset_of!(PyCodeObject, co_nlocalsplus);
    pub const CO_CONSTS: usize = offset_of!(PyCodeObject, co_consts);
    pub const CO_LOCALSPLUSNAMES: usize = offset_of!(PyCodeObject, co_localsplusnames);
    pub const CO_LOCALSPLUSKINDS: usize = offset_of!(PyCodeObject, co_localspluskinds);
    pub const CO_CODE_ADAPTIVE: usize = offset_of!(PyCodeObject, co_code_adaptive);
}

/// Offsets in `_PyInterpreterFrame`.
pub(in crate::ffi) mod frame {
    use crate::ffi::raw;
    use crate::ffi::release::{_PyInterpreterFrame, Reference};
    pub(in crate::ffi) use crate::ffi::release::{F_CODE, F_FUNC, FRESH, INSTR, set_stack};
    use pyo3::ffi;
    use std::mem::offset_of;
    pub const F_GLOBALS: usize = offset_of!(_PyInterpreterFrame, f_globals);
    pub const OWNER: usize = offset_of!(_PyInterpreterFrame, owner);
    pub const LOCALSPLUS: usize = offset_of!(_PyInterpreterFrame, localsplus);
    /// `FRAME_OWNED_BY_THREAD`.
    pub const OWNED_BY_THREAD: u8 = 0;
    /// `FRAME_OWNED_BY_GENERATOR`; others follow.
    pub const OWNED_BY_GENERATOR: u8 = 1;
    /// `FRAME_OWNED_BY_CSTACK`, from 3.14 on `FRAME_OWNED_BY_INTERPRETER`: it stands for a call of the evaluator.
    pub const OWNED_BY_C: u8 = 3;

    /// What the frame runs, borrowed; NULL once it was cleared.
    ///
    /// # Safety
    /// `raw` must be a live frame.
    pub unsafe fn code(raw: *const u8) -> *mut ffi::PyObject {
        // SAFETY: as the caller promises.
        unsafe { raw::read::<Reference>(raw, F_CODE) }.object()
    }

    /// Its function, borrowed.
    ///
    /// # Safety
    /// `raw` must be a live frame.
    pub unsafe fn function(raw: *const u8) -> *mut ffi::PyObject {
        // SAFETY: as the caller promises.
        unsafe { raw::read::<Reference>(raw, F_FUNC) }.object()
    }

    /// The frame runs another code object from now on; it had a reference to the one before.
    ///
    /// # Safety
    /// `raw` must be a live frame, `code` an owned reference to a code object.
    pub unsafe fn set_code(raw: *mut u8, code: *mut ffi::PyObject) {
        // SAFETY: as the caller promises.
        unsafe { raw::write(raw, F_CODE, Reference::owned(code)) };
    }

    /// A slot of localsplus.
    ///
    /// # Safety
    /// `raw` must be a live frame whose code has that many slots.
    pub unsafe fn slot(raw: *mut u8, index: usize) -> *mut Reference {
        // SAFETY: as the caller promises.
        unsafe { raw.add(LOCALSPLUS).cast::<Reference>().add(index) }
    }
}

/// Offsets in `PyThreadState`.
pub(in crate::ffi) mod thread {
    use crate::ffi::release::PyThreadState;
    use std::mem::offset_of;
    pub const DATASTACK_TOP: usize = offset_of!(PyThreadState, datastack_top);
    pub const DATASTACK_LIMIT: usize = offset_of!(PyThreadState, datastack_limit);
    pub const CONTEXT: usize = offset_of!(PyThreadState, context);
}
