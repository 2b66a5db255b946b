//! Arithmetic with numbers that contents of arrays decide: the graph does it, where no numbers make it raise.
use super::compute::compute;
use super::inputs::Numeral;
use crate::domain::Operand;
use crate::graph::{Node, NodeOp};
use crate::symbol::{Comparison, ExpressionId, Operation, Relation};
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyType};

/// What multiplies, and how many products of integers of 64 bits, with sums of them, surely fit a float.
const PRODUCT: &str = "multiplied";
const PRODUCTS: usize = 3;

/// The function that the graph calls for an operation.
fn function_of(operation: Operation) -> Option<&'static str> {
    Some(match operation {
        Operation::Add => "added",
        Operation::Subtract => "subtracted",
        Operation::Multiply => PRODUCT,
        Operation::TrueDivide => "divided",
        Operation::FloorDivide => "floor_divided",
        Operation::Remainder => "remainder",
        Operation::Power => "powered",
        Operation::Negative => "negated",
        Operation::Absolute => "absolute",
        Operation::ToFloat => "to_float",
        Operation::SquareRoot => "square_root",
        _ => return None,
    })
}

/// Operands of the graph, and numbers of their classes.
pub(super) type Tried<'py> = (Vec<Operand<'py>>, Vec<Bound<'py, PyAny>>);

impl<'py> Tracer<'py> {
    /// What an operation gives, where an operand is such a number; `None`: it may raise, or none is.
    pub(super) fn unread_operation(&mut self, operation: Operation, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(unread) = operands.iter().copied().find(|operand| self.is_unread(*operand)) else { return Ok(None) };
        let Some((args, tried)) = self.tried_operands(operands)? else { return Ok(None) };
        let Some(function) = function_of(operation) else { return Ok(None) };
        let class = match self.class_whatever_they_are(operation, &args, &tried) {
            Some(class) => Some(class),
            None => self.class_as_expected(operation, operands)?,
        };
        let Some(class) = class else { return Ok(None) };
        let made = self.record_of_numbers(function, &args, unread, &class)?;
        if let Some(made) = made {
            self.expect_operation(operation, operands, made)?;
        }
        Ok(made)
    }

