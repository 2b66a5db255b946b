/* slotrt. SPDX-License-Identifier: (MIT OR Apache-2.0) AND PSF-2.0
   Written by cbindgen from the Rust that it describes; do not edit. */

#ifndef SLOTRT_TABLES_H
#define SLOTRT_TABLES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* CPython's tables, for programs without Python.

   A release is chosen at run time: every function takes PY_VERSION_HEX >> 16, which is 0x030D for 3.13. Functions return slotrt_status
   and fill in what the last argument points to, only where they return SLOTRT_OK. Texts are static and must not be freed. Every function
   may be called by any thread at any time; those that read live objects need the GIL to keep them alive. NULL where a pointer is wanted
   is an error code, never a crash. Layouts are those of linux x86-64, release builds. */


// The version of this header: the major version in the upper 16 bits, which changes where a program must be compiled again.
#define SLOTRT_TABLES_VERSION 65536

// A slot's index, a number or a bit that is none.
#define SLOTRT_NONE UINT32_MAX

// How a call went. Codes are never given another meaning; new ones may be added.
enum slotrt_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call did what it says.
  SLOTRT_OK = 0,
  // A pointer that must not be NULL is NULL.
  SLOTRT_NULL_ARGUMENT = 1,
  // The tables do not hold the release.
  SLOTRT_UNKNOWN_RELEASE = 2,
  // An index is not below the count of its table.
  SLOTRT_OUT_OF_RANGE = 3,
  // The release has nothing of that name or number.
  SLOTRT_NOT_FOUND = 4,
  // The release has it, but what was asked about it is not known.
  SLOTRT_NOT_KNOWN = 5,
  // The caller was compiled against a version that this library does not serve.
  SLOTRT_WRONG_VERSION = 6,
  // An argument is not one that the function takes.
  SLOTRT_BAD_ARGUMENT = 7,
  // No interpreter is running in this process, or it is being finalised.
  SLOTRT_NO_INTERPRETER = 20,
  // The calling thread does not hold the GIL.
  SLOTRT_NO_GIL = 21,
  // The runtime belongs to another interpreter than the one that the thread runs in.
  SLOTRT_OTHER_INTERPRETER = 22,
  // The interpreter is of another release than the one that the library was built for.
  SLOTRT_OTHER_RELEASE = 23,
  // The handle was closed, or never was one of this library.
  SLOTRT_CLOSED = 24,
  // Another evaluation hook, or another copy of this library, is in the way.
  SLOTRT_OCCUPIED = 25,
  // A Python exception was raised; its text is in the last error.
  SLOTRT_PYTHON_ERROR = 26,
  // A fault of this library; please report it with the text.
  SLOTRT_INTERNAL = 27,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum slotrt_status slotrt_status;
#else
typedef int32_t slotrt_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A table of a release.
enum slotrt_table
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // `slotrt_slot_at`
  SLOTRT_SLOTS = 0,
  // `slotrt_slotdef_at`
  SLOTRT_SLOTDEFS = 1,
  // `slotrt_wrapper_at`
  SLOTRT_WRAPPERS = 2,
  // `slotrt_type_at`
  SLOTRT_TYPES = 3,
  // `slotrt_opcode_at`
  SLOTRT_OPCODES = 4,
  // `slotrt_struct_at`
  SLOTRT_STRUCTS = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum slotrt_table slotrt_table;
#else
typedef int32_t slotrt_table;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What `slotrt_frame_get` reads of a frame.
enum slotrt_frame_part
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The code object.
  SLOTRT_FRAME_CODE = 0,
  // The frame of the caller, a pointer of the same type, or NULL.
  SLOTRT_FRAME_PREVIOUS = 1,
  // The function object; from 3.11 on.
  SLOTRT_FRAME_FUNCTION = 2,
  // The globals.
  SLOTRT_FRAME_GLOBALS = 3,
  // The builtins.
  SLOTRT_FRAME_BUILTINS = 4,
  // The mapping of locals, or NULL.
  SLOTRT_FRAME_LOCALS = 5,
  // The frame object, or NULL if there is none yet.
  SLOTRT_FRAME_OBJECT = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum slotrt_frame_part slotrt_frame_part;
