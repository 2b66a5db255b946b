//! Operations on symbolic numbers: what they give is computed again by compiled code, which must not raise there.
use super::compute::compute;
use super::inputs::Numeral;
use crate::symbol::{Comparison, Kind, Number, Operation, Relation};
use crate::trace::operator::capi::SlotFunction;
use crate::trace::state::computed_number::{Computation, ComputedNumber};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{New, Value, ValueId};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyFrozenSet, PyInt, PyTuple};

/// Exponents of integers.
const EXPONENTS: std::ops::RangeInclusive<i64> = 0..=62;

/// What the exponents of integers are at most whose powers are floats, which must not be too large for one.
const FLOAT_EXPONENT: f64 = 8.0;

/// What exponents and numbers of bits that change are at most where integers have more bits than 64.
const LARGE_EXPONENT: i64 = 4096;

/// With how many integers of a constant one is compared.
const AMONG: usize = 16;

/// To how many digits floats are rounded.
const DIGITS: std::ops::RangeInclusive<i64> = 0..=22;

/// Numbers of bits that integers are shifted by.
const BITS: std::ops::RangeInclusive<i64> = 0..=61;

impl<'py> Tracer<'py> {
    /// What `int` or `float` does in a slot, where an operand is symbolic; `None`: C does it on numbers that are known.
    pub(crate) fn number_slot(&mut self, function: &SlotFunction, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        if !operands.iter().any(|operand| self.is_symbolic(*operand)) {
            return Ok(None);
        }
        let slot = function.slot.map_or("", Slot::name);
        let Some((operation, of_float)) = Operation::of_slot(function.name, slot) else { return Ok(None) };
        for operand in operands.iter().take(2) {
            let class = self.class_of(*operand)?;
            let integer = class.is_subclass_of::<PyInt>().unwrap_or(true);
            let float = of_float && class.is_subclass_of::<PyFloat>().unwrap_or(true);
            if !integer && !float {
                // CPython: `CHECK_BINOP`, `CONVERT_TO_DOUBLE`.
                return Ok(Some(self.constant(self.py.NotImplemented().into_bound(self.py))));
            }
        }
        match operands {
            // `pow` with a third operand.
            [left, right, modulus] if self.is_none(*modulus)? => self.number_operation(operation, &[*left, *right]),
            [left, right] => self.number_operation(operation, &[*left, *right]),
            [left, right, modulus] if operation == Operation::Power => self.power_modulo(*left, *right, *modulus),
            _ => Ok(None),
        }
    }

    /// `pow(left, right, modulus)` of integers, where exponent and modulus are known.
    fn power_modulo(&mut self, left: ValueId, right: ValueId, modulus: ValueId) -> Traced<Option<ValueId>> {
        for operand in [left, right, modulus] {
            if !self.class_of(operand)?.is(self.py.get_type::<PyInt>()) {
                return Ok(None);
            }
        }
        if self.is_symbolic(right) || self.is_symbolic(modulus) {
            return Ok(None);
        }
        let exponent = self.known(right).and_then(|exponent| exponent.extract::<i64>().ok());
        if !exponent.is_some_and(|exponent| EXPONENTS.contains(&exponent)) {
            return Ok(None);
        }
        match self.number_operation(Operation::Power, &[left, right])? {
            Some(power) => self.number_operation(Operation::Remainder, &[power, modulus]),
            None => Ok(None),
        }
    }

