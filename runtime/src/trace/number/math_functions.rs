//! Functions of `math`, and methods of `int` and `float`, of symbolic numbers.
use super::inputs::Numeral;
use crate::ffi::snapshot::original;
use crate::symbol::{Comparison, Number, Operation, Relation};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::computed_number::{Computation, ComputedNumber};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

/// Up to here powers and products are made at once.
const FACTORS: Number = Number::Integer(10_000);

/// Bounds of operands within which a function does not raise.
type Bounds = &'static [(Comparison, Number)];

const ANY: Bounds = &[];
const POSITIVE: Bounds =
    &[(Comparison::Greater, Number::Float(1e-300)), (Comparison::LessOrEqual, Number::Float(1e300))];
const COUNT: Bounds = &[(Comparison::GreaterOrEqual, Number::Integer(0)), (Comparison::LessOrEqual, FACTORS)];
const WITHIN_ONE: Bounds = &[(Comparison::Greater, Number::Integer(-1)), (Comparison::Less, Number::Integer(1))];
const FINITE: Bounds =
    &[(Comparison::LessOrEqual, Number::Float(1e300)), (Comparison::GreaterOrEqual, Number::Float(-1e300))];

/// Functions of `math` that guards do not compute: what each operand is within; and whether they are of integers alone.
const FUNCTIONS: &[(&str, &[Bounds], bool)] = &[
    ("erf", &[ANY], false),
    ("erfc", &[ANY], false),
    ("asinh", &[ANY], false),
    ("acosh", &[&[(Comparison::GreaterOrEqual, Number::Integer(1))]], false),
    ("atanh", &[WITHIN_ONE], false),
    (
        "gamma",
        &[&[(Comparison::Greater, Number::Float(1e-300)), (Comparison::LessOrEqual, Number::Integer(170))]],
        false,
    ),
    ("lgamma", &[POSITIVE], false),
    ("atan2", &[ANY, ANY], false),
    ("copysign", &[ANY, ANY], false),
    ("hypot", &[FINITE, FINITE], false),
    ("fmod", &[FINITE, POSITIVE], false),
    ("factorial", &[COUNT], true),
    ("comb", &[COUNT, COUNT], true),
    ("perm", &[COUNT, COUNT], true),
];

impl<'py> Tracer<'py> {
    /// A function of the module `math`, as it is there now, of numbers; `None`: C does it.
    pub(crate) fn number_in_math(
        &mut self,
        function: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let values = args.positional.as_slice();
        let is_named = || original(self.py, "math", name).is_ok_and(|named| named.is(function));
        if !values.iter().any(|value| self.is_symbolic(*value)) || !is_named() {
            return Ok(None);
        }
        if name == "isclose" && !values.iter().any(|value| self.is_unread(*value)) {
            return self.is_close(args);
        }
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        match (name, values) {
            ("isnan" | "isinf" | "isfinite", [value]) => return self.kind_of_float(name, *value),
            ("modf", [value]) => return self.parts_of_float(*value),
            ("log", [value, base]) => return self.logarithm(*value, *base),
            ("pow", [base, exponent]) => {
                let (base, exponent) = (self.as_float(*base)?, self.as_float(*exponent)?);
                return match (base, exponent) {
                    (Some(base), Some(exponent)) => self.number_operation(Operation::Power, &[base, exponent]),
                    _ => Ok(None),
                };
            }
            _ => {}
        }
        match Operation::of_math(name) {
            Some(operation) if operation.arity() == 1 && values.len() == 1 => self.rounded(operation, values[0]),
            Some(operation) if operation.arity() == values.len() => self.number_operation(operation, values),
            _ => self.other_in_math(name, values),
        }
    }

    /// A method of `int` or `float`; `None`: C does it.
    pub(crate) fn number_method(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        if let [left, right] = args {
            return self.number_slot_method(name, *left, *right);
        }
        let [value] = args else { return Ok(None) };
        if !self.is_symbolic(*value) || self.is_unread(*value) {
            return Ok(None);
        }
        let of_integer = self.class_of(*value)?.is(self.py.get_type::<PyInt>());
        match name {
            "bit_length" if of_integer => self.number_operation(Operation::BitLength, args),
            "conjugate" | "__pos__" => Ok(Some(*value)),
            "__index__" | "__int__" if of_integer => Ok(Some(*value)),
            "__float__" if !of_integer => Ok(Some(*value)),
            "is_integer" if !of_integer => {
                let Some(whole) = self.number_operation(Operation::Floor, args)? else { return Ok(None) };
                self.compare_numbers("eq", &[whole, *value])
            }
            _ => Ok(None),
        }
    }

