//! Which values are symbolic numbers, and what is known of them.
use crate::guard::number;
use crate::guard::source::Source;
use crate::symbol::{Comparison, ExpressionId, Kind, Number, Relation, Symbol};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyType};

/// An operand of an operation on numbers.
pub(super) struct Numeral<'py> {
    /// The number in this call.
    pub hint: Bound<'py, PyAny>,
    /// As an expression; `None` where there is none.
    pub expression: Option<ExpressionId>,
    /// Whether it may be another number at another call.
    pub symbolic: bool,
}

impl<'py> Tracer<'py> {
    /// Whether the value is a number that may be another one at another call.
    pub(crate) fn is_symbolic(&self, value: ValueId) -> bool {
        const KNOWN: GuardRequest = GuardRequest::KNOWN.union(GuardRequest::EQUALS).union(GuardRequest::IS);
        let symbolic = match self.value(value) {
            Value::New(New::Computed(computed)) => !computed.hint.bind(self.py).is_exact_instance_of::<PyString>(),
            Value::Node { .. } => return self.is_unread(value),
            Value::Real { object, source: Some(source) } => {
                self.state.numbers.is_changing(source) && self.may_be_symbolic(source, object.bind(self.py))
            }
            _ => false,
        };
        symbolic && !self.state.guard_requests.has_any(value, KNOWN)
    }

    /// Whether proxies for numbers stand for instances of the class.
    pub(crate) fn is_of_numbers(&self, class: &Bound<'py, PyType>) -> bool {
        class.is(self.py.get_type::<PyInt>()) || class.is(self.py.get_type::<PyFloat>())
    }

    /// Whether the value is an exact `int` or `float` that the trace does not know to be this one.
    pub(crate) fn is_number(&self, value: ValueId) -> bool {
        let is_text = |hint: &Bound<'py, PyAny>| hint.is_exact_instance_of::<PyString>();
        let is_computed =
            matches!(self.value(value), Value::New(New::Computed(computed)) if !is_text(computed.hint.bind(self.py)));
        is_computed || self.is_symbolic(value)
    }

    /// Whether a number may be an input: one that fits, and no NaN, which is equal to nothing and found by identity.
    fn may_be_symbolic(&self, source: &Source, object: &Bound<'py, PyAny>) -> bool {
        let numbers = &self.state.numbers;
        match number(object) {
            // Where nothing has shown that they change, these are what programs branch on.
            Some(Number::Integer(0 | 1)) => !numbers.changing.arguments || numbers.drawn.contains(&source.key()),
            Some(Number::Integer(_)) => true,
            Some(Number::Float(value)) => !value.is_nan(),
            None => false,
        }
    }

