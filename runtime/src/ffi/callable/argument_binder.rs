//! Binds a call's arguments to parameters. CPython does it: a function of the same signature returns its parameters.
use crate::bytecode::{Code, Op, Position, flag};
use crate::ffi::function;
use crate::names::name;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyFunction;

/// Binds arguments for one code object.
pub(super) struct Binder {
    code: Py<PyAny>,
    exact: Option<usize>,
    function: PyOnceLock<Py<PyAny>>,
}

impl Binder {
    pub fn new(function: &Bound<'_, PyAny>) -> PyResult<Self> {
        let code = function.getattr(name!("__code__"))?;
        let flags: u32 = code.getattr(name!("co_flags"))?.extract()?;
        let (positional, keyword): (usize, usize) =
            (code.getattr(name!("co_argcount"))?.extract()?, code.getattr(name!("co_kwonlyargcount"))?.extract()?);
        let exact = (flags & (flag::VARARGS | flag::VARKEYWORDS) == 0 && keyword == 0).then_some(positional);
        Ok(Self { code: code.unbind(), exact, function: PyOnceLock::new() })
    }

    /// Whether the function still has the code object that it had when this was made.
    pub fn is_for(&self, function: &Bound<'_, PyAny>) -> bool {
        function::runs(function, self.code.as_ptr())
    }

    /// The number of arguments of a plain positional call that needs no binding.
    pub fn exact(&self) -> Option<usize> {
        self.exact
    }

    /// The function that returns its parameters, with the defaults and the name that `original` has now.
    pub fn function<'a, 'py: 'a>(&'a self, original: &Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyAny>> {
        let py = original.py();
        let made = self.function.get_or_try_init(py, || self.make(original).map(Bound::unbind))?;
        let made = made.bind(py);
        if !has_parts_of(made, original) {
            for name in ["__defaults__", "__kwdefaults__", "__qualname__"] {
                made.setattr(name, original.getattr(name)?)?;
            }
        }
        Ok(made)
    }

    fn make<'py>(&self, original: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = original.py();
        let mut code = Code::decode(self.code.bind(py))?;
        let count = code.arguments();
        // A call of the binder runs it.
        code.flags &= !(flag::GENERATOR_LIKE | flag::ITERABLE_COROUTINE);
        let resume = code.instr(Op::RESUME, 0);
        let mut instrs = vec![resume];
        instrs.extend((0..count).map(|slot| code.instr(Op::LOAD_FAST, slot as u32)));
        instrs.push(code.instr(Op::BUILD_TUPLE, count as u32));
        instrs.push(code.instr(Op::RETURN_VALUE, 0));
        instrs.iter_mut().for_each(|instr| instr.position = Position::line(code.firstlineno));
        code.instrs = instrs;
        function::from_code(&code.assemble(py)?, original)
    }

    pub fn traverse(&self, py: Python<'_>, visit: &mut dyn FnMut(*mut ffi::PyObject)) {
        visit(self.code.as_ptr());
        if let Some(function) = self.function.get(py) {
            visit(function.as_ptr());
        }
    }
}

/// Whether a function has the defaults and the name of another one.
fn has_parts_of(made: &Bound<'_, PyAny>, original: &Bound<'_, PyAny>) -> bool {
    let (Ok(made), Ok(original)) = (made.cast::<PyFunction>(), original.cast::<PyFunction>()) else { return false };
    // SAFETY: both are functions; the fields are NULL or objects, and only compared.
    unsafe {
        let [made, original] = [made, original].map(|function| function.as_ptr().cast::<ffi::PyFunctionObject>());
        (*made).func_defaults == (*original).func_defaults
            && (*made).func_kwdefaults == (*original).func_kwdefaults
            && (*made).func_qualname == (*original).func_qualname
    }
}