    /// A method for an operator: `k.__add__(3)`.
    fn number_slot_method(&mut self, name: &str, left: ValueId, right: ValueId) -> Traced<Option<ValueId>> {
        let stripped = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
        let operation = stripped.and_then(Operation::named).filter(|operation| operation.arity() == 2);
        let (Some(operation), true) = (operation, self.is_symbolic(left) || self.is_symbolic(right)) else {
            return Ok(None);
        };
        let (class, other) = (self.class_of(left)?, self.class_of(right)?);
        let fits = class.is(&other) && self.is_of_numbers(&class);
        if fits { self.number_operation(operation, &[left, right]) } else { Ok(None) }
    }

    /// `math.log(value, base)`. CPython: Modules/mathmodule.c, `math_log`.
    fn logarithm(&mut self, value: ValueId, base: ValueId) -> Traced<Option<ValueId>> {
        let Some(logarithm) = Operation::of_math("log") else { return Ok(None) };
        let Some(left) = self.number_operation(logarithm, &[value])? else { return Ok(None) };
        let Some(right) = self.number_operation(logarithm, &[base])? else { return Ok(None) };
        self.number_operation(Operation::TrueDivide, &[left, right])
    }

    /// The fraction and the whole part of a float above zero: of others, zeros have signs. CPython: Modules/mathmodule.c, `math_modf_impl`.
    fn parts_of_float(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        if self.is_unread(value) {
            return Ok(None);
        }
        let Some(value) = self.as_float(value)? else { return Ok(None) };
        let Some(numeral) = self.numeral(value)? else { return Ok(None) };
        if !self.compares_with(&numeral, Comparison::Greater, Number::Integer(0)) {
            return Ok(None);
        }
        let Some(whole) = self.number_operation(Operation::Truncate, &[value])? else { return Ok(None) };
        let Some(whole) = self.number_operation(Operation::ToFloat, &[whole])? else { return Ok(None) };
        match self.number_operation(Operation::Subtract, &[value, whole])? {
            Some(fraction) => self.tuple(&[fraction, whole]).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn as_float(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        match self.class_of(value)?.is(self.py.get_type::<PyFloat>()) {
            true => Ok(Some(value)),
            false => self.number_operation(Operation::ToFloat, &[value]),
        }
    }

    /// Whether a number is finite, or infinite, or none; `None`: guards cannot say.
    pub(super) fn kind_of_float(&mut self, name: &str, value: ValueId) -> Traced<Option<ValueId>> {
        let Some(numeral) = self.numeral(value)? else { return Ok(None) };
        let Some(expression) = numeral.expression else { return Ok(None) };
        let why = "the trace branched on whether the number is finite";
        if self.relation_truth(Relation::fits(expression), why) != Some(true) {
            return Ok(None);
        }
        if name == "isnan" {
            return Ok(Some(self.boolean(false)));
        }
        let mut within = true;
        for (comparison, most) in [(Comparison::LessOrEqual, f64::MAX), (Comparison::GreaterOrEqual, f64::MIN)] {
            let right = self.state.numbers.expressions.constant(Number::Float(most));
            let truth = match numeral.hint.is_exact_instance_of::<PyInt>() {
                true => Some(true),
                false => self.relation_truth(Relation { comparison, left: expression, right }, why),
            };
            match truth {
                Some(truth) => within &= truth,
                None => return Ok(None),
            }
        }
        Ok(Some(self.boolean(within == (name == "isfinite"))))
    }

    /// A function that guards do not compute.
    fn other_in_math(&mut self, name: &str, values: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some((name, bounds, of_integers)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            return Ok(None);
        };
        if bounds.len() != values.len() || values.iter().any(|value| self.is_unread(*value)) {
            return Ok(None);
        }
        let mut hints = Vec::with_capacity(values.len());
        for (value, bounds) in values.iter().zip(*bounds) {
            let Some(numeral) = self.numeral(*value)? else { return Ok(None) };
            if !self.is_within(&numeral, bounds, *of_integers) {
                return Ok(None);
            }
            hints.push(numeral.hint);
        }
        let made = original(self.py, "math", name)
            .and_then(|function| function.call1(pyo3::types::PyTuple::new(self.py, hints)?));
        let Ok(hint) = made else { return Ok(None) };
        let computation = Computation::Call("math", name);
        let computed = ComputedNumber { computation, operands: values.into(), hint: hint.unbind(), expression: None };
        Ok(Some(self.push(Value::New(New::Computed(computed)))))
    }

    fn is_within(&mut self, numeral: &Numeral<'py>, bounds: Bounds, of_integers: bool) -> bool {
        let is_integer = numeral.hint.is_exact_instance_of::<PyInt>();
        let is_number = is_integer || numeral.hint.is_exact_instance_of::<PyFloat>();
        is_number
            && (is_integer || !of_integers)
            && self.fits(numeral)
            && bounds.iter().all(|(comparison, bound)| self.compares_with(numeral, *comparison, *bound))
    }
}