#else
typedef int32_t slotrt_frame_part;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A Python object or a frame, in memory that the caller vouches for.
typedef const void *slotrt_memory;

// Which slots of a type are filled, a bit for each. The first four words have the bits and the order of PyTorch's `get_type_slots`.
typedef struct slotrt_slot_masks {
  // `PySequenceSlots`
  uint64_t sequence;
  // `PyMappingSlots`
  uint64_t mapping;
  // `PyNumberSlots`
  uint64_t number;
  // `PyTypeSlots`
  uint64_t type_;
  // The slots that PyTorch has no bits for; `slotrt_slot.bit` has them.
  uint64_t other;
} slotrt_slot_masks;

// An opcode.
typedef struct slotrt_opcode {
  // CPython's name.
  const char *name;
  // Flags without their `HAS_` and `_FLAG`.
  const char *flags;
  // Stack entries taken, as a C expression of `oparg`, or NULL.
  const char *popped;
  // Stack entries left, as a C expression of `oparg`, or NULL.
  const char *pushed;
  // The net effect by `oparg` and `jump`, where it is not the difference, or NULL.
  const char *effect;
  // Its number; above 255 for pseudo instructions.
  uint32_t number;
  // 0: the compiler emits it. 1: specialised. 2: instrumented. 3: exists inside the compiler only.
  uint32_t kind;
  // The opcode that a specialised or instrumented one stands for; else its own number.
  uint32_t base;
  // Inline cache entries behind it, in code units; a specialised opcode has those of its base.
  uint32_t caches;
  // Whether its argument means something.
  uint32_t has_argument;
} slotrt_opcode;

// A CPython release.
typedef struct slotrt_release {
  // `PY_VERSION_HEX >> 16`: 0x030D for 3.13. Every function takes this number.
  uint32_t series;
  // Whether a compiled library and its headers were read (1), or C sources (0).
  uint32_t from_binary;
  // The patch release that was read: `3.13.5`.
  const char *version;
  // `HAVE_ARGUMENT`, as the release has it; `slotrt_opcode.has_argument` is what to ask.
  uint32_t have_argument;
} slotrt_release;

// The layout of a C struct: linux x86-64, release build.
typedef struct slotrt_struct {
  // `PyTypeObject`, `_PyInterpreterFrame`, …
  const char *name;
  // The header that defines it.
  const char *file;
  // The line of its name.
  uint32_t line;
  // Bytes.
  uint32_t size;
  // Alignment in bytes.
  uint32_t align;
  // Rows of `slotrt_field_at`.
  uint32_t fields;
} slotrt_struct;

// A field of a C struct.
typedef struct slotrt_field {
  // Its name.
  const char *name;
  // Its C type.
  const char *type_;
  // Bytes from the start of the struct.
  uint32_t offset;
  // Bytes.
  uint32_t size;
} slotrt_field;

// A slot of `PyTypeObject` or of one of its suites.
typedef struct slotrt_slot {
  // `nb_or`
  const char *name;
  // The field of `PyTypeObject` that points to its struct, `tp_as_number`; an empty text where it stands in `PyTypeObject` itself.
  const char *suite;
  // The typedef of its functions: `binaryfunc`.
  const char *signature;
  // Bytes from the start of its struct.
  uint32_t offset;
  // Bytes from the start of `PyHeapTypeObject`.
  uint32_t heap_offset;
  // Which word of `slotrt_slot_masks` has its bit, counted from 0; `SLOTRT_NONE` if none.
  uint32_t mask;
  // Its bit there; `SLOTRT_NONE` if none.
  uint32_t bit;
} slotrt_slot;

// A row of `slotdefs[]`, in CPython's order.
typedef struct slotrt_slotdef {
  // The special method: `__or__`.
  const char *name;
  // The C function that calls the method, `slot_nb_or`, or NULL.
  const char *function;
  // The C function that calls the slot, `wrap_binaryfunc_l`, or NULL.
  const char *wrapper;
  // The doc string, text signature included.
  const char *doc;
  // The index of the slot.
  uint32_t slot;
  // `offsetof(PyHeapTypeObject, …)`.
  uint32_t offset;
  // `PyWrapperFlag_KEYWORDS` is 1.
  uint32_t flags;
} slotrt_slotdef;

