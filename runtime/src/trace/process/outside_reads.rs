//! C functions that read state from outside and change nothing: called while tracing, and again by a guard, which compares.
use crate::ffi::types::is_c_type;
use crate::ffi::{callee, collector, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::stored::{Damaged, In, Misfit, Out};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::reasons::{READS_FILE, READS_SYSTEM};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::c_values::is_value;
use crate::trace::value::kinds::{is_definition, is_scalar};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

/// Module, name, what is read.
const READS: &[(&str, &str, &str)] = &[
    ("posix", "stat", "the status of a file"),
    ("posix", "lstat", "the status of a file"),
    ("posix", "access", "the permissions of a file"),
    ("posix", "readlink", "where a symbolic link leads"),
    ("posix", "listdir", "the names in a directory"),
    ("posix", "getcwd", "the working directory"),
    ("posix", "getpid", "the process"),
    ("posix", "get_terminal_size", "the size of a terminal"),
    ("posix", "isatty", "whether a file is a terminal"),
    ("posix", "_path_exists", "whether there is a file"),
    ("posix", "_path_isfile", "whether there is a file"),
    ("posix", "_path_isdir", "whether there is a directory"),
    ("posix", "_path_islink", "whether there is a link"),
    ("_abc", "get_cache_token", "how often abstract classes were given virtual subclasses"),
    ("_csv", "list_dialects", "the names of dialects"),
    ("_io", "text_encoding", "a setting of the interpreter"),
    ("_asyncio", "_get_running_loop", "the loop of the thread"),
    ("gc", "isenabled", "a setting of the collector"),
    ("gc", "get_threshold", "settings of the collector"),
    ("gc", "get_debug", "settings of the collector"),
    ("_thread", "get_ident", "the thread"),
    ("_thread", "_count", "the number of threads"),
    ("_locale", "getencoding", "the encoding of the locale"),
    ("_imp", "is_builtin", "what the interpreter has built in"),
    ("_imp", "is_frozen", "what the interpreter has frozen"),
    ("sys", "get_int_max_str_digits", "a setting"),
    ("sys", "getrecursionlimit", "a setting"),
    ("sys", "getswitchinterval", "a setting"),
    ("sys", "getdefaultencoding", "a setting"),
    ("sys", "getfilesystemencoding", "a setting"),
    ("sys", "getfilesystemencodeerrors", "a setting"),
    ("sys", "_is_gil_enabled", "a setting"),
    ("sys", "get_asyncgen_hooks", "a setting"),
    ("sys", "get_coroutine_origin_tracking_depth", "a setting"),
    ("sys", "getdlopenflags", "a setting"),
    ("_testinternalcapi", "get_config", "settings of the interpreter"),
    ("sys", "is_finalizing", "the state of the interpreter"),
    ("sys", "gettrace", "a setting"),
    ("sys", "getprofile", "a setting"),
    ("sys", "is_stack_trampoline_active", "a setting"),
];

/// The same of methods of files from outside: class, name.
const METHODS: &[(&str, &str)] = &[
    ("_io._IOBase", "fileno"),
    ("_io._IOBase", "isatty"),
    ("_io._IOBase", "readable"),
    ("_io._IOBase", "seekable"),
    ("_io._IOBase", "writable"),
];

/// An answer of a method, as a guard compares it.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct MethodAnswer {
    method: Py<PyAny>,
    then: Py<PyAny>,
    refused: bool,
}

#[pymethods]
impl MethodAnswer {
    /// Whether the method of the object, asked again, answers the same.
    fn __call__(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = object.py();
        let (now, refused) = compared(&self.method.bind(py).call1((object,)), py)?;
        Ok(refused == self.refused && now.get_type().is(self.then.bind(py).get_type()) && now.eq(&self.then)?)
    }
}

/// An answer, as a guard compares it.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Answer {
    args: Py<PyTuple>,
    then: Py<PyAny>,
    refused: bool,
}

