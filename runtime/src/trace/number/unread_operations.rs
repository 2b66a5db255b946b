//! Arithmetic with numbers that contents of arrays decide: the graph does it, where no numbers make it raise.
use crate::domain::Operand;
use crate::graph::{Node, NodeOp};
use crate::symbol::{Comparison, Operation};
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};

/// What multiplies, and how many products of integers of 64 bits, with sums of them, surely fit a float.
const PRODUCT: &str = "multiplied";
const PRODUCTS: usize = 3;

impl<'py> Tracer<'py> {
    /// What an operation gives, where an operand is such a number; `None`: it may raise, or none is.
    pub(super) fn unread_operation(&mut self, operation: Operation, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(unread) = operands.iter().copied().find(|operand| self.is_unread(*operand)) else { return Ok(None) };
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
        let is_known = |index: usize| matches!(args.get(index), Some(Operand::Known(_)));
        let (function, gives) = match (operation, tried.as_slice()) {
            (Operation::Add, [left, right]) => ("added", left.add(right)),
            (Operation::Subtract, [left, right]) => ("subtracted", left.sub(right)),
            (Operation::Multiply, [left, right]) => (PRODUCT, left.mul(right)),
            (Operation::TrueDivide, [left, right]) if is_known(1) => ("divided", left.div(right)),
            (Operation::FloorDivide, [left, right]) if is_known(1) => ("floor_divided", left.floor_div(right)),
            (Operation::Remainder, [left, right]) if is_known(1) => ("remainder", left.rem(right)),
            (Operation::Negative, [number]) => ("negated", number.neg()),
            (Operation::Absolute, [number]) => ("absolute", number.abs()),
            (Operation::ToFloat, [number]) => ("to_float", self.py.get_type::<PyFloat>().call1((number,))),
            _ => return Ok(None),
        };
        let Some(gives) = gives.ok().filter(|gives| {
            gives.is_exact_instance_of::<PyFloat>()
                || gives.is_exact_instance_of::<PyInt>() && (operation != Operation::Multiply || self.may_multiply())
        }) else {
            return Ok(None);
        };
        self.record_of_numbers(function, &args, unread, &gives.get_type())
    }

    /// Whether one more product of integers still fits a float, whatever they are.
    fn may_multiply(&self) -> bool {
        let is_product = |node: &&Node| node.name == PRODUCT && node.op == NodeOp::CallFunction;
        self.state.graph.nodes.iter().filter(is_product).count() < PRODUCTS
    }

    /// The same of the items of a list or tuple that the trace has made.
    pub(super) fn unread_extreme_of_items(&mut self, name: &str, items: ValueId) -> Traced<Option<ValueId>> {
        let Some(made) = self.owned(items) else { return Ok(None) };
        let items: Vec<_> = match (made.cast_exact::<PyList>(), made.cast_exact::<PyTuple>()) {
            (Ok(list), _) => list.iter().collect(),
            (_, Ok(tuple)) => tuple.iter().collect(),
            _ => return Ok(None),
        };
        let items: Vec<_> = items.into_iter().map(|item| self.absorb(item)).collect();
        match items.as_slice() {
            [item] if self.is_unread(*item) => Ok(Some(*item)),
            items => self.unread_extreme(name, items),
        }
    }

    /// `min` and `max`, where an integer is such a number, and all are integers; `None`: C does it.
    pub(super) fn unread_extreme(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(unread) = args.iter().copied().find(|arg| self.is_unread(*arg)) else { return Ok(None) };
        let integer = self.py.get_type::<PyInt>();
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            if !self.class_of(*arg)?.is(&integer) {
                return Ok(None);
            }
            operands.push(match self.is_unread(*arg) {
                true => self.unread_as_operand(*arg),
                false if self.is_symbolic(*arg) => match self.numeral(*arg)? {
                    Some(numeral) if self.fits(&numeral) => self.number_operand(*arg, TakenNumbers::All)?,
                    _ => None,
                },
                false => self.known(*arg).filter(|known| known.extract::<i64>().is_ok()).map(Operand::Known),
            });
        }
        let Some(operands) = operands.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let function = if name == "min" { "least" } else { "greatest" };
        self.record_of_numbers(function, &operands, unread, &integer)
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
        self.record_of_numbers(function, &args, unread, &self.py.get_type::<PyBool>())
    }
}
