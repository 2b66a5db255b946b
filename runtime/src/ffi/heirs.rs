//! Frame objects that outlive a hand-over: those of a frame that a traceback names, or that somebody else keeps, get the
//! variables of the frame that goes on, when that ends.
use super::delegated;
use super::layout::{self, code, frame};
use super::release::{self, PyFrameObject};
use crate::bytecode::flag;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::cell::{Cell, RefCell};
use std::mem::offset_of;

/// A continuation's frame that runs, and whose variables others wait for.
struct Running {
    /// Its frame object, made for the purpose.
    object: Py<PyAny>,
    waiting: Waiting,
}

/// Those that wait for a frame's variables.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Frame objects of frames that it goes on for.
    pub(super) heirs: Vec<Py<PyAny>>,
    /// Whether these have its variables for the length of an instruction.
    pub(super) shared: bool,
}

thread_local! {
    /// Innermost last; only frames that others wait for.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
    /// Whether somebody waits for the variables of the frame that a dispatcher is choosing code for.
    static WAITING: Cell<bool> = const { Cell::new(false) };
    /// The heirs of the frame that begins next.
    static NEXT: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// Whether somebody waits for the variables of the frame that a dispatcher is choosing code for.
#[must_use]
pub fn waiting() -> bool {
    WAITING.get()
}

/// Says for the length of a dispatcher's choice whether somebody waits.
pub(super) fn choosing<T>(waits: bool, choice: impl FnOnce() -> T) -> T {
    let before = WAITING.replace(waits);
    let chosen = choice();
    WAITING.set(before);
    chosen
}

/// The object of the frame that runs, if it has one.
fn running_object(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the thread state is alive, and so is the frame that it says runs; a frame's object is alive for as long as the frame
    // runs.
    unsafe {
        let raw = release::current_frame(ffi::PyThreadState_Get().cast());
        if raw.is_null() {
            return None;
        }
        let object: *mut ffi::PyObject = layout::read(raw, offset_of!(release::_PyInterpreterFrame, frame_obj));
        Bound::from_borrowed_ptr_or_opt(py, object)
    }
}

/// Those that wait for the running frame's variables have them from here on until it hands over or ends: its next instruction may run
/// code that looks at them, and as long as it does, the frame changes none.
pub(crate) fn share(py: Python<'_>) {
    if RUNNING.with_borrow(Vec::is_empty) && delegated::is_empty() {
        return;
    }
    let Some(object) = running_object(py) else { return };
    let heirs = of_waiting(&object, |waiting| {
        waiting.shared = true;
        waiting.heirs.iter().map(|heir| heir.clone_ref(py)).collect::<Vec<_>>()
    });
    drop(give(&object, &heirs.unwrap_or_default()));
}

/// Looks at those that wait for the frame of this object, which runs; `None`: it goes on for nobody.
fn of_waiting<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&mut Waiting) -> T) -> Option<T> {
    let is_last = RUNNING.with_borrow(|running| running.last().is_some_and(|last| last.object.is(object)));
    if is_last {
        return RUNNING.with_borrow_mut(|running| running.last_mut().map(|last| look(&mut last.waiting)));
    }
    delegated::of(object, look)
}

