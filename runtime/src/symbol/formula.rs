//! Expressions as flat programs: what a guard computes from the numbers that come in.
use super::expression::{Expression, Expressions};
use super::ids::{ExpressionId, Symbol};
use super::number::Number;
use super::operation::Operation;
use super::sum::{Factor, Sum, Term};
use smallvec::SmallVec;
use std::fmt::Write;

/// A step: what it pushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A number.
    Constant(Number),
    /// What comes in.
    Input(Symbol),
    /// What the operation gives for the last numbers, which are popped.
    Apply(Operation),
}

/// An expression without its table.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub(super) steps: Box<[Step]>,
    pub(super) text: Box<str>,
}

impl Formula {
    /// The number that it is, whatever comes in.
    #[must_use]
    pub fn known(&self) -> Option<Number> {
        match *self.steps {
            [Step::Constant(number)] => Some(number),
            _ => None,
        }
    }

    /// Flattens an expression.
    #[must_use]
    pub fn new(table: &Expressions, id: ExpressionId) -> Self {
        let (mut steps, mut text) = (Vec::new(), String::new());
        flatten(table, id, &mut steps);
        write(table, id, &mut text, false);
        Self { steps: steps.into(), text: text.into() }
    }

    /// Adds the inputs that it needs, each once.
    pub(super) fn symbols(&self, found: &mut Vec<Symbol>) {
        for step in &self.steps {
            if let Step::Input(symbol) = step
                && !found.contains(symbol)
            {
                found.push(*symbol);
            }
        }
    }

    /// Computes it; `None` where something on the way does not fit.
    #[must_use]
    pub fn evaluate(&self, input: &impl Fn(Symbol) -> Option<Number>) -> Option<Number> {
        let mut stack: SmallVec<[Number; 8]> = SmallVec::new();
        for step in &self.steps {
            match step {
                Step::Constant(number) => stack.push(*number),
                Step::Input(symbol) => stack.push(input(*symbol)?),
                Step::Apply(operation) => {
                    let first = stack.len().checked_sub(operation.arity())?;
                    let result = operation.apply(&stack[first..])?;
                    stack.truncate(first);
                    stack.push(result);
                }
            }
        }
        stack.pop()
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn flatten(table: &Expressions, id: ExpressionId, steps: &mut Vec<Step>) {
    match table.get(id) {
        Expression::Sum(sum) => flatten_sum(table, sum, steps),
        Expression::Float(bits) => steps.push(Step::Constant(Number::Float(f64::from_bits(*bits)))),
        Expression::Input(symbol) => steps.push(Step::Input(*symbol)),
        Expression::Applied(operation, operands) => {
            operands.iter().for_each(|operand| flatten(table, *operand, steps));
            steps.push(Step::Apply(*operation));
        }
    }
}

fn flatten_sum(table: &Expressions, sum: &Sum, steps: &mut Vec<Step>) {
    let mut count = 0;
    if sum.constant != 0 || sum.terms.is_empty() {
        steps.push(Step::Constant(Number::Integer(sum.constant)));
        count += 1;
    }
    for term in &sum.terms {
        let mut factors = 0;
        if term.coefficient != 1 {
            steps.push(Step::Constant(Number::Integer(term.coefficient)));
            factors += 1;
        }
        for factor in &term.factors {
            match factor {
                Factor::Input(symbol) => steps.push(Step::Input(*symbol)),
                Factor::Applied(operation, operands) => {
                    operands.iter().for_each(|operand| flatten(table, *operand, steps));
                    steps.push(Step::Apply(*operation));
                }
            }
            factors += 1;
            if factors > 1 {
                steps.push(Step::Apply(Operation::Multiply));
            }
        }
        count += 1;
        if count > 1 {
            steps.push(Step::Apply(Operation::Add));
        }
    }
}

fn write(table: &Expressions, id: ExpressionId, text: &mut String, inner: bool) {
    match table.get(id) {
        Expression::Sum(sum) => {
            let is_product = |term: &Term| term.coefficient != 1 || term.factors.len() > 1;
            let parts = sum.terms.len() + usize::from(sum.constant != 0);
            let brackets = inner && (parts > 1 || sum.terms.first().is_some_and(is_product));
            if brackets {
                text.push('(');
            }
            write_sum(table, sum, text);
            if brackets {
                text.push(')');
            }
        }
        Expression::Float(bits) => {
            let _ = write!(text, "{:?}", f64::from_bits(*bits));
        }
        Expression::Input(symbol) => {
            let _ = write!(text, "s{}", symbol.0);
        }
        Expression::Applied(operation, operands) => write_operation(table, *operation, operands, text, inner),
    }
}

fn write_operation(
    table: &Expressions,
    operation: Operation,
    operands: &[ExpressionId],
    text: &mut String,
    inner: bool,
) {
    if operation.is_function() {
        let _ = write!(text, "{}", operation.sign());
        for (index, operand) in operands.iter().enumerate() {
            text.push_str(if index == 0 { "(" } else { ", " });
            write(table, *operand, text, false);
        }
        text.push(')');
        return;
    }
    if inner {
        text.push('(');
    }
    match operands {
        [left, right] => {
            write(table, *left, text, true);
            let _ = write!(text, " {} ", operation.sign());
            write(table, *right, text, true);
        }
        _ => {
            text.push_str(operation.sign());
            operands.iter().for_each(|operand| write(table, *operand, text, true));
        }
    }
    if inner {
        text.push(')');
    }
}

/// Products first, then the constant; what is subtracted with its sign.
pub(super) fn write_sum(table: &Expressions, sum: &Sum, text: &mut String) {
    for (index, term) in sum.terms.iter().enumerate() {
        let sign = match (index, term.coefficient < 0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        text.push_str(sign);
        write_term(table, term, text);
    }
    let constant = sum.constant;
    let _ = match (sum.terms.is_empty(), constant) {
        (true, _) => write!(text, "{constant}"),
        (false, 0) => Ok(()),
        (false, _) if constant < 0 => write!(text, " - {}", constant.unsigned_abs()),
        (false, _) => write!(text, " + {constant}"),
    };
}

fn write_term(table: &Expressions, term: &Term, text: &mut String) {
    let size = term.coefficient.unsigned_abs();
    if size != 1 {
        let _ = write!(text, "{size}*");
    }
    for (index, factor) in term.factors.iter().enumerate() {
        if index > 0 {
            text.push('*');
        }
        match factor {
            Factor::Input(symbol) => {
                let _ = write!(text, "s{}", symbol.0);
            }
            Factor::Applied(operation, operands) => write_operation(table, *operation, operands, text, true),
        }
    }
}
