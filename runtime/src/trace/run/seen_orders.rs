//! Orders that the trace sees of sets that it made of objects hashed by their addresses: made again, the sets would have others. Such a set must
//! not leave the trace.
use crate::bytecode::{Instr, Op};
use crate::ffi::callee;
use crate::stored::is_orderless_callable;
use crate::trace::run::process_bound::{has_values, stacked, value_at};
use crate::trace::state::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_set;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyList, PySlice, PyTuple};

/// How deep C is taken to look into containers for sets.
const LEVELS: usize = 2;
/// How many items of a container are looked at.
const ITEMS: usize = 64;

impl<'py> Tracer<'py> {
    /// Notes the sets whose order the instruction may see. Looked at before each one, once the trace has made a set.
    pub(super) fn note_seen_orders(&mut self, frame: &Frame, instr: &Instr) {
        let calls = matches!(instr.op, Op::CALL | Op::CALL_KW | Op::PRECALL | Op::CALL_FUNCTION_EX);
        if !self.state.has_sets || !calls && !sees_order(instr.op) {
            return;
        }
        let operands: Vec<_> = stacked(frame, instr).iter().filter_map(value_at).collect();
        if calls && operands.iter().take(2).any(|callee| self.passes_on(*callee)) {
            return;
        }
        let is = |value: &ValueId, kind: &dyn Fn(&Bound<'py, PyAny>) -> bool| {
            self.object_of(*value).as_ref().is_some_and(kind)
        };
        let sees_none = match instr.op {
            // An item is stored, not a slice.
            Op::STORE_SUBSCR => {
                !operands.last().is_some_and(|index| is(index, &|index| index.is_instance_of::<PySlice>()))
            }
            Op::BINARY_OP => operands.iter().all(|operand| is(operand, &is_set)),
            _ => false,
        };
        if sees_none {
            return;
        }
        for operand in operands {
            self.note_sets_at(operand);
        }
    }

    /// Whether what is called sees no order: a function in Python is followed, and some functions of C ask for none.
    fn passes_on(&self, callee: ValueId) -> bool {
        match self.value(callee) {
            Value::New(New::Method { function, .. }) => self.passes_on(*function),
            Value::New(New::Function { .. }) => true,
            _ => self
                .object_of(callee)
                .is_some_and(|callee| callee.is_exact_instance_of::<PyFunction>() || is_orderless_callable(&callee)),
        }
    }

    fn note_sets_at(&mut self, value: ValueId) {
        if let Value::New(New::Method { receiver, .. }) = self.value(value) {
            let receiver = *receiver;
            return self.note_sets_at(receiver);
        }
        let Some(object) = self.owned(value) else { return };
        let receiver = callee::receiver_of(&object);
        receiver.into_iter().for_each(|receiver| self.note_sets_in(&receiver, LEVELS));
        self.note_sets_in(&object, LEVELS);
    }

    fn note_sets_in(&mut self, object: &Bound<'py, PyAny>, levels: usize) {
        if is_set(object) {
            return self.note_set(object);
        }
        let Some(below) = levels.checked_sub(1) else { return };
        for item in items(object) {
            self.note_sets_in(&item, below);
        }
    }

    fn note_set(&mut self, set: &Bound<'py, PyAny>) {
        let Some(value) = self.state.identity.get(&(set.as_ptr() as usize)).copied() else { return };
        if self.owned(value).is_some() && !has_values(set) {
            self.note_told(value);
        }
    }
}

/// Whether the instruction goes through the items of an operand, or has C do so.
fn sees_order(op: Op) -> bool {
    matches!(
        op,
        Op::GET_ITER
            | Op::GET_YIELD_FROM_ITER
            | Op::UNPACK_SEQUENCE
            | Op::UNPACK_EX
            | Op::LIST_EXTEND
            | Op::CALL_INTRINSIC_1
            | Op::FORMAT_VALUE
            | Op::FORMAT_SIMPLE
            | Op::FORMAT_WITH_SPEC
            | Op::CONVERT_VALUE
            | Op::BINARY_OP
            | Op::STORE_SLICE
            | Op::STORE_SUBSCR
    )
}

/// The first items of a container of C; of another object none.
fn items<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if let Ok(list) = object.cast_exact::<PyList>() {
        list.iter().take(ITEMS).collect()
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        tuple.iter().take(ITEMS).collect()
    } else if let Ok(dict) = object.cast_exact::<PyDict>() {
        dict.iter().take(ITEMS).map(|(_, value)| value).collect()
    } else {
        Vec::new()
    }
}
