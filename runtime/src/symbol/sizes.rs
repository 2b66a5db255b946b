//! Arithmetic of sizes: what rules compute, and what they assume where they must decide.
use super::expression::{ExpressionId, Expressions, Symbol};
use super::formula::Formula;
use super::number::{Comparison, Number};
use super::operation::Operation;
use super::relation::{Condition, Decision, Relation};
use std::sync::Arc;

/// The sizes of an array, of which some differ from call to call.
pub type Shape = Arc<[ExpressionId]>;

/// What rules compute sizes with.
#[derive(Debug)]
pub struct SizeArithmetic<'a> {
    expressions: &'a mut Expressions,
    inputs: &'a [Number],
    /// Relations that decided what rules gave: each holds in this call.
    pub assumed: Vec<Relation>,
}

impl<'a> SizeArithmetic<'a> {
    /// For these inputs.
    pub fn new(expressions: &'a mut Expressions, inputs: &'a [Number]) -> Self {
        Self { expressions, inputs, assumed: Vec::new() }
    }

    /// A size that is known.
    pub fn constant(&mut self, size: i64) -> ExpressionId {
        self.expressions.constant(Number::Integer(size))
    }

    /// The size that an expression is, whatever comes in.
    #[must_use]
    pub fn known(&self, size: ExpressionId) -> Option<i64> {
        match self.expressions.known(size)? {
            Number::Integer(size) => Some(size),
            Number::Float(_) => None,
        }
    }

    /// The size in this call.
    #[must_use]
    pub fn hint(&self, size: ExpressionId) -> Option<i64> {
        match Formula::new(self.expressions, size).evaluate(&|symbol| self.input(symbol))? {
            Number::Integer(size) => Some(size),
            Number::Float(_) => None,
        }
    }

    fn input(&self, symbol: Symbol) -> Option<Number> {
        self.inputs.get(symbol.0 as usize).copied()
    }

    /// The result of an operation.
    pub fn apply(&mut self, operation: Operation, left: ExpressionId, right: ExpressionId) -> Option<ExpressionId> {
        self.expressions.apply(operation, &[left, right])
    }

    /// The product.
    pub fn product(&mut self, sizes: &[ExpressionId]) -> Option<ExpressionId> {
        let one = self.constant(1);
        sizes.iter().try_fold(one, |product, size| self.apply(Operation::Multiply, product, *size))
    }

    /// Whether a comparison holds: always, or in this call, which is then assumed.
    pub fn holds(&mut self, comparison: Comparison, left: ExpressionId, right: ExpressionId) -> Option<bool> {
        let open = match self.expressions.decide(Relation { comparison, left, right }) {
            Decision::Known(truth) => return Some(truth),
            Decision::Open(open) => open,
        };
        for (relation, truth) in [(open, true), (Relation { comparison: open.comparison.opposite(), ..open }, false)] {
            if Condition::new(self.expressions, relation).holds(&|symbol| self.input(symbol)) {
                self.assumed.push(relation);
                return Some(truth);
            }
        }
        None
    }

    /// Whether two sizes are equal.
    pub fn equal(&mut self, left: ExpressionId, right: ExpressionId) -> Option<bool> {
        self.holds(Comparison::Equal, left, right)
    }

    /// Whether a size is this number.
    pub fn is(&mut self, size: ExpressionId, number: i64) -> Option<bool> {
        let number = self.constant(number);
        self.equal(size, number)
    }
}