// A wrapper function that slotdefs name.
typedef struct slotrt_wrapper {
  // `wrap_binaryfunc_l`
  const char *name;
  // The typedef of the slot functions that it calls: `binaryfunc`.
  const char *signature;
  // `PyWrapperFlag_KEYWORDS` is 1.
  uint32_t flags;
} slotrt_wrapper;

// A C type.
typedef struct slotrt_type {
  // The C variable: `PyList_Type`, or of the `PyType_Spec` or `PyStructSequence_Desc`.
  const char *c_name;
  // `tp_name`.
  const char *tp_name;
  // The file of the initialiser; an empty text where a compiled library does not tell.
  const char *file;
  // The C variable of the base, or NULL: then it is `object`.
  const char *base;
  // The C variable of the metatype, or NULL: then it is `type`.
  const char *metatype;
  // `tp_basicsize`, as written.
  const char *basicsize;
  // `tp_itemsize`, as written.
  const char *itemsize;
  // `tp_flags`, as written.
  const char *flags;
  // The line of the variable, or 0.
  uint32_t line;
  // 0: a `PyTypeObject`. 1: a `PyType_Spec`. 2: a `PyStructSequence_Desc`.
  uint32_t kind;
  // Rows of `slotrt_type_slot_at`.
  uint32_t slots;
  // Rows of `slotrt_type_method_at`.
  uint32_t methods;
  // Rows of `slotrt_type_getset_at`.
  uint32_t getsets;
  // Rows of `slotrt_type_member_at`.
  uint32_t members;
} slotrt_type;

// What a slot of a type holds once `PyType_Ready` has run.
typedef struct slotrt_held {
  // The index of the slot.
  uint32_t slot;
  // 0: the initialiser names it. 1: inherited. 2: `PyType_Ready` or its callers put it there.
  uint32_t origin;
  // The C function.
  const char *function;
  // The C variable of the base whose own slot it is, if inherited.
  const char *from;
} slotrt_held;

// A row of `tp_methods`.
typedef struct slotrt_method {
  // The Python name.
  const char *name;
  // The C function.
  const char *function;
  // The text signature, or NULL.
  const char *signature;
  // `METH_…`.
  uint32_t flags;
} slotrt_method;

// A row of `tp_getset`.
typedef struct slotrt_getset {
  // The Python name.
  const char *name;
  // The C getter, or NULL.
  const char *get;
  // The C setter, or NULL.
  const char *set;
  // The closure, as C text, or NULL.
  const char *closure;
} slotrt_getset;

// A row of `tp_members`.
typedef struct slotrt_member {
  // The Python name.
  const char *name;
  // `Py_T_…` or `T_…`, as written.
  const char *type_;
  // The C field, `struct.field`.
  const char *field;
  // Flags, as written.
  const char *flags;
} slotrt_member;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The number or the pointer in a field of 1, 2, 4 or 8 bytes of a live struct, zero-extended; a `_PyStackRef` without its tags.
//
// # Safety
// `memory` is NULL or a live struct of that name, of an interpreter of that release; the GIL keeps it alive. `struct_` and `name` are
// NULL or texts that end with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_field_get(uint32_t release,
                               const char *struct_,
                               const char *name,
                               slotrt_memory memory,
                               uint64_t *out);

// Which slots a live type fills: PyTorch's `get_type_slots`. Classes that are no iterators have a function in `tp_iternext` all the same,
// which interpreters do not export: `plain` is such a class, `type("plain", (), {})`, and what it has there counts as an empty slot; NULL
// if no class of Python is asked about.
//
// # Safety
// `type_` and `plain` are NULL or a live `PyTypeObject` of an interpreter of that release, and the thread holds the GIL. `out` is NULL or
// points to memory for the masks.
slotrt_status slotrt_get_type_slots(uint32_t release,
                                    slotrt_memory type_,
                                    slotrt_memory plain,
                                    struct slotrt_slot_masks *out);