    /// Operands of the graph, and numbers of their classes; `None`: one is no number.
    pub(super) fn tried_operands(&mut self, operands: &[ValueId]) -> Traced<Option<Tried<'py>>> {
        let (mut tried, mut args) = (Vec::with_capacity(2), Vec::with_capacity(2));
        for operand in operands {
            let class = self.class_of(*operand)?;
            let (is_int, is_bool) = (class.is(self.py.get_type::<PyInt>()), class.is(self.py.get_type::<PyBool>()));
            if !is_int && !is_bool && !class.is(self.py.get_type::<PyFloat>()) {
                return Ok(None);
            }
            if self.is_unread(*operand) {
                tried.push(class.call1((1,)).or_else(|error| self.raise_error(error))?);
                args.extend(self.unread_as_operand(*operand));
                continue;
            }
            if self.is_symbolic(*operand) {
                let fits = self.numeral(*operand)?.is_some_and(|numeral| !is_int || self.fits(&numeral));
                match self.number_operand(*operand, TakenNumbers::All)? {
                    Some(Operand::Number { value, hint, expression }) if fits => {
                        tried.push(hint.clone());
                        args.push(Operand::Number { value, hint, expression });
                    }
                    _ => return Ok(None),
                }
                continue;
            }
            let Some(known) = self.known(*operand).filter(|known| !is_int || known.extract::<i64>().is_ok()) else {
                return Ok(None);
            };
            args.push(Operand::Known(known.clone()));
            tried.push(known);
        }
        Ok(Some((args, tried)))
    }

    /// The class of what an operation gives, whichever numbers the operands are; `None`: some make it raise.
    fn class_whatever_they_are(
        &self,
        operation: Operation,
        args: &[Operand<'py>],
        tried: &[Bound<'py, PyAny>],
    ) -> Option<Bound<'py, PyType>> {
        let is_divisor = || match args.get(1) {
            Some(Operand::Known(_)) => true,
            Some(Operand::Graph { value, .. }) => self.is_nonzero_unread(*value),
            _ => false,
        };
        let gives = match (operation, tried) {
            (Operation::Add, [left, right]) => left.add(right),
            (Operation::Subtract, [left, right]) => left.sub(right),
            (Operation::Multiply, [left, right]) => left.mul(right),
            (Operation::TrueDivide, [left, right]) if is_divisor() => left.div(right),
            (Operation::FloorDivide, [left, right]) if is_divisor() => left.floor_div(right),
            (Operation::Remainder, [left, right]) if is_divisor() => left.rem(right),
            (Operation::Power | Operation::SquareRoot, [number, ..]) if self.gives_float(operation, args) => {
                self.py.get_type::<PyFloat>().call1((number,))
            }
            (Operation::Negative, [number]) => number.neg(),
            (Operation::Absolute, [number]) => number.abs(),
            (Operation::ToFloat, [number]) => self.py.get_type::<PyFloat>().call1((number,)),
            _ => return None,
        };
        let gives = gives.ok()?;
        let is_number = gives.is_exact_instance_of::<PyFloat>()
            || gives.is_exact_instance_of::<PyInt>() && (operation != Operation::Multiply || self.may_multiply());
        is_number.then(|| gives.get_type())
    }

    /// The same, where guards say of all operands which numbers they will be.
    fn class_as_expected(&mut self, operation: Operation, operands: &[ValueId]) -> Traced<Option<Bound<'py, PyType>>> {
        let Some(numerals) = self.expected_numerals(operands)? else { return Ok(None) };
        if !self.never_raises(operation, &numerals) {
            return Ok(None);
        }
        let gives = compute(operation, &numerals).ok();
        let is_number = |gives: &Bound<'py, PyAny>| {
            gives.is_exact_instance_of::<PyFloat>() || gives.is_exact_instance_of::<PyInt>()
        };
        Ok(gives.filter(is_number).map(|gives| gives.get_type()))
    }

    fn expected_numerals(&mut self, operands: &[ValueId]) -> Traced<Option<Vec<Numeral<'py>>>> {
        let mut numerals = Vec::with_capacity(operands.len());
        for operand in operands {
            match self.expected_numeral(*operand)? {
                Some(numeral) => numerals.push(numeral),
                None => return Ok(None),
            }
        }
        Ok(Some(numerals))
    }

    /// Notes what the number will be that an operation gives, if that is known of its operands.
    fn expect_operation(&mut self, operation: Operation, operands: &[ValueId], made: ValueId) -> Traced<()> {
        let Some(numerals) = self.expected_numerals(operands)? else { return Ok(()) };
        let known: Option<Vec<_>> = numerals.iter().map(|numeral| numeral.expression).collect();
        let expressions = &mut self.state.numbers.expressions;
        let expression = known.and_then(|operands| expressions.apply(operation, &operands));
        if let (Some(expression), Value::Node { node, .. }) = (expression, self.value(made)) {
            let node = *node;
            self.state.numbers.expected.insert(node, expression);
        }
        Ok(())
    }

    /// Whether it is one that is never zero.
    fn is_nonzero_unread(&self, value: ValueId) -> bool {
        matches!(self.value(value), Value::Node { node, .. } if self.state.numbers.nonzero.contains(node))
    }

    /// Whether one more product of integers still fits a float, whatever they are.
    fn may_multiply(&self) -> bool {
        let is_product = |node: &&Node| node.name == PRODUCT && node.op == NodeOp::CallFunction;
        self.state.graph.nodes.iter().filter(is_product).count() < PRODUCTS
    }

    /// The same of the items of a list or tuple that the trace has made.
    pub(super) fn unread_extreme_of_items(&mut self, name: &str, items: ValueId) -> Traced<Option<ValueId>> {
        let Some(items) = self.items_made(items) else { return Ok(None) };
        match items.as_slice() {
            [item] if self.is_unread(*item) => Ok(Some(*item)),
            items => match self.unread_extreme(name, items)? {
                Some(extreme) => Ok(Some(extreme)),
                None => self.extreme_of_arrays(name, items),
            },
        }
    }

    /// `min` and `max`, where an operand is such a number, and all are integers, or all are floats; `None`: C does it.
    pub(super) fn unread_extreme(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(unread) = args.iter().copied().find(|arg| self.is_unread(*arg)) else { return Ok(None) };
        let (integer, float) = (self.py.get_type::<PyInt>(), self.py.get_type::<PyFloat>());
        let class = if self.is_unread_float(unread) { float } else { integer };
        let mut operands = Vec::with_capacity(args.len());
        let mut is_positive = false;
        for arg in args {
            if !self.class_of(*arg)?.is(&class) {
                return Ok(None);
            }
            operands.push(match self.is_unread(*arg) {
                true => self.unread_as_operand(*arg),
                false if self.is_unread_float(unread) => match self.number_operand(*arg, TakenNumbers::All)? {
                    Some(number) => Some(number),
                    None => {
                        let known = self.known(*arg);
                        is_positive |= known.as_ref().is_some_and(|known| known.gt(0).unwrap_or(false));
                        known.map(Operand::Known)
                    }
                },
                false if self.is_symbolic(*arg) => match self.numeral(*arg)? {
                    Some(numeral) if self.fits(&numeral) => self.number_operand(*arg, TakenNumbers::All)?,
                    _ => None,
                },
                false => self.known(*arg).filter(|known| known.extract::<i64>().is_ok()).map(Operand::Known),
            });
        }
        let Some(operands) = operands.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let function = if name == "min" { "least" } else { "greatest" };
        let made = self.record_of_numbers(function, &operands, unread, &class)?;
        // What is no number is less than none, and greater than none.
        if let Some(Value::Node { node, .. }) = made.map(|made| self.value(made))
            && name == "max"
            && is_positive
        {
            let node = *node;
            self.state.numbers.nonzero.insert(node);
        }
        Ok(made)
    }

    /// A comparison, where an operand is such a number: another such number; `None`: none is, or the other is no number.
    pub(super) fn unread_comparison(
        &mut self,
        comparison: Comparison,
        operands: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let Some(unread) = operands.iter().copied().find(|operand| self.is_unread(*operand)) else { return Ok(None) };
        let mut args = Vec::with_capacity(2);
        for operand in operands {
            let class = self.class_of(*operand)?;
            let is_number = class.is(self.py.get_type::<PyInt>())
                || class.is(self.py.get_type::<PyBool>())
                || class.is(self.py.get_type::<PyFloat>());
            if !is_number {
                return Ok(None);
            }
            args.push(match self.is_unread(*operand) {
                true => self.unread_as_operand(*operand),
                false if self.is_symbolic(*operand) => self.number_operand(*operand, TakenNumbers::All)?,
                false => self.known(*operand).map(Operand::Known),
            });
        }
        let Some(args) = args.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let function = match comparison {
            Comparison::Equal => "is_equal",
            Comparison::NotEqual => "is_unequal",
            Comparison::Less => "is_less",
            Comparison::LessOrEqual => "is_at_most",
            Comparison::Greater => "is_greater",
            Comparison::GreaterOrEqual => "is_at_least",
        };
        let made = self.record_of_numbers(function, &args, unread, &self.py.get_type::<PyBool>())?;
        let sides = self
            .expected_numerals(operands)?
            .map(|sides| sides.iter().map(|side| side.expression).collect::<Vec<Option<ExpressionId>>>());
        if let (Some(&[Some(left), Some(right)]), Some(Value::Node { node, .. })) =
            (sides.as_deref(), made.map(|made| self.value(made)))
        {
            let node = *node;
            self.state.numbers.expected_truths.insert(node, Relation { comparison, left, right });
        }
        Ok(made)
    }
}
