//! Sizes as rules see them: constants or symbols. No rule computes with, or decides by, anything but this.
use crate::symbol::{Comparison, Operation, SymbolicFloat, SymbolicSize};
use std::fmt::Debug;

/// A rule does not know what PyTorch gives: PyTorch is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsure;

/// What a rule knows.
pub type Known<T> = Result<T, Unsure>;

/// `Unsure` unless the condition holds, under which alone the rule is right.
pub fn sure(condition: bool) -> Known<()> {
    if condition { Ok(()) } else { Err(Unsure) }
}

/// Rules count no more numbers than these.
const MANY: f64 = 1e9;

/// The length of a dimension, a stride, an index.
///
/// A comparison may decide which branch a rule takes: a symbol that answers one keeps what it answered, as a guard. Arithmetic that
/// leaves 64 bits is `Unsure`.
pub trait Size: Clone + Debug + 'static {
    /// A float from which sizes follow.
    type Float: Clone + Debug + 'static;
    /// A number that no input changes.
    fn of(value: i64) -> Self;
    /// The number, where a rule must know it: a symbol is this number from then on.
    fn number(&self) -> Known<i64>;
    /// The sum.
    fn add(&self, other: &Self) -> Known<Self>;
    /// The difference.
    fn sub(&self, other: &Self) -> Known<Self>;
    /// The product.
    fn mul(&self, other: &Self) -> Known<Self>;
    /// The quotient, rounded down; the divisor is positive.
    fn floor_div(&self, other: &Self) -> Known<Self>;
    /// Whether they are equal.
    fn equals(&self, other: &Self) -> Known<bool>;
    /// Whether this one is less.
    fn less(&self, other: &Self) -> Known<bool>;

    /// Whether it is this number.
    fn is(&self, value: i64) -> Known<bool> {
        self.equals(&Self::of(value))
    }

    /// Whether it is negative.
    fn is_negative(&self) -> Known<bool> {
        self.less(&Self::of(0))
    }

    /// Whether it is not greater.
    fn at_most(&self, other: &Self) -> Known<bool> {
        Ok(!other.less(self)?)
    }

    /// The lesser.
    fn least(&self, other: &Self) -> Known<Self> {
        Ok(if self.less(other)? { self.clone() } else { other.clone() })
    }

    /// The greater.
    fn greatest(&self, other: &Self) -> Known<Self> {
        Ok(if self.less(other)? { other.clone() } else { self.clone() })
    }

    /// The quotient, rounded up; the divisor is positive.
    fn ceil_div(&self, other: &Self) -> Known<Self> {
        self.add(other)?.sub(&Self::of(1))?.floor_div(other)
    }

    /// The sum with a number.
    fn plus(&self, value: i64) -> Known<Self> {
        self.add(&Self::of(value))
    }

    /// The product with a float, rounded as C rounds it to an integer: towards zero.
    fn scaled(&self, factor: f64) -> Known<Self>;

    /// A float that no input changes.
    fn float(value: f64) -> Self::Float;

    /// The float that is nearest.
    fn to_float(&self) -> Self::Float;

    /// How many numbers there are from one float to another, the latter left out, with such a distance, which is positive.
    fn count(start: &Self::Float, end: &Self::Float, step: &Self::Float) -> Known<Self>;

    /// The product with a number.
    fn times(&self, value: i64) -> Known<Self> {
        self.mul(&Self::of(value))
    }
}

impl Size for i64 {
    type Float = f64;

    fn of(value: i64) -> Self {
        value
    }

    fn number(&self) -> Known<i64> {
        Ok(*self)
    }

    fn add(&self, other: &Self) -> Known<Self> {
        self.checked_add(*other).ok_or(Unsure)
    }

    fn sub(&self, other: &Self) -> Known<Self> {
        self.checked_sub(*other).ok_or(Unsure)
    }

    fn mul(&self, other: &Self) -> Known<Self> {
        self.checked_mul(*other).ok_or(Unsure)
    }

