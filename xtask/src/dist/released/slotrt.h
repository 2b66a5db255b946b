/* slotrt. SPDX-License-Identifier: (MIT OR Apache-2.0) AND PSF-2.0
   Written by cbindgen from the Rust that it describes; do not edit. */

#ifndef SLOTRT_H
#define SLOTRT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "slotrt_tables.h"

#ifndef Py_PYTHON_H
typedef struct _object PyObject;
#endif


// The version of this header: the major version in the upper 16 bits, which changes where a program must be compiled again.
#define SLOTRT_API_VERSION 65536

// What a host decides about a code object.
enum slotrt_decision
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Run it natively, and do not ask again.
  SLOTRT_SKIP = 0,
  // Run this frame natively; ask again.
  SLOTRT_RUN = 1,
  // Compile it, and do not ask again.
  SLOTRT_COMPILE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum slotrt_decision slotrt_decision;
#else
typedef int32_t slotrt_decision;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What an operation is.
enum slotrt_operation_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The C function in a slot of a claimed type, `name` = `nb_add`, with the slot's own arguments.
  SLOTRT_SLOT = 0,
  // A call of `callable`, which the library claims.
  SLOTRT_FUNCTION = 1,
  // A call of the method `name` of the first argument.
  SLOTRT_METHOD = 2,
  // The attribute `name` of the only argument is read.
  SLOTRT_ATTRIBUTE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum slotrt_operation_kind slotrt_operation_kind;
#else
typedef int32_t slotrt_operation_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How the library answers.
enum slotrt_answer_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The graph breaks, for `reason`: the operation runs natively.
  SLOTRT_BREAK = 0,
  // A node is recorded that calls `target` with the arguments of the operation; its result is as `value`.
  SLOTRT_NODE = 1,
  // The result is `value`, known from the metadata alone.
  SLOTRT_CONSTANT = 2,
  // `NotImplemented`: the other operand is asked.
  SLOTRT_NOT_IMPLEMENTED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum slotrt_answer_kind slotrt_answer_kind;
#else
typedef int32_t slotrt_answer_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A runtime of one interpreter. 0 is none. A handle is never used again.
typedef uint64_t slotrt_runtime;

// Compiles a graph. `graph` is a `slotrt.Graph`, which the functions named `slotrt_graph_…` read; `inputs` is the list of example inputs;
// both are borrowed. Returns a new reference to a callable that takes the graph's inputs and returns the tuple of its results; the
// graph itself is one. NULL, a Python exception or a C++ exception: the graph runs as it is, operation by operation, and the error goes
// to `sys.unraisablehook` and to `slotrt_last_error`.
typedef PyObject *(*slotrt_backend_callback)(void *data, PyObject *graph, PyObject *inputs);

// Decides about a code object whose frame is about to run for a function: one of `slotrt_decision`. Both objects are borrowed. It is
// called with the GIL; frames that run meanwhile on the thread are left alone. Any other number, a Python exception that it leaves set,
// or a C++ exception that leaves it: the frame runs natively, and the error goes to `sys.unraisablehook` and to `slotrt_last_error`.
typedef int32_t (*slotrt_frame_callback)(void *data, PyObject *code, PyObject *function);

// A node of a graph. Everything is borrowed from the graph.
typedef struct slotrt_node {
  // The node itself, a `slotrt.Node`: nodes among `args` are these objects.
  PyObject *node;
  // `placeholder`, `call_function` or `output`.
  const char *op;
  // Its name, which is its own in the graph.
  const char *name;
  // What is called; the name, for placeholders and the output.
  PyObject *target;
  // The tuple of positional arguments; nodes in it are `slotrt.Node`.
  PyObject *args;
  // The dict of keyword arguments.
  PyObject *kwargs;
  // Type and metadata of its value in words: `tensor[float32, (2, 3)]`; or NULL.
  const char *value;
  // The array library that recorded it: `torch`; empty if none did.
  const char *domain;
  // Where in the program it comes from.
  const char *file;
  // The line there.
  int32_t line;
} slotrt_node;

