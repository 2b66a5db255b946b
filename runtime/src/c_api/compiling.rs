//! Compiling callables, and backends.
use super::callback::{self, Data};
use super::entry::{fill, object, with};
use super::error::{Failure, Outcome};
use super::lifecycle::slotrt_runtime;
use super::runtime::Runtime;
use super::status::slotrt_status::{self, *};
use super::text;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use std::ffi::{c_char, c_void};

/// Compiles a graph. `graph` is a `slotrt.Graph`, which the functions named `slotrt_graph_…` read; `inputs` is the list of example inputs;
/// both are borrowed. Returns a new reference to a callable that takes the graph's inputs and returns the tuple of its results; the
/// graph itself is one. NULL, a Python exception or a C++ exception: the graph runs as it is, operation by operation, and the error goes
/// to `sys.unraisablehook` and to `slotrt_last_error`.
#[allow(non_camel_case_types)]
pub type slotrt_backend_callback =
    Option<unsafe extern "C" fn(data: *mut c_void, graph: *mut PyObject, inputs: *mut PyObject) -> *mut PyObject>;

/// Registers a backend under a name; one of that name is replaced for what is compiled from now on. `eager` is taken. `data` and the
/// function must stay valid until the interpreter ends. The GIL must be held.
///
/// # Safety
/// `name` is NULL or a text that ends with NUL; `callback` may be called as its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_backend_register(
    runtime: slotrt_runtime,
    name: *const c_char,
    callback: slotrt_backend_callback,
    data: *mut c_void,
) -> slotrt_status {
    with(runtime, |py, open| {
        // SAFETY: as above.
        let name = unsafe { text::given(name, "name") }?;
        let callback = callback.ok_or_else(|| Failure::null("callback"))?;
        if name.is_empty() || name == "eager" {
            return Err(Failure::new(SLOTRT_BAD_ARGUMENT, format!("a backend cannot be called `{name}`")));
        }
        let (address, data) = (callback as usize, Data(data));
        let made = PyCFunction::new_closure(py, None, None, move |args, _| compiled(address, data, args))?;
        if let Ok(mut backends) = open.backends.lock() {
            let replaced = backends.insert(name.to_owned(), made.into_any().unbind());
            drop(backends);
            drop(replaced);
        }
        Ok(())
    })
}

/// What the host's backend makes of a graph; the graph itself where it fails.
fn compiled(address: usize, data: Data, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (graph, inputs) = (args.get_item(0)?, args.get_item(1)?);
    let words = [data.word(), graph.as_ptr().cast(), inputs.as_ptr().cast(), std::ptr::null()];
    // SAFETY: the host passed it as a callback of these arguments, which returns a new reference or NULL.
    let made = unsafe {
        let answer = callback::call(py, address as *const c_void, words);
        answer.map(|answer| Bound::from_owned_ptr_or_opt(py, answer as *mut PyObject))
    };
    let error = match made {
        Ok(Some(made)) if made.is_callable() => return Ok(made.unbind()),
        Ok(Some(made)) => {
            PyTypeError::new_err(format!("the host's backend gave a {}, which is no callable", made.get_type()))
        }
        Ok(None) => PyTypeError::new_err("the host's backend gave NULL without an exception"),
        Err(error) => error,
    };
    callback::tell(py, error, &graph);
    Ok(graph.unbind())
}

/// A backend by its name, which may be NULL.
///
/// # Safety
/// `name` is NULL or a text that ends with NUL.
unsafe fn backend(py: Python<'_>, open: &Runtime, name: *const c_char) -> Outcome<Option<Py<PyAny>>> {
    // SAFETY: as above.
    let name = if name.is_null() { None } else { Some(unsafe { text::given(name, "backend") }?) };
    open.backend(py, name)
}

/// What behaves like a callable, and runs compiled code while its guards hold: `slotrt.compile`. `backend` is a name that was registered;
/// NULL or `eager` runs graphs as they are. With `fullgraph`, a graph break raises `slotrt.GraphBreak` when the callable is called. Fills
/// in a new reference. The GIL must be held.
///
/// # Safety
/// `callable` is NULL or a live object; `backend` is NULL or a text that ends with NUL; `out` is NULL or points to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_compile(
    runtime: slotrt_runtime,
    callable: *mut PyObject,
    backend: *const c_char,
    fullgraph: i32,
    out: *mut *mut PyObject,
) -> slotrt_status {
    with(runtime, |py, open| {
        // SAFETY: as above.
        unsafe {
            let callable = object(py, callable, "callable")?;
            fill(out, "out", || {
                let backend = self::backend(py, open, backend)?;
                let made = open.host.bind(py).call_method1("compile", (callable, backend, fullgraph != 0))?;
                Ok(made.into_ptr())
            })
        }
    })
}

/// Calls a callable, compiled afresh, and fills in a new reference to a `slotrt.Explanation`, which the functions named `slotrt_report_…`
/// read: graphs, guards, break reasons. `kwargs` may be NULL. The GIL must be held.
///
/// # Safety
/// `callable`, `args` and `kwargs` are NULL or live objects; `backend` is NULL or a text that ends with NUL; `out` is NULL or points to
/// memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_explain(
    runtime: slotrt_runtime,
    callable: *mut PyObject,
    args: *mut PyObject,
    kwargs: *mut PyObject,
    backend: *const c_char,
    out: *mut *mut PyObject,
) -> slotrt_status {
    with(runtime, |py, open| {
        // SAFETY: as above.
        unsafe {
            let callable = object(py, callable, "callable")?;
            let args = object(py, args, "args")?;
            let kwargs = if kwargs.is_null() { PyDict::new(py).into_any() } else { object(py, kwargs, "kwargs")? };
            if !args.is_instance_of::<PyTuple>() || !kwargs.is_instance_of::<PyDict>() {
                return Err(Failure::new(SLOTRT_BAD_ARGUMENT, "`args` is a tuple, and `kwargs` is a dict or NULL"));
            }
            fill(out, "out", || {
                let backend = self::backend(py, open, backend)?;
                Ok(open.host.bind(py).call_method1("explain", (callable, args, kwargs, backend))?.into_ptr())
            })
        }
    })
}
