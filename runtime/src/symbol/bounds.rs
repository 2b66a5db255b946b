//! What integers are at least, whatever comes in.
use super::expression::Expressions;
use super::operation::Operation;
use super::sum::{Factor, Sum, Term};

/// Of how many terms both cases are looked at: there are as many as two to the power of that.
const FEW: usize = 4;

impl Expressions {
    /// What an integer is at least, by what its factors are at least; `None`: not known.
    ///
    /// Each factor is its minimum and a rest that is not negative. Where no product of such rests is subtracted, the minimum is what
    /// remains without them: `6*s0*s1 - 6*s1` is at least 12, if `s0` and `s1` are at least 2.
    pub(super) fn minimum(&self, sum: &Sum) -> Option<i64> {
        let simple = self.minimum_by_factors(sum);
        let is_extreme =
            |term: &Term| matches!(&*term.factors, [Factor::Applied(Operation::Least | Operation::Greatest, _)]);
        let extremes = sum.terms.iter().filter(|term| is_extreme(term)).count();
        match sum.terms.iter().position(is_extreme).filter(|_| extremes <= FEW) {
            Some(index) => self.minimum_by_cases(sum, index).max(simple),
            None => simple,
        }
    }

    /// The same where a term is the least or the greatest of two, which is one of them, and on one side of both.
    fn minimum_by_cases(&self, sum: &Sum, index: usize) -> Option<i64> {
        let mut rest = sum.clone();
        let term = rest.terms.remove(index);
        let [Factor::Applied(operation, operands)] = &*term.factors else { return None };
        let mut cases = operands.iter().map(|operand| {
            let case = self.sum(*operand)?.scale(term.coefficient)?;
            self.minimum(&rest.add(&case)?)
        });
        let (one, other) = (cases.next().flatten(), cases.next().flatten());
        // What is subtracted is never more than either.
        let is_beyond_both = (*operation == Operation::Least) == (term.coefficient < 0);
        if is_beyond_both { one.max(other) } else { Some(one?.min(other?)) }
    }

    fn minimum_by_factors(&self, sum: &Sum) -> Option<i64> {
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
            Operation::Absolute
            | Operation::CommonDivisor
            | Operation::CommonMultiple
            | Operation::IntegerRoot
            | Operation::BitLength => Some(0),
            Operation::Least | Operation::Greatest => {
                let mut each = operands.iter().map(|operand| self.minimum(self.sum(*operand)?));
                let (one, other) = (each.next().flatten(), each.next().flatten());
                if *operation == Operation::Greatest { one.max(other) } else { Some(one?.min(other?)) }
            }
            _ => None,
        }
    }
}