impl Answer {
    /// Writes it, if it is one.
    fn write<'py>(object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
        let (Ok(answer), py) = (object.cast_exact::<Self>(), object.py()) else { return Ok(false) };
        let answer = answer.get();
        out.object(answer.args.bind(py).as_any())?;
        out.object(answer.then.bind(py))?;
        out.bytes.0.push(u8::from(answer.refused));
        Ok(true)
    }

    fn read<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
        let args = from.object()?.cast_into::<PyTuple>().map_err(|_| Damaged)?.unbind();
        let then = from.object()?.unbind();
        let refused = from.bytes.byte()? != 0;
        Ok(Bound::new(from.py(), Self { args, then, refused })?.into_any())
    }
}

/// Writes what a function answered outside, as guards compare it; `false`: the object is no such answer.
///
/// # Errors
/// What of it cannot be written.
pub fn write_answer<'py>(object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
    Answer::write(object, out)
}

/// Reads what [`write_answer`] has written.
///
/// # Errors
/// What of it is not in this process.
pub fn read_answer<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    Answer::read(from)
}

#[pymethods]
impl Answer {
    /// Whether the function, asked again, answers the same.
    fn __call__(&self, function: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = function.py();
        let (now, refused) = compared(&function.call1(self.args.bind(py)), py)?;
        Ok(refused == self.refused && now.get_type().is(self.then.bind(py).get_type()) && now.eq(&self.then)?)
    }
}

/// What a function has said, whole, as guards compare it, and whether it refused: fields of a named tuple of C that only have names included; of an exception, its class and arguments.
fn compared<'py>(answer: &PyResult<Bound<'py, PyAny>>, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, bool)> {
    match answer {
        Ok(answer) if answer.is_instance_of::<PyTuple>() && !answer.is_exact_instance_of::<PyTuple>() => {
            Ok((answer.call_method0(name!("__reduce__"))?, false))
        }
        // Dates with different time zones may be equal.
        Ok(answer) if !is_scalar(answer) && is_value(answer) => Ok((answer.repr()?.into_any(), false)),
        Ok(answer) => Ok((answer.clone(), false)),
        Err(error) if error.is_instance_of::<PyException>(py) => {
            let value = error.value(py);
            Ok(((error.get_type(py), value.getattr(name!("args"))?).into_pyobject(py)?.into_any(), true))
        }
        Err(error) => Err(error.clone_ref(py)),
    }
}

impl<'py> Tracer<'py> {
    /// A function that reads the world outside, of known arguments; `None`: it is another, or its answer is no plain value.
    pub(crate) fn read_outside(
        &mut self,
        function: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let listed = READS.iter().any(|row| row.0 == module && row.1 == name);
        if !listed || !args.keywords.is_empty() {
            return Ok(None);
        }
        let Some(natives) = self.known_scalars(&args.positional) else { return Ok(None) };
        let natives = PyTuple::new(self.py, natives).or_else(|error| self.raise_error(error))?;
        self.call_and_guard(function, &natives)
    }

    /// A method of a file from outside that only reads; `None`: it is another, or of a file that runs Python code for it.
    pub(crate) fn read_file_outside(
        &mut self,
        method: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let ([file], true) = (args.positional.as_slice(), args.keywords.is_empty()) else { return Ok(None) };
        let class = self.class_of(*file)?;
        let listed = METHODS.iter().any(|row| {
            let base = |base: Bound<'py, PyAny>| base.cast::<PyType>().is_ok_and(|base| types::is_c_class(base, row.0));
            row.1 == name && types::mro(owner).is_some_and(|mro| mro.iter().any(base))
        });
        let (Some(object), Some(source), true) = (self.real(*file), self.source(*file), listed && is_c_type(&class))
        else {
            return Ok(None);
        };
        if self.runs_python_within(&object) || !self.state.locks.is_empty() {
            return Ok(None);
        }
        let (answer, warned) = self.with_warnings_as_errors(|| method.call1((&object,)));
        if warned || !answer.as_ref().is_ok_and(is_scalar) && answer.is_ok() {
            return Ok(None);
        }
        let (then, refused) = compared(&answer, self.py).or_else(|error| self.raise_error(error))?;
        let check = MethodAnswer { method: method.clone().unbind(), then: then.unbind(), refused };
        let check = Bound::new(self.py, check).or_else(|error| internal(error.to_string()))?;
        self.guard(source, Check::Call(check.into_any().unbind()), READS_FILE);
        answer.map(|answer| Some(self.constant(answer))).or_else(|error| self.raise_error(error))
    }

