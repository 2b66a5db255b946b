//! `slotrt.protocol`: translated functions on real objects, under their C names.
use super::world::{Live, Stop};
use super::{identity, slots};
use crate::ffi::{pointer, types};
use crate::semantics::Message;
use crate::semantics::calls::{MEMORY, call as run};
use crate::semantics::functions::FUNCTIONS;
use generated::calls::{self, Value};
use generated::capi::FunctionId;
use generated::slots::Slot;
use pyo3::exceptions::{PyAttributeError, PyNotImplementedError, PySystemError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple, PyType};

type Object<'py> = Bound<'py, PyAny>;

pyo3::create_exception!(
    slotrt.protocol,
    Unsupported,
    PyNotImplementedError,
    "A translated function came to a C function that real objects are not asked for."
);

/// C's NULL, as an argument and as a result.
#[pyclass(frozen, name = "NULL", module = "slotrt.protocol")]
struct Null;

#[pymethods]
impl Null {
    fn __repr__(&self) -> &'static str {
        "NULL"
    }
    fn __bool__(&self) -> bool {
        false
    }
}

/// The one NULL.
fn null(py: Python<'_>) -> PyResult<Object<'_>> {
    static NULL: PyOnceLock<Py<Null>> = PyOnceLock::new();
    Ok(NULL.get_or_try_init(py, || Py::new(py, Null))?.bind(py).clone().into_any())
}

/// A translated function.
#[pyclass(frozen, module = "slotrt.protocol")]
struct Function(&'static calls::Function);

#[pymethods]
impl Function {
    /// Its C name.
    #[getter]
    fn __name__(&self) -> &'static str {
        self.0.id.name()
    }
    /// The C file that it is in.
    #[getter]
    fn file(&self) -> &'static str {
        self.0.id.file()
    }
    /// What it takes and gives.
    #[getter]
    fn prototype(&self) -> &'static str {
        self.0.prototype
    }
    fn __repr__(&self) -> String {
        format!("<slotrt.protocol.{} of {} {}>", self.0.id.name(), self.0.id.file(), self.0.prototype)
    }
    #[pyo3(signature = (*args))]
    fn __call__<'py>(&self, args: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
        call(Live::new(args.py()), self.0, args)
    }
    /// Calls it; `log` gets ("enter", C name) of each translated function that begins, and ("native", C name) of each C function that the
    /// interpreter runs.
    #[pyo3(signature = (log, *args))]
    fn logged<'py>(&self, log: Bound<'py, PyList>, args: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
        call(Live::logging(args.py(), log), self.0, args)
    }
}

/// The kinds of the parameters that a prototype names.
fn kinds(prototype: &str) -> impl Iterator<Item = &str> {
    let inner = prototype.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
    let words = inner.split(", ").filter(|word| !word.is_empty() && *word != "...");
    words.map(|word| word.split_once(':').map_or(word, |(kind, _)| kind))
}

fn call<'py>(mut live: Live<'py>, function: &calls::Function, args: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
    let py = args.py();
    let kinds: Vec<&str> = kinds(function.prototype).collect();
    if kinds.len() != args.len() {
        return Err(PyTypeError::new_err(format!(
            "{} takes {} arguments, {} given: {}",
            function.id.name(),
            kinds.len(),
            args.len(),
            function.prototype
        )));
    }
    let values = kinds.iter().zip(args.iter()).map(|(kind, arg)| taken(kind, &arg)).collect::<PyResult<Vec<_>>>()?;
    live.root = Some(function.id);
    let result = run(&mut live, function.id, &values);
    let left = live.leave_all();
    let other = live.stood_in.difference(matches!(result, Err(Stop::Exception(_))));
    match result {
        _ if let Some(row) = other => Err(unsupported(py, row.name(), &format!("{}: {}", row.name(), row.why))?),
        Ok(_) | Err(Stop::Exception(_)) if left > 0 => {
            let name = function.id.name();
            Err(PySystemError::new_err(format!("{name} ends in the middle of {left} calls of Py_EnterRecursiveCall")))
        }
        Ok(Value::Object(object)) if function.prototype.ends_with("-> object") => Ok(pointer::as_object(object)),
        Ok(value) => given(py, value),
        Err(Stop::Exception(error)) => Err(error),
        Err(Stop::Unsupported(name)) => {
            live.abandon();
            let why = Message::of(name).map_or_else(String::new, |message| format!(": {}", message.why));
            Err(unsupported(py, name, &format!("{name}{why}"))?)
        }
    }
}

/// The error that names what the call came to.
fn unsupported(py: Python<'_>, name: &str, text: &str) -> PyResult<PyErr> {
    let error = Unsupported::new_err(format!("slotrt.protocol: unsupported: {text}"));
    error.value(py).setattr("name", name)?;
    Ok(error)
}