// A part of a frame, borrowed. `part` is one of `slotrt_frame_part`. The frame is what a frame evaluation function is given: a
// `_PyInterpreterFrame *` from 3.11 on, a `PyFrameObject *` before.
//
// # Safety
// `frame` is NULL or a live frame of an interpreter of that release, and the thread holds the GIL. `out` is NULL or points to memory
// for the pointer.
slotrt_status slotrt_frame_get(uint32_t release,
                               slotrt_memory frame,
                               int32_t part,
                               void **out);

// How many variables a frame has: locals, cells and free variables.
//
// # Safety
// As for `slotrt_frame_get`.
slotrt_status slotrt_frame_variable_count(uint32_t release, slotrt_memory frame, uint32_t *out);

// A variable of a frame, borrowed, NULL if it is unbound; cells are given as they are. In the order of `localsplus`.
//
// # Safety
// As for `slotrt_frame_get`.
slotrt_status slotrt_frame_variable(uint32_t release, slotrt_memory frame, uint32_t index, void **out);

// The number or the pointer in a field of 1, 2, 4 or 8 bytes of a live struct, zero-extended; a `_PyStackRef` without its tags.
//
// # Safety
// `memory` is NULL or a live struct of that name, of an interpreter of that release; the GIL keeps it alive. `struct_` and `name` are
// NULL or texts that end with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_field_get(uint32_t release,
                               const char *struct_,
                               const char *name,
                               slotrt_memory memory,
                               uint64_t *out);

// Which slots a live type fills: PyTorch's `get_type_slots`. Classes that are no iterators have a function in `tp_iternext` all the same,
// which interpreters do not export: `plain` is such a class, `type("plain", (), {})`, and what it has there counts as an empty slot; NULL
// if no class of Python is asked about.
//
// # Safety
// `type_` and `plain` are NULL or a live `PyTypeObject` of an interpreter of that release, and the thread holds the GIL. `out` is NULL or
// points to memory for the masks.
slotrt_status slotrt_get_type_slots(uint32_t release,
                                    slotrt_memory type_,
                                    slotrt_memory plain,
                                    struct slotrt_slot_masks *out);

// A part of a frame, borrowed. `part` is one of `slotrt_frame_part`. The frame is what a frame evaluation function is given: a
// `_PyInterpreterFrame *` from 3.11 on, a `PyFrameObject *` before.
//
// # Safety
// `frame` is NULL or a live frame of an interpreter of that release, and the thread holds the GIL. `out` is NULL or points to memory
// for the pointer.
slotrt_status slotrt_frame_get(uint32_t release,
                               slotrt_memory frame,
                               int32_t part,
                               void **out);

// How many variables a frame has: locals, cells and free variables.
//
// # Safety
// As for `slotrt_frame_get`.
slotrt_status slotrt_frame_variable_count(uint32_t release, slotrt_memory frame, uint32_t *out);

// A variable of a frame, borrowed, NULL if it is unbound; cells are given as they are. In the order of `localsplus`.
//
// # Safety
// As for `slotrt_frame_get`.
slotrt_status slotrt_frame_variable(uint32_t release, slotrt_memory frame, uint32_t index, void **out);

// The opcode at an index, sorted by number.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_at(uint32_t release, uint32_t index, struct slotrt_opcode *out);

// The opcode of this name.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_find(uint32_t release, const char *name, struct slotrt_opcode *out);

// The opcode with this number.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_numbered(uint32_t release, uint32_t number, struct slotrt_opcode *out);

// The 256 bytes of `_PyOpcode_Caches`: inline cache entries, in code units, of each opcode that the compiler emits. All are 0 before
// 3.11. The bytes are static. NULL if the tables do not hold the release.
const uint8_t *slotrt_opcode_caches(uint32_t release);

// What an instruction does to the depth of the stack, as `dis.stack_effect` says. `jump`: 1 if it jumps, 0 if not, -1 for the larger
// of the two. `SLOTRT_NOT_KNOWN` for specialised and pseudo instructions of releases that do not say.
//
// # Safety
// `out` is NULL or points to memory for the number.
slotrt_status slotrt_stack_effect(uint32_t release,
                                  uint32_t number,
                                  uint32_t oparg,
                                  int32_t jump,
                                  int32_t *out);

// The version of the library. It serves programs compiled against the same major and the same or an earlier minor version.
uint32_t slotrt_tables_version(void);

