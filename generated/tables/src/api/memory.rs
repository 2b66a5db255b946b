//! Reads live types, frames and code objects through the layouts of their release. Nothing of Python is called.
use super::{answer, structs};
use crate::packed::{Release, Table};
use crate::rows::{slotrt_frame_part, slotrt_memory, slotrt_slot_masks};
use crate::status::{
    SLOTRT_BAD_ARGUMENT, SLOTRT_NOT_FOUND, SLOTRT_NOT_KNOWN, SLOTRT_NULL_ARGUMENT, SLOTRT_OUT_OF_RANGE, slotrt_status,
};
use core::ffi::{CStr, c_char, c_void};

type Result<T> = core::result::Result<T, slotrt_status>;

/// `Py_TAG_BITS` of a `_PyStackRef`, which has flags in its lowest bits.
const TAGS: usize = 3;

/// Where a field lies in memory, how long it is, and whether it is a `_PyStackRef`.
#[derive(Clone, Copy)]
struct Place {
    at: *const u8,
    size: u32,
    tagged: bool,
}

/// The field of a live struct.
fn place(release: Release, layout: &CStr, name: &CStr, memory: slotrt_memory) -> Result<Place> {
    if memory.is_null() {
        return Err(SLOTRT_NULL_ARGUMENT);
    }
    let row = structs::find(release, layout, name).ok_or(SLOTRT_NOT_FOUND)?;
    let tagged = row.str(1).is_some_and(|ty| ty.to_bytes().starts_with(b"_PyStackRef"));
    Ok(Place { at: memory.cast::<u8>().wrapping_add(row.word(2) as usize), size: row.word(3), tagged })
}

impl Place {
    /// The number there, zero-extended; pointers without their tags.
    ///
    /// # Safety
    /// The place lies in live memory.
    unsafe fn number(self) -> Result<u64> {
        // SAFETY: as above; fields are aligned, but nothing here depends on it.
        unsafe {
            match self.size {
                1 => Ok(u64::from(self.at.read())),
                2 => Ok(u64::from(self.at.cast::<u16>().read_unaligned())),
                4 => Ok(u64::from(self.at.cast::<u32>().read_unaligned())),
                8 => {
                    let number = self.at.cast::<u64>().read_unaligned();
                    Ok(if self.tagged { number & !(TAGS as u64) } else { number })
                }
                _ => Err(SLOTRT_NOT_KNOWN),
            }
        }
    }

    /// The pointer there.
    ///
    /// # Safety
    /// The place lies in live memory.
    unsafe fn pointer(self) -> Result<*mut c_void> {
        if self.size != 8 {
            return Err(SLOTRT_NOT_KNOWN);
        }
        // SAFETY: as above.
        let pointer = unsafe { self.at.cast::<*mut c_void>().read_unaligned() };
        Ok(if self.tagged { pointer.map_addr(|address| address & !TAGS) } else { pointer })
    }
}

/// The number or the pointer in a field of 1, 2, 4 or 8 bytes of a live struct, zero-extended; a `_PyStackRef` without its tags.
///
/// # Safety
/// `memory` is NULL or a live struct of that name, of an interpreter of that release; the GIL keeps it alive. `struct_` and `name` are
/// NULL or texts that end with NUL; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_field_get(
    release: u32,
    struct_: *const c_char,
    name: *const c_char,
    memory: slotrt_memory,
    out: *mut u64,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let (layout, name) = (super::text(struct_)?, super::text(name)?);
            place(Release::of(release)?, layout, name, memory)?.number()
        })
    }
}

/// Which slots a live type fills: PyTorch's `get_type_slots`. Classes that are no iterators have a function in `tp_iternext` all the same,
/// which interpreters do not export: `plain` is such a class, `type("plain", (), {})`, and what it has there counts as an empty slot; NULL
/// if no class of Python is asked about.
///
/// # Safety
/// `type_` and `plain` are NULL or a live `PyTypeObject` of an interpreter of that release, and the thread holds the GIL. `out` is NULL or
/// points to memory for the masks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_get_type_slots(
    release: u32,
    type_: slotrt_memory,
    plain: slotrt_memory,
    out: *mut slotrt_slot_masks,
) -> slotrt_status {
    // SAFETY: as above; a suite's pointer leads to the suite.
    unsafe {
        answer(out, || {
            let release = Release::of(release)?;
            let mut masks = slotrt_slot_masks::default();
            let no_iterator = match place(release, c"PyTypeObject", c"tp_iternext", plain) {
                Ok(place) => place.pointer()?.addr(),
                Err(_) => 0,
            };
            for index in 0..release.count(Table::Slots) {
                let slot = release.row(Table::Slots, index)?;
                let suite = slot.str(1).filter(|suite| !suite.is_empty());
                let layout = match suite {
                    None if type_.is_null() => return Err(SLOTRT_NULL_ARGUMENT),
                    None => type_,
                    Some(suite) => place(release, c"PyTypeObject", suite, type_)?.pointer()?.cast_const(),
                };
                let function = layout.cast::<u8>().wrapping_add(slot.word(3) as usize);
                let held = if layout.is_null() { 0 } else { function.cast::<usize>().read_unaligned() };
                if held != 0 && held != no_iterator {
                    masks.set(slot);
                }
            }
            Ok(masks)
        })
    }
}

