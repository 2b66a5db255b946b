//! Makes functions.
use crate::names::name;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The flags of `MAKE_FUNCTION`, the topmost attribute first.
const ATTRIBUTES: [u32; 4] = [8, 4, 2, 1];

/// Annotations come as a tuple of names and values, one after the other.
fn set_annotations(function: &Bound<'_, PyAny>, pairs: &Bound<'_, PyAny>) -> PyResult<()> {
    let annotations = PyDict::new(function.py());
    let items: Vec<_> = pairs.cast::<PyTuple>()?.iter().collect();
    for pair in items.chunks_exact(2) {
        annotations.set_item(&pair[0], &pair[1])?;
    }
    function.setattr(name!("__annotations__"), annotations)
}

impl<'py> Tracer<'py> {
    /// A real function object that the trace owns; its closure follows in `SET_FUNCTION_ATTRIBUTE`.
    ///
    /// Up to 3.12 the flags say which attributes lie below the code.
    pub(crate) fn make_function(&mut self, frame: &mut Frame, flags: u32) -> Traced<Flow> {
        let code = frame.pop()?;
        let Some(code) = self.known(code) else { return internal("MAKE_FUNCTION without code") };
        let globals = frame.globals.bind(self.py).clone();
        let function = crate::ffi::function::new(&code, &globals).or_else(|error| internal(error.to_string()))?;
        let function = self.own(function);
        for which in ATTRIBUTES.into_iter().filter(|which| flags & which != 0) {
            let attribute = frame.pop()?;
            self.set_attribute_of(frame, function, which, attribute)?;
        }
        frame.push(function);
        Ok(Flow::Next)
    }

    /// `[attribute, function]` → `[function]`.
    pub(crate) fn set_function_attribute(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        let function = frame.pop()?;
        let attribute = frame.pop()?;
        self.set_attribute_of(frame, function, which, attribute)?;
        frame.push(function);
        Ok(Flow::Next)
    }

    fn set_attribute_of(&mut self, frame: &Frame, function: ValueId, which: u32, attribute: ValueId) -> Traced<()> {
        let Some(object) = self.owned(function) else {
            return unsupported("SET_FUNCTION_ATTRIBUTE", "the function was made before the trace began");
        };
        let native = self.native(attribute)?;
        crate::trace::state::journal::changed();
        let done = match which {
            1 => object.setattr(name!("__defaults__"), native),
            2 => object.setattr(name!("__kwdefaults__"), native),
            8 => self.set_closure(&object, &native),
            4 => set_annotations(&object, &native),
            16 => object.setattr(name!("__annotate__"), native),
            _ => return unsupported("part of a function", frame.code.qualname.clone()),
        };
        done.or_else(|error| internal(error.to_string()))
    }

    fn set_closure(&mut self, function: &Bound<'py, PyAny>, cells: &Bound<'py, PyAny>) -> PyResult<()> {
        let cells = cells.cast::<PyTuple>()?;
        let cells: Vec<_> = cells.iter().collect();
        crate::ffi::function::set_closure(function, Some(&PyTuple::new(self.py, cells)?))
    }
}
