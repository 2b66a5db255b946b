//! Expressions taken apart, so that compiled code and graphs can compute them step by step.
use super::expression::{Expression, ExpressionId, Expressions, Symbol};
use super::formula::Formula;
use super::number::Number;
use super::operation::Operation;
use super::sum::{Factor, Sum, Term};
use smallvec::SmallVec;

/// The outermost step of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// A number that is known.
    Constant(Number),
    /// What comes in.
    Input(Symbol),
    /// An operation on simpler expressions.
    Applied(Operation, SmallVec<[ExpressionId; 2]>),
}

impl Expressions {
    /// Takes an expression apart.
    pub fn split(&mut self, id: ExpressionId) -> Split {
        match self.get(id).clone() {
            Expression::Sum(sum) => self.split_sum(sum),
            Expression::Float(bits) => Split::Constant(Number::Float(f64::from_bits(bits))),
            Expression::Input(symbol) => Split::Input(symbol),
            Expression::Applied(operation, operands) => Split::Applied(operation, operands),
        }
    }

    fn split_sum(&mut self, mut sum: Sum) -> Split {
        if let Some(known) = sum.known() {
            return Split::Constant(Number::Integer(known));
        }
        let last = match sum.constant {
            0 if sum.terms.len() == 1 => return self.split_term(sum.terms.remove(0)),
            0 => sum.terms.pop().map_or_else(Sum::default, |term| Sum { constant: 0, terms: vec![term] }),
            constant => {
                sum.constant = 0;
                Sum::constant(constant)
            }
        };
        self.applied(Operation::Add, sum, last)
    }

    fn split_term(&mut self, mut term: Term) -> Split {
        if term.coefficient != 1 {
            let factor = Sum::constant(term.coefficient);
            let rest = Sum { constant: 0, terms: vec![Term { coefficient: 1, ..term }] };
            return self.applied(Operation::Multiply, rest, factor);
        }
        match (term.factors.pop(), term.factors.is_empty()) {
            (Some(Factor::Input(symbol)), true) => Split::Input(symbol),
            (Some(Factor::Applied(operation, operands)), true) => Split::Applied(operation, operands),
            (Some(last), false) => {
                let rest = Sum { constant: 0, terms: vec![term] };
                self.applied(Operation::Multiply, rest, Sum::factor(last))
            }
            (None, _) => Split::Constant(Number::Integer(1)),
        }
    }

    fn applied(&mut self, operation: Operation, left: Sum, right: Sum) -> Split {
        let operands = [left, right].map(|sum| self.intern(Expression::Sum(sum)));
        Split::Applied(operation, SmallVec::from_slice(&operands))
    }

    /// The inputs of an expression, each once.
    #[must_use]
    pub fn inputs(&self, id: ExpressionId) -> Vec<Symbol> {
        let mut found = Vec::new();
        Formula::new(self, id).symbols(&mut found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    /// Computes by splitting.
    fn compute(table: &mut Expressions, id: ExpressionId, inputs: &[i64]) -> Option<Number> {
        match table.split(id) {
            Split::Constant(number) => Some(number),
            Split::Input(symbol) => inputs.get(symbol.0 as usize).copied().map(Number::Integer),
            Split::Applied(operation, operands) => {
                let operands: Option<Vec<_>> =
                    operands.into_iter().map(|operand| compute(table, operand, inputs)).collect();
                operation.apply(&operands?)
            }
        }
    }

    #[test]
    fn parts_make_the_whole() {
        let table = &mut Expressions::default();
        let [one, other] = [0, 1].map(|symbol| table.input(Symbol(symbol), Kind::Integer));
        let three = table.constant(Number::Integer(-3));
        let steps = [
            (Operation::Multiply, three),
            (Operation::Add, other),
            (Operation::Multiply, other),
            (Operation::FloorDivide, one),
            (Operation::Add, three),
        ];
        let whole = steps
            .into_iter()
            .fold(one, |whole, (operation, operand)| table.apply(operation, &[whole, operand]).expect("an expression"));
        let formula = Formula::new(table, whole);
        for inputs in [[2, 3], [7, -4], [-5, 11]] {
            let direct = formula.evaluate(&|symbol| inputs.get(symbol.0 as usize).copied().map(Number::Integer));
            assert_eq!(compute(table, whole, &inputs), direct);
            let [s0, s1] = inputs;
            assert_eq!(
                direct,
                Some(Number::Integer(
                    ((s0 * -3 + s1) * s1).div_euclid(s0)
                        - if s0 < 0 && ((s0 * -3 + s1) * s1) % s0 != 0 { 1 } else { 0 }
                        - 3
                ))
            );
        }
    }
}
