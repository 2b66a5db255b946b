//! Floats that rules compute sizes with.
use super::ids::ExpressionId;
use super::number::{Comparison, Number};
use super::operation::Operation;
use super::sizes::{SizeArithmetic, SymbolicSize};

/// A float that rules compute with.
#[derive(Clone, Debug)]
pub enum SymbolicFloat {
    /// A number that no input changes.
    Known(f64),
    /// An expression of what comes in.
    Open {
        /// The expression.
        expression: ExpressionId,
        /// Where it is computed.
        arithmetic: SizeArithmetic,
    },
    /// A number that has no expression: nothing is known that depends on it.
    Unknown,
}

impl SymbolicFloat {
    /// An integer as the float that is nearest.
    #[must_use]
    pub fn of(size: &SymbolicSize) -> Self {
        match size {
            SymbolicSize::Known(size) => Self::Known(Number::Integer(*size).nearest()),
            SymbolicSize::Open { expression, arithmetic, .. } => {
                let made = arithmetic.operation(Operation::ToFloat, &[*expression]);
                made.map_or(Self::Unknown, |expression| Self::Open { expression, arithmetic: arithmetic.clone() })
            }
            SymbolicSize::Unknown => Self::Unknown,
        }
    }

    /// The result of an operation on two; `None` where it has no expression.
    #[must_use]
    pub fn apply(&self, operation: Operation, other: &Self) -> Option<Self> {
        if let (Self::Known(one), Self::Known(other)) = (self, other) {
            let Some(Number::Float(made)) = operation.apply(&[Number::Float(*one), Number::Float(*other)]) else {
                return None;
            };
            return Some(Self::Known(made));
        }
        let arithmetic = self.arithmetic().or_else(|| other.arithmetic())?.clone();
        let operands = [self.expression(&arithmetic)?, other.expression(&arithmetic)?];
        let expression = arithmetic.operation(operation, &operands)?;
        Some(Self::Open { expression, arithmetic })
    }

    /// The integer that it is rounded up to; `None` where it has none of 64 bits.
    #[must_use]
    pub fn ceiling(&self) -> Option<SymbolicSize> {
        match self {
            Self::Known(known) => match Operation::Ceiling.apply(&[Number::Float(*known)])? {
                Number::Integer(whole) => Some(SymbolicSize::Known(whole)),
                Number::Float(_) => None,
            },
            Self::Open { expression, arithmetic } => {
                arithmetic.operation(Operation::Ceiling, &[*expression]).map(|made| arithmetic.size(made))
            }
            Self::Unknown => None,
        }
    }

    /// Whether it compares so with a number: always, or in this call; then it is relied on. `None`: nobody knows.
    #[must_use]
    pub fn compare(&self, comparison: Comparison, number: f64) -> Option<bool> {
        match self {
            Self::Known(known) => comparison.holds(Number::Float(*known), Number::Float(number)),
            Self::Open { expression, arithmetic } => {
                arithmetic.compare(comparison, *expression, arithmetic.constant(Number::Float(number)))
            }
            Self::Unknown => None,
        }
    }

    fn arithmetic(&self) -> Option<&SizeArithmetic> {
        match self {
            Self::Open { arithmetic, .. } => Some(arithmetic),
            _ => None,
        }
    }

    fn expression(&self, arithmetic: &SizeArithmetic) -> Option<ExpressionId> {
        match self {
            Self::Known(known) => Some(arithmetic.constant(Number::Float(*known))),
            Self::Open { expression, .. } => Some(*expression),
            Self::Unknown => None,
        }
    }
}