    /// Whether what a file is made of, as far as it says, is of a class of Python code.
    fn runs_python_within(&self, file: &Bound<'py, PyAny>) -> bool {
        let mut layer = file.clone();
        for name in ["buffer", "raw"] {
            layer = layer.getattr(name).unwrap_or(layer);
        }
        !is_c_type(&layer.get_type())
    }

    /// Asks now, and has a guard ask again.
    pub(crate) fn call_and_guard(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
    ) -> Traced<Option<ValueId>> {
        self.refuse_changed_world(function)?;
        let py = self.py;
        let (answer, warned) = self.with_warnings_as_errors(|| collector::unpaused(py, || function.call1(args)));
        if warned {
            return unsupported("C code that warns", callee::name_of(function));
        }
        if answer.as_ref().is_ok_and(|answer| !is_plain_answer(answer)) {
            return Ok(None);
        }
        self.guard_answer(function, args, answer).map(Some)
    }

    /// Has a guard ask again what was answered now.
    pub(crate) fn guard_answer(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        answer: PyResult<Bound<'py, PyAny>>,
    ) -> Traced<ValueId> {
        let asks_system = lets_others_run(function);
        let (then, refused) = compared(&answer, self.py).or_else(|error| self.raise_error(error))?;
        let check = Answer { args: args.clone().unbind(), then: then.unbind(), refused };
        let check = Bound::new(self.py, check).or_else(|error| internal(error.to_string()))?;
        let source = Source::constant(function);
        let why = if asks_system { READS_SYSTEM } else { "the trace read the world outside" };
        self.guard(source, Check::Call(check.into_any().unbind()), why);
        match answer {
            // What is changed or made at each call: the answer that guards compare is another object.
            Ok(answer) if is_made_anew(&answer) => {
                let again = function.call1(args).or_else(|error| self.raise_error(error))?;
                self.after_native(Ok(again), &[])
            }
            Ok(answer) => Ok(self.constant(answer)),
            Err(error) => self.raise_error(error),
        }
    }
}

/// Whether other threads may run while the function waits for the system.
fn lets_others_run(function: &Bound<'_, PyAny>) -> bool {
    callee::module_of(function) == "posix" && callee::name_of(function) != "getpid"
}

/// Whether each call gives another object, which the program may change or tell from others.
fn is_made_anew(answer: &Bound<'_, PyAny>) -> bool {
    answer.is_exact_instance_of::<PyList>()
        || answer.is_exact_instance_of::<PyDict>()
        || types::is_c_class(&answer.get_type(), "time.struct_time")
        || !is_scalar(answer) && is_value(answer)
}

fn is_plain_answer(answer: &Bound<'_, PyAny>) -> bool {
    if let Ok(dict) = answer.cast_exact::<PyDict>() {
        return dict
            .iter()
            .all(|(key, value)| is_scalar(&key) && !value.is_exact_instance_of::<PyDict>() && is_plain_answer(&value));
    }
    if is_value(answer) {
        return true;
    }
    match answer.cast_exact::<PyList>() {
        Ok(list) => list.iter().all(|item| is_scalar(&item)),
        Err(_) => {
            let is_part = !answer.is_instance_of::<PyType>() && is_definition(answer);
            is_part
                || is_scalar(answer)
                || answer.cast::<PyTuple>().is_ok_and(|tuple| tuple.iter().all(|item| is_scalar(&item)))
        }
    }
}
