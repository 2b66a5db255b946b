//! What integers are at least, whatever comes in.
use super::expression::Expressions;
use super::operation::Operation;
use super::sum::{Factor, Sum};

impl Expressions {
    /// What an integer is at least, by what its factors are at least; `None`: not known.
    ///
    /// Each factor is its minimum and a rest that is not negative. Where no product of such rests is subtracted, the minimum is what
    /// remains without them: `6*s0*s1 - 6*s1` is at least 12, if `s0` and `s1` are at least 2.
    pub(super) fn minimum(&self, sum: &Sum) -> Option<i64> {
        let mut shifted = Sum::constant(sum.constant);
        for term in &sum.terms {
            let mut product = Sum::constant(term.coefficient);
            for factor in &term.factors {
                let least = Sum::constant(self.minimum_of_factor(factor)?);
                product = product.multiply(&Sum::factor(factor.clone()).add(&least)?)?;
            }
            shifted = shifted.add(&product)?;
        }
        shifted.terms.iter().all(|term| term.coefficient > 0).then_some(shifted.constant)
    }

    fn minimum_of_factor(&self, factor: &Factor) -> Option<i64> {
        let (operation, operands) = match factor {
            Factor::Input(symbol) => return self.minima.get(symbol).copied(),
            Factor::Applied(operation, operands) => (operation, operands),
        };
        let divisor = || self.sum(*operands.get(1)?)?.known().filter(|divisor| *divisor > 0);
        match operation {
            Operation::FloorDivide => {
                let divisor = divisor()?;
                Some(self.minimum(self.sum(*operands.first()?)?)?.div_euclid(divisor))
            }
            Operation::Remainder => divisor().map(|_| 0),
            Operation::Absolute | Operation::CommonDivisor | Operation::IntegerRoot => Some(0),
            _ => None,
        }
    }
}