/// A tuple of the frame objects that wait for the running frame's variables, its own included; `None` where there are none.
pub(crate) fn of_running(py: Python<'_>) -> PyResult<Option<Bound<'_, PyTuple>>> {
    let Some(object) = running_object(py) else { return Ok(None) };
    // The frame's own reference, and the one just made.
    let mut known = 2;
    let mut heirs = Vec::new();
    if let Some(waiting) = of_waiting(&object, std::mem::take) {
        known += 1;
        heirs = alive(py, waiting.heirs);
        if waiting.shared {
            drop(take_back(py, &heirs));
        }
    }
    if references(&object) > known {
        heirs.push(object.unbind());
    }
    if heirs.is_empty() { Ok(None) } else { PyTuple::new(py, heirs).map(Some) }
}

fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object's count.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// Those that others than the list hold.
pub(super) fn alive(py: Python<'_>, heirs: Vec<Py<PyAny>>) -> Vec<Py<PyAny>> {
    let (alive, dead): (Vec<_>, Vec<_>) = heirs.into_iter().partition(|heir| references(heir.bind(py)) > 1);
    drop(dead);
    alive
}

/// Runs a call whose frame goes on for others, and gives them its variables at its end: where it makes a generator, at that one's.
pub(super) fn succeed<'py>(
    py: Python<'py>,
    heirs: Option<Bound<'py, PyTuple>>,
    call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(heirs) = heirs else { return call() };
    NEXT.set(heirs.iter().map(Bound::unbind).collect());
    drop(heirs);
    let depth = RUNNING.with_borrow(Vec::len);
    let result = call();
    let left = NEXT.take();
    if let Ok(generator) = &result
        && !left.is_empty()
    {
        delegated::wait(generator, left)?;
    }
    while let Some(Running { object, waiting }) =
        RUNNING.with_borrow_mut(|running| if running.len() > depth { running.pop() } else { None })
    {
        let heirs = alive(py, waiting.heirs);
        bequeath(object.bind(py), &heirs);
        drop(heirs);
        drop(object);
    }
    result
}

/// Gives a frame that is about to begin the frame object that is to survive it, where somebody waits for its variables.
///
/// # Safety
/// `raw` must be a fresh frame of the running thread, without a frame object.
pub(super) unsafe fn begin(raw: *mut u8) {
    // SAFETY: a fresh frame's code is a code object.
    let flags: u32 = unsafe { layout::read(layout::read(raw, frame::F_CODE), code::CO_FLAGS) };
    let heirs = if flags & flag::GENERATOR_LIKE == 0 { NEXT.take() } else { Vec::new() };
    if heirs.is_empty() {
        return;
    }
    // SAFETY: as the caller promises; attached. A new frame object owns a frame of its own, whose references are let go before it
    // gets the other one; one that belongs to a running frame is not tracked by the collector.
    let object = unsafe {
        let py = Python::assume_attached();
        let (code, globals) = (layout::read(raw, frame::F_CODE), layout::read(raw, frame::F_GLOBALS));
        let made: *mut ffi::PyFrameObject =
            ffi::PyFrame_New(ffi::PyThreadState_Get(), code, globals, std::ptr::null_mut());
        let Ok(object) = Bound::<PyAny>::from_owned_ptr_or_err(py, made.cast()) else { return };
        ffi::PyObject_GC_UnTrack(object.as_ptr().cast());
        let own: *mut u8 = data(&object);
        for field in [frame::F_FUNC, frame::F_CODE] {
            let held: *mut ffi::PyObject = layout::read(own, field);
            layout::write::<usize>(own, field, 0);
            ffi::Py_XDECREF(held);
        }
        layout::write(object.as_ptr().cast(), offset_of!(PyFrameObject, f_frame), raw);
        layout::write(raw, offset_of!(release::_PyInterpreterFrame, frame_obj), object.clone().into_ptr());
        object.unbind()
    };
    RUNNING.with_borrow_mut(|running| running.push(Running { object, waiting: Waiting { heirs, shared: false } }));
}

/// The frame that a frame object stands for.
fn data(object: &Bound<'_, PyAny>) -> *mut u8 {
    // SAFETY: only called with frame objects.
    unsafe { layout::read(object.as_ptr().cast(), offset_of!(PyFrameObject, f_frame)) }
}

/// The slots of a frame object's frame.
struct Slots<'py> {
    raw: *mut u8,
    names: Bound<'py, PyTuple>,
    kinds: Bound<'py, PyBytes>,
}

/// `CO_FAST_HIDDEN`.
const HIDDEN: u8 = 0x10;

/// `CO_FAST_FREE`.
const FREE: u8 = 0x80;

