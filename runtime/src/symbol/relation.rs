//! Comparisons of expressions: simplified, decided where nothing that comes in matters, or kept as conditions.
use super::expression::{Expression, Expressions};
use super::formula::Formula;
use super::ids::{ExpressionId, Symbol};
use super::number::{Comparison, Number};
use super::sum::{Factor, Sum};

/// A comparison of two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    /// How they compare.
    pub comparison: Comparison,
    /// On the left.
    pub left: ExpressionId,
    /// On the right.
    pub right: ExpressionId,
}

/// What is known of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is always so.
    Known(bool),
    /// It is as this simpler one, which depends on what comes in.
    Open(Relation),
}

/// Where the truth of a comparison changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Next to this number.
    At(i64),
    /// Where two inputs change places.
    Between,
}

impl Expressions {
    /// Simplifies a comparison. Integers are compared as sums: `2*s0 + 1 < s1` is `2*s0 <= s1 - 2`.
    pub fn decide(&mut self, relation: Relation) -> Decision {
        let Relation { comparison, left, right } = relation;
        if let (Some(one), Some(other)) = (self.known(left), self.known(right))
            && let Some(truth) = comparison.holds(one, other)
        {
            return Decision::Known(truth);
        }
        let difference = match (self.sum(left), self.sum(right)) {
            (Some(left), Some(right)) => left.subtract(right),
            _ => None,
        };
        match difference {
            Some(difference) => self.decide_difference(comparison, difference).unwrap_or(Decision::Open(relation)),
            None => Decision::Open(relation),
        }
    }

    /// `difference comparison 0`; `None` where its simpler form does not fit.
    fn decide_difference(&mut self, comparison: Comparison, difference: Sum) -> Option<Decision> {
        let zero = Number::Integer(0);
        if let Some(known) = difference.known() {
            return comparison.holds(Number::Integer(known), zero).map(Decision::Known);
        }
        if let Some(decided) = self.decide_by_minimum(comparison, &difference) {
            return Some(Decision::Known(decided));
        }
        let constant = difference.constant.checked_neg()?;
        let mut terms = Sum { constant: 0, terms: difference.terms };
        let mut comparison = comparison;
        let mut bound = constant;
        if terms.terms.first().is_some_and(|term| term.coefficient < 0) {
            (terms, bound, comparison) = (terms.scale(-1)?, bound.checked_neg()?, comparison.mirrored());
        }
        let divisor = terms.divisor().max(1);
        terms.terms.iter_mut().for_each(|term| term.coefficient /= divisor);
        let (floor, exact) = (bound.div_euclid(divisor), bound % divisor == 0);
        let (comparison, bound) = match comparison {
            Comparison::Equal if !exact => return Some(Decision::Known(false)),
            Comparison::NotEqual if !exact => return Some(Decision::Known(true)),
            Comparison::Less if exact => (Comparison::LessOrEqual, floor.checked_sub(1)?),
            Comparison::Less | Comparison::LessOrEqual => (Comparison::LessOrEqual, floor),
            Comparison::GreaterOrEqual if exact => (Comparison::GreaterOrEqual, floor),
            Comparison::Greater | Comparison::GreaterOrEqual => (Comparison::GreaterOrEqual, floor.checked_add(1)?),
            equal => (equal, floor),
        };
        // What is subtracted on the left is added on the right.
        let (left, right) = terms.terms.into_iter().partition(|term| term.coefficient > 0);
        let left = Sum { constant: 0, terms: left };
        let right = Sum { constant: 0, terms: right }.scale(-1)?.add(&Sum::constant(bound))?;
        let (left, right) = (self.intern(Expression::Sum(left)), self.intern(Expression::Sum(right)));
        Some(Decision::Open(Relation { comparison, left, right }))
    }

