//! Operations on numbers, as Python's do; where the result does not fit, there is none.
use super::division::{common_divisor, common_multiple, divide, floor_divide};
use super::functions::Function;
use super::number::Number;
use super::power::power;
use Number::{Float, Integer};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    TrueDivide,
    FloorDivide,
    Remainder,
    /// Of integers by a small exponent that is known, or of such an integer a float; of floats by any.
    Power,
    /// By a small number of bits that is known.
    ShiftLeft,
    /// The same.
    ShiftRight,
    And,
    Or,
    Xor,
    Negative,
    Positive,
    Absolute,
    Invert,
    /// `float(number)`.
    ToFloat,
    /// The float of 32 bits that is nearest.
    ToSingle,
    /// Of a number that is not negative.
    SquareRoot,
    /// The integer that a float is rounded to: downwards.
    Floor,
    /// Upwards.
    Ceiling,
    /// Towards zero: `int(number)`.
    Truncate,
    /// To the nearest, of two the even one.
    Round,
    /// Another function of `math` that gives a float.
    Function(Function),
    /// The greatest integer that divides both.
    CommonDivisor,
    /// The least positive integer that both divide.
    CommonMultiple,
    /// The integer below the square root, of an integer that is not negative.
    IntegerRoot,
    /// How many bits the size of an integer has.
    BitLength,
    /// The lesser of two integers, or of two floats; of equal ones the first.
    Least,
    /// The greater of two integers, or of two floats; of equal ones the first.
    Greatest,
    /// A float, rounded to a number of decimal digits that is known.
    RoundTo,
}

/// What exponents and numbers of bits are at most.
pub(super) const SMALL: i64 = 62;

