//! The rows that the functions of the header fill in.
//!
//! Texts are static, end with NUL and are NULL where there is none. Fields are only ever added at the end, with a new major version.
use core::ffi::{c_char, c_void};

/// A slot's index, a number or a bit that is none.
pub const SLOTRT_NONE: u32 = u32::MAX;

/// A table of a release.
#[repr(i32)]
#[derive(Clone, Copy)]
pub enum slotrt_table {
    /// `slotrt_slot_at`
    SLOTRT_SLOTS = 0,
    /// `slotrt_slotdef_at`
    SLOTRT_SLOTDEFS = 1,
    /// `slotrt_wrapper_at`
    SLOTRT_WRAPPERS = 2,
    /// `slotrt_type_at`
    SLOTRT_TYPES = 3,
    /// `slotrt_opcode_at`
    SLOTRT_OPCODES = 4,
    /// `slotrt_struct_at`
    SLOTRT_STRUCTS = 5,
}

/// A CPython release.
#[repr(C)]
pub struct slotrt_release {
    /// `PY_VERSION_HEX >> 16`: 0x030D for 3.13. Every function takes this number.
    pub series: u32,
    /// Whether a compiled library and its headers were read (1), or C sources (0).
    pub from_binary: u32,
    /// The patch release that was read: `3.13.5`.
    pub version: *const c_char,
    /// `HAVE_ARGUMENT`, as the release has it; `slotrt_opcode.has_argument` is what to ask.
    pub have_argument: u32,
}

/// A slot of `PyTypeObject` or of one of its suites.
#[repr(C)]
pub struct slotrt_slot {
    /// `nb_or`
    pub name: *const c_char,
    /// The field of `PyTypeObject` that points to its struct, `tp_as_number`; an empty text where it stands in `PyTypeObject` itself.
    pub suite: *const c_char,
    /// The typedef of its functions: `binaryfunc`.
    pub signature: *const c_char,
    /// Bytes from the start of its struct.
    pub offset: u32,
    /// Bytes from the start of `PyHeapTypeObject`.
    pub heap_offset: u32,
    /// Which word of `slotrt_slot_masks` has its bit, counted from 0; `SLOTRT_NONE` if none.
    pub mask: u32,
    /// Its bit there; `SLOTRT_NONE` if none.
    pub bit: u32,
}

/// A row of `slotdefs[]`, in CPython's order.
#[repr(C)]
pub struct slotrt_slotdef {
    /// The special method: `__or__`.
    pub name: *const c_char,
    /// The C function that calls the method, `slot_nb_or`, or NULL.
    pub function: *const c_char,
    /// The C function that calls the slot, `wrap_binaryfunc_l`, or NULL.
    pub wrapper: *const c_char,
    /// The doc string, text signature included.
    pub doc: *const c_char,
    /// The index of the slot.
    pub slot: u32,
    /// `offsetof(PyHeapTypeObject, …)`.
    pub offset: u32,
    /// `PyWrapperFlag_KEYWORDS` is 1.
    pub flags: u32,
}

/// A wrapper function that slotdefs name.
#[repr(C)]
pub struct slotrt_wrapper {
    /// `wrap_binaryfunc_l`
    pub name: *const c_char,
    /// The typedef of the slot functions that it calls: `binaryfunc`.
    pub signature: *const c_char,
    /// `PyWrapperFlag_KEYWORDS` is 1.
    pub flags: u32,
}

/// A C type.
#[repr(C)]
pub struct slotrt_type {
    /// The C variable: `PyList_Type`, or of the `PyType_Spec` or `PyStructSequence_Desc`.
    pub c_name: *const c_char,
    /// `tp_name`.
    pub tp_name: *const c_char,
    /// The file of the initialiser; an empty text where a compiled library does not tell.
    pub file: *const c_char,
    /// The C variable of the base, or NULL: then it is `object`.
    pub base: *const c_char,
    /// The C variable of the metatype, or NULL: then it is `type`.
    pub metatype: *const c_char,
    /// `tp_basicsize`, as written.
    pub basicsize: *const c_char,
    /// `tp_itemsize`, as written.
    pub itemsize: *const c_char,
    /// `tp_flags`, as written.
    pub flags: *const c_char,
    /// The line of the variable, or 0.
    pub line: u32,
    /// 0: a `PyTypeObject`. 1: a `PyType_Spec`. 2: a `PyStructSequence_Desc`.
    pub kind: u32,
    /// Rows of `slotrt_type_slot_at`.
    pub slots: u32,
    /// Rows of `slotrt_type_method_at`.
    pub methods: u32,
    /// Rows of `slotrt_type_getset_at`.
    pub getsets: u32,
    /// Rows of `slotrt_type_member_at`.
    pub members: u32,
}

