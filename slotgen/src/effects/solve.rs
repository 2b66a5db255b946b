//! Solves a program: functions that members hold, then the effects of all functions, callees first, until nothing changes.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::member_functions::{Functions, MemberFunctions, Table};
use super::program::{Callee, Program};
use super::state::assignments;
use super::walk::{Known, Walker};
use crate::lower::{Expr, Kind};

impl Program {
    /// The functions, each after those that it names, as far as there is such an order.
    fn callees_first(&self) -> Vec<usize> {
        let (mut order, mut seen) = (Vec::with_capacity(self.functions.len()), vec![false; self.functions.len()]);
        for start in 0..self.functions.len() {
            let mut stack = vec![(start, false)];
            while let Some((id, done)) = stack.pop() {
                if done {
                    order.push(id);
                } else if !std::mem::replace(&mut seen[id], true) {
                    stack.push((id, true));
                    let unit = self.functions[id].unit;
                    for name in super::state::names(&self.functions[id].function) {
                        if let Callee::Function(callee) = self.resolve(unit, &name)
                            && !seen[callee]
                        {
                            stack.push((callee, false));
                        }
                    }
                }
            }
        }
        order
    }

    /// Walks every function until nothing changes.
    pub fn solve(&self) -> Vec<Known> {
        let count = self.functions.len();
        let mut known = vec![Known::default(); count];
        *self.summaries.borrow_mut() = vec![Rc::default(); count];
        let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        let order = self.callees_first();
        let mut rank = vec![0; count];
        order.iter().enumerate().for_each(|(at, id)| rank[*id] = at);
        let mut waiting: BTreeSet<usize> = (0..count).collect();
        // Sweep after sweep: a function that calls itself through others waits until those were walked.
        let mut next = 0;
        while let Some(at) = waiting.range(next..).next().or(waiting.first()).copied() {
            waiting.remove(&at);
            next = at + 1;
            let id = order[at];
            *self.walking.borrow_mut() = id;
            let before = std::mem::take(&mut known[id]);
            let old = Rc::clone(&self.summaries.borrow()[id]);
            let defined = &self.functions[id];
            let after = Walker::run(self, defined.unit, &defined.function, before);
            for (callee, caller) in self.asked.borrow_mut().drain() {
                callers[callee].insert(caller);
            }
            if after.summary != *old {
                self.summaries.borrow_mut()[id] = Rc::new(after.summary.clone());
                waiting.extend(callers[id].iter().map(|caller| rank[*caller]));
            }
            known[id] = after;
        }
        known
    }

    /// Notes the functions that bodies and tables store in members.
    pub(super) fn find_held(&mut self, tables: &[(usize, Table)]) {
        self.held = find(self, tables);
    }
}

/// Reads all bodies and tables.
fn find(program: &Program, tables: &[(usize, Table)]) -> MemberFunctions {
    let mut held = MemberFunctions::default();
    for (unit, table) in tables {
        for (member, name) in table {
            if let Callee::Function(id) = program.resolve(*unit, name) {
                held.0.entry(member.clone()).or_default().functions.insert(id);
            }
        }
    }
    for defined in &program.functions {
        assignments(&defined.function, &mut |target, value| {
            if let Kind::Member(_, member) = &target.kind {
                let entry = held.0.entry(member.clone()).or_default();
                value_of(program, defined.unit, member, value, entry);
            }
        });
    }
    held
}

fn value_of(program: &Program, unit: usize, member: &str, value: &Expr, into: &mut Functions) {
    match &value.kind {
        Kind::Null | Kind::Int(_) => {}
        Kind::Cast(_, _, inner) | Kind::AddressOf(inner) => value_of(program, unit, member, inner, into),
        Kind::Assign(_, right) => value_of(program, unit, member, right, into),
        Kind::Conditional(_, yes, no) => {
            value_of(program, unit, member, yes, into);
            value_of(program, unit, member, no, into);
        }
        Kind::Name(name) => match program.resolve(unit, name) {
            Callee::Function(id) => drop(into.functions.insert(id)),
            _ => into.open = true,
        },
        Kind::Member(_, from) if from == member => {}
        Kind::Member(_, slot) if program.is_slot(slot) => drop(into.slots.insert(slot.clone())),
        _ => into.open = true,
    }
}