/// A Python object as an argument of a kind.
fn taken<'py>(kind: &str, arg: &Object<'py>) -> PyResult<Value<Object<'py>>> {
    if arg.is_instance_of::<Null>() {
        return Ok(Value::Null);
    }
    if kind.starts_with("out ") && kind.ends_with('?') && arg.is_none() {
        // No variable: what C calls a NULL pointer.
        return Ok(Value::Nothing);
    }
    let kind = kind.trim_end_matches('?');
    Ok(match kind.strip_prefix("out ").unwrap_or(kind) {
        "object" => Value::Object(arg.clone()),
        "objects" => Value::Objects(arg.try_iter()?.collect::<PyResult<_>>()?),
        "f64" => Value::Double(arg.extract()?),
        "str" => Value::Str(arg.extract()?),
        "nothing" | "thread" => Value::Nothing,
        "pointer" | "other" => {
            return Err(PyTypeError::new_err("a pointer to a C struct that is no object cannot be given from Python"));
        }
        _ => Value::Int(arg.extract()?),
    })
}

/// A result as a Python object; several as a tuple.
fn given<'py>(py: Python<'py>, value: Value<Object<'py>>) -> PyResult<Object<'py>> {
    Ok(match value {
        Value::Null => null(py)?,
        Value::Nothing => py.None().into_bound(py),
        Value::Object(object) => object,
        Value::Int(int) => match i64::try_from(int) {
            Ok(int) => int.into_pyobject(py)?.into_any(),
            Err(_) => int.into_pyobject(py)?.into_any(),
        },
        Value::Double(double) => PyFloat::new(py, double).into_any(),
        Value::Str(text) => PyString::new(py, &text).into_any(),
        Value::Objects(objects) => PyTuple::new(py, objects)?.into_any(),
        Value::Several(values) => {
            let values = values.into_iter().map(|value| given(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, values)?.into_any()
        }
    })
}

/// All translated functions.
#[pyfunction]
fn functions(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, FUNCTIONS.iter().map(Function).collect::<Vec<_>>())
}

/// A translated function by its C name, or by file and name (`Objects/dictobject.c:dict_or`) where several files have one of that name.
#[pyfunction]
fn function(name: &str) -> PyResult<Function> {
    let (file, short) = name.rsplit_once(':').map_or((None, name), |(file, name)| (Some(file), name));
    let fits = |id: FunctionId| id.name() == short && file.is_none_or(|file| id.file() == file);
    let mut found = FUNCTIONS.iter().filter(|function| fits(function.id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(Function(one)),
        (Some(one), Some(other)) => Err(PyAttributeError::new_err(format!(
            "several files define {short}: say {}:{short} or {}:{short}",
            one.id.file(),
            other.id.file()
        ))),
        (None, _) => Err(PyAttributeError::new_err(format!("no translated function is named {name}"))),
    }
}

/// Calls a translated function by its name, as `function` finds it.
#[pyfunction(name = "call", signature = (name, *args))]
fn call_by_name<'py>(name: &str, args: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
    function(name)?.__call__(args)
}

/// What the slots of a type hold: slot, address of the C function, and its name and file where the tables know it.
#[pyfunction]
fn slots_of<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(class.py());
    for slot in Slot::ALL {
        if let Some(found) = slots::function(class, *slot)? {
            let name = found.id.map(|id| (id.name(), id.file()));
            list.append((slot.name(), found.pointer, name))?;
        }
    }
    Ok(list)
}

/// The address of the interpreter's own function, which may be hidden in its file; nothing where no symbol names it.
#[pyfunction]
fn address(function: &Function) -> Option<usize> {
    identity::address(function.0.id)
}

/// Functions, special methods and messages at which another release's bodies do not stand in for this one's: what this one does otherwise.
#[pyfunction]
fn no_stand_in(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let rows = PyDict::new(py);
    for row in crate::semantics::ROWS {
        rows.set_item(row.name(), row.why)?;
    }
    for message in crate::semantics::MESSAGES.iter().filter(|message| message.own.is_none()) {
        rows.set_item(message.format, message.why)?;
    }
    Ok(rows)
}

/// `tp_name`.
#[pyfunction]
fn tp_name(class: &Bound<'_, PyType>) -> String {
    types::name(class)
}

/// The submodule.
///
/// # Errors
/// What making it raises.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "protocol")?;
    module.add("Unsupported", py.get_type::<Unsupported>())?;
    module.add("NULL", null(py)?)?;
    module.add("MEMORY", PyTuple::new(py, MEMORY)?)?;
    module.add_class::<Function>()?;
    for function in FUNCTIONS.iter().filter(|function| !function.prototype.starts_with("static")) {
        module.add(function.id.name(), Function(function))?;
    }
    module.add_function(wrap_pyfunction!(functions, &module)?)?;
    module.add_function(wrap_pyfunction!(function, &module)?)?;
    module.add_function(wrap_pyfunction!(call_by_name, &module)?)?;
    module.add_function(wrap_pyfunction!(slots_of, &module)?)?;
    module.add_function(wrap_pyfunction!(address, &module)?)?;
    module.add_function(wrap_pyfunction!(no_stand_in, &module)?)?;
    module.add_function(wrap_pyfunction!(tp_name, &module)?)?;
    Ok(module)
}
