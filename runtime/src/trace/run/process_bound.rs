//! Whether what a trace sees is so in this process alone: looked at before each instruction.
use crate::bytecode::{Instr, Op};
use crate::stored::{
    ProcessBound, bound_to_process, changes_sets, is_hashed_by_value, is_ordered_set, is_orderless,
    is_orderless_callable, names_all_arguments, only_moves, tells_process,
};
use crate::trace::state::frame::Frame;
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::small_sets::is_small;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_set;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyFrozenSet, PySet};

impl<'py> Tracer<'py> {
    /// Notes whether the instruction may see an address, a hash or the order of a set.
    pub(super) fn note_bound_of(&mut self, frame: &Frame, instr: &Instr) {
        if self.state.seen.bound == ProcessBound::Process {
            return;
        }
        self.state.id_dicts.is_asked = self.calls_id(frame, instr);
        if self.tells_ids(frame, instr) {
            return self.note_bound(ProcessBound::Process);
        }
        let bound = self.bound_of_operands(frame, instr).max(bound_to_process(self.py, &frame.code, instr));
        self.note_bound(bound);
    }

    fn bound_of_operands(&mut self, frame: &Frame, instr: &Instr) -> ProcessBound {
        self.state.small_sets.may_grow_unseen |= self.passes_set_functions(frame, instr);
        if let Some(set) = self.state.small_sets.grown(self.py) {
            let bound = if has_values(&set) { ProcessBound::Hashes } else { ProcessBound::Process };
            if bound > self.state.seen.bound {
                return bound;
            }
        }
        if only_moves(instr.op) {
            return ProcessBound::Nowhere;
        }
        if !self.state.id_dicts.is_asked && stacked(frame, instr).iter().any(|entry| self.tells_process(entry)) {
            return ProcessBound::Process;
        }
        let unseen = self.state.seen.bound == ProcessBound::Nowhere;
        if unseen && is_orderless(&frame.code, instr) {
            return ProcessBound::Nowhere;
        }
        let cell = local_of_cell(frame, instr);
        let operands = if cell.is_some() { cell.as_slice() } else { stacked(frame, instr) };
        let sets: Vec<_> = operands.iter().filter_map(|entry| self.set_at(entry)).collect();
        if sets.is_empty() || unseen && self.is_orderless_for(instr, operands) {
            return ProcessBound::Nowhere;
        }
        if sets.iter().all(is_small) && !self.state.small_sets.may_grow_unseen {
            sets.iter().for_each(|set| self.state.small_sets.let_go(set));
            return ProcessBound::Nowhere;
        }
        // A set that others see already may get more items.
        let passed = match instr.op {
            op if calls(op) => 2,
            // The iterator of a comprehension lies between the set and the item.
            Op::SET_ADD => operands.len().saturating_sub(1),
            _ => 0,
        };
        let objects = operands.iter().skip(passed).filter_map(|entry| self.object_at(entry));
        let mut others = objects.filter(|object| !is_set(object));
        if sets.iter().all(has_values) && (unseen || others.all(|object| is_hashed_by_value(&object))) {
            ProcessBound::Hashes
        } else {
            ProcessBound::Process
        }
    }

    /// Whether the instruction does the same with these operands in whatever order the items of sets among them lie.
    fn is_orderless_for(&self, instr: &Instr, operands: &[StackEntry]) -> bool {
        let mut are_sets = operands.iter().map(|entry| self.set_at(entry).is_some());
        match instr.op {
            Op::BINARY_OP | Op::COMPARE_OP => are_sets.all(|is_set| is_set),
            // Something is looked for in a set.
            Op::CONTAINS_OP => are_sets.next() == Some(false),
            op if calls(op) => operands.iter().find_map(value_at).is_some_and(|callee| self.is_orderless_call(callee)),
            _ => false,
        }
    }

    fn is_orderless_call(&self, callee: ValueId) -> bool {
        match self.value(callee) {
            Value::New(New::Method { function, .. }) => self.is_orderless_call(*function),
            Value::New(New::Function { code, .. }) => names_all_arguments(code.bind(self.py)),
            _ => self.object_of(callee).is_some_and(|callee| is_orderless_callable(&callee)),
        }
    }

    /// Whether the instruction puts a function of C that changes sets where others may call it.
    fn passes_set_functions(&self, frame: &Frame, instr: &Instr) -> bool {
        if only_moves(instr.op) || self.state.small_sets.may_grow_unseen {
            return false;
        }
        let is_callee = |place: usize| calls(instr.op) && place == 0;
        let operands = stacked(frame, instr).iter().filter_map(value_at).enumerate();
        let mut passed = operands.filter(|(place, _)| !is_callee(*place)).map(|(_, value)| match self.value(value) {
            Value::New(New::Method { function, .. }) => *function,
            _ => value,
        });
        passed.any(|value| self.object_of(value).is_some_and(|object| changes_sets(&object)))
    }

    fn tells_process(&self, entry: &StackEntry) -> bool {
        let object = value_at(entry).and_then(|value| match self.value(value) {
            Value::New(New::Method { function, .. }) => self.object_of(*function),
            _ => self.object_of(value),
        });
        object.is_some_and(|object| tells_process(&object))
    }

    /// The set there.
    fn set_at(&self, entry: &StackEntry) -> Option<Bound<'py, PyAny>> {
        match self.value(value_at(entry)?) {
            Value::Real { .. } | Value::New(New::Owned(_)) => self.object_at(entry).filter(is_ordered_set),
            _ => None,
        }
    }

    fn object_at(&self, entry: &StackEntry) -> Option<Bound<'py, PyAny>> {
        self.object_of(value_at(entry)?)
    }
}

/// Whether it calls what lies under the arguments, which are under it in two places.
fn calls(op: Op) -> bool {
    matches!(op, Op::CALL | Op::CALL_KW | Op::PRECALL)
}

/// What the instruction takes from the stack.
pub(super) fn stacked<'a>(frame: &'a Frame, instr: &Instr) -> &'a [StackEntry] {
    let all = frame.stack.len();
    let taken = match instr.op {
        // They are one step with the call that ends them: it takes the arguments, and what is called from two places.
        Op::PRECALL => instr.arg as usize + 2,
        Op::KW_NAMES => all,
        op => frame.code.isa().popped(op, instr.arg).unwrap_or(all),
    };
    &frame.stack[all.saturating_sub(taken)..]
}

/// The variable that becomes a cell, which others may hold.
pub(super) fn local_of_cell(frame: &Frame, instr: &Instr) -> Option<StackEntry> {
    let local = frame.locals.get(instr.arg as usize).filter(|_| instr.op == Op::MAKE_CELL)?;
    local.map(StackEntry::Object)
}

/// Whether nothing in the set is hashed by its address.
pub(super) fn has_values(set: &Bound<'_, PyAny>) -> bool {
    let plain = set.is_exact_instance_of::<PySet>() || set.is_exact_instance_of::<PyFrozenSet>();
    // No Python code of a derived class runs.
    plain && set.try_iter().is_ok_and(|mut items| items.all(|item| item.is_ok_and(|item| is_hashed_by_value(&item))))
}

pub(super) fn value_at(entry: &StackEntry) -> Option<ValueId> {
    match entry {
        StackEntry::Object(value) => Some(*value),
        StackEntry::Null | StackEntry::Callee => None,
    }
}
