//! Interned expressions: two that are equal by the rules here are one.
use super::ids::{ExpressionId, Symbol};
use super::number::Number;
use super::operation::{Operation, SMALL};
use super::sum::{Factor, Sum};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An `int`.
    Integer,
    /// A `float`.
    Float,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Expression {
    /// An integer.
    Sum(Sum),
    /// A float that is known, by its bits.
    Float(u64),
    /// A float that comes in.
    Input(Symbol),
    /// An operation that gives a float. None is simplified: floats are rounded.
    Applied(Operation, SmallVec<[ExpressionId; 2]>),
}

/// The expressions of one trace.
#[derive(Debug, Default)]
pub struct Expressions {
    table: Vec<Expression>,
    known: FxHashMap<Expression, ExpressionId>,
    /// What an input is at least.
    pub(super) minima: FxHashMap<Symbol, i64>,
}

impl Expressions {
    pub(super) fn get(&self, id: ExpressionId) -> &Expression {
        &self.table[id.0 as usize]
    }

    pub(super) fn intern(&mut self, expression: Expression) -> ExpressionId {
        if let Some(known) = self.known.get(&expression) {
            return *known;
        }
        let id = ExpressionId(self.table.len() as u32);
        self.table.push(expression.clone());
        self.known.insert(expression, id);
        id
    }

    /// An input.
    pub fn input(&mut self, symbol: Symbol, kind: Kind) -> ExpressionId {
        self.intern(match kind {
            Kind::Integer => Expression::Sum(Sum::factor(Factor::Input(symbol))),
            Kind::Float => Expression::Input(symbol),
        })
    }

    /// An input is never less: the caller sees to that.
    pub fn bound(&mut self, symbol: Symbol, minimum: i64) {
        self.minima.insert(symbol, minimum);
    }

    /// A number that is known.
    pub fn constant(&mut self, number: Number) -> ExpressionId {
        self.intern(match number {
            Number::Integer(value) => Expression::Sum(Sum::constant(value)),
            Number::Float(value) => Expression::Float(value.to_bits()),
        })
    }

    /// The number that an expression is, whatever comes in.
    #[must_use]
    pub fn known(&self, id: ExpressionId) -> Option<Number> {
        match self.get(id) {
            Expression::Sum(sum) => sum.known().map(Number::Integer),
            Expression::Float(bits) => Some(Number::Float(f64::from_bits(*bits))),
            _ => None,
        }
    }

    /// What it gives.
    #[must_use]
    pub fn kind(&self, id: ExpressionId) -> Kind {
        match self.get(id) {
            Expression::Sum(_) => Kind::Integer,
            _ => Kind::Float,
        }
    }

    pub(super) fn sum(&self, id: ExpressionId) -> Option<&Sum> {
        match self.get(id) {
            Expression::Sum(sum) => Some(sum),
            _ => None,
        }
    }

    /// An operation; `None` where there is no expression for it.
    pub fn apply(&mut self, operation: Operation, operands: &[ExpressionId]) -> Option<ExpressionId> {
        let integers = operands.iter().all(|operand| self.kind(*operand) == Kind::Integer);
        if integers && !operation.gives_float() {
            let sum = self.of_integers(operation, operands)?;
            return Some(self.intern(Expression::Sum(sum)));
        }
        let known: Option<Vec<Number>> = operands.iter().map(|operand| self.known(*operand)).collect();
        if let Some(known) = known {
            return operation.apply(&known).map(|number| self.constant(number));
        }
        if operation.is_of_integers() && operation != Operation::Power {
            return None;
        }
        Some(self.intern(match operation.rounds() {
            true => Expression::Sum(Sum::factor(Factor::Applied(operation, operands.into()))),
            false => Expression::Applied(operation, operands.into()),
        }))
    }

