//! A frame that is about to run its first instruction.
use crate::bytecode::flag;
use crate::ffi::layout::{code, frame, thread};
use crate::ffi::release::Reference;
use crate::ffi::{raw, release};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::offset_of;

/// A frame as the evaluation hook receives it.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub(in crate::ffi) raw: *mut u8,
    pub(in crate::ffi) state: *mut u8,
    alive: PhantomData<&'a ()>,
}

impl std::fmt::Debug for Frame<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Frame").field("raw", &self.raw).finish()
    }
}

/// The namespace of the running Python frame; `None` for a function's.
#[must_use]
pub fn namespace(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: attached; the result is borrowed, or NULL where no Python frame runs. A running frame's object leads to it.
    unsafe {
        let object = ffi::PyEval_GetFrame();
        if object.is_null() {
            return None;
        }
        let raw: *const u8 = raw::read(object.cast(), offset_of!(release::PyFrameObject, f_frame));
        Bound::from_borrowed_ptr_or_opt(py, raw::read(raw, offset_of!(release::_PyInterpreterFrame, f_locals)))
    }
}

/// The code object of the running Python frame.
#[must_use]
pub fn running_code(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: attached; the frame that the thread says runs is alive, and keeps its code alive.
    unsafe {
        let running = release::current_frame(ffi::PyThreadState_Get().cast());
        if running.is_null() { None } else { Bound::from_borrowed_ptr_or_opt(py, frame::code(running).cast()) }
    }
}

/// The values of a fresh frame's parameters.
#[derive(Debug)]
pub struct Values<'a>(pub(in crate::ffi) SmallVec<[*mut ffi::PyObject; 8]>, PhantomData<Frame<'a>>);

impl Values<'_> {
    /// As the arguments of a call.
    #[must_use]
    pub fn args<'py>(&self, py: Python<'py>) -> crate::ffi::Args<'_, 'py> {
        crate::ffi::Args::new(py, &self.0)
    }
}

/// Why a frame cannot run another code object in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceRefusal {
    /// It belongs to a generator or has already run.
    NotFresh,
    /// The other code object takes other arguments.
    Signature,
    /// The thread's stack of frames has no room here; the next call may have.
    NoRoom,
}

impl<'a> Frame<'a> {
    /// # Safety
    /// Both must be what the interpreter handed to an evaluation hook, alive for `'a`.
    pub(in crate::ffi) unsafe fn new(state: *mut ffi::PyThreadState, raw: *mut u8) -> Self {
        Self { raw, state: state.cast(), alive: PhantomData }
    }

    pub(in crate::ffi) fn executable(self) -> *mut ffi::PyObject {
        // SAFETY: the frame is alive and the layout checked before a hook was installed.
        unsafe { frame::code(self.raw) }
    }

    /// Identity of the code object, for tables.
    #[must_use]
    pub fn code_address(self) -> usize {
        self.executable() as usize
    }

    /// Identity of the globals, for tables.
    #[must_use]
    pub fn globals_address(self) -> usize {
        // SAFETY: the frame is alive.
        unsafe { raw::read(self.raw, frame::F_GLOBALS) }
    }

