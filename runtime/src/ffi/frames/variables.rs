//! The variables of a frame object's frame, copied from one frame to another.
use crate::ffi::layout::{code, frame};
use crate::ffi::raw;
use crate::ffi::release::{self, PyFrameObject, Reference};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::ffi::c_int;
use std::mem::offset_of;

/// The frame that a frame object stands for.
pub(super) fn data(object: &Bound<'_, PyAny>) -> *mut u8 {
    // SAFETY: only called with frame objects.
    unsafe { raw::read(object.as_ptr().cast(), offset_of!(PyFrameObject, f_frame)) }
}

/// The variables in the slots of a frame object's frame.
pub(super) struct FrameVariables<'py> {
    raw: *mut u8,
    names: Bound<'py, PyTuple>,
    kinds: Bound<'py, PyBytes>,
}

/// `CO_FAST_HIDDEN`.
const HIDDEN: u8 = 0x10;

/// `CO_FAST_FREE`.
const FREE: u8 = 0x80;

impl<'py> FrameVariables<'py> {
    /// Of a frame that runs, or has ended.
    fn of(object: &Bound<'py, PyAny>) -> Option<Self> {
        // SAFETY: a frame object's frame is alive.
        unsafe { Self::of_frame(object.py(), data(object)) }
    }

    /// # Safety
    /// `raw` must be a live frame.
    pub(super) unsafe fn of_frame(py: Python<'py>, raw: *mut u8) -> Option<Self> {
        // SAFETY: as the caller promises; a frame's code is a code object, or NULL once it was cleared.
        let (names, kinds) = unsafe {
            let code = frame::code(raw).cast::<u8>();
            if code.is_null() {
                return None;
            }
            let field = |offset| Bound::<PyAny>::from_borrowed_ptr(py, raw::read(code, offset));
            (field(code::CO_LOCALSPLUSNAMES), field(code::CO_LOCALSPLUSKINDS))
        };
        Some(Self { raw, names: names.cast_into().ok()?, kinds: kinds.cast_into().ok()? })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Of a frame that has ended, and belongs to its object.
    pub(super) fn of_ended(object: &Bound<'py, PyAny>) -> Option<Self> {
        // SAFETY: only called with frame objects.
        let inside = unsafe { object.as_ptr().cast::<u8>().add(offset_of!(PyFrameObject, _f_frame_data)) };
        (data(object) == inside).then(|| Self::of(object)).flatten()
    }

    /// Slots of the program's own variables, with their names.
    fn variables(&self) -> impl Iterator<Item = (usize, Bound<'py, PyAny>)> {
        let shown = |index: &usize| self.kinds.as_bytes().get(*index).is_some_and(|kind| kind & HIDDEN == 0);
        (0..self.names.len()).filter(shown).filter_map(|index| Some((index, self.names.get_item(index).ok()?)))
    }

    /// Whether the slot's variable belongs to an outer function. One of a comprehension can have the same name.
    fn is_free(&self, index: usize) -> bool {
        self.kinds.as_bytes().get(index).is_some_and(|kind| kind & FREE != 0)
    }

    pub(super) fn place(&self, index: usize) -> *mut Reference {
        // SAFETY: a frame has a slot for each of its code's names.
        unsafe { frame::slot(self.raw, index) }
    }

    /// Puts a value into the slot; gives the one before.
    fn put(&self, index: usize, value: Option<Bound<'py, PyAny>>) -> Option<Bound<'py, PyAny>> {
        let value = value.map_or(std::ptr::null_mut(), Bound::into_ptr);
        // SAFETY: the new value goes over to the slot, the one before comes from it; what it does not count, something else keeps alive.
        unsafe {
            let before = std::mem::replace(&mut *self.place(index), Reference::owned(value));
            if before.counts() {
                return Bound::from_owned_ptr_or_opt(self.names.py(), before.object());
            }
            Bound::from_borrowed_ptr_or_opt(self.names.py(), before.object())
        }
    }

    /// Gets the variables of another frame, by their names, which are interned; gives those before.
    pub(super) fn take(&self, from: &Self) -> Vec<Option<Bound<'py, PyAny>>> {
        let slots: Vec<_> = self.variables().collect();
        let place = |index: usize, name: &Bound<'py, PyAny>| {
            let same = |(slot, other): &&(usize, Bound<'py, PyAny>)| {
                other.is(name) && self.is_free(*slot) == from.is_free(index)
            };
            slots.iter().find(same).map(|(slot, _)| *slot)
        };
        let places = from.variables().filter_map(|(index, name)| Some((index, place(index, &name)?)));
        places.map(|(index, slot)| self.put(slot, from.get(index))).collect()
    }

