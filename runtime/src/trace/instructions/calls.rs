//! Call instructions: from the stack to a callable and its arguments.
use crate::bytecode::{Op, flag};
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyStringMethods, PyTuple};

impl<'py> Tracer<'py> {
    /// `[callable, self or NULL, arguments…]`.
    pub(crate) fn call_op(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let positional = frame.pop_many(count as usize)?;
        self.call_from_stack(frame, positional, Vec::new())
    }

    fn call_from_stack(
        &mut self,
        frame: &mut Frame,
        mut positional: Vec<ValueId>,
        keywords: Vec<(String, ValueId)>,
    ) -> Traced<Flow> {
        let (callable, receiver) = frame.pop_callable()?;
        positional.splice(0..0, receiver);
        if positional.is_empty()
            && keywords.is_empty()
            && let Some(names) = self.names_of_frame(frame, callable)?
        {
            frame.push(names);
            return Ok(Flow::Next);
        }
        let args = Arguments { positional, keywords, ..Arguments::default() };
        let result = match self.of_frame(frame, callable, &args)? {
            Some(result) => result,
            None => self.call_by(self.call_origin(frame), callable, args)?,
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn is_builtin(&mut self, callable: ValueId, name: &str) -> Traced<bool> {
        let function = self.import("builtins", name)?;
        let same = self.real(callable).is_some_and(|callable| callable.is(&function));
        Ok(same && self.known(callable).is_some())
    }

    /// `locals()`, `vars()` and `dir()`; `None`: another callable. CPython: `builtin_vars`, `_dir_locals`.
    fn names_of_frame(&mut self, frame: &Frame, callable: ValueId) -> Traced<Option<ValueId>> {
        let of_c = |object: Bound<'py, PyAny>| types::is_c_class(&object.get_type(), "builtin_function_or_method");
        if !self.real(callable).is_some_and(of_c) {
            return Ok(None);
        }
        if self.is_builtin(callable, "locals")? || self.is_builtin(callable, "vars")? {
            return self.frame_locals(frame).map(Some);
        }
        if !self.is_builtin(callable, "dir")? {
            return Ok(None);
        }
        let locals = self.frame_locals(frame)?;
        if !self.class_of(locals)?.is(self.py.get_type::<pyo3::types::PyDict>()) {
            return unsupported("names of a namespace of Python code", "dir()");
        }
        self.call_builtin("sorted", &[locals]).map(Some)
    }

    /// `locals()`: the namespace of a class body, a new dict of a function's variables.
    pub(crate) fn frame_locals(&mut self, frame: &Frame) -> Traced<ValueId> {
        if let Some(namespace) = frame.namespace {
            return Ok(namespace);
        }
        if frame.code.flags & flag::OPTIMIZED == 0 {
            return unsupported("names of a class or module body", "locals()");
        }
        self.variables_dict(&frame.locals, &frame.code)
    }

    /// Calls that read their caller's frame, and ranges of its loops; `None` for all others.
    fn of_frame(&mut self, frame: &Frame, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        if let Some(open) = self.open_range(frame, callable, args)? {
            return Ok(Some(open));
        }
        if let Some(open) = self.open_lists(frame, callable, args)? {
            return Ok(Some(open));
        }
        match self.call_super(frame, callable, args)? {
            Some(made) => Ok(Some(made)),
            None => self.evaluated(frame, callable, args),
        }
    }

    /// Up to 3.12 a call's first instructions leave what is on no stack: they are one step with the `CALL`.
    pub(crate) fn call_in_steps(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let mut names = None;
        while let Some(instr) = frame.code.instrs.get(frame.pc).copied() {
            match instr.op {
                Op::KW_NAMES => names = Some(self.code_const(frame, instr.arg)?),
                Op::CALL => {
                    return match names {
                        Some(names) => self.call_with_names(frame, names, instr.arg),
                        None => self.call_op(frame, instr.arg),
                    };
                }
                _ => {}
            }
            frame.pc += 1;
        }
        internal("KW_NAMES or PRECALL without CALL")
    }

    pub(crate) fn call_kw(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let names = frame.pop()?;
        self.call_with_names(frame, names, count)
    }

    fn call_with_names(&mut self, frame: &mut Frame, names: ValueId, count: u32) -> Traced<Flow> {
        let Some(names) = self.known(names).and_then(|names| names.cast_into::<PyTuple>().ok()) else {
            return internal("CALL_KW without names");
        };
        let names: Vec<String> = names.iter().map(|name| types::text(&name)).collect();
        let mut values = frame.pop_many(count as usize)?;
        let Some(first) = values.len().checked_sub(names.len()) else { return internal("CALL_KW names") };
        let keywords = names.into_iter().zip(values.split_off(first)).collect();
        self.call_from_stack(frame, values, keywords)
    }

    pub(crate) fn call_function_ex(&mut self, frame: &mut Frame, flags: u32) -> Traced<Flow> {
        // From 3.14 on there is always one, or a NULL in its place.
        let mapping = if flags & 1 == 1 || frame.code.isa().minor() > 13 { frame.pop_entry()? } else { None };
        let args = frame.pop()?;
        let class = self.class_of(args)?;
        if !self.iterates(&class)? {
            return unsupported("argument after * is no iterable", types::name(&class));
        }
        let positional = self.gathered("tuple", args)?;
        let keywords = mapping.map_or_else(|| Ok(Vec::new()), |mapping| self.keywords_of(mapping))?;
        self.call_from_stack(frame, positional, keywords)
    }

    /// What a dict after `**` holds, once all positional arguments are there. CPython: `_PyStack_UnpackDict`.
    fn keywords_of(&mut self, mapping: ValueId) -> Traced<Vec<(String, ValueId)>> {
        let Some(dict) = self.mapping(mapping)? else {
            return unsupported("** of a mapping that is no dict", "CALL_FUNCTION_EX");
        };
        let mut keywords = Vec::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            if !key.is_exact_instance_of::<pyo3::types::PyString>() && key.is_instance_of::<pyo3::types::PyString>() {
                return unsupported("keyword of a class that derives from str", "CALL_FUNCTION_EX");
            }
            match key.cast::<pyo3::types::PyString>() {
                Ok(key) => keywords.push((key.to_string_lossy().into_owned(), self.absorb(value))),
                Err(_) => return self.raise("TypeError", "keywords must be strings"),
            }
        }
        Ok(keywords)
    }
}