    /// Where the truth of a simplified comparison changes: one of an input with a constant, or of two inputs; `None`: it is another one.
    #[must_use]
    pub fn cut(&self, relation: Relation) -> Option<Cut> {
        let is_input = |sum: &Sum| match &*sum.terms {
            [term] => term.coefficient == 1 && matches!(&*term.factors, [Factor::Input(_)]),
            _ => false,
        };
        let (left, right) = (self.sum(relation.left)?, self.sum(relation.right)?);
        if !is_input(left) || left.constant != 0 {
            return None;
        }
        if let Some(known) = right.known() {
            return Some(Cut::At(known));
        }
        // `s0 <= s1 - 1` is `s0 < s1`.
        let is_order = match relation.comparison {
            Comparison::LessOrEqual => [0, -1].contains(&right.constant),
            Comparison::GreaterOrEqual => [0, 1].contains(&right.constant),
            _ => right.constant == 0,
        };
        (is_order && is_input(right)).then_some(Cut::Between)
    }

    fn decide_by_minimum(&self, comparison: Comparison, difference: &Sum) -> Option<bool> {
        let positive = self.minimum(difference);
        let negative = difference.scale(-1).and_then(|negative| self.minimum(&negative));
        let (above, below) = (positive.is_some_and(|least| least > 0), negative.is_some_and(|least| least > 0));
        let (not_below, not_above) =
            (positive.is_some_and(|least| least >= 0), negative.is_some_and(|least| least >= 0));
        match comparison {
            Comparison::Less if below => Some(true),
            Comparison::Less if not_below => Some(false),
            Comparison::LessOrEqual if not_above => Some(true),
            Comparison::LessOrEqual if above => Some(false),
            Comparison::Greater if above => Some(true),
            Comparison::Greater if not_above => Some(false),
            Comparison::GreaterOrEqual if not_below => Some(true),
            Comparison::GreaterOrEqual if below => Some(false),
            Comparison::Equal if above || below => Some(false),
            Comparison::NotEqual if above || below => Some(true),
            _ => None,
        }
    }
}

impl Relation {
    /// The relation that holds where the expression fits into 64 bits, or is a float and no NaN.
    #[must_use]
    pub fn fits(expression: ExpressionId) -> Self {
        Self { comparison: Comparison::Equal, left: expression, right: expression }
    }
}

/// A relation without its table: what a guard checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) comparison: Comparison,
    pub(super) left: Formula,
    pub(super) right: Formula,
}

impl Condition {
    /// Flattens a relation.
    #[must_use]
    pub fn new(table: &Expressions, relation: Relation) -> Self {
        Self {
            comparison: relation.comparison,
            left: Formula::new(table, relation.left),
            right: Formula::new(table, relation.right),
        }
    }

    /// Adds the inputs that it looks at, each once.
    pub fn symbols(&self, found: &mut Vec<Symbol>) {
        self.left.symbols(found);
        self.right.symbols(found);
    }

    /// What it compares with an integer that it asks for.
    #[must_use]
    pub fn asked(&self) -> Option<(&Formula, i64)> {
        match (self.comparison, self.right.known()?) {
            (Comparison::Equal, Number::Integer(integer)) => Some((&self.left, integer)),
            _ => None,
        }
    }

    /// Whether it holds; not where something on the way does not fit.
    #[must_use]
    pub fn holds(&self, input: &impl Fn(Symbol) -> Option<Number>) -> bool {
        let compared = || self.comparison.holds(self.left.evaluate(input)?, self.right.evaluate(input)?);
        compared() == Some(true)
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.left == self.right {
            return write!(f, "{} fits into 64 bits, and is no nan", self.left.text());
        }
        write!(f, "{} {} {}", self.left.text(), self.comparison.sign(), self.right.text())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Operation};
    use super::*;

    fn symbols(table: &mut Expressions) -> [ExpressionId; 2] {
        [0, 1].map(|symbol| table.input(Symbol(symbol), Kind::Integer))
    }

    fn open(table: &mut Expressions, comparison: Comparison, left: ExpressionId, right: ExpressionId) -> String {
        match table.decide(Relation { comparison, left, right }) {
            Decision::Known(truth) => truth.to_string(),
            Decision::Open(relation) => Condition::new(table, relation).to_string(),
        }
    }

