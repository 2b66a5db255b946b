//! Texts of symbolic numbers, and texts made of such, which compiled code makes again: no trace for each number. Where the trace looks at one,
//! guards say which number it is of.
use super::text_operations::tried;
use crate::names::name;
use crate::trace::state::computed_number::{Computation, ComputedNumber};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_scalar;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// What a text is made of: the operand, and what it may be.
type Part<'py> = (ValueId, Vec<Bound<'py, PyAny>>);

impl<'py> Tracer<'py> {
    /// Whether a value is such a text, at which the trace has not looked.
    pub(crate) fn is_computed_text(&self, value: ValueId) -> bool {
        let is_text = matches!(self.value(value), Value::New(New::Computed(computed))
            if computed.hint.bind(self.py).is_exact_instance_of::<PyString>());
        is_text && !self.state.guard_requests.has_any(value, GuardRequest::KNOWN)
    }

    /// Whether a value is a symbolic number or such a text.
    pub(crate) fn is_made_again(&self, value: ValueId) -> bool {
        self.is_symbolic(value) || self.is_computed_text(value)
    }

    /// `format(number, spec)` of a symbolic number; `None`: it is none, or that may raise.
    pub(crate) fn text_of_number(&mut self, number: ValueId, spec: &[ValueId]) -> Traced<Option<ValueId>> {
        if !self.is_symbolic(number) || self.is_unread(number) {
            return Ok(None);
        }
        let spec = match spec {
            [] => Some(String::new()),
            [spec, ..] => self.known_str(*spec),
        };
        let Some(spec) = spec.filter(|spec| !spec.ends_with(['n', 'c'])) else { return Ok(None) };
        let Some((_, samples)) = self.part_of_computed(number)? else { return Ok(None) };
        let formats = |number: &Bound<'py, PyAny>| number.call_method1(name!("__format__"), (&spec,)).is_ok();
        if !samples.iter().all(formats) {
            return Ok(None);
        }
        let spec = self.constant(PyString::new(self.py, &spec).into_any());
        self.computed_text("text_of", &[number, spec])
    }

    /// The parts of a text one after the other, where some are such texts; `None`: none is, or one is no text.
    pub(crate) fn join_computed(&mut self, parts: &[ValueId]) -> Traced<Option<ValueId>> {
        if !parts.iter().any(|part| self.is_computed_text(*part)) {
            return Ok(None);
        }
        for part in parts {
            if !self.is_computed_text(*part) && (self.is_symbolic(*part) || self.known_str(*part).is_none()) {
                return Ok(None);
            }
        }
        self.computed_text("joined", parts)
    }

    /// `text % values`, and `text.format(*values)`, where some are symbolic numbers or such texts; `None`: none is, or that may raise.
    pub(super) fn fill_computed(
        &mut self,
        function: &'static str,
        text: ValueId,
        values: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let is_open = |value: &ValueId| self.is_made_again(*value);
        if !values.iter().any(is_open)
            || values.iter().any(|value| self.is_unread(*value) || self.is_unread_text(*value))
        {
            return Ok(None);
        }
        // Widths that operands give, formats that read the locale.
        let refused: &[&str] = if function == "filled" { &["*"] } else { &["n}", "c}", ":{"] };
        let format = self.known_str(text).filter(|format| !refused.iter().any(|part| format.contains(part)));
        let Some(format) = format else { return Ok(None) };
        let mut samples = Vec::new();
        for value in values {
            let Some((_, part)) = self.part_of_computed(*value)? else { return Ok(None) };
            samples.push(part);
        }
        let target = crate::ffi::modules::import(self.py, super::texts::MODULE).and_then(|room| room.getattr(function));
        let target = target.or_else(|error| self.raise_error(error))?;
        let count = samples.iter().map(Vec::len).max().unwrap_or_default();
        for index in 0..count {
            let given = samples.iter().filter_map(|part| part.get(index).or_else(|| part.first()).cloned());
            let given = std::iter::once(PyString::new(self.py, &format).into_any()).chain(given);
            let args = PyTuple::new(self.py, given.collect::<Vec<_>>());
            if args.and_then(|args| target.call1(args)).is_err() {
                return Ok(None);
            }
        }
        let operands: Vec<_> = std::iter::once(text).chain(values.iter().copied()).collect();
        self.computed_text(function, &operands)
    }

    /// A value as a part of such a text: a number of 64 bits, a text, a known scalar; `None`: another object.
    fn part_of_computed(&mut self, value: ValueId) -> Traced<Option<Part<'py>>> {
        if self.is_computed_text(value) {
            let class = self.class_of(value)?;
            return Ok(tried(&class).map(|samples| (value, samples.into())));
        }
        if !self.is_symbolic(value) {
            return Ok(self.known(value).filter(is_scalar).map(|known| (value, vec![known])));
        }
        let Some(numeral) = self.numeral(value)? else { return Ok(None) };
        if !self.fits(&numeral) {
            return Ok(None);
        }
        let samples = tried(&numeral.hint.get_type());
        Ok(samples.map(|samples| (value, samples.into())))
    }

    /// What a function of `slotrt._numbers` makes of the operands.
    fn computed_text(&mut self, function: &'static str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let mut hints = Vec::with_capacity(operands.len());
        for operand in operands {
            let hint = match self.value(*operand) {
                Value::New(New::Computed(computed)) => Some(computed.hint.bind(self.py).clone()),
                _ if self.is_symbolic(*operand) => self.numeral(*operand)?.map(|numeral| numeral.hint),
                _ => self.known(*operand),
            };
            let Some(hint) = hint else { return Ok(None) };
            hints.push(hint);
        }
        let target = crate::ffi::modules::import(self.py, super::texts::MODULE).and_then(|room| room.getattr(function));
        let made = target.and_then(|target| target.call1(PyTuple::new(self.py, hints)?));
        let Ok(hint) = made else { return Ok(None) };
        let computation = Computation::Call(super::texts::MODULE, function);
        let computed = ComputedNumber { computation, operands: operands.into(), hint: hint.unbind(), expression: None };
        Ok(Some(self.push(Value::New(New::Computed(computed)))))
    }
}