// An operation of a trace on values of the library. Everything is borrowed for the call.
typedef struct slotrt_operation {
  // One of `slotrt_operation_kind`.
  int32_t kind;
  // The slot, the method or the attribute; NULL for a function.
  const char *name;
  // The function; NULL for anything else.
  PyObject *callable;
  // Arguments. For a value of the graph, an example with its type and metadata, whose contents mean nothing; for anything else the
  // object itself; NULL for an object of which the class alone is known.
  PyObject *const *args;
  // For each argument: 1 for a value of the graph or what contains one, 0 for an object that is known and guarded, 2 for an unknown one.
  const uint8_t *in_graph;
  // How many there are.
  uint32_t count;
  // The dict of keyword arguments, none of which is a value of the graph; NULL if there are none.
  PyObject *kwargs;
} slotrt_operation;

// The answer to an operation, which the library fills in; it comes zeroed.
typedef struct slotrt_answer {
  // One of `slotrt_answer_kind`.
  int32_t kind;
  // A new reference, for a node.
  PyObject *target;
  // A new reference, for a node or a constant.
  PyObject *value;
  // Why the graph breaks; read when the function has returned.
  const char *reason;
} slotrt_answer;

// An array library. Functions and `data` must stay valid until the interpreter ends. They are called with the GIL while a function is
// traced, and must not run Python code of the program; `holds` is called when guards are checked, too. One that leaves a Python exception
// set, or that a C++ exception leaves, answers no, or breaks the graph; the error goes to `sys.unraisablehook` and `slotrt_last_error`.
typedef struct slotrt_array_library {
  // `sizeof(slotrt_array_library)`.
  size_t size;
  // Name for reports.
  const char *name;
  // Handed to each function.
  void *data;
  // 1 if objects of this exact class are values of the graph, else 0.
  int32_t (*claims)(void *data, PyObject *class_);
  // 1 if calls of this object are the library's business, whatever the arguments, else 0. NULL: of none.
  int32_t (*claims_callable)(void *data, PyObject *callable);
  // Answers an operation.
  int32_t (*call)(void *data, const struct slotrt_operation *operation, struct slotrt_answer *answer);
  // 1 if a trace that saw `example` is right for another object of the same class, else 0.
  int32_t (*holds)(void *data, PyObject *example, PyObject *object);
  // A new reference to a `str` for reports: `array[int32, (3,)]`. NULL: the class's name.
  PyObject *(*describe)(void *data, PyObject *example);
} slotrt_array_library;

// A frame that was traced, or left alone. Texts are borrowed from the report, and NULL where there are none.
typedef struct slotrt_frame_report {
  // The qualified name of the function.
  const char *name;
  // Its file.
  const char *file;
  // Its first line.
  int32_t line;
  // Nodes of the graph that are operations.
  uint32_t operations;
  // Rows of `slotrt_report_guard_at`.
  uint32_t guards;
  // Why it was left alone, if it was.
  const char *skipped;
  // The kind of the graph break that ended it, if one did: `call to unknown C function`.
  const char *break_kind;
  // The particulars of the break.
  const char *break_context;
  // What it means.
  const char *break_explanation;
  // The file in which the break is.
  const char *break_file;
  // The line there, or 0.
  int32_t break_line;
} slotrt_frame_report;

// A guard. Texts are borrowed from the report, and NULL where there are none.
typedef struct slotrt_guard {
  // How compiled code gets the value: `x`, `globals()['n']`.
  const char *source;
  // What must hold of it.
  const char *check;
  // Why the trace relied on it.
  const char *reason;
  // `watched` or `checked`.
  const char *how;
} slotrt_guard;

// Gets the record of each frame that is traced, a JSON object: name, graph, guards, break. The text is valid during the call.
typedef void (*slotrt_log_callback)(void *data, const char *json);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

extern void _Unwind_SetGR(void *context, int register_, size_t value);

extern void _Unwind_SetIP(void *context, size_t address);

extern void _Unwind_DeleteException(void *exception);

extern void *dlsym(void *handle, const char *name);

// Registers a backend under a name; one of that name is replaced for what is compiled from now on. `eager` is taken. `data` and the
// function must stay valid until the interpreter ends. The GIL must be held.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `callback` may be called as its type says.
slotrt_status slotrt_backend_register(slotrt_runtime runtime,
                                      const char *name,
                                      slotrt_backend_callback callback,
                                      void *data);