    /// Has none from now on; gives those before.
    pub(super) fn emptied(&self) -> Vec<Option<Bound<'py, PyAny>>> {
        self.variables().map(|(slot, _)| self.put(slot, None)).collect()
    }

    /// Moves them: for each slot, from which it gets its variable. Gives what no slot is for. `None`: the frame is too small, or has something
    /// on its stack.
    pub(super) fn moved(&self, slots: &[Option<usize>]) -> Option<Vec<Bound<'py, PyAny>>> {
        // SAFETY: a frame that has ended is as alive as its object.
        let used = unsafe { release::stack_end(self.raw) };
        if slots.len() > self.len() || usize::try_from(used).ok() != Some(self.len()) {
            return None;
        }
        let mut left: Vec<_> = (0..self.len()).map(|index| self.put(index, None)).collect();
        for (index, own) in slots.iter().enumerate() {
            let value = own.and_then(|own| left.get_mut(own)?.take());
            drop(self.put(index, value));
        }
        // SAFETY: the frame has at least that many slots, and those behind them are empty.
        unsafe { frame::set_stack(self.raw, slots.len() as c_int) };
        Some(left.into_iter().flatten().collect())
    }

    /// Whether there is something on the stack of a frame that does not run.
    fn has_stack(&self) -> bool {
        // SAFETY: `FrameVariables` are only made of live frames.
        let used = unsafe { release::stack_end(self.raw) };
        usize::try_from(used).is_ok_and(|used| used > self.len())
    }

    /// Puts an object on the stack of a frame that has ended, if nothing is there.
    fn keep(&self, kept: &Bound<'py, PyAny>) {
        // SAFETY: the frame has a slot for each of its variables, and behind them at least one, for no code runs without a stack.
        unsafe {
            let used = release::stack_end(self.raw);
            if usize::try_from(used).ok() == Some(self.len()) {
                *self.place(self.len()) = Reference::owned(kept.clone().into_ptr());
                frame::set_stack(self.raw, used + 1);
            }
        }
    }

    fn get(&self, index: usize) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the slot holds a live object or NULL.
        unsafe { Bound::from_borrowed_ptr_or_opt(self.names.py(), (*self.place(index)).object()) }
    }
}

/// The line where a frame stands or ended; 0 or less where that place has none, or is none of the code's: CPython's debug builds refuse to
/// look there.
fn line(object: &Bound<'_, PyAny>) -> c_int {
    let inner = data(object);
    // SAFETY: only called with frame objects whose code is a code object; its size is that of its instructions, in units.
    unsafe {
        let set: c_int = raw::read(object.as_ptr().cast(), offset_of!(PyFrameObject, f_lineno));
        let code = frame::code(inner).cast::<u8>();
        let at: *mut u8 = raw::read(inner, frame::INSTR);
        let end = code.add(code::CO_CODE_ADAPTIVE).wrapping_offset(2 * ffi::Py_SIZE(code.cast()));
        if set <= 0 && at >= end {
            return 0;
        }
        ffi::PyFrame_GetLineNumber(object.as_ptr().cast())
    }
}

/// Copies the variables of a frame that has ended to surviving frames, and the line where it ended.
pub(super) fn copy_at_end(object: &Bound<'_, PyAny>, survivors: &[Py<PyAny>]) {
    if FrameVariables::of_ended(object).is_some() {
        drop(copy(object, survivors));
    }
}

/// Gives surviving frames what they hold of a generator's frame that has ended or is dropped as it is: its variables, and in the latter case
/// what lies on its stack, by holding the frame. Gives what they held before: it must not be freed before all is done.
pub(super) fn leave<'py>(object: &Bound<'py, PyAny>, survivors: &[Py<PyAny>]) -> Vec<Option<Bound<'py, PyAny>>> {
    let replaced = copy(object, survivors);
    let dropped =
        FrameVariables::of_ended(object).is_none() && FrameVariables::of(object).is_some_and(|of| of.has_stack());
    for survivor in survivors.iter().filter(|_| dropped) {
        if let Some(to) = FrameVariables::of_ended(survivor.bind(object.py())) {
            to.keep(object);
        }
    }
    replaced
}

/// Copies the variables of a frame to surviving frames, and the line where it stands. Gives what these held before: it must not be freed
/// before all is done.
pub(super) fn copy<'py>(object: &Bound<'py, PyAny>, survivors: &[Py<PyAny>]) -> Vec<Option<Bound<'py, PyAny>>> {
    let mut replaced = Vec::new();
    let Some(from) = FrameVariables::of(object) else { return replaced };
    let line = line(object);
    for survivor in survivors {
        let Some(to) = FrameVariables::of_ended(survivor.bind(object.py())) else { continue };
        if line > 0 {
            // SAFETY: `FrameVariables` are only made of frame objects. The field says the line where it is not 0.
            unsafe { raw::write(survivor.as_ptr().cast(), offset_of!(PyFrameObject, f_lineno), line) };
        }
        replaced.extend(to.take(&from));
    }
    replaced
}

/// Empties the variables of surviving frames again; gives what they held.
pub(super) fn clear<'py>(py: Python<'py>, survivors: &[Py<PyAny>]) -> Vec<Option<Bound<'py, PyAny>>> {
    let ended = survivors.iter().filter_map(|survivor| FrameVariables::of_ended(survivor.bind(py)));
    ended.flat_map(|to| to.emptied()).collect()
}