    /// The code object.
    #[must_use]
    pub fn code<'py>(self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: an evaluated frame's executable is a code object.
        unsafe { Bound::from_borrowed_ptr(py, self.executable()) }
    }

    /// The function.
    #[must_use]
    pub fn function<'py>(self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: an evaluated frame has a function.
        unsafe { Bound::from_borrowed_ptr(py, frame::function(self.raw)) }
    }

    /// Whether nothing has run yet and the thread owns the frame: it is neither a resumed generator nor one that throws.
    #[must_use]
    pub fn is_fresh(self) -> bool {
        // SAFETY: frame and code object are alive.
        unsafe {
            let start = self.executable().cast::<u8>().add(code::CO_CODE_ADAPTIVE);
            let at: *mut u8 = raw::read(self.raw, frame::INSTR);
            raw::read::<u8>(self.raw, frame::OWNER) == frame::OWNED_BY_THREAD && at == start.offset(frame::FRESH)
        }
    }

    /// The value of a slot of localsplus; before the first instruction only arguments have one.
    #[must_use]
    pub fn slot<'py>(self, py: Python<'py>, index: usize) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the slot is read only if the code object has it.
        unsafe {
            let count: c_int = raw::read(self.executable().cast(), code::CO_NLOCALSPLUS);
            if index >= usize::try_from(count).unwrap_or(0) {
                return None;
            }
            Bound::from_borrowed_ptr_or_opt(py, (*frame::slot(self.raw, index)).object())
        }
    }

    /// Number of slots that parameters fill.
    #[must_use]
    pub fn parameters(self) -> usize {
        let code = self.executable().cast::<u8>();
        // SAFETY: the executable is a code object; `co_kwonlyargcount` is the third of three counts that follow each other.
        let field = |offset| unsafe { raw::read::<u32>(code, offset) };
        let star = field(code::CO_FLAGS) & (flag::VARARGS | flag::VARKEYWORDS);
        let counts = field(code::CO_ARGCOUNT) + field(code::CO_ARGCOUNT + 8);
        counts as usize + star.count_ones() as usize
    }

    /// The parameters' values, which the frame keeps alive.
    pub fn values(self) -> Values<'a> {
        // SAFETY: a fresh frame's first slots hold its parameters; the frame is alive for `'a`.
        let slots = unsafe { std::slice::from_raw_parts(frame::slot(self.raw, 0), self.parameters()) };
        Values(slots.iter().map(|slot| slot.object()).collect(), PhantomData)
    }

    /// Calls a function with the parameters' values, all positional.
    pub(in crate::ffi) fn call<'py>(self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Values(values, _) = self.values();
        // SAFETY: the values are live objects, which the frame holds until it is cleared.
        unsafe {
            let result =
                ffi::PyObject_Vectorcall(function.as_ptr(), values.as_ptr(), values.len(), std::ptr::null_mut());
            Bound::from_owned_ptr_or_err(function.py(), result)
        }
    }

    /// Makes the frame run `other` instead, from its first instruction and with the same arguments.
    pub fn replace(self, other: &Bound<'_, PyAny>) -> Result<(), ReplaceRefusal> {
        const ARGUMENTS: u32 = flag::VARARGS | flag::VARKEYWORDS;
        const KINDS: u32 = flag::OPTIMIZED | flag::NEWLOCALS | flag::GENERATOR_LIKE | flag::ITERABLE_COROUTINE;
        if !self.is_fresh() || !other.is_instance_of::<pyo3::types::PyCode>() {
            return Err(ReplaceRefusal::NotFresh);
        }
        let (old, new) = (self.executable(), other.as_ptr());
        // SAFETY: both are code objects.
        let field = |of: *mut ffi::PyObject, offset| unsafe { raw::read::<c_int>(of.cast(), offset) };
        let flags = |of| field(of, code::CO_FLAGS) as u32;
        let same_flags = (flags(old) ^ flags(new)) & (ARGUMENTS | KINDS) == 0;
        // `co_argcount`, `co_posonlyargcount`, `co_kwonlyargcount` follow each other.
        let same = |step: usize| field(old, code::CO_ARGCOUNT + 4 * step) == field(new, code::CO_ARGCOUNT + 4 * step);
        if !same_flags || !same(0) || !same(2) {
            return Err(ReplaceRefusal::Signature);
        }
        // A generator's own frame is allocated by the function's code object.
        let generator = flags(new) & flag::GENERATOR_LIKE != 0;
        // SAFETY: both are code objects.
        let (had, wanted) = unsafe { (release::frame_size(old), release::frame_size(new)) };
        if generator && wanted > had {
            return Err(ReplaceRefusal::NoRoom);
        }
        // SAFETY: the frame is fresh, so it is the top of the thread's data stack and holds nothing but arguments.
        unsafe { self.resize(had, wanted)? };
        // SAFETY: as above; the new slots lie inside the room just made.
        unsafe { self.install(old, new, field(old, code::CO_NLOCALSPLUS), field(new, code::CO_NLOCALSPLUS)) };
        Ok(())
    }

    /// # Safety
    /// The frame must be fresh.
    unsafe fn resize(self, old: c_int, new: c_int) -> Result<(), ReplaceRefusal> {
        // SAFETY: the thread state is alive.
        let (top, limit): (usize, usize) =
            unsafe { (raw::read(self.state, thread::DATASTACK_TOP), raw::read(self.state, thread::DATASTACK_LIMIT)) };
        let end = |words: c_int| self.raw as usize + usize::try_from(words).unwrap_or(0) * size_of::<usize>();
        if top != end(old) || end(new) >= limit {
            return Err(ReplaceRefusal::NoRoom);
        }
        // SAFETY: the new top lies inside the current chunk.
        unsafe { raw::write(self.state, thread::DATASTACK_TOP, end(new)) };
        Ok(())
    }

    /// # Safety
    /// The frame must be fresh and have room for `new`.
    unsafe fn install(self, old: *mut ffi::PyObject, new: *mut ffi::PyObject, from: c_int, to: c_int) {
        // SAFETY: as the caller promises; the frame owns a reference to its code object.
        unsafe {
            for slot in from.max(0)..to {
                *frame::slot(self.raw, slot.cast_unsigned() as usize) = Reference::EMPTY;
            }
            let before: Reference = raw::read(self.raw, frame::F_CODE);
            frame::set_code(self.raw, ffi::Py_NewRef(new));
            frame::set_stack(self.raw, to);
            let start = new.cast::<u8>().add(code::CO_CODE_ADAPTIVE);
            raw::write(self.raw, frame::INSTR, start.offset(frame::FRESH));
            if before.counts() {
                ffi::Py_DECREF(old);
            }
        }
    }
}
