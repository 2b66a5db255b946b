//! Arithmetic of sizes: what rules compute with, and the relations that decide what rules give.
use super::expression::{Expressions, Kind};
use super::formula::Formula;
use super::ids::{ExpressionId, Symbol};
use super::number::{Comparison, Number};
use super::operation::Operation;
use super::relation::{Condition, Decision, Relation};
use std::cell::RefCell;
use std::rc::Rc;

/// What rules compute sizes with. Copies share one table of expressions and one record of relations.
#[derive(Clone, Debug)]
pub struct SizeArithmetic(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    expressions: Expressions,
    inputs: Vec<Number>,
    /// Relations that decided what rules gave: each holds in this call.
    relied: Vec<Relation>,
}

impl SizeArithmetic {
    /// For these inputs.
    #[must_use]
    pub fn new(expressions: Expressions, inputs: Vec<Number>) -> Self {
        Self(Rc::new(RefCell::new(State { expressions, inputs, relied: Vec::new() })))
    }

    /// Gives back the expressions, and the relations that rules relied on.
    #[must_use]
    pub fn finish(self) -> (Expressions, Vec<Relation>) {
        let State { expressions, relied, .. } = self.0.take();
        (expressions, relied)
    }

    /// A size as rules compute with it.
    #[must_use]
    pub fn size(&self, expression: ExpressionId) -> SymbolicSize {
        let state = self.0.borrow();
        if let Some(Number::Integer(known)) = state.expressions.known(expression) {
            return SymbolicSize::Known(known);
        }
        match Formula::new(&state.expressions, expression).evaluate(&|symbol| state.input(symbol)) {
            Some(Number::Integer(hint)) => SymbolicSize::Open { expression, hint, arithmetic: self.clone() },
            _ => SymbolicSize::Unknown,
        }
    }

    /// What comes in, as rules compute with it.
    #[must_use]
    pub fn input(&self, symbol: Symbol) -> SymbolicSize {
        let expression = self.0.borrow_mut().expressions.input(symbol, Kind::Integer);
        self.size(expression)
    }

    /// What a number that comes in is now, and whether it is at least 2 at all times.
    #[must_use]
    pub fn input_now(&self, symbol: Symbol) -> Option<(Number, bool)> {
        let state = self.0.borrow();
        let now = state.input(symbol)?;
        Some((now, state.expressions.minima.get(&symbol).is_some_and(|least| *least >= 2)))
    }

    /// The result of an operation, as an expression; `None` where it has none.
    #[must_use]
    pub fn operation(&self, operation: Operation, operands: &[ExpressionId]) -> Option<ExpressionId> {
        self.0.borrow_mut().expressions.apply(operation, operands)
    }

    /// A number that is known, as an expression.
    #[must_use]
    pub fn constant(&self, number: Number) -> ExpressionId {
        self.0.borrow_mut().expressions.constant(number)
    }

    /// What comes in, an integer or a float, as an expression.
    #[must_use]
    pub fn input_of_any_kind(&self, symbol: Symbol) -> Option<ExpressionId> {
        let mut state = self.0.borrow_mut();
        let kind = if matches!(state.input(symbol)?, Number::Integer(_)) { Kind::Integer } else { Kind::Float };
        Some(state.expressions.input(symbol, kind))
    }

    /// Whether a comparison holds: always, or in this call; then it is relied on. `None`: nobody knows.
    #[must_use]
    pub fn compare(&self, comparison: Comparison, left: ExpressionId, right: ExpressionId) -> Option<bool> {
        self.0.borrow_mut().holds(comparison, left, right)
    }

    /// What an expression looks at of what comes in.
    #[must_use]
    pub fn inputs(&self, expression: ExpressionId) -> Vec<Symbol> {
        self.0.borrow().expressions.inputs(expression)
    }

    /// An expression as it is written.
    #[must_use]
    pub fn text(&self, expression: ExpressionId) -> String {
        Formula::new(&self.0.borrow().expressions, expression).text().to_owned()
    }

    /// Does what may rely on relations; where it comes to nothing, none of them is relied on.
    pub fn tentatively<T>(&self, act: impl FnOnce() -> Option<T>) -> Option<T> {
        let before = self.0.borrow().relied.len();
        let done = act();
        if done.is_none() {
            self.0.borrow_mut().relied.truncate(before);
        }
        done
    }

    /// The expression for a size.
    #[must_use]
    pub fn expression(&self, size: &SymbolicSize) -> Option<ExpressionId> {
        match size {
            SymbolicSize::Known(size) => Some(self.0.borrow_mut().expressions.constant(Number::Integer(*size))),
            SymbolicSize::Open { expression, .. } => Some(*expression),
            SymbolicSize::Unknown => None,
        }
    }
}

impl State {
    fn input(&self, symbol: Symbol) -> Option<Number> {
        self.inputs.get(symbol.0 as usize).copied()
    }