    fn of_integers(&self, operation: Operation, operands: &[ExpressionId]) -> Option<Sum> {
        let [left, rest @ ..] = operands else { return None };
        let left_sum = self.sum(*left)?;
        let opaque = || Sum::factor(Factor::Applied(operation, operands.into()));
        let Some(right) = rest.first().map(|right| self.sum(*right)) else {
            return match operation {
                Operation::Negative => left_sum.scale(-1),
                Operation::Positive => Some(left_sum.clone()),
                rounding if rounding.rounds() => Some(left_sum.clone()),
                // ~x == -x - 1
                Operation::Invert => left_sum.scale(-1)?.add(&Sum::constant(-1)),
                Operation::IntegerRoot | Operation::BitLength => Some(opaque()),
                Operation::Absolute => match left_sum.known() {
                    Some(known) => known.checked_abs().map(Sum::constant),
                    None => Some(opaque()),
                },
                _ => None,
            };
        };
        let right = right?;
        if let (Some(left), Some(right)) = (left_sum.known(), right.known()) {
            return match operation.apply(&[Number::Integer(left), Number::Integer(right)])? {
                Number::Integer(value) => Some(Sum::constant(value)),
                Number::Float(_) => None,
            };
        }
        match (operation, right.known()) {
            (Operation::Add, _) => left_sum.add(right),
            (Operation::Subtract, _) => left_sum.subtract(right),
            (Operation::Multiply, _) => left_sum.multiply(right),
            (Operation::FloorDivide, Some(1)) => Some(left_sum.clone()),
            (Operation::FloorDivide, None) if let Some(quotient) = left_sum.divide(right) => Some(quotient),
            (Operation::Remainder, None) if left_sum.divide(right).is_some() => Some(Sum::constant(0)),
            (Operation::FloorDivide, Some(by)) if by != 0 && divides(left_sum, by) => Some(quotient(left_sum, by)),
            (Operation::Remainder, Some(by)) if by != 0 && divides(left_sum, by) => Some(Sum::constant(0)),
            (Operation::ShiftLeft, Some(bits)) if (0..SMALL).contains(&bits) => left_sum.scale(1 << bits),
            // A float.
            (Operation::Power, Some(exponent)) if !(0..=SMALL).contains(&exponent) => None,
            (Operation::Power, Some(exponent)) => {
                (0..exponent).try_fold(Sum::constant(1), |power, _| power.multiply(left_sum))
            }
            (Operation::ShiftRight, Some(_)) | (Operation::FloorDivide | Operation::Remainder, _) => Some(opaque()),
            (Operation::Least | Operation::Greatest, _) => {
                let (least, greatest) = match self.order(left_sum, right) {
                    Some(true) => (left_sum, right),
                    Some(false) => (right, left_sum),
                    None => return Some(in_order(operation, operands)),
                };
                Some(if operation == Operation::Least { least.clone() } else { greatest.clone() })
            }
            (
                Operation::And | Operation::Or | Operation::Xor | Operation::CommonDivisor | Operation::CommonMultiple,
                _,
            ) => Some(opaque()),
            (Operation::Power | Operation::ShiftLeft | Operation::ShiftRight, None) => Some(opaque()),
            _ => None,
        }
    }
}

impl Expressions {
    /// Whether the first is never greater than the second; `None`: that depends on what comes in.
    fn order(&self, left: &Sum, right: &Sum) -> Option<bool> {
        let never_negative = |sum: &Sum| self.minimum(sum).is_some_and(|least| least >= 0);
        if never_negative(&right.subtract(left)?) {
            return Some(true);
        }
        never_negative(&left.subtract(right)?).then_some(false)
    }
}

/// An operation whose operands may change places.
fn in_order(operation: Operation, operands: &[ExpressionId]) -> Sum {
    let mut operands: SmallVec<[ExpressionId; 2]> = operands.into();
    operands.sort_unstable();
    Sum::factor(Factor::Applied(operation, operands))
}

fn divides(sum: &Sum, by: i64) -> bool {
    sum.constant.checked_rem(by) == Some(0) && sum.terms.iter().all(|term| term.coefficient.checked_rem(by) == Some(0))
}

fn quotient(sum: &Sum, by: i64) -> Sum {
    let mut quotient = sum.clone();
    quotient.constant /= by;
    quotient.terms.iter_mut().for_each(|term| term.coefficient /= by);
    quotient
}