    fn floor_div(&self, other: &Self) -> Known<Self> {
        sure(*other > 0)?;
        Ok(self.div_euclid(*other))
    }

    fn scaled(&self, factor: f64) -> Known<Self> {
        let product = *self as f64 * factor;
        sure(product.abs() < 1e15)?;
        Ok(product as i64)
    }

    fn float(value: f64) -> f64 {
        value
    }

    fn to_float(&self) -> f64 {
        *self as f64
    }

    fn count(start: &f64, end: &f64, step: &f64) -> Known<Self> {
        sure(*step > 0.0)?;
        let count = (end - start) / step;
        sure((0.0..MANY).contains(&count))?;
        Ok(count.ceil() as i64)
    }

    fn equals(&self, other: &Self) -> Known<bool> {
        Ok(self == other)
    }

    fn less(&self, other: &Self) -> Known<bool> {
        Ok(self < other)
    }
}

impl Size for SymbolicSize {
    type Float = SymbolicFloat;

    fn of(value: i64) -> Self {
        Self::Known(value)
    }

    fn number(&self) -> Known<i64> {
        self.specialise().ok_or(Unsure)
    }

    fn add(&self, other: &Self) -> Known<Self> {
        self.apply(Operation::Add, other).ok_or(Unsure)
    }

    fn sub(&self, other: &Self) -> Known<Self> {
        self.apply(Operation::Subtract, other).ok_or(Unsure)
    }

    fn mul(&self, other: &Self) -> Known<Self> {
        self.apply(Operation::Multiply, other).ok_or(Unsure)
    }

    fn floor_div(&self, other: &Self) -> Known<Self> {
        sure(Self::Known(0).less(other)?)?;
        self.apply(Operation::FloorDivide, other).ok_or(Unsure)
    }

    fn scaled(&self, factor: f64) -> Known<Self> {
        self.times_float(factor).ok_or(Unsure)
    }

    fn float(value: f64) -> SymbolicFloat {
        SymbolicFloat::Known(value)
    }

    fn to_float(&self) -> SymbolicFloat {
        SymbolicFloat::of(self)
    }

    fn count(start: &SymbolicFloat, end: &SymbolicFloat, step: &SymbolicFloat) -> Known<Self> {
        let holds =
            |float: &SymbolicFloat, comparison, number| float.compare(comparison, number).ok_or(Unsure).and_then(sure);
        holds(step, Comparison::Greater, 0.0)?;
        let span = end.apply(Operation::Subtract, start).ok_or(Unsure)?;
        let count = span.apply(Operation::TrueDivide, step).ok_or(Unsure)?;
        holds(&count, Comparison::GreaterOrEqual, 0.0)?;
        holds(&count, Comparison::Less, MANY)?;
        count.ceiling().ok_or(Unsure)
    }

    fn equals(&self, other: &Self) -> Known<bool> {
        self.compare(Comparison::Equal, other).ok_or(Unsure)
    }

    fn less(&self, other: &Self) -> Known<bool> {
        self.compare(Comparison::Less, other).ok_or(Unsure)
    }

    fn least(&self, other: &Self) -> Known<Self> {
        let is_less = self.is_never_greater(other).map_or_else(|| self.at_most(other), Ok)?;
        Ok(if is_less { self.clone() } else { other.clone() })
    }

    fn greatest(&self, other: &Self) -> Known<Self> {
        let is_less = self.is_never_greater(other).map_or_else(|| self.less(other), Ok)?;
        Ok(if is_less { other.clone() } else { self.clone() })
    }
}

/// The product of sizes: how many elements there are.
pub fn product<S: Size>(sizes: &[S]) -> Known<S> {
    sizes.iter().try_fold(S::of(1), |product, size| product.mul(size))
}

/// Whether two shapes, or the strides of two tensors, are equal.
pub fn all_equal<S: Size>(one: &[S], other: &[S]) -> Known<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    for (one, other) in one.iter().zip(other) {
        if !one.equals(other)? {
            return Ok(false);
        }
    }
    Ok(true)
}