// How many releases the tables hold.
uint32_t slotrt_release_count(void);

// The release at an index, oldest first.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_release_at(uint32_t index, struct slotrt_release *out);

// How many rows a table of a release has. `table` is one of `slotrt_table`.
//
// # Safety
// `out` is NULL or points to memory for the number.
slotrt_status slotrt_count(uint32_t release, int32_t table, uint32_t *out);

// The struct at an index.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_struct_at(uint32_t release, uint32_t index, struct slotrt_struct *out);

// The index of the struct of this name: `_PyInterpreterFrame`, `PyCodeObject`, …
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_struct_find(uint32_t release, const char *name, uint32_t *out);

// A field of a struct, in order.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_field_at(uint32_t release, uint32_t struct_, uint32_t index, struct slotrt_field *out);

// The field of a struct by their names.
//
// # Safety
// `struct_` and `name` are NULL or texts that end with NUL; `out` is NULL or points to memory for the row.
slotrt_status slotrt_field_find(uint32_t release, const char *struct_, const char *name, struct slotrt_field *out);

// A slot of a release.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_slot_at(uint32_t release, uint32_t index, struct slotrt_slot *out);

// The index of the slot of this name.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_slot_find(uint32_t release, const char *name, uint32_t *out);

// A row of `slotdefs[]`.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_slotdef_at(uint32_t release, uint32_t index, struct slotrt_slotdef *out);

// A wrapper function.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_wrapper_at(uint32_t release, uint32_t index, struct slotrt_wrapper *out);

// A C type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_at(uint32_t release, uint32_t index, struct slotrt_type *out);

// The index of the type with this C variable (`PyList_Type`), else of the first with this `tp_name` (`list`).
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_type_find(uint32_t release, const char *name, uint32_t *out);

// A filled slot of a type; they are sorted by `slot`.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_slot_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_held *out);

// A method of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_method_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_method *out);

// A getter of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_getset_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_getset *out);

// A member of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_member_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_member *out);

// Which slots a type of the tables fills, once `PyType_Ready` has run. What PyTorch's `get_type_slots` says of the live type.
//
// # Safety
// `out` is NULL or points to memory for the masks.
slotrt_status slotrt_type_masks(uint32_t release, uint32_t type_, struct slotrt_slot_masks *out);

// Whether a mask has a bit, as PyTorch's `has_slot`: 1 or 0.
int32_t slotrt_has_slot(uint64_t mask, uint32_t bit);

// A code in words, for messages. Any number may be passed; the text is static, never NULL.
const char *slotrt_status_text(int32_t status);

// The opcode at an index, sorted by number.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_at(uint32_t release, uint32_t index, struct slotrt_opcode *out);

// The opcode of this name.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_find(uint32_t release, const char *name, struct slotrt_opcode *out);

// The opcode with this number.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_numbered(uint32_t release, uint32_t number, struct slotrt_opcode *out);

// The 256 bytes of `_PyOpcode_Caches`: inline cache entries, in code units, of each opcode that the compiler emits. All are 0 before
// 3.11. The bytes are static. NULL if the tables do not hold the release.
const uint8_t *slotrt_opcode_caches(uint32_t release);

// What an instruction does to the depth of the stack, as `dis.stack_effect` says. `jump`: 1 if it jumps, 0 if not, -1 for the larger
// of the two. `SLOTRT_NOT_KNOWN` for specialised and pseudo instructions of releases that do not say.
//
// # Safety
// `out` is NULL or points to memory for the number.
slotrt_status slotrt_stack_effect(uint32_t release,
                                  uint32_t number,
                                  uint32_t oparg,
                                  int32_t jump,
                                  int32_t *out);

// The version of the library. It serves programs compiled against the same major and the same or an earlier minor version.
uint32_t slotrt_tables_version(void);

// How many releases the tables hold.
uint32_t slotrt_release_count(void);

// The release at an index, oldest first.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_release_at(uint32_t index, struct slotrt_release *out);

// How many rows a table of a release has. `table` is one of `slotrt_table`.
//
// # Safety
// `out` is NULL or points to memory for the number.
slotrt_status slotrt_count(uint32_t release, int32_t table, uint32_t *out);