impl<'py> Slots<'py> {
    /// Of a frame that runs, or has ended.
    fn of(object: &Bound<'py, PyAny>) -> Option<Self> {
        let (py, raw) = (object.py(), data(object));
        // SAFETY: a frame object's frame is alive; its code is a code object, or NULL once it was cleared.
        let (names, kinds) = unsafe {
            let code: *mut u8 = layout::read(raw, frame::F_CODE);
            if code.is_null() {
                return None;
            }
            let field = |offset| Bound::<PyAny>::from_borrowed_ptr(py, layout::read(code, offset));
            (field(code::CO_LOCALSPLUSNAMES), field(code::CO_LOCALSPLUSKINDS))
        };
        Some(Self { raw, names: names.cast_into().ok()?, kinds: kinds.cast_into().ok()? })
    }

    /// Of a frame that has ended, and belongs to its object.
    fn of_ended(object: &Bound<'py, PyAny>) -> Option<Self> {
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

    fn place(&self, index: usize) -> *mut *mut ffi::PyObject {
        // SAFETY: a frame has a slot for each of its code's names.
        unsafe { self.raw.add(frame::LOCALSPLUS).cast::<*mut ffi::PyObject>().add(index) }
    }

    /// Puts a value into the slot; gives the one before.
    fn put(&self, index: usize, value: Option<Bound<'py, PyAny>>) -> Option<Bound<'py, PyAny>> {
        let value = value.map_or(std::ptr::null_mut(), Bound::into_ptr);
        // SAFETY: the slot owns what it holds, or holds NULL.
        unsafe { Bound::from_owned_ptr_or_opt(self.names.py(), std::mem::replace(&mut *self.place(index), value)) }
    }

    fn get(&self, index: usize) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the slot holds a live object or NULL.
        unsafe { Bound::from_borrowed_ptr_or_opt(self.names.py(), *self.place(index)) }
    }
}

/// Leaves the variables of a frame that has ended to those that wait for them, and the line where it ended.
pub(super) fn bequeath(object: &Bound<'_, PyAny>, heirs: &[Py<PyAny>]) {
    if Slots::of_ended(object).is_some() {
        drop(give(object, heirs));
    }
}

/// Gives the ended frames of heirs the variables of a frame, and the line where it stands; what they held before comes back, for it may
/// end only when all is done.
fn give<'py>(object: &Bound<'py, PyAny>, heirs: &[Py<PyAny>]) -> Vec<Option<Bound<'py, PyAny>>> {
    let mut replaced = Vec::new();
    let Some(from) = Slots::of(object) else { return replaced };
    // SAFETY: it is a frame object.
    let line = unsafe { ffi::PyFrame_GetLineNumber(object.as_ptr().cast()) };
    for heir in heirs {
        let Some(to) = Slots::of_ended(heir.bind(object.py())) else { continue };
        if line > 0 {
            // SAFETY: `Slots` are only made of frame objects. The field says the line where it is not 0.
            unsafe { layout::write(heir.as_ptr().cast(), offset_of!(PyFrameObject, f_lineno), line) };
        }
        let slots: Vec<_> = to.variables().collect();
        for (index, name) in from.variables() {
            let named = |other: &Bound<'_, PyAny>| other.is(&name) || other.eq(&name).unwrap_or(false);
            let same = |(slot, _): &&(usize, _)| to.is_free(*slot) == from.is_free(index);
            if let Some((slot, _)) = slots.iter().filter(|(_, other)| named(other)).find(same) {
                replaced.push(to.put(*slot, from.get(index)));
            }
        }
    }
    replaced
}

/// Empties the variables of heirs again; gives what they held.
fn take_back<'py>(py: Python<'py>, heirs: &[Py<PyAny>]) -> Vec<Option<Bound<'py, PyAny>>> {
    let ended = heirs.iter().filter_map(|heir| Slots::of_ended(heir.bind(py)));
    ended.flat_map(|to| to.variables().map(|(slot, _)| to.put(slot, None)).collect::<Vec<_>>()).collect()
}
