//! Array libraries from outside: what becomes a node of graphs, as a host's functions say.
use super::callback::{self, Data};
use super::entry::with;
use super::error::{Failure, Outcome, words};
use super::runtime::slotrt_runtime;
use super::status::slotrt_status::{self, *};
use super::text;
use crate::domain::{
    Answer, Callee, Domain, GlobalStateGuard, Gradients, HeldNumbers, LaterCalls, Operand, OwnFunctions, Undoing,
};
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple, PyType};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// What an operation is.
#[allow(non_camel_case_types)]
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum slotrt_operation_kind {
    /// The C function in a slot of a claimed type, `name` = `nb_add`, with the slot's own arguments.
    SLOTRT_SLOT = 0,
    /// A call of `callable`, which the library claims.
    SLOTRT_FUNCTION = 1,
    /// A call of the method `name` of the first argument.
    SLOTRT_METHOD = 2,
    /// The attribute `name` of the only argument is read.
    SLOTRT_ATTRIBUTE = 3,
}

/// An operation of a trace on values of the library. Everything is borrowed for the call.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct slotrt_operation {
    /// One of `slotrt_operation_kind`.
    pub kind: i32,
    /// The slot, the method or the attribute; NULL for a function.
    pub name: *const c_char,
    /// The function; NULL for anything else.
    pub callable: *mut PyObject,
    /// Arguments. For a value of the graph, an example with its type and metadata, whose contents mean nothing; for anything else the
    /// object itself; NULL for an object of which the class alone is known.
    pub args: *const *mut PyObject,
    /// For each argument: 1 for a value of the graph or what contains one, 0 for an object that is known and guarded, 2 for an unknown one.
    pub in_graph: *const u8,
    /// How many there are.
    pub count: u32,
    /// The dict of keyword arguments, none of which is a value of the graph; NULL if there are none.
    pub kwargs: *mut PyObject,
}

/// How the library answers.
#[allow(non_camel_case_types)]
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum slotrt_answer_kind {
    /// The graph breaks, for `reason`: the operation runs natively.
    SLOTRT_BREAK = 0,
    /// A node is recorded that calls `target` with the arguments of the operation; its result is as `value`.
    SLOTRT_NODE = 1,
    /// The result is `value`, known from the metadata alone.
    SLOTRT_CONSTANT = 2,
    /// `NotImplemented`: the other operand is asked.
    SLOTRT_NOT_IMPLEMENTED = 3,
}

/// The answer to an operation, which the library fills in; it comes zeroed.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct slotrt_answer {
    /// One of `slotrt_answer_kind`.
    pub kind: i32,
    /// A new reference, for a node.
    pub target: *mut PyObject,
    /// A new reference, for a node or a constant.
    pub value: *mut PyObject,
    /// Why the graph breaks; read when the function has returned.
    pub reason: *const c_char,
}

/// An array library. Functions and `data` must stay valid until the interpreter ends. They are called with the GIL while a function is
/// traced, and must not run Python code of the program; `holds` is called when guards are checked, too. One that leaves a Python exception
/// set, or that a C++ exception leaves, answers no, or breaks the graph; the error goes to `sys.unraisablehook` and `slotrt_last_error`.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct slotrt_array_library {
    /// `sizeof(slotrt_array_library)`.
    pub size: usize,
    /// Name for reports.
    pub name: *const c_char,
    /// Handed to each function.
    pub data: *mut c_void,
    /// 1 if objects of this exact class are values of the graph, else 0.
    pub claims: Option<unsafe extern "C" fn(data: *mut c_void, class_: *mut PyObject) -> i32>,
    /// 1 if calls of this object are the library's business, whatever the arguments, else 0. NULL: of none.
    pub claims_callable: Option<unsafe extern "C" fn(data: *mut c_void, callable: *mut PyObject) -> i32>,
    /// Answers an operation.
    pub call: Option<
        unsafe extern "C" fn(data: *mut c_void, operation: *const slotrt_operation, answer: *mut slotrt_answer) -> i32,
    >,
    /// 1 if a trace that saw `example` is right for another object of the same class, else 0.
    pub holds: Option<unsafe extern "C" fn(data: *mut c_void, example: *mut PyObject, object: *mut PyObject) -> i32>,
    /// A new reference to a `str` for reports: `array[int32, (3,)]`. NULL: the class's name.
    pub describe: Option<unsafe extern "C" fn(data: *mut c_void, example: *mut PyObject) -> *mut PyObject>,
}

