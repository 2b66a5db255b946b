//! Making functions.
use crate::trace::frame::{Flow, Frame};
use crate::trace::signal::{Traced, internal, unsupported};
use crate::trace::state::Tracer;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

impl<'py> Tracer<'py> {
    /// A real function object that the trace owns; its closure follows in `SET_FUNCTION_ATTRIBUTE`.
    pub(super) fn make_function(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let code = frame.pop()?;
        let Some(code) = self.known(code) else { return internal("MAKE_FUNCTION without code") };
        let globals = frame.globals.bind(self.py).clone();
        let function = crate::ffi::function::new(&code, &globals).or_else(|error| internal(error.to_string()))?;
        let function = self.own(function);
        frame.push(function);
        Ok(Flow::Next)
    }

    /// `[attribute, function]` → `[function]`.
    pub(super) fn set_function_attribute(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        let function = frame.pop()?;
        let attribute = frame.pop()?;
        let Some(object) = self.owned(function) else {
            return unsupported("SET_FUNCTION_ATTRIBUTE", "the function was made before the trace began");
        };
        let native = self.native(attribute)?;
        let done = match which {
            1 => object.setattr("__defaults__", native),
            2 => object.setattr("__kwdefaults__", native),
            8 => self.set_closure(&object, &native),
            _ => return unsupported("annotations of a function", frame.code.qualname.clone()),
        };
        done.or_else(|error| internal(error.to_string()))?;
        frame.push(function);
        Ok(Flow::Next)
    }

    fn set_closure(&mut self, function: &Bound<'py, PyAny>, cells: &Bound<'py, PyAny>) -> PyResult<()> {
        let cells = cells.cast::<PyTuple>()?;
        let cells: Vec<_> = cells.iter().collect();
        crate::ffi::function::set_closure(function, &PyTuple::new(self.py, cells)?)
    }
}