// The struct at an index.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_struct_at(uint32_t release, uint32_t index, struct slotrt_struct *out);

// The index of the struct of this name: `_PyInterpreterFrame`, `PyCodeObject`, …
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_struct_find(uint32_t release, const char *name, uint32_t *out);

// A field of a struct, in order.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_field_at(uint32_t release, uint32_t struct_, uint32_t index, struct slotrt_field *out);

// The field of a struct by their names.
//
// # Safety
// `struct_` and `name` are NULL or texts that end with NUL; `out` is NULL or points to memory for the row.
slotrt_status slotrt_field_find(uint32_t release, const char *struct_, const char *name, struct slotrt_field *out);

// A slot of a release.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_slot_at(uint32_t release, uint32_t index, struct slotrt_slot *out);

// The index of the slot of this name.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_slot_find(uint32_t release, const char *name, uint32_t *out);

// A row of `slotdefs[]`.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_slotdef_at(uint32_t release, uint32_t index, struct slotrt_slotdef *out);

// A wrapper function.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_wrapper_at(uint32_t release, uint32_t index, struct slotrt_wrapper *out);

// A C type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_at(uint32_t release, uint32_t index, struct slotrt_type *out);

// The index of the type with this C variable (`PyList_Type`), else of the first with this `tp_name` (`list`).
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_type_find(uint32_t release, const char *name, uint32_t *out);

// A filled slot of a type; they are sorted by `slot`.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_slot_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_held *out);

// A method of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_method_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_method *out);

// A getter of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_getset_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_getset *out);

// A member of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_member_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_member *out);

// Which slots a type of the tables fills, once `PyType_Ready` has run. What PyTorch's `get_type_slots` says of the live type.
//
// # Safety
// `out` is NULL or points to memory for the masks.
slotrt_status slotrt_type_masks(uint32_t release, uint32_t type_, struct slotrt_slot_masks *out);

// Whether a mask has a bit, as PyTorch's `has_slot`: 1 or 0.
int32_t slotrt_has_slot(uint64_t mask, uint32_t bit);

// A code in words, for messages. Any number may be passed; the text is static, never NULL.
const char *slotrt_status_text(int32_t status);

// The number or the pointer in a field of 1, 2, 4 or 8 bytes of a live struct, zero-extended; a `_PyStackRef` without its tags.
//
// # Safety
// `memory` is NULL or a live struct of that name, of an interpreter of that release; the GIL keeps it alive. `struct_` and `name` are
// NULL or texts that end with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_field_get(uint32_t release,
                               const char *struct_,
                               const char *name,
                               slotrt_memory memory,
                               uint64_t *out);

// Which slots a live type fills: PyTorch's `get_type_slots`. Classes that are no iterators have a function in `tp_iternext` all the same,
// which interpreters do not export: `plain` is such a class, `type("plain", (), {})`, and what it has there counts as an empty slot; NULL
// if no class of Python is asked about.
//
// # Safety
// `type_` and `plain` are NULL or a live `PyTypeObject` of an interpreter of that release, and the thread holds the GIL. `out` is NULL or
// points to memory for the masks.
slotrt_status slotrt_get_type_slots(uint32_t release,
                                    slotrt_memory type_,
                                    slotrt_memory plain,
                                    struct slotrt_slot_masks *out);

// A part of a frame, borrowed. `part` is one of `slotrt_frame_part`. The frame is what a frame evaluation function is given: a
// `_PyInterpreterFrame *` from 3.11 on, a `PyFrameObject *` before.
//
// # Safety
// `frame` is NULL or a live frame of an interpreter of that release, and the thread holds the GIL. `out` is NULL or points to memory
// for the pointer.
slotrt_status slotrt_frame_get(uint32_t release,
                               slotrt_memory frame,
                               int32_t part,
                               void **out);

// How many variables a frame has: locals, cells and free variables.
//
// # Safety
// As for `slotrt_frame_get`.
slotrt_status slotrt_frame_variable_count(uint32_t release, slotrt_memory frame, uint32_t *out);