/// Registers an array library, for every trace of the interpreter that begins from now on; one of the same name is replaced. The struct
/// and its name are copied. The GIL must be held.
///
/// # Safety
/// `library` is NULL or points to a library whose functions may be called as their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_array_library_register(
    runtime: slotrt_runtime,
    library: *const slotrt_array_library,
) -> slotrt_status {
    with(runtime, |py, _| {
        // SAFETY: as above; the size is read first, and must be ours.
        let given = unsafe { library.cast::<usize>().as_ref() }.ok_or_else(|| Failure::null("library"))?;
        if *given != size_of::<slotrt_array_library>() {
            let text =
                format!("`size` is {given}, not {}: sizeof(slotrt_array_library)", size_of::<slotrt_array_library>());
            return Err(Failure::new(SLOTRT_WRONG_VERSION, text));
        }
        // SAFETY: it is as large as it must be.
        let made = unsafe { HostLibrary::new(*library) }?;
        crate::python::host::add_domain(py, Arc::new(made))?;
        Ok(())
    })
}

/// A library's functions, which all are there.
#[derive(Clone, Copy, Debug)]
struct HostLibrary {
    name: &'static str,
    data: Data,
    claims: usize,
    claims_callable: usize,
    call: usize,
    holds: usize,
    describe: usize,
}

impl HostLibrary {
    /// # Safety
    /// The name is NULL or ends with NUL.
    unsafe fn new(given: slotrt_array_library) -> Outcome<Self> {
        // SAFETY: as above.
        let name = unsafe { text::given(given.name, "name") }?;
        let wanted = |address: Option<usize>, name: &str| address.ok_or_else(|| Failure::null(name));
        Ok(Self {
            // Reports name it for as long as the process lives.
            name: Box::leak(name.to_owned().into_boxed_str()),
            data: Data(given.data),
            claims: wanted(given.claims.map(|function| function as usize), "claims")?,
            claims_callable: given.claims_callable.map_or(0, |function| function as usize),
            call: wanted(given.call.map(|function| function as usize), "call")?,
            holds: wanted(given.holds.map(|function| function as usize), "holds")?,
            describe: given.describe.map_or(0, |function| function as usize),
        })
    }

    /// Calls one of the functions; what goes wrong is told, and gives `None`.
    fn ask(&self, about: &Bound<'_, PyAny>, function: usize, args: [*const c_void; 2]) -> Option<usize> {
        let words = [self.data.word(), args[0], args[1], std::ptr::null()];
        // SAFETY: the host passed it as a function of these arguments.
        match unsafe { callback::call(about.py(), function as *const c_void, words) } {
            Ok(answer) => Some(answer),
            Err(error) => {
                callback::tell(about.py(), error, about);
                None
            }
        }
    }

    fn says_yes(&self, about: &Bound<'_, PyAny>, function: usize, args: [*const c_void; 2]) -> bool {
        function != 0 && self.ask(about, function, args).is_some_and(|answer| answer as i32 == 1)
    }

    fn stop(&self, context: impl Into<String>) -> Box<Break> {
        Box::new(Break {
            kind: "operation of an array library".into(),
            context: context.into(),
            explanation: format!("The array library {} does not say what the operation gives.", self.name),
            hints: vec!["have the library answer it, or run it outside of compiled code".into()],
        })
    }
}

/// An operand as the library sees it; whether a value of the graph is in it.
fn shown<'py>(py: Python<'py>, operand: &Operand<'py>) -> PyResult<(Option<Bound<'py, PyAny>>, u8)> {
    let all = |items: &[Operand<'py>]| -> PyResult<Option<(Vec<Bound<'py, PyAny>>, u8)>> {
        let shown = items.iter().map(|item| shown(py, item)).collect::<PyResult<Vec<_>>>()?;
        let state = shown.iter().map(|(_, state)| *state).max().unwrap_or(0);
        Ok(shown.into_iter().map(|(item, _)| item).collect::<Option<_>>().map(|items| (items, state)))
    };
    Ok(match operand {
        Operand::Graph { example, .. } => (Some(example.clone()), 1),
        Operand::Known(object) => (Some(object.clone()), 0),
        Operand::Number { .. } | Operand::Foreign(_) => (None, 2),
        Operand::Tuple(items) => match all(items)? {
            Some((items, state)) => (Some(PyTuple::new(py, items)?.into_any()), state),
            None => (None, 2),
        },
        Operand::List(items) => match all(items)? {
            Some((items, state)) => (Some(PyList::new(py, items)?.into_any()), state),
            None => (None, 2),
        },
        Operand::Slice(parts) => match all(&parts[..])? {
            Some((parts, state)) => {
                let class = py.get_type::<PySlice>();
                (Some(class.call1(PyTuple::new(py, parts)?)?), state)
            }
            None => (None, 2),
        },
    })
}

impl OwnFunctions for HostLibrary {}

impl LaterCalls for HostLibrary {}

impl Gradients for HostLibrary {}

impl Undoing for HostLibrary {}

impl HeldNumbers for HostLibrary {}

