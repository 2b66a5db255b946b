//! Integers as sums of products: the form in which equal expressions are one expression.
use super::expression::{ExpressionId, Symbol};
use super::operation::Operation;
use smallvec::SmallVec;

/// What products are made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Factor {
    /// An input.
    Input(Symbol),
    /// An operation that is no sum of products.
    Applied(Operation, SmallVec<[ExpressionId; 2]>),
}

/// A product, and how often it is in the sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term {
    pub coefficient: i64,
    /// In order; never empty.
    pub factors: SmallVec<[Factor; 2]>,
}

/// A constant and products, these in order and each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    pub constant: i64,
    pub terms: Vec<Term>,
}

/// Terms that a sum has at most: products of sums would grow without end.
const MOST: usize = 24;

impl Sum {
    pub fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub fn factor(factor: Factor) -> Self {
        Self { constant: 0, terms: vec![Term { coefficient: 1, factors: SmallVec::from_iter([factor]) }] }
    }

    /// The constant that it is.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    fn insert(&mut self, term: &Term) -> Option<()> {
        match self.terms.binary_search_by(|known| known.factors.cmp(&term.factors)) {
            Ok(index) => {
                let coefficient = self.terms[index].coefficient.checked_add(term.coefficient)?;
                match coefficient {
                    0 => drop(self.terms.remove(index)),
                    _ => self.terms[index].coefficient = coefficient,
                }
            }
            Err(_) if term.coefficient == 0 => {}
            Err(index) => self.terms.insert(index, term.clone()),
        }
        (self.terms.len() <= MOST).then_some(())
    }

    pub fn add(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant)?;
        other.terms.iter().try_for_each(|term| sum.insert(term))?;
        Some(sum)
    }

    pub fn scale(&self, by: i64) -> Option<Self> {
        if by == 0 {
            return Some(Self::default());
        }
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_mul(by)?;
        for term in &mut sum.terms {
            term.coefficient = term.coefficient.checked_mul(by)?;
        }
        Some(sum)
    }

    pub fn subtract(&self, other: &Self) -> Option<Self> {
        self.add(&other.scale(-1)?)
    }

    pub fn multiply(&self, other: &Self) -> Option<Self> {
        let mut product = self.scale(other.constant)?;
        for term in &other.terms {
            let constant = self.constant.checked_mul(term.coefficient)?;
            product.insert(&Term { coefficient: constant, factors: term.factors.clone() })?;
            for own in &self.terms {
                let mut factors: SmallVec<[Factor; 2]> = own.factors.iter().chain(&term.factors).cloned().collect();
                factors.sort();
                product.insert(&Term { coefficient: own.coefficient.checked_mul(term.coefficient)?, factors })?;
            }
        }
        Some(product)
    }

    /// The quotient by a single product that is in every term; whoever divides knows that it is not zero.
    pub fn divide(&self, by: &Self) -> Option<Self> {
        let ([divisor], 0, 0) = (by.terms.as_slice(), by.constant, self.constant) else { return None };
        let mut quotient = Self::default();
        for term in &self.terms {
            let mut factors = term.factors.clone();
            for factor in &divisor.factors {
                let index = factors.iter().position(|known| known == factor)?;
                factors.remove(index);
            }
            if term.coefficient.checked_rem(divisor.coefficient) != Some(0) {
                return None;
            }
            let coefficient = term.coefficient.checked_div(divisor.coefficient)?;
            match factors.is_empty() {
                true => quotient.constant = coefficient,
                false => quotient.insert(&Term { coefficient, factors })?,
            }
        }
        Some(quotient)
    }

    /// The greatest number that divides all coefficients; 0 where there are none.
    pub fn divisor(&self) -> i64 {
        let common = self.terms.iter().fold(0_u64, |common, term| gcd(common, term.coefficient.unsigned_abs()));
        i64::try_from(common).unwrap_or(1)
    }
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
