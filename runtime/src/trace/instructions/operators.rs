//! Operators: each calls a protocol function by name.
use crate::trace::release;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;

/// `NB_*` of `Include/opcode.h` in order, named as in the module `operator`.
const BINARY: [&str; 27] = [
    "add",
    "and_",
    "floordiv",
    "lshift",
    "matmul",
    "mul",
    "mod",
    "or_",
    "pow",
    "rshift",
    "sub",
    "truediv",
    "xor",
    "iadd",
    "iand",
    "ifloordiv",
    "ilshift",
    "imatmul",
    "imul",
    "imod",
    "ior",
    "ipow",
    "irshift",
    "isub",
    "itruediv",
    "ixor",
    "getitem",
];
const COMPARISONS: [&str; 6] = ["lt", "le", "eq", "ne", "gt", "ge"];

impl<'py> Tracer<'py> {
    fn operate_on(&mut self, frame: &mut Frame, name: &str, count: usize) -> Traced<ValueId> {
        let operands = frame.pop_many(count)?;
        self.operator(name, &operands)
    }

    pub(crate) fn binary_op(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let Some(name) = BINARY.get(arg as usize) else { return internal("BINARY_OP argument") };
        if *name == "getitem" {
            return self.binary_subscr(frame);
        }
        let result = self.operate_on(frame, name, 2)?;
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn compare_op(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let Some(name) = COMPARISONS.get((arg >> release::COMPARISON) as usize) else {
            return internal("COMPARE_OP argument");
        };
        let is_branch = release::compares_to_bool(arg);
        if is_branch {
            self.refuse_unknown_comparison(frame)?;
        }
        let mut result = self.operate_on(frame, name, 2)?;
        if is_branch {
            let truth = self.branch_truth(frame, result)?;
            result = self.boolean(truth);
        }
        frame.push(result);
        Ok(Flow::Next)
    }

    /// Whether `COMPARE_OP` with this argument asks whether its operands are equal.
    pub(crate) fn is_equality(arg: u32) -> bool {
        COMPARISONS.get((arg >> release::COMPARISON) as usize).is_some_and(|name| matches!(*name, "eq" | "ne"))
    }

    pub(crate) fn contains_op(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let container = frame.pop()?;
        let item = frame.pop()?;
        let found = self.contains(container, item)?;
        let result = self.boolean(found ^ (arg == 1));
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn is_op(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let right = frame.pop()?;
        let left = frame.pop()?;
        let same = self.is(left, right)?;
        let result = self.boolean(same ^ (arg == 1));
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn unary(&mut self, frame: &mut Frame, name: &str) -> Traced<Flow> {
        let result = self.operate_on(frame, name, 1)?;
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn truth_of_top(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.pop()?;
        let truth = self.branch_truth(frame, value)?;
        let result = self.boolean(truth);
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn binary_subscr(&mut self, frame: &mut Frame) -> Traced<Flow> {
        if frame.outermost && frame.began < frame.leave.first {
            // A prologue asks for places in its own code, and makes integers of what it has put on the stack: the trace knows them as they are.
            let operands = frame.pop_many(2)?;
            frame.push(operands[1]);
            return Ok(Flow::Next);
        }
        let result = self.operate_on(frame, "getitem", 2)?;
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[value, container, key]`.
    pub(crate) fn store_subscr(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let operands = frame.pop_many(3)?;
        self.operator("setitem", &[operands[1], operands[2], operands[0]])?;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_subscr(&mut self, frame: &mut Frame) -> Traced<Flow> {
        self.operate_on(frame, "delitem", 2)?;
        Ok(Flow::Next)
    }

    pub(crate) fn binary_slice(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let stop = frame.pop()?;
        let start = frame.pop()?;
        let container = frame.pop()?;
        let slice = self.slice(&[start, stop])?;
        let result = self.operator("getitem", &[container, slice])?;
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[value, container, start, stop]`.
    pub(crate) fn store_slice(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let operands = frame.pop_many(4)?;
        let slice = self.slice(&operands[2..])?;
        self.operator("setitem", &[operands[1], slice, operands[0]])?;
        Ok(Flow::Next)
    }

    pub(crate) fn slice(&mut self, bounds: &[ValueId]) -> Traced<ValueId> {
        let class = self.import("builtins", "slice")?;
        let mut natives = Vec::new();
        for bound in bounds {
            natives.push(self.stored(*bound)?);
        }
        if natives.len() == 1 {
            let none = self.py.None().into_bound(self.py);
            natives.insert(0, none);
        }
        self.run_native(&class, &natives, &[])
    }

    pub(crate) fn build_slice(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let bounds = frame.pop_many(count as usize)?;
        let slice = self.slice(&bounds)?;
        frame.push(slice);
        Ok(Flow::Next)
    }
}