// What behaves like a callable, and runs compiled code while its guards hold: `slotrt.compile`. `backend` is a name that was registered;
// NULL or `eager` runs graphs as they are. With `fullgraph`, a graph break raises `slotrt.GraphBreak` when the callable is called. Fills
// in a new reference. The GIL must be held.
//
// # Safety
// `callable` is NULL or a live object; `backend` is NULL or a text that ends with NUL; `out` is NULL or points to memory for a pointer.
slotrt_status slotrt_compile(slotrt_runtime runtime,
                             PyObject *callable,
                             const char *backend,
                             int32_t fullgraph,
                             PyObject **out);

// Calls a callable, compiled afresh, and fills in a new reference to a `slotrt.Explanation`, which the functions named `slotrt_report_…`
// read: graphs, guards, break reasons. `kwargs` may be NULL. The GIL must be held.
//
// # Safety
// `callable`, `args` and `kwargs` are NULL or live objects; `backend` is NULL or a text that ends with NUL; `out` is NULL or points to
// memory for a pointer.
slotrt_status slotrt_explain(slotrt_runtime runtime,
                             PyObject *callable,
                             PyObject *args,
                             PyObject *kwargs,
                             const char *backend,
                             PyObject **out);

// The state of the thread that runs; NULL without one. From 3.12 on of this thread, before of the one that holds the GIL.
extern PyThreadState *current_thread_state(void);

extern int is_finalising(void);

// The text of the last error on this thread: of the last function that did not return `SLOTRT_OK`, or of the last callback of the host
// that failed. An empty text if there was none; never NULL. It stays valid until the thread's next error.
const char *slotrt_last_error(void);

// Installs the evaluation hook (PEP 523) with a callback. Frames of functions are offered to it, but those that a compiled function
// runs: these are compiled with it. Frames that are compiled use the backend of this name; NULL or `eager` runs graphs as they are.
// `SLOTRT_OCCUPIED` if slotrt's hook is installed already. Hooks of others stay below. `data` and the function must stay valid until the
// interpreter ends: frames that run now finish under the hook. The GIL must be held.
//
// # Safety
// `backend` is NULL or a text that ends with NUL; `callback` may be called as its type says.
slotrt_status slotrt_hook_install(slotrt_runtime runtime,
                                  slotrt_frame_callback callback,
                                  void *data,
                                  const char *backend);

// Removes the hook. What was compiled is kept, but for frames of the hook runs no longer. `SLOTRT_NOT_FOUND` if this runtime has
// installed none; `SLOTRT_OCCUPIED` if another hook was installed over it, which must be removed first. The GIL must be held.
slotrt_status slotrt_hook_remove(slotrt_runtime runtime);

// How many nodes a `slotrt.Graph` has. The GIL must be held.
//
// # Safety
// `graph` is NULL or a live object; `out` is NULL or points to memory for the number.
slotrt_status slotrt_graph_node_count(PyObject *graph, uint32_t *out);

// A node of a `slotrt.Graph`, in the order in which they run. The GIL must be held.
//
// # Safety
// `graph` is NULL or a live object; `out` is NULL or points to memory for the node.
slotrt_status slotrt_graph_node_at(PyObject *graph, uint32_t index, struct slotrt_node *out);

// Registers an array library, for every trace of the interpreter that begins from now on; one of the same name is replaced. The struct
// and its name are copied. The GIL must be held.
//
// # Safety
// `library` is NULL or points to a library whose functions may be called as their types say.
slotrt_status slotrt_array_library_register(slotrt_runtime runtime,
                                            const struct slotrt_array_library *library);

// The version of the library.
uint32_t slotrt_api_version(void);

// Opens a runtime for the interpreter that the thread runs in. Pass `SLOTRT_API_VERSION`: a library serves programs that were compiled
// against the same major and the same or an earlier minor version. Any number of runtimes may be open; each has its own settings,
// counters and log. `import slotrt` gives the package of this library from now on. One interpreter of a process is served: another one
// is refused, and so is one that begins after the first has ended. `SLOTRT_OCCUPIED` if another copy of the library is in use: by
// `import slotrt` from a wheel, or by another host. The GIL must be held.
//
// # Safety
// `out` is NULL or points to memory for the handle.
slotrt_status slotrt_open(uint32_t version,
                          slotrt_runtime *out);

// Closes a runtime: its hook is removed, its handle is no longer valid. What was compiled goes on running. At the end of the interpreter
// every runtime is closed. The GIL must be held.
slotrt_status slotrt_close(slotrt_runtime runtime);

extern void _Unwind_SetGR(void *context, int register_, size_t value);