    /// Whether a comparison holds: always, or in this call; then it is relied on.
    fn holds(&mut self, comparison: Comparison, left: ExpressionId, right: ExpressionId) -> Option<bool> {
        let open = match self.expressions.decide(Relation { comparison, left, right }) {
            Decision::Known(truth) => return Some(truth),
            Decision::Open(open) => open,
        };
        let opposite = Relation { comparison: open.comparison.opposite(), ..open };
        for (relation, truth) in [(open, true), (opposite, false)] {
            if Condition::new(&self.expressions, relation).holds(&|symbol| self.input(symbol)) {
                self.relied.push(relation);
                return Some(truth);
            }
        }
        None
    }
}

/// An integer that rules compute with.
#[derive(Clone, Debug)]
pub enum SymbolicSize {
    /// A number that no input changes.
    Known(i64),
    /// An expression of what comes in.
    Open {
        /// The expression.
        expression: ExpressionId,
        /// What it is in this call.
        hint: i64,
        /// Where it is computed.
        arithmetic: SizeArithmetic,
    },
    /// A number that has no expression: nothing is known that depends on it.
    Unknown,
}

impl SymbolicSize {
    /// What it is in this call.
    #[must_use]
    pub fn hint(&self) -> Option<i64> {
        match self {
            Self::Known(size) | Self::Open { hint: size, .. } => Some(*size),
            Self::Unknown => None,
        }
    }

    fn arithmetic(&self) -> Option<&SizeArithmetic> {
        match self {
            Self::Open { arithmetic, .. } => Some(arithmetic),
            _ => None,
        }
    }

    /// The result of an operation; `None` where it has none of 64 bits, or no expression.
    #[must_use]
    pub fn apply(&self, operation: Operation, other: &Self) -> Option<Self> {
        let hints = [self.hint()?, other.hint()?].map(Number::Integer);
        let Number::Integer(hint) = operation.apply(&hints)? else { return None };
        let Some(arithmetic) = self.arithmetic().or_else(|| other.arithmetic()) else { return Some(Self::Known(hint)) };
        let operands = [arithmetic.expression(self)?, arithmetic.expression(other)?];
        let expressions = &mut arithmetic.0.borrow_mut().expressions;
        let expression = expressions.apply(operation, &operands)?;
        Some(match expressions.known(expression) {
            Some(Number::Integer(known)) => Self::Known(known),
            _ => Self::Open { expression, hint, arithmetic: arithmetic.clone() },
        })
    }

    /// The product with a float, rounded towards zero; `None` where it has none of 64 bits.
    #[must_use]
    pub fn times_float(&self, factor: f64) -> Option<Self> {
        let apply = |hint: i64| {
            let product = Operation::Multiply.apply(&[Number::Integer(hint), Number::Float(factor)])?;
            match Operation::Truncate.apply(&[product])? {
                Number::Integer(whole) => Some(whole),
                Number::Float(_) => None,
            }
        };
        let hint = apply(self.hint()?)?;
        let Some(arithmetic) = self.arithmetic() else { return Some(Self::Known(hint)) };
        let size = arithmetic.expression(self)?;
        let expressions = &mut arithmetic.0.borrow_mut().expressions;
        let factor = expressions.constant(Number::Float(factor));
        let product = expressions.apply(Operation::Multiply, &[size, factor])?;
        let expression = expressions.apply(Operation::Truncate, &[product])?;
        Some(Self::Open { expression, hint, arithmetic: arithmetic.clone() })
    }

    /// Whether a comparison holds: always, or in this call; then it is relied on. `None`: nobody knows.
    #[must_use]
    pub fn compare(&self, comparison: Comparison, other: &Self) -> Option<bool> {
        let hints = [self.hint()?, other.hint()?].map(Number::Integer);
        let Some(arithmetic) = self.arithmetic().or_else(|| other.arithmetic()) else {
            return comparison.holds(hints[0], hints[1]);
        };
        let (left, right) = (arithmetic.expression(self)?, arithmetic.expression(other)?);
        arithmetic.0.borrow_mut().holds(comparison, left, right)
    }

    /// Whether it is never greater than another one, or never less; `None`: that depends on what comes in.
    #[must_use]
    pub fn is_never_greater(&self, other: &Self) -> Option<bool> {
        let arithmetic = self.arithmetic().or_else(|| other.arithmetic())?;
        let (left, right) = (arithmetic.expression(self)?, arithmetic.expression(other)?);
        let expressions = &mut arithmetic.0.borrow_mut().expressions;
        let mut holds = |comparison| expressions.decide(Relation { comparison, left, right }) == Decision::Known(true);
        if holds(Comparison::LessOrEqual) {
            return Some(true);
        }
        holds(Comparison::GreaterOrEqual).then_some(false)
    }

    /// The number that it is in this call, which is relied on.
    #[must_use]
    pub fn specialise(&self) -> Option<i64> {
        let hint = self.hint()?;
        self.compare(Comparison::Equal, &Self::Known(hint))?.then_some(hint)
    }
}