// A variable of a frame, borrowed, NULL if it is unbound; cells are given as they are. In the order of `localsplus`.
//
// # Safety
// As for `slotrt_frame_get`.
slotrt_status slotrt_frame_variable(uint32_t release, slotrt_memory frame, uint32_t index, void **out);

// The opcode at an index, sorted by number.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_at(uint32_t release, uint32_t index, struct slotrt_opcode *out);

// The opcode of this name.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_find(uint32_t release, const char *name, struct slotrt_opcode *out);

// The opcode with this number.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_opcode_numbered(uint32_t release, uint32_t number, struct slotrt_opcode *out);

// The 256 bytes of `_PyOpcode_Caches`: inline cache entries, in code units, of each opcode that the compiler emits. All are 0 before
// 3.11. The bytes are static. NULL if the tables do not hold the release.
const uint8_t *slotrt_opcode_caches(uint32_t release);

// What an instruction does to the depth of the stack, as `dis.stack_effect` says. `jump`: 1 if it jumps, 0 if not, -1 for the larger
// of the two. `SLOTRT_NOT_KNOWN` for specialised and pseudo instructions of releases that do not say.
//
// # Safety
// `out` is NULL or points to memory for the number.
slotrt_status slotrt_stack_effect(uint32_t release,
                                  uint32_t number,
                                  uint32_t oparg,
                                  int32_t jump,
                                  int32_t *out);

// The version of the library. It serves programs compiled against the same major and the same or an earlier minor version.
uint32_t slotrt_tables_version(void);

// How many releases the tables hold.
uint32_t slotrt_release_count(void);

// The release at an index, oldest first.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_release_at(uint32_t index, struct slotrt_release *out);

// How many rows a table of a release has. `table` is one of `slotrt_table`.
//
// # Safety
// `out` is NULL or points to memory for the number.
slotrt_status slotrt_count(uint32_t release, int32_t table, uint32_t *out);

// The struct at an index.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_struct_at(uint32_t release, uint32_t index, struct slotrt_struct *out);

// The index of the struct of this name: `_PyInterpreterFrame`, `PyCodeObject`, …
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_struct_find(uint32_t release, const char *name, uint32_t *out);

// A field of a struct, in order.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_field_at(uint32_t release, uint32_t struct_, uint32_t index, struct slotrt_field *out);

// The field of a struct by their names.
//
// # Safety
// `struct_` and `name` are NULL or texts that end with NUL; `out` is NULL or points to memory for the row.
slotrt_status slotrt_field_find(uint32_t release, const char *struct_, const char *name, struct slotrt_field *out);

// A slot of a release.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_slot_at(uint32_t release, uint32_t index, struct slotrt_slot *out);

// The index of the slot of this name.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_slot_find(uint32_t release, const char *name, uint32_t *out);

// A row of `slotdefs[]`.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_slotdef_at(uint32_t release, uint32_t index, struct slotrt_slotdef *out);

// A wrapper function.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_wrapper_at(uint32_t release, uint32_t index, struct slotrt_wrapper *out);

// A C type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_at(uint32_t release, uint32_t index, struct slotrt_type *out);

// The index of the type with this C variable (`PyList_Type`), else of the first with this `tp_name` (`list`).
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_type_find(uint32_t release, const char *name, uint32_t *out);

// A filled slot of a type; they are sorted by `slot`.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_slot_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_held *out);

// A method of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_method_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_method *out);

// A getter of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_getset_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_getset *out);

// A member of a type.
//
// # Safety
// `out` is NULL or points to memory for the row.
slotrt_status slotrt_type_member_at(uint32_t release, uint32_t type_, uint32_t index, struct slotrt_member *out);

// Which slots a type of the tables fills, once `PyType_Ready` has run. What PyTorch's `get_type_slots` says of the live type.
//
// # Safety
// `out` is NULL or points to memory for the masks.
slotrt_status slotrt_type_masks(uint32_t release, uint32_t type_, struct slotrt_slot_masks *out);

// Whether a mask has a bit, as PyTorch's `has_slot`: 1 or 0.
int32_t slotrt_has_slot(uint64_t mask, uint32_t bit);

// A code in words, for messages. Any number may be passed; the text is static, never NULL.
const char *slotrt_status_text(int32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SLOTRT_TABLES_H */