    /// The value as an operand; `None` where it is no number, or not known.
    pub(super) fn numeral(&mut self, value: ValueId) -> Traced<Option<Numeral<'py>>> {
        if self.is_symbolic(value) {
            self.class_of(value)?;
            let (hint, expression) = match self.value(value) {
                Value::New(New::Computed(computed)) => (computed.hint.bind(self.py).clone(), computed.expression),
                Value::Real { object, source: Some(source) } => {
                    let (object, source) = (object.bind(self.py).clone(), source.clone());
                    let expression = self.input_of(source, &object)?;
                    (object, expression)
                }
                _ => return Ok(None),
            };
            return Ok(Some(Numeral { hint, expression, symbolic: true }));
        }
        let Some(hint) = self.known(value) else { return Ok(None) };
        let truth = hint.is_exact_instance_of::<PyBool>();
        if !truth && !hint.is_exact_instance_of::<PyInt>() && !hint.is_exact_instance_of::<PyFloat>() {
            return Ok(None);
        }
        let known = if truth { hint.extract().ok().map(Number::Integer) } else { number(&hint) };
        let expression = known.map(|known| self.state.numbers.expressions.constant(known));
        Ok(Some(Numeral { hint, expression, symbolic: false }))
    }

    /// The number at a source, as an expression.
    pub(super) fn input_of(&mut self, source: Source, object: &Bound<'py, PyAny>) -> Traced<Option<ExpressionId>> {
        let Some(hint) = number(object) else { return Ok(None) };
        let kind = if matches!(hint, Number::Integer(_)) { Kind::Integer } else { Kind::Float };
        let numbers = &mut self.state.numbers;
        let symbol = match numbers.symbols.get(&source) {
            Some(symbol) => *symbol,
            None => {
                let symbol = Symbol(numbers.inputs.len() as u32);
                numbers.inputs.push((source.clone(), hint));
                numbers.symbols.insert(source, symbol);
                symbol
            }
        };
        let input = numbers.expressions.input(symbol, kind);
        if kind == Kind::Float {
            let relation = Relation::fits(input);
            if self.relation_truth(relation, "the trace computes with a float that is no nan") != Some(true) {
                return Ok(None);
            }
        }
        Ok(Some(input))
    }

    /// The length of a container at this path as a symbolic number: that it is an integer follows from the class of the container.
    pub(crate) fn length_input(&mut self, path: Source, length: usize) -> Traced<ValueId> {
        let object = PyInt::new(self.py, length).into_any();
        if let Some(input) = self.input_of(path.clone(), &object)?
            && let Some(symbol) = self.state.numbers.expressions.inputs(input).first()
        {
            self.state.numbers.expressions.bound(*symbol, 0);
        }
        let value = self.push(Value::Real { object: object.unbind(), source: Some(path) });
        self.state.guard_requests.insert(value, GuardRequest::TYPE | GuardRequest::CLASS);
        Ok(value)
    }

    /// The number that a computed one is now; from here on a guard says so.
    pub(crate) fn known_computed(&mut self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        let Value::New(New::Computed(computed)) = self.value(value) else { return None };
        let hint = computed.hint.bind(self.py).clone();
        if self.state.guard_requests.has_any(value, GuardRequest::KNOWN) {
            return Some(hint);
        }
        let (expression, operands) = (computed.expression, computed.operands.clone());
        if !self.fix_expression(expression, &hint) {
            for operand in operands {
                self.known(operand)?;
            }
        }
        self.state.guard_requests.insert(value, GuardRequest::KNOWN);
        Some(hint)
    }

    /// Guards that an integer is this one; `false` where that takes more than its expression.
    fn fix_expression(&mut self, expression: Option<ExpressionId>, hint: &Bound<'py, PyAny>) -> bool {
        let (Some(left), Some(known @ Number::Integer(_))) = (expression, number(hint)) else { return false };
        let right = self.state.numbers.expressions.constant(known);
        let relation = Relation { comparison: Comparison::Equal, left, right };
        self.relation_truth(relation, "the trace is specialised for this value") == Some(true)
    }

    /// Whether a computed number is the object that another value is depends on how C makes it.
    pub(crate) fn refuse_identity(&mut self, values: &[ValueId]) -> Traced<()> {
        values.iter().try_for_each(|value| self.refuse_unread(*value))?;
        match values.iter().any(|value| matches!(self.value(*value), Value::New(New::Computed(_)))) {
            true => self.fix_numbers(values.to_vec()),
            false => Ok(()),
        }
    }

    /// The trace is made again with all numbers known.
    pub(crate) fn fix_all_numbers<T>(&mut self) -> Traced<T> {
        let keys: Vec<u64> = self.state.numbers.symbols.keys().map(Source::key).collect();
        self.state.numbers.to_fix.extend(keys);
        Err(Unwind::Specialise)
    }

    /// The trace is made again with these numbers known, and all that they are computed from.
    pub(super) fn fix_numbers<T>(&mut self, values: Vec<ValueId>) -> Traced<T> {
        values.iter().try_for_each(|value| self.refuse_unread(*value))?;
        let mut work = values;
        while let Some(value) = work.pop() {
            match self.value(value) {
                Value::New(New::Computed(computed)) => work.extend(computed.operands.iter().copied()),
                Value::Real { source: Some(source), .. } => {
                    let key = source.key();
                    self.state.numbers.to_fix.push(key);
                }
                _ => {}
            }
        }
        Err(Unwind::Specialise)
    }
}