extern void _Unwind_SetIP(void *context, size_t address);

extern void _Unwind_DeleteException(void *exception);

extern void *dlsym(void *handle, const char *name);

// Registers a backend under a name; one of that name is replaced for what is compiled from now on. `eager` is taken. `data` and the
// function must stay valid until the interpreter ends. The GIL must be held.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `callback` may be called as its type says.
slotrt_status slotrt_backend_register(slotrt_runtime runtime,
                                      const char *name,
                                      slotrt_backend_callback callback,
                                      void *data);

// What behaves like a callable, and runs compiled code while its guards hold: `slotrt.compile`. `backend` is a name that was registered;
// NULL or `eager` runs graphs as they are. With `fullgraph`, a graph break raises `slotrt.GraphBreak` when the callable is called. Fills
// in a new reference. The GIL must be held.
//
// # Safety
// `callable` is NULL or a live object; `backend` is NULL or a text that ends with NUL; `out` is NULL or points to memory for a pointer.
slotrt_status slotrt_compile(slotrt_runtime runtime,
                             PyObject *callable,
                             const char *backend,
                             int32_t fullgraph,
                             PyObject **out);

// Calls a callable, compiled afresh, and fills in a new reference to a `slotrt.Explanation`, which the functions named `slotrt_report_…`
// read: graphs, guards, break reasons. `kwargs` may be NULL. The GIL must be held.
//
// # Safety
// `callable`, `args` and `kwargs` are NULL or live objects; `backend` is NULL or a text that ends with NUL; `out` is NULL or points to
// memory for a pointer.
slotrt_status slotrt_explain(slotrt_runtime runtime,
                             PyObject *callable,
                             PyObject *args,
                             PyObject *kwargs,
                             const char *backend,
                             PyObject **out);

// The state of the thread that runs; NULL without one. From 3.12 on of this thread, before of the one that holds the GIL.
extern PyThreadState *current_thread_state(void);

extern int is_finalising(void);

// The text of the last error on this thread: of the last function that did not return `SLOTRT_OK`, or of the last callback of the host
// that failed. An empty text if there was none; never NULL. It stays valid until the thread's next error.
const char *slotrt_last_error(void);

// Installs the evaluation hook (PEP 523) with a callback. Frames of functions are offered to it, but those that a compiled function
// runs: these are compiled with it. Frames that are compiled use the backend of this name; NULL or `eager` runs graphs as they are.
// `SLOTRT_OCCUPIED` if slotrt's hook is installed already. Hooks of others stay below. `data` and the function must stay valid until the
// interpreter ends: frames that run now finish under the hook. The GIL must be held.
//
// # Safety
// `backend` is NULL or a text that ends with NUL; `callback` may be called as its type says.
slotrt_status slotrt_hook_install(slotrt_runtime runtime,
                                  slotrt_frame_callback callback,
                                  void *data,
                                  const char *backend);

// Removes the hook. What was compiled is kept, but for frames of the hook runs no longer. `SLOTRT_NOT_FOUND` if this runtime has
// installed none; `SLOTRT_OCCUPIED` if another hook was installed over it, which must be removed first. The GIL must be held.
slotrt_status slotrt_hook_remove(slotrt_runtime runtime);

// How many nodes a `slotrt.Graph` has. The GIL must be held.
//
// # Safety
// `graph` is NULL or a live object; `out` is NULL or points to memory for the number.
slotrt_status slotrt_graph_node_count(PyObject *graph, uint32_t *out);

// A node of a `slotrt.Graph`, in the order in which they run. The GIL must be held.
//
// # Safety
// `graph` is NULL or a live object; `out` is NULL or points to memory for the node.
slotrt_status slotrt_graph_node_at(PyObject *graph, uint32_t index, struct slotrt_node *out);

// Registers an array library, for every trace of the interpreter that begins from now on; one of the same name is replaced. The struct
// and its name are copied. The GIL must be held.
//
// # Safety
// `library` is NULL or points to a library whose functions may be called as their types say.
slotrt_status slotrt_array_library_register(slotrt_runtime runtime,
                                            const struct slotrt_array_library *library);

// The version of the library.
uint32_t slotrt_api_version(void);