impl Domain for HostLibrary {
    fn name(&self) -> &'static str {
        self.name
    }

    fn claims(&self, class: &Bound<'_, PyType>) -> bool {
        self.says_yes(class.as_any(), self.claims, [class.as_ptr().cast(), std::ptr::null()])
    }

    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.says_yes(callable, self.claims_callable, [callable.as_ptr().cast(), std::ptr::null()])
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<Answer<'py>, Box<Break>> {
        let raised = |error: PyErr| self.stop(words(py, &error));
        let seen = args.iter().map(|operand| shown(py, operand)).collect::<PyResult<Vec<_>>>().map_err(raised)?;
        let named = PyDict::new(py);
        for (name, operand) in kwargs {
            match shown(py, operand).map_err(raised)? {
                (Some(value), 0) => named.set_item(name, value).map_err(raised)?,
                _ => return Err(self.stop(format!("keyword argument {name}"))),
            }
        }
        let (kind, name, callable) = match callee {
            Callee::Slot(slot) => (0, (*slot).to_owned(), None),
            Callee::Function(function) => (1, String::new(), Some(function)),
            Callee::Method(name) => (2, name.clone(), None),
            Callee::GetAttr(name) => (3, name.clone(), None),
        };
        let c_name = std::ffi::CString::new(name.clone()).unwrap_or_default();
        let pointers: Vec<*mut PyObject> =
            seen.iter().map(|(object, _)| object.as_ref().map_or(std::ptr::null_mut(), Bound::as_ptr)).collect();
        let states: Vec<u8> = seen.iter().map(|(_, state)| *state).collect();
        let operation = slotrt_operation {
            kind,
            name: if callable.is_some() { std::ptr::null() } else { c_name.as_ptr() },
            callable: callable.map_or(std::ptr::null_mut(), |callable| callable.as_ptr()),
            args: pointers.as_ptr(),
            in_graph: states.as_ptr(),
            count: pointers.len() as u32,
            kwargs: if named.is_empty() { std::ptr::null_mut() } else { named.as_ptr() },
        };
        let mut answer = slotrt_answer {
            kind: 0,
            target: std::ptr::null_mut(),
            value: std::ptr::null_mut(),
            reason: std::ptr::null(),
        };
        let what = callable.cloned().unwrap_or_else(|| py.None().into_bound(py));
        let asked = self.ask(&what, self.call, [(&raw const operation).cast(), (&raw mut answer).cast_const().cast()]);
        // SAFETY: the library fills in new references or leaves NULL; the reason ends with NUL.
        let (target, value, reason) = unsafe {
            let reason =
                (!answer.reason.is_null()).then(|| CStr::from_ptr(answer.reason).to_string_lossy().into_owned());
            let target = Bound::from_owned_ptr_or_opt(py, answer.target);
            (target, Bound::from_owned_ptr_or_opt(py, answer.value), reason)
        };
        match (asked, answer.kind, target, value) {
            (None, ..) => Err(self.stop(format!("{name}: the library failed"))),
            (Some(_), 1, Some(target), Some(example)) => {
                Ok(Answer::Node { target, args: args.to_vec(), kwargs: kwargs.to_vec(), example })
            }
            (Some(_), 2, _, Some(value)) => Ok(Answer::Constant(value)),
            (Some(_), 3, ..) => Ok(Answer::NotImplemented),
            _ => Err(self.stop(reason.unwrap_or(name))),
        }
    }

    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>> {
        Ok(Box::new(HostCheck { library: *self, example: example.clone().unbind() }))
    }

    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>> {
        Ok(GlobalStateGuard { object: py.None(), check: Box::new(NoState) })
    }

    fn describe(&self, example: &Bound<'_, PyAny>) -> String {
        let class = || example.get_type().qualname().map_or_else(|_| self.name.to_owned(), |name| name.to_string());
        if self.describe == 0 {
            return class();
        }
        let answer = self.ask(example, self.describe, [example.as_ptr().cast(), std::ptr::null()]);
        // SAFETY: the library gives a new reference or NULL.
        let text = unsafe { Bound::from_owned_ptr_or_opt(example.py(), answer.unwrap_or(0) as *mut PyObject) };
        text.and_then(|text| text.extract().ok()).unwrap_or_else(class)
    }
}

/// The guard on a value: what the library says of it and the example.
#[derive(Debug)]
struct HostCheck {
    library: HostLibrary,
    example: Py<PyAny>,
}

impl DomainCheck for HostCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let example = self.example.bind(value.py());
        value.get_type().is(example.get_type())
            && self.library.says_yes(value, self.library.holds, [example.as_ptr().cast(), value.as_ptr().cast()])
    }

    fn describe(&self) -> String {
        Python::attach(|py| format!("is as {}", self.library.describe(self.example.bind(py))))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.example);
    }
}

/// A library without modes.
#[derive(Debug)]
struct NoState;

impl DomainCheck for NoState {
    fn holds(&self, _value: &Bound<'_, PyAny>) -> bool {
        true
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.is::<Self>()
    }

    fn describe(&self) -> String {
        "no modes".to_owned()
    }
}