/// What a slot of a type holds once `PyType_Ready` has run.
#[repr(C)]
pub struct slotrt_held {
    /// The index of the slot.
    pub slot: u32,
    /// 0: the initialiser names it. 1: inherited. 2: `PyType_Ready` or its callers put it there.
    pub origin: u32,
    /// The C function.
    pub function: *const c_char,
    /// The C variable of the base whose own slot it is, if inherited.
    pub from: *const c_char,
}

/// A row of `tp_methods`.
#[repr(C)]
pub struct slotrt_method {
    /// The Python name.
    pub name: *const c_char,
    /// The C function.
    pub function: *const c_char,
    /// The text signature, or NULL.
    pub signature: *const c_char,
    /// `METH_…`.
    pub flags: u32,
}

/// A row of `tp_getset`.
#[repr(C)]
pub struct slotrt_getset {
    /// The Python name.
    pub name: *const c_char,
    /// The C getter, or NULL.
    pub get: *const c_char,
    /// The C setter, or NULL.
    pub set: *const c_char,
    /// The closure, as C text, or NULL.
    pub closure: *const c_char,
}

/// A row of `tp_members`.
#[repr(C)]
pub struct slotrt_member {
    /// The Python name.
    pub name: *const c_char,
    /// `Py_T_…` or `T_…`, as written.
    pub type_: *const c_char,
    /// The C field, `struct.field`.
    pub field: *const c_char,
    /// Flags, as written.
    pub flags: *const c_char,
}

/// An opcode.
#[repr(C)]
pub struct slotrt_opcode {
    /// CPython's name.
    pub name: *const c_char,
    /// Flags without their `HAS_` and `_FLAG`.
    pub flags: *const c_char,
    /// Stack entries taken, as a C expression of `oparg`, or NULL.
    pub popped: *const c_char,
    /// Stack entries left, as a C expression of `oparg`, or NULL.
    pub pushed: *const c_char,
    /// The net effect by `oparg` and `jump`, where it is not the difference, or NULL.
    pub effect: *const c_char,
    /// Its number; above 255 for pseudo instructions.
    pub number: u32,
    /// 0: the compiler emits it. 1: specialised. 2: instrumented. 3: exists inside the compiler only.
    pub kind: u32,
    /// The opcode that a specialised or instrumented one stands for; else its own number.
    pub base: u32,
    /// Inline cache entries behind it, in code units; a specialised opcode has those of its base.
    pub caches: u32,
    /// Whether its argument means something.
    pub has_argument: u32,
}

/// The layout of a C struct: linux x86-64, release build.
#[repr(C)]
pub struct slotrt_struct {
    /// `PyTypeObject`, `_PyInterpreterFrame`, …
    pub name: *const c_char,
    /// The header that defines it.
    pub file: *const c_char,
    /// The line of its name.
    pub line: u32,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Rows of `slotrt_field_at`.
    pub fields: u32,
}

/// A field of a C struct.
#[repr(C)]
pub struct slotrt_field {
    /// Its name.
    pub name: *const c_char,
    /// Its C type.
    pub type_: *const c_char,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// Which slots of a type are filled, a bit for each. The first four words have the bits and the order of PyTorch's `get_type_slots`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct slotrt_slot_masks {
    /// `PySequenceSlots`
    pub sequence: u64,
    /// `PyMappingSlots`
    pub mapping: u64,
    /// `PyNumberSlots`
    pub number: u64,
    /// `PyTypeSlots`
    pub type_: u64,
    /// The slots that PyTorch has no bits for; `slotrt_slot.bit` has them.
    pub other: u64,
}

/// What `slotrt_frame_get` reads of a frame.
#[repr(i32)]
#[derive(Clone, Copy)]
pub enum slotrt_frame_part {
    /// The code object.
    SLOTRT_FRAME_CODE = 0,
    /// The frame of the caller, a pointer of the same type, or NULL.
    SLOTRT_FRAME_PREVIOUS = 1,
    /// The function object; from 3.11 on.
    SLOTRT_FRAME_FUNCTION = 2,
    /// The globals.
    SLOTRT_FRAME_GLOBALS = 3,
    /// The builtins.
    SLOTRT_FRAME_BUILTINS = 4,
    /// The mapping of locals, or NULL.
    SLOTRT_FRAME_LOCALS = 5,
    /// The frame object, or NULL if there is none yet.
    SLOTRT_FRAME_OBJECT = 6,
}

/// A Python object or a frame, in memory that the caller vouches for.
pub type slotrt_memory = *const c_void;