    /// An operator by its name in the module `operator`.
    pub(crate) fn number_operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        if !operands.iter().any(|operand| self.is_symbolic(*operand)) {
            return Ok(None);
        }
        match (name, operands) {
            ("index", [value]) if self.class_of(*value)?.is(self.py.get_type::<PyInt>()) => return Ok(Some(*value)),
            ("getitem", [items, index]) => return self.item_by_unread(*items, *index),
            ("contains", [container, value]) => return self.number_among(*container, *value),
            (_, [_, _]) => return self.compare_numbers(name, operands),
            _ => {}
        }
        match Operation::named(name) {
            Some(operation) if operation.arity() == operands.len() => self.number_operation(operation, operands),
            _ => Ok(None),
        }
    }

    /// Whether an integer is among those of a constant of the program; `None`: C looks for it.
    fn number_among(&mut self, container: ValueId, value: ValueId) -> Traced<Option<ValueId>> {
        let Value::Real { object, source: None } = self.value(container) else { return Ok(None) };
        let object = object.bind(self.py);
        let items: Vec<Bound<'py, PyAny>> = match (object.cast_exact::<PyTuple>(), object.cast_exact::<PyFrozenSet>()) {
            (Ok(items), _) => items.iter().collect(),
            (_, Ok(items)) => items.iter().collect(),
            _ => return Ok(None),
        };
        let integers = items.len() <= AMONG && items.iter().all(|item| item.is_exact_instance_of::<PyInt>());
        let integer = self.is_symbolic(value) && self.class_of(value)?.is(self.py.get_type::<PyInt>());
        if !integers || !integer || self.is_unread(value) {
            return Ok(None);
        }
        for item in items {
            let item = self.constant(item);
            let Some(equal) = self.compare_numbers("eq", &[item, value])? else { return Ok(None) };
            if self.is_true(equal)? {
                return Ok(Some(equal));
            }
        }
        Ok(Some(self.boolean(false)))
    }

    /// The result of an operation, computed again at each call.
    pub(crate) fn number_operation(&mut self, operation: Operation, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        if let Some(given) = self.unread_operation(operation, operands)? {
            return Ok(Some(given));
        }
        let mut numerals = Vec::with_capacity(operands.len());
        for operand in operands {
            let Some(numeral) = self.numeral(*operand)? else { return Ok(None) };
            numerals.push(numeral);
        }
        if !self.never_raises(operation, &numerals) {
            return Ok(None);
        }
        let Ok(hint) = compute(operation, &numerals) else { return Ok(None) };
        if !hint.is_exact_instance_of::<PyInt>() && !hint.is_exact_instance_of::<PyFloat>() {
            return Ok(None);
        }
        let known: Option<Vec<_>> = numerals.iter().map(|numeral| numeral.expression).collect();
        let expressions = &mut self.state.numbers.expressions;
        let expression = known.and_then(|operands| expressions.apply(operation, &operands));
        if expression.is_some_and(|expression| matches!(expressions.known(expression), Some(Number::Integer(_)))) {
            return Ok(Some(self.constant(hint)));
        }
        let computation = Computation::Operation(operation);
        let computed = ComputedNumber { computation, operands: operands.into(), hint: hint.unbind(), expression };
        Ok(Some(self.push(Value::New(New::Computed(computed)))))
    }

    /// Whether the operation raises at no call for which the guards hold.
    pub(super) fn never_raises(&mut self, operation: Operation, operands: &[Numeral<'py>]) -> bool {
        let is_float = |operand: &Numeral<'py>| operand.hint.is_exact_instance_of::<PyFloat>();
        let floats = operands.iter().any(is_float);
        if operation == Operation::Power && (floats || is_negative(operands.get(1))) {
            return self.has_power(operands);
        }
        if operation.is_of_integers() && floats {
            return false;
        }
        if !self.is_in_domain(operation, operands) {
            return false;
        }
        if operation.rounds() && floats {
            return self.has_whole(operation, operands);
        }
        if let (Operation::Power | Operation::ShiftLeft | Operation::ShiftRight, Some(by)) =
            (operation, operands.get(1))
        {
            if by.symbolic {
                return self.has_integer(operation, operands);
            }
            let range = if operation == Operation::Power { EXPONENTS } else { BITS };
            if !by.hint.extract::<i64>().is_ok_and(|by| range.contains(&by)) {
                return false;
            }
        }
        if operation.divides() && !operands.get(1).is_some_and(|divisor| self.is_nonzero(divisor)) {
            return false;
        }
        // Integers that are too large for a float raise.
        let converts = matches!(
            operation,
            Operation::TrueDivide | Operation::ToFloat | Operation::SquareRoot | Operation::Function(_)
        ) || floats;
        !converts || operands.iter().all(|operand| is_float(operand) || self.fits(operand))
    }

    /// Whether the power is a float: of floats a guard says so; of integers where the exponent is small enough, and the integer positive.
    fn has_power(&mut self, operands: &[Numeral<'py>]) -> bool {
        let [base, exponent] = operands else { return false };
        // It grows less and less.
        if !base.symbolic
            && base.hint.is_exact_instance_of::<PyFloat>()
            && base.hint.extract::<f64>().is_ok_and(|base| 0.0 < base && base <= 1.0)
            && exponent.hint.is_exact_instance_of::<PyInt>()
        {
            return self.compares_with(exponent, Comparison::GreaterOrEqual, Number::Integer(0)) && self.fits(exponent);
        }
        if let (Some(left), Some(right)) = (base.expression, exponent.expression)
            && [base, exponent].iter().any(|operand| operand.hint.is_exact_instance_of::<PyFloat>())
        {
            let power = self.state.numbers.expressions.apply(Operation::Power, &[left, right]);
            let why = "the trace computes a power with it";
            return power.is_some_and(|power| self.relation_truth(Relation::fits(power), why) == Some(true));
        }
        let is_small = |exponent: f64| exponent.abs() <= FLOAT_EXPONENT;
        let small = !exponent.symbolic && exponent.hint.extract::<f64>().is_ok_and(is_small);
        small
            && base.hint.is_exact_instance_of::<PyInt>()
            && self.compares_with(base, Comparison::Greater, Number::Integer(0))
            && self.fits(base)
    }

    /// Whether the integer that a float is rounded to fits.
    fn has_whole(&mut self, operation: Operation, operands: &[Numeral<'py>]) -> bool {
        let [Numeral { expression: Some(float), .. }] = operands else { return false };
        let whole = self.state.numbers.expressions.apply(operation, &[*float]);
        whole.is_some_and(|whole| {
            self.relation_truth(Relation::fits(whole), "the trace rounds a float to it") == Some(true)
        })
    }

    /// Whether a function of `math` has a result for the operand.
    fn is_in_domain(&mut self, operation: Operation, operands: &[Numeral<'py>]) -> bool {
        const NOT_NEGATIVE: &[(Comparison, Number)] = &[(Comparison::GreaterOrEqual, Number::Integer(0))];
        let domain = match operation {
            Operation::SquareRoot | Operation::IntegerRoot => NOT_NEGATIVE,
            Operation::Function(function) => function.domain(),
            _ => return true,
        };
        let [operand] = operands else { return false };
        domain.iter().all(|(comparison, bound)| self.compares_with(operand, *comparison, *bound))
    }

    /// Whether an operation gives an integer whose second operand is symbolic, and not negative: one that fits, or else one of not too many bits.
    fn has_integer(&mut self, operation: Operation, operands: &[Numeral<'py>]) -> bool {
        let [Numeral { expression: Some(left), .. }, by] = operands else { return false };
        let Some(right) = by.expression else { return false };
        let result = self.state.numbers.expressions.apply(operation, &[*left, right]);
        let why = "the trace computes a power with it";
        let at_least = |this: &mut Self| this.compares_with(by, Comparison::GreaterOrEqual, Number::Integer(0));
        at_least(self)
            && (result.is_some_and(|result| self.relation_truth(Relation::fits(result), why) == Some(true))
                || self.compares_with(by, Comparison::LessOrEqual, Number::Integer(LARGE_EXPONENT)))
    }

    /// Whether the operand is so compared with a number.
    pub(super) fn compares_with(&mut self, operand: &Numeral<'py>, comparison: Comparison, bound: Number) -> bool {
        let Some(left) = operand.expression else { return false };
        let right = self.state.numbers.expressions.constant(bound);
        let why = "the trace computes with a number of this sign";
        self.relation_truth(Relation { comparison, left, right }, why) == Some(true)
    }

    fn is_nonzero(&mut self, divisor: &Numeral<'py>) -> bool {
        if !divisor.symbolic {
            return divisor.hint.is_truthy().unwrap_or(false);
        }
        let Some(left) = divisor.expression else { return false };
        let right = self.state.numbers.expressions.constant(Number::Integer(0));
        let relation = Relation { comparison: Comparison::NotEqual, left, right };
        self.relation_truth(relation, "the trace divides by it") == Some(true)
    }

    pub(super) fn fits(&mut self, integer: &Numeral<'py>) -> bool {
        let Some(expression) = integer.expression else { return false };
        let expressions = &self.state.numbers.expressions;
        if expressions.kind(expression) == Kind::Float || expressions.known(expression).is_some() {
            return true;
        }
        let relation = Relation::fits(expression);
        self.relation_truth(relation, "the trace makes a float of it") == Some(true)
    }

    /// An operation on one number, which may be to make an integer of one that is one.
    pub(super) fn rounded(&mut self, operation: Operation, value: ValueId) -> Traced<Option<ValueId>> {
        match operation.rounds() && self.class_of(value)?.is(self.py.get_type::<PyInt>()) {
            true => Ok(Some(value)),
            false => self.number_operation(operation, &[value]),
        }
    }

    /// `round(value, digits)`, where the digits are known.
    fn rounded_to(&mut self, value: ValueId, digits: ValueId) -> Traced<Option<ValueId>> {
        if self.is_symbolic(digits) || !self.class_of(digits)?.is(self.py.get_type::<PyInt>()) {
            return Ok(None);
        }
        let known = self.known(digits).and_then(|digits| digits.extract::<i64>().ok());
        if !known.is_some_and(|digits| DIGITS.contains(&digits)) {
            return Ok(None);
        }
        match self.class_of(value)?.is(self.py.get_type::<PyInt>()) {
            true => Ok(Some(value)),
            false => self.number_operation(Operation::RoundTo, &[value, digits]),
        }
    }

    /// The least or the greatest of integers, or of floats, whichever of them that is; `None`: numbers of both kinds, or such as do not fit.
    fn extreme_of_kind(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(first) = args.first() else { return Ok(None) };
        let class = self.class_of(*first)?;
        for arg in args {
            if !self.is_of_numbers(&class)
                || !self.class_of(*arg)?.is(&class)
                || self.numeral(*arg)?.is_none_or(|numeral| numeral.expression.is_none())
            {
                return Ok(None);
            }
        }
        let operation = if name == "min" { Operation::Least } else { Operation::Greatest };
        let Some((first, rest)) = args.split_first() else { return Ok(None) };
        let mut best = *first;
        for arg in rest {
            let Some(better) = self.number_operation(operation, &[best, *arg])? else { return Ok(None) };
            best = better;
        }
        Ok(Some(best))
    }

    /// `min` and `max` of numbers, `int`, `float`, `bool` and `round` of one; `None`: C does it.
    pub(crate) fn number_function(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        if let ("min" | "max", [items]) = (name, args) {
            return self.unread_extreme_of_items(name, *items);
        }
        if !args.iter().any(|arg| self.is_symbolic(*arg)) {
            return if ["min", "max"].contains(&name) { self.extreme_of_arrays(name, args) } else { Ok(None) };
        }
        match (name, args) {
            ("min" | "max", [first, rest @ ..]) if !rest.is_empty() => {
                if let Some(extreme) = self.unread_extreme(name, args)? {
                    return Ok(Some(extreme));
                }
                if let Some(extreme) = self.extreme_of_kind(name, args)? {
                    return Ok(Some(extreme));
                }
                let comparison = if name == "min" { "lt" } else { "gt" };
                let mut best = *first;
                for arg in rest {
                    let Some(better) = self.compare_numbers(comparison, &[*arg, best])? else { return Ok(None) };
                    if self.is_true(better)? {
                        best = *arg;
                    }
                }
                Ok(Some(best))
            }
            ("divmod", [left, right]) => {
                let operands = [*left, *right];
                for operand in operands {
                    let class = self.class_of(operand)?;
                    if !self.is_of_numbers(&class) {
                        return Ok(None);
                    }
                }
                let quotient = self.number_operation(Operation::FloorDivide, &operands)?;
                let rest = self.number_operation(Operation::Remainder, &operands)?;
                match (quotient, rest) {
                    (Some(quotient), Some(rest)) => self.tuple(&[quotient, rest]).map(Some),
                    _ => Ok(None),
                }
            }
            ("pow", [left, right]) => self.number_operation(Operation::Power, &[*left, *right]),
            ("pow", [left, right, modulus]) => self.power_modulo(*left, *right, *modulus),
            ("int", [value]) => self.rounded(Operation::Truncate, *value),
            ("round", [value]) => self.rounded(Operation::Round, *value),
            ("round", [value, digits]) => self.rounded_to(*value, *digits),
            ("float", [value]) if self.class_of(*value)?.is(self.py.get_type::<PyFloat>()) => Ok(Some(*value)),
            ("float", [_]) => self.number_operation(Operation::ToFloat, args),
            ("bool", [value]) => {
                let truth = self.is_true(*value)?;
                Ok(Some(self.boolean(truth)))
            }
            _ => Ok(None),
        }
    }
}

/// Whether an operand is an integer below zero that is known.
fn is_negative(operand: Option<&Numeral<'_>>) -> bool {
    operand.is_some_and(|by| !by.symbolic && by.hint.extract::<i64>().is_ok_and(|by| by < 0))
}