    fn apply(table: &mut Expressions, operation: Operation, left: ExpressionId, right: i64) -> ExpressionId {
        let right = table.constant(Number::Integer(right));
        table.apply(operation, &[left, right]).expect("an expression")
    }

    #[test]
    fn equal_expressions_are_one() {
        let table = &mut Expressions::default();
        let [one, other] = symbols(table);
        let left = table.apply(Operation::Add, &[one, other]);
        assert_eq!(left, table.apply(Operation::Add, &[other, one]));
        let doubled = apply(table, Operation::Multiply, one, 2);
        assert_eq!(Some(doubled), table.apply(Operation::Add, &[one, one]));
        assert_eq!(apply(table, Operation::FloorDivide, doubled, 2), one);
        let tripled = apply(table, Operation::Multiply, one, 3);
        let three = table.constant(Number::Integer(3));
        assert_eq!(table.apply(Operation::FloorDivide, &[tripled, one]), Some(three));
    }

    #[test]
    fn comparisons_are_simplified() {
        let table = &mut Expressions::default();
        let [one, other] = symbols(table);
        let doubled = apply(table, Operation::Multiply, one, 2);
        let more = apply(table, Operation::Add, other, 4);
        assert_eq!(open(table, Comparison::Less, doubled, more), "2*s0 <= s1 + 3");
        let six = table.constant(Number::Integer(6));
        let seven = table.constant(Number::Integer(7));
        assert_eq!(open(table, Comparison::Equal, doubled, six), "s0 == 3");
        assert_eq!(open(table, Comparison::Equal, doubled, seven), "false");
        assert_eq!(open(table, Comparison::Less, doubled, seven), "s0 <= 3");
        assert_eq!(open(table, Comparison::Greater, doubled, seven), "s0 >= 4");
        let next = apply(table, Operation::Add, one, 1);
        assert_eq!(open(table, Comparison::Less, one, next), "true");
    }

    #[test]
    fn minima_decide() {
        let table = &mut Expressions::default();
        let [one, other] = symbols(table);
        table.bound(Symbol(0), 2);
        table.bound(Symbol(1), 2);
        let product = table.apply(Operation::Multiply, &[one, other]).expect("a product");
        let three = table.constant(Number::Integer(3));
        let five = table.constant(Number::Integer(5));
        assert_eq!(open(table, Comparison::Greater, product, three), "true");
        assert_eq!(open(table, Comparison::Greater, product, five), "s0*s1 >= 6");
    }

    #[test]
    fn extremes_are_beside_both() {
        let table = &mut Expressions::default();
        let [one, other] = symbols(table);
        table.bound(Symbol(0), 2);
        let [least, greatest] =
            [Operation::Least, Operation::Greatest].map(|extreme| table.apply(extreme, &[one, other]).expect("one"));
        assert_eq!(Some(least), table.apply(Operation::Least, &[other, one]));
        assert_eq!(open(table, Comparison::LessOrEqual, least, other), "true");
        assert_eq!(open(table, Comparison::Less, greatest, one), "false");
        assert_eq!(open(table, Comparison::LessOrEqual, least, greatest), "true");
        let capped = apply(table, Operation::Least, one, 8);
        let eight = table.constant(Number::Integer(8));
        assert_eq!(open(table, Comparison::Greater, capped, eight), "false");
        assert_eq!(apply(table, Operation::Greatest, one, 1), one);
    }

    #[test]
    fn overflow_fails() {
        let table = &mut Expressions::default();
        let [one, other] = symbols(table);
        let product = table.apply(Operation::Multiply, &[one, other]).expect("a product");
        let condition = Condition::new(table, Relation::fits(product));
        let with =
            |values: [i64; 2]| condition.holds(&|symbol| values.get(symbol.0 as usize).copied().map(Number::Integer));
        assert!(with([1 << 31, 1 << 31]));
        assert!(!with([1 << 32, 1 << 31]));
    }
}
