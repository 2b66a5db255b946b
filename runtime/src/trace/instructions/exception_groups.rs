//! `except*`. CPython: `_PyEval_ExceptionGroupMatch` and `_PyExc_PrepReraiseStar`.
use crate::bytecode::Op;
use crate::ffi::{instruction, types};
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

impl<'py> Tracer<'py> {
    /// `[exception, type]` → `[rest, match]`.
    pub(crate) fn check_eg_match(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let wanted = frame.pop()?;
        let exception = frame.pop()?;
        let classes = self.exception_classes(wanted)?;
        if classes.iter().any(|class| self.is_group_class(class)) {
            let message = "catching ExceptionGroup with except* is not allowed. Use except instead.";
            return self.raise("TypeError", message);
        }
        let (rest, matched) = self.group_match(exception, wanted, &classes)?;
        if self.is_none(rest)? && matched != exception && release::wrapped_groups_name_the_frame(self.py) {
            self.name_frame_in_group(frame, exception, matched)?;
        }
        if !self.is_none(matched)? {
            *self.state.exc_info = Some(matched);
        }
        frame.push(rest);
        frame.push(matched);
        Ok(Flow::Next)
    }

    fn is_group_class(&mut self, class: &Bound<'py, pyo3::types::PyType>) -> bool {
        self.import("builtins", "BaseExceptionGroup").is_ok_and(|group| class.is_subclass(&group).unwrap_or(false))
    }

    fn group_match(
        &mut self,
        exception: ValueId,
        wanted: ValueId,
        classes: &[Bound<'py, pyo3::types::PyType>],
    ) -> Traced<(ValueId, ValueId)> {
        let none = self.none();
        if self.is_none(exception)? {
            return Ok((none, none));
        }
        let class = self.class_of(exception)?;
        let is_group = self.is_group_class(&class);
        if classes.iter().any(|wanted| types::is_subtype(&class, wanted)) {
            let matched = if is_group { exception } else { self.group_of_one(exception)? };
            return Ok((none, matched));
        }
        if is_group { self.split_group(exception, &class, wanted) } else { Ok((exception, none)) }
    }

    /// Gives the group that was made of a naked exception a traceback. CPython: `_PyTraceBack_FromFrame`.
    fn name_frame_in_group(&mut self, frame: &Frame, exception: ValueId, group: ValueId) -> Traced<()> {
        let class = self.class_of(exception)?;
        if !self.is_none(group)?
            && !self.is_group_class(&class)
            && let Some(instr) = frame.code.instrs.get(frame.pc)
        {
            self.pass(frame, instr, group);
        }
        Ok(())
    }

    /// A naked exception, wrapped.
    fn group_of_one(&mut self, exception: ValueId) -> Traced<ValueId> {
        let group = self.import("builtins", "BaseExceptionGroup")?;
        let group = self.constant(group);
        let message = self.constant(pyo3::types::PyString::new(self.py, "").into_any());
        let one = self.tuple(&[exception])?;
        self.call(group, Arguments::positional(vec![message, one]))
    }

    fn split_group(
        &mut self,
        exception: ValueId,
        class: &Bound<'py, pyo3::types::PyType>,
        wanted: ValueId,
    ) -> Traced<(ValueId, ValueId)> {
        let split = self.get_attr(exception, "split")?;
        let pair = self.call(split, Arguments::positional(vec![wanted]))?;
        let (name, pair_class) = (types::name(class), self.class_of(pair)?);
        if !pair_class.is(self.py.get_type::<PyTuple>()) {
            let got = types::name(&pair_class);
            return self.raise("TypeError", format!("{name}.split must return a tuple, not {got}"));
        }
        match self.list_of(pair, None)?.as_slice() {
            [matched, rest, ..] => Ok((*rest, *matched)),
            short => {
                let message = format!("{name}.split must return a 2-tuple, got tuple of size {}", short.len());
                self.raise("TypeError", message)
            }
        }
    }

    /// What is left to raise after the clauses: parts that nothing caught, and what the clauses raised. Behind the instruction, as the
    /// function that 3.12 and later export refuses exceptions that no frame has raised yet. CPython: `_PyExc_PrepReraiseStar`.
    pub(crate) fn prep_reraise_star(&mut self, op: Op, which: u8, values: [ValueId; 2]) -> Traced<ValueId> {
        let [Some(original), Some(list)] = values.map(|value| self.owned(value)) else {
            return unsupported("except* around an exception from outside", "_PyExc_PrepReraiseStar");
        };
        let given = [original, list];
        let marks = self.mark_tracebacks(&given)?;
        let py = self.py;
        let left = self.with_callbacks(|| instruction::perform(py, op, which, &given));
        self.unmark_tracebacks(marks, left.as_ref().ok())?;
        self.after_native(left, &given)
    }
}