// Opens a runtime for the interpreter that the thread runs in. Pass `SLOTRT_API_VERSION`: a library serves programs that were compiled
// against the same major and the same or an earlier minor version. Any number of runtimes may be open; each has its own settings,
// counters and log. `import slotrt` gives the package of this library from now on. One interpreter of a process is served: another one
// is refused, and so is one that begins after the first has ended. `SLOTRT_OCCUPIED` if another copy of the library is in use: by
// `import slotrt` from a wheel, or by another host. The GIL must be held.
//
// # Safety
// `out` is NULL or points to memory for the handle.
slotrt_status slotrt_open(uint32_t version,
                          slotrt_runtime *out);

// Closes a runtime: its hook is removed, its handle is no longer valid. What was compiled goes on running. At the end of the interpreter
// every runtime is closed. The GIL must be held.
slotrt_status slotrt_close(slotrt_runtime runtime);

// How many frames a report has. The GIL must be held.
//
// # Safety
// `report` is NULL or a live object; `out` is NULL or points to memory for the number.
slotrt_status slotrt_report_frame_count(PyObject *report, uint32_t *out);

// A frame of a report, in the order in which they were traced. The GIL must be held.
//
// # Safety
// `report` is NULL or a live object; `out` is NULL or points to memory for the row.
slotrt_status slotrt_report_frame_at(PyObject *report, uint32_t index, struct slotrt_frame_report *out);

// A guard of a frame. The GIL must be held.
//
// # Safety
// `report` is NULL or a live object; `out` is NULL or points to memory for the row.
slotrt_status slotrt_report_guard_at(PyObject *report, uint32_t frame, uint32_t index, struct slotrt_guard *out);

// A counter of a runtime, since it was opened or reset: `frames_compiled`, `frames_skipped`, `graph_breaks`, `cache_hits`, `recompiles`,
// `graphs`, `instructions`, `repeated`, `trace_ns`, `emit_ns`. The GIL must be held.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_counter(slotrt_runtime runtime,
                             const char *name,
                             uint64_t *out);

// Forgets everything that the runtime has compiled, and sets its counters to zero. The GIL must be held.
slotrt_status slotrt_reset(slotrt_runtime runtime);

// Sets the log of what is compiled from now on; NULL for none. Counters begin anew. It must be set before the hook is installed. `data`
// and the function must stay valid until the interpreter ends. An exception that leaves the callback goes to `sys.unraisablehook` and to
// `slotrt_last_error`. The GIL must be held.
//
// # Safety
// `callback` is NULL, or may be called as its type says.
slotrt_status slotrt_log(slotrt_runtime runtime,
                         slotrt_log_callback callback,
                         void *data);

// How many frames a report has. The GIL must be held.
//
// # Safety
// `report` is NULL or a live object; `out` is NULL or points to memory for the number.
slotrt_status slotrt_report_frame_count(PyObject *report, uint32_t *out);

// A frame of a report, in the order in which they were traced. The GIL must be held.
//
// # Safety
// `report` is NULL or a live object; `out` is NULL or points to memory for the row.
slotrt_status slotrt_report_frame_at(PyObject *report, uint32_t index, struct slotrt_frame_report *out);

// A guard of a frame. The GIL must be held.
//
// # Safety
// `report` is NULL or a live object; `out` is NULL or points to memory for the row.
slotrt_status slotrt_report_guard_at(PyObject *report, uint32_t frame, uint32_t index, struct slotrt_guard *out);

// A counter of a runtime, since it was opened or reset: `frames_compiled`, `frames_skipped`, `graph_breaks`, `cache_hits`, `recompiles`,
// `graphs`, `instructions`, `repeated`, `trace_ns`, `emit_ns`. The GIL must be held.
//
// # Safety
// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
slotrt_status slotrt_counter(slotrt_runtime runtime,
                             const char *name,
                             uint64_t *out);

// Forgets everything that the runtime has compiled, and sets its counters to zero. The GIL must be held.
slotrt_status slotrt_reset(slotrt_runtime runtime);

// Sets the log of what is compiled from now on; NULL for none. Counters begin anew. It must be set before the hook is installed. `data`
// and the function must stay valid until the interpreter ends. An exception that leaves the callback goes to `sys.unraisablehook` and to
// `slotrt_last_error`. The GIL must be held.
//
// # Safety
// `callback` is NULL, or may be called as its type says.
slotrt_status slotrt_log(slotrt_runtime runtime,
                         slotrt_log_callback callback,
                         void *data);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SLOTRT_H */