/// The struct of a frame that the interpreter evaluates, and what it calls each part.
fn frame_field(release: Release, part: i32) -> Result<(&'static CStr, &'static [&'static CStr])> {
    type Part = slotrt_frame_part;
    let layout = frame(release);
    let names: &[&CStr] = match part {
        part if part == Part::SLOTRT_FRAME_CODE as i32 => &[c"f_executable", c"f_code"],
        part if part == Part::SLOTRT_FRAME_PREVIOUS as i32 => &[c"previous", c"f_back"],
        part if part == Part::SLOTRT_FRAME_FUNCTION as i32 => &[c"f_funcobj", c"f_func"],
        part if part == Part::SLOTRT_FRAME_GLOBALS as i32 => &[c"f_globals"],
        part if part == Part::SLOTRT_FRAME_BUILTINS as i32 => &[c"f_builtins"],
        part if part == Part::SLOTRT_FRAME_LOCALS as i32 => &[c"f_locals"],
        part if part == Part::SLOTRT_FRAME_OBJECT as i32 => &[c"frame_obj"],
        _ => return Err(SLOTRT_BAD_ARGUMENT),
    };
    Ok((layout, names))
}

/// `_PyInterpreterFrame` from 3.11 on, `PyFrameObject` before.
fn frame(release: Release) -> &'static CStr {
    if release.series() >= 0x030B { c"_PyInterpreterFrame" } else { c"PyFrameObject" }
}

/// A part of a frame, borrowed. `part` is one of `slotrt_frame_part`. The frame is what a frame evaluation function is given: a
/// `_PyInterpreterFrame *` from 3.11 on, a `PyFrameObject *` before.
///
/// # Safety
/// `frame` is NULL or a live frame of an interpreter of that release, and the thread holds the GIL. `out` is NULL or points to memory
/// for the pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_frame_get(
    release: u32,
    frame: slotrt_memory,
    part: i32,
    out: *mut *mut c_void,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let release = Release::of(release)?;
            let (layout, names) = frame_field(release, part)?;
            if part == slotrt_frame_part::SLOTRT_FRAME_OBJECT as i32 && layout == c"PyFrameObject" {
                return if frame.is_null() { Err(SLOTRT_NULL_ARGUMENT) } else { Ok(frame.cast_mut()) };
            }
            let mut found = names.iter().map(|name| place(release, layout, name, frame));
            found.find(|found| *found != Err(SLOTRT_NOT_FOUND)).unwrap_or(Err(SLOTRT_NOT_FOUND))?.pointer()
        })
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.size) == (other.at, other.size)
    }
}

/// The code object of a frame.
///
/// # Safety
/// `frame` is NULL or a live frame of an interpreter of that release.
unsafe fn code(release: Release, frame: slotrt_memory) -> Result<slotrt_memory> {
    let mut code = core::ptr::null_mut();
    // SAFETY: as above.
    let status = unsafe { slotrt_frame_get(release.series(), frame, 0, &raw mut code) };
    if status == slotrt_status::SLOTRT_OK { Ok(code.cast_const()) } else { Err(status) }
}

/// Entries of `localsplus`: locals, cells and free variables.
///
/// # Safety
/// `code` is a live code object of an interpreter of that release.
unsafe fn locals(release: Release, code: slotrt_memory) -> Result<u64> {
    let number = |name: &CStr| {
        // SAFETY: as above.
        place(release, c"PyCodeObject", name, code).and_then(|place| unsafe { place.number() })
    };
    if release.series() >= 0x030B {
        return number(c"co_nlocalsplus");
    }
    let mut total = number(c"co_nlocals")?;
    for name in [c"co_cellvars", c"co_freevars"] {
        // SAFETY: as above; the field holds a tuple.
        let tuple = unsafe { place(release, c"PyCodeObject", name, code)?.pointer() }?;
        let size =
            // SAFETY: `ob_size` stands behind the 16 bytes of `PyObject`.
            if tuple.is_null() { 0 } else { unsafe { tuple.cast::<u8>().add(16).cast::<u64>().read_unaligned() } };
        total = total.saturating_add(size);
    }
    Ok(total)
}

/// How many variables a frame has: locals, cells and free variables.
///
/// # Safety
/// As for `slotrt_frame_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_frame_variable_count(
    release: u32,
    frame: slotrt_memory,
    out: *mut u32,
) -> slotrt_status {
    // SAFETY: as above.
    unsafe {
        answer(out, || {
            let release = Release::of(release)?;
            u32::try_from(locals(release, code(release, frame)?)?).map_err(|_| SLOTRT_NOT_KNOWN)
        })
    }
}

/// A variable of a frame, borrowed, NULL if it is unbound; cells are given as they are. In the order of `localsplus`.
///
/// # Safety
/// As for `slotrt_frame_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_frame_variable(
    release: u32,
    frame: slotrt_memory,
    index: u32,
    out: *mut *mut c_void,
) -> slotrt_status {
    // SAFETY: as above; the index is checked against the code object.
    unsafe {
        answer(out, || {
            let release = Release::of(release)?;
            if u64::from(index) >= locals(release, code(release, frame)?)? {
                return Err(SLOTRT_OUT_OF_RANGE);
            }
            let name = if release.series() >= 0x030B { c"localsplus" } else { c"f_localsplus" };
            let first = place(release, self::frame(release), name, frame)?;
            Place { at: first.at.add(index as usize * 8), size: 8, ..first }.pointer()
        })
    }
}