impl Operation {
    /// The name in its [`module`](Self::module).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "sub",
            Self::Multiply => "mul",
            Self::TrueDivide => "truediv",
            Self::FloorDivide => "floordiv",
            Self::Remainder => "mod",
            Self::Power => "pow",
            Self::ShiftLeft => "lshift",
            Self::ShiftRight => "rshift",
            Self::And => "and_",
            Self::Or => "or_",
            Self::Xor => "xor",
            Self::Negative => "neg",
            Self::Positive => "pos",
            Self::Absolute => "abs",
            Self::Invert => "invert",
            Self::ToFloat => "float",
            Self::ToSingle => "single",
            Self::SquareRoot => "sqrt",
            Self::Floor => "floor",
            Self::Ceiling => "ceil",
            Self::Truncate => "int",
            Self::Round | Self::RoundTo => "round",
            Self::Function(function) => function.name(),
            Self::CommonDivisor => "gcd",
            Self::CommonMultiple => "lcm",
            Self::Least => "min",
            Self::Greatest => "max",
            Self::IntegerRoot => "isqrt",
            Self::BitLength => "bit_length",
        }
    }

    /// The module that has it under this name.
    #[must_use]
    pub fn module(self) -> &'static str {
        match self {
            Self::ToFloat
            | Self::ToSingle
            | Self::Truncate
            | Self::Round
            | Self::RoundTo
            | Self::Least
            | Self::Greatest => "builtins",
            Self::SquareRoot
            | Self::Floor
            | Self::Ceiling
            | Self::Function(_)
            | Self::CommonDivisor
            | Self::CommonMultiple
            | Self::IntegerRoot => "math",
            Self::BitLength => "slotrt._numbers",
            _ => "operator",
        }
    }

    /// Whether it is written as a function: `abs(x)`.
    pub(super) fn is_function(self) -> bool {
        self == Self::Absolute || self.module() != "operator"
    }

    /// Whether it makes an integer of a float; of an integer it is the integer itself.
    #[must_use]
    pub fn rounds(self) -> bool {
        matches!(self, Self::Floor | Self::Ceiling | Self::Truncate | Self::Round)
    }

    /// Whether it gives a float, also of integers.
    pub(super) fn gives_float(self) -> bool {
        matches!(
            self,
            Self::TrueDivide | Self::ToFloat | Self::ToSingle | Self::SquareRoot | Self::RoundTo | Self::Function(_)
        )
    }

    /// As it is written, before an operand or between two.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract | Self::Negative => "-",
            Self::Positive => "+",
            Self::Multiply => "*",
            Self::TrueDivide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "**",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Invert => "~",
            Self::Absolute
            | Self::ToFloat
            | Self::ToSingle
            | Self::SquareRoot
            | Self::Floor
            | Self::Ceiling
            | Self::Truncate
            | Self::Round
            | Self::Function(_)
            | Self::CommonDivisor
            | Self::CommonMultiple
            | Self::IntegerRoot
            | Self::BitLength
            | Self::Least
            | Self::Greatest
            | Self::RoundTo => self.name(),
        }
    }

    /// How many operands it has.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Self::Negative | Self::Positive | Self::Invert => 1,
            Self::CommonDivisor | Self::CommonMultiple | Self::Least | Self::Greatest | Self::RoundTo => 2,
            _ if self.is_function() => 1,
            _ => 2,
        }
    }

    /// Whether a divisor of zero raises.
    #[must_use]
    pub fn divides(self) -> bool {
        matches!(self, Self::TrueDivide | Self::FloorDivide | Self::Remainder)
    }

    /// Whether it is one of integers alone.
    #[must_use]
    pub fn is_of_integers(self) -> bool {
        matches!(
            self,
            Self::ShiftLeft
                | Self::ShiftRight
                | Self::And
                | Self::Or
                | Self::Xor
                | Self::Invert
                | Self::CommonDivisor
                | Self::CommonMultiple
                | Self::IntegerRoot
                | Self::BitLength
        )
    }

    /// The result; `None` where it does not fit, or Python raises.
    #[must_use]
    pub fn apply(self, operands: &[Number]) -> Option<Number> {
        match *operands {
            [operand] => self.of_one(operand),
            [Integer(left), Integer(right)] => self.of_integers(left, right),
            [left, right] => self.of_floats(left.nearest(), right.nearest()).map(Float),
            _ => None,
        }
    }

    fn of_one(self, operand: Number) -> Option<Number> {
        match (self, operand) {
            (Self::Negative, Integer(value)) => value.checked_neg().map(Integer),
            (Self::Absolute, Integer(value)) => value.checked_abs().map(Integer),
            (Self::Invert, Integer(value)) => Some(Integer(!value)),
            (Self::Negative, Float(value)) => Some(Float(-value)),
            (Self::Absolute, Float(value)) => Some(Float(value.abs())),
            (Self::Positive, value) => Some(value),
            (Self::ToFloat, value) => Some(Float(value.nearest())),
            (Self::ToSingle, value) => Some(Float(f64::from(value.exact()? as f32))),
            (Self::SquareRoot, value) => Some(value.nearest()).filter(|value| *value >= 0.0).map(f64::sqrt).map(Float),
            (Self::Function(function), value) => function.apply(value.nearest()).map(Float),
            (Self::BitLength, Integer(value)) => {
                Some(Integer(i64::from(u64::BITS - value.unsigned_abs().leading_zeros())))
            }
            (Self::IntegerRoot, Integer(value)) => value.checked_isqrt().map(Integer),
            (_, value @ Integer(_)) if self.rounds() => Some(value),
            (Self::Floor, Float(value)) => whole(value.floor()),
            (Self::Ceiling, Float(value)) => whole(value.ceil()),
            (Self::Truncate, Float(value)) => whole(value.trunc()),
            (Self::Round, Float(value)) => whole(value.round_ties_even()),
            _ => None,
        }
    }

    fn of_integers(self, left: i64, right: i64) -> Option<Number> {
        let whole = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::FloorDivide => floor_divide(left, right),
            Self::Remainder => {
                floor_divide(left, right).map(|quotient| left.wrapping_sub(quotient.wrapping_mul(right)))
            }
            Self::Power => u32::try_from(right).ok().and_then(|exponent| left.checked_pow(exponent)),
            Self::ShiftLeft => {
                let factor = (0..SMALL).contains(&right).then(|| 1_i64 << right)?;
                left.checked_mul(factor)
            }
            Self::ShiftRight => (0..=SMALL).contains(&right).then(|| left >> right),
            Self::And => Some(left & right),
            Self::Or => Some(left | right),
            Self::Xor => Some(left ^ right),
            Self::CommonDivisor => common_divisor(left, right),
            Self::CommonMultiple => common_multiple(left, right),
            Self::Least => Some(left.min(right)),
            Self::Greatest => Some(left.max(right)),
            Self::TrueDivide => {
                // C divides large integers otherwise than their floats.
                let (left, right) = (Integer(left).exact()?, Integer(right).exact()?);
                return (right != 0.0).then(|| Float(left / right));
            }
            _ => None,
        };
        whole.map(Integer)
    }

    fn of_floats(self, left: f64, right: f64) -> Option<f64> {
        match self {
            Self::Add => Some(left + right),
            Self::Subtract => Some(left - right),
            Self::Multiply => Some(left * right),
            Self::TrueDivide if right != 0.0 => Some(left / right),
            Self::FloorDivide if right != 0.0 => Some(divide(left, right).0),
            Self::Remainder if right != 0.0 => Some(divide(left, right).1),
            Self::Power => power(left, right),
            // CPython: `min_max`.
            Self::Least => Some(if right < left { right } else { left }),
            Self::Greatest => Some(if right > left { right } else { left }),
            // CPython: `double_round`. Both give the float nearest to the decimal number that is nearest to the float.
            Self::RoundTo if left.is_finite() => format!("{left:.*}", right as usize).parse().ok(),
            Self::RoundTo => Some(left),
            _ => None,
        }
    }
}

