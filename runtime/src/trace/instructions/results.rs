//! Containers that are built only to be returned: what they hold is passed on as it is, without a guard.
use crate::bytecode::{Op, flag};
use crate::trace::state::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyString;

impl<'py> Tracer<'py> {
    /// Whether the outermost frame returns what its instruction builds, and does nothing before but build more.
    fn is_returned(frame: &Frame) -> bool {
        const BUILDS: [Op; 11] = [
            Op::LOAD_FAST,
            Op::LOAD_FAST_BORROW,
            Op::LOAD_FAST_BORROW_LOAD_FAST_BORROW,
            Op::LOAD_FAST_LOAD_FAST,
            Op::LOAD_COMMON_CONSTANT,
            Op::LOAD_CONST,
            Op::LOAD_SMALL_INT,
            Op::BUILD_TUPLE,
            Op::BUILD_LIST,
            Op::BUILD_MAP,
            Op::BUILD_CONST_KEY_MAP,
        ];
        let later = frame.code.instrs.iter().skip(frame.pc + 1).find(|instr| !BUILDS.contains(&instr.op));
        frame.outermost
            && frame.code.flags & flag::GENERATOR == 0
            && later.is_some_and(|instr| instr.op == Op::RETURN_VALUE)
    }

    /// A tuple or list that is returned; `None` where the program may look into it first.
    pub(crate) fn returned(
        &mut self,
        frame: &Frame,
        values: &[ValueId],
        build: fn(Vec<ValueId>) -> New,
    ) -> Option<ValueId> {
        Self::is_returned(frame).then(|| self.push(Value::New(build(values.to_vec()))))
    }

    /// A dict that is returned, with different names as keys.
    pub(crate) fn returned_dict(&mut self, frame: &Frame, pairs: &[(ValueId, ValueId)]) -> Option<ValueId> {
        let name = |key: ValueId| match self.value(key) {
            Value::Real { object, source: None } => object.bind(self.py).cast_exact::<PyString>().ok().cloned(),
            _ => None,
        };
        let names = pairs.iter().map(|(key, _)| name(*key)).collect::<Option<Vec<_>>>()?;
        let differ = |(index, name): (usize, &Bound<'py, PyString>)| {
            names[..index].iter().all(|other| !other.as_any().eq(name).unwrap_or(true))
        };
        let made = Self::is_returned(frame) && names.iter().enumerate().all(differ);
        made.then(|| self.push(Value::New(New::Dict(pairs.to_vec()))))
    }
}