/// A float without a fraction, as an integer.
fn whole(value: f64) -> Option<Number> {
    const LIMIT: f64 = (1_u64 << 63) as f64;
    (-LIMIT..LIMIT).contains(&value).then_some(Integer(value as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_divide_towards_minus_infinity() {
        for (left, right, quotient, rest) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1)] {
            let operands = [Integer(left), Integer(right)];
            assert_eq!(Operation::FloorDivide.apply(&operands), Some(Integer(quotient)));
            assert_eq!(Operation::Remainder.apply(&operands), Some(Integer(rest)));
        }
    }

    #[test]
    fn what_does_not_fit_has_no_result() {
        assert_eq!(Operation::Add.apply(&[Integer(i64::MAX), Integer(1)]), None);
        assert_eq!(Operation::FloorDivide.apply(&[Integer(i64::MIN), Integer(-1)]), None);
        assert_eq!(Operation::Remainder.apply(&[Integer(i64::MIN), Integer(-1)]), None);
        assert_eq!(Operation::Negative.apply(&[Integer(i64::MIN)]), None);
        assert_eq!(Operation::TrueDivide.apply(&[Integer(1), Integer(0)]), None);
        assert_eq!(Operation::TrueDivide.apply(&[Integer((1 << 53) + 1), Integer(3)]), None);
        assert_eq!(Operation::ShiftLeft.apply(&[Integer(1), Integer(63)]), None);
    }

    #[test]
    fn floats_are_rounded_to_integers_that_fit() {
        for (value, floor, ceiling, whole, nearest) in
            [(2.5, 2, 3, 2, 2), (-2.5, -3, -2, -2, -2), (3.5, 3, 4, 3, 4), (-0.4, -1, 0, 0, 0), (7.0, 7, 7, 7, 7)]
        {
            let given = [Operation::Floor, Operation::Ceiling, Operation::Truncate, Operation::Round]
                .map(|operation| operation.apply(&[Float(value)]));
            assert_eq!(given, [floor, ceiling, whole, nearest].map(|integer| Some(Integer(integer))));
        }
        for value in [f64::NAN, f64::INFINITY, -1e19, 9_223_372_036_854_775_808.0] {
            assert_eq!(Operation::Truncate.apply(&[Float(value)]), None);
        }
        assert_eq!(Operation::Floor.apply(&[Float(-9_223_372_036_854_775_808.0)]), Some(Integer(i64::MIN)));
        assert_eq!(Operation::SquareRoot.apply(&[Integer(9)]), Some(Float(3.0)));
        assert_eq!(Operation::SquareRoot.apply(&[Integer(-1)]), None);
    }
}
