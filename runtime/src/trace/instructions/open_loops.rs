//! `for` loops over ranges of symbolic numbers, and over lists from outside whose length differs from call to call: each step asks whether there is
//! one more.
//!
//! So a loop that breaks the graph in its first step needs no trace for each number of steps. The iterator is on the stack alone: nothing but the
//! loop sees it.
use crate::bytecode::Op;
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::Frame;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::open_loops::{ENUMERATE, LIST_ITERATOR, OpenLoop, Over, RANGE, RANGE_ITERATOR, ZIP};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyListMethods, PyRange, PyType};

/// Numbers up to this have all sums that a loop makes.
const MOST: i64 = 1 << 62;

impl<'py> Tracer<'py> {
    /// `range(…)` of which a loop is made at once, and whose bounds may be others at another call; `None`: it is another call.
    pub(crate) fn open_range(&mut self, frame: &Frame, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        let begins = begins_loop(frame, 1);
        if !begins || !args.keywords.is_empty() || !args.positional.iter().any(|bound| self.is_symbolic(*bound)) {
            return Ok(None);
        }
        if !self.real(callable).is_some_and(|callable| callable.is(self.py.get_type::<PyRange>())) {
            return Ok(None);
        }
        let (start, stop, step) = match *args.positional.as_slice() {
            [stop] => (self.integer(0), stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] => match self.known(step).map(|step| step.extract::<i64>()) {
                Some(Ok(step)) if step != 0 && step.abs() < MOST => (start, stop, step),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !self.is_bound(start)? || !self.is_bound(stop)? {
            return Ok(None);
        }
        self.known(callable);
        let range = Over::Range { last: None, next: start, stop, step };
        Ok(Some(self.open_loop(RANGE, range)))
    }

    /// `enumerate(…)` and `zip(…)` of lists of which a loop is made at once, and whose length may be another one at another call; `None`: it is
    /// another call.
    pub(crate) fn open_lists(&mut self, frame: &Frame, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        if !begins_loop(frame, 1) || !args.keywords.is_empty() {
            return Ok(None);
        }
        let Some(class) = self.real(callable).and_then(|callable| callable.cast_into::<PyType>().ok()) else {
            return Ok(None);
        };
        let is = |name: &str| types::is_c_type(&class) && &*types::c_name(&class) == name;
        let (name, lists, first) = match *args.positional.as_slice() {
            [list] if is(ENUMERATE) => (ENUMERATE, vec![list], 0),
            [list, first] if is(ENUMERATE) => match self.known(first).map(|first| first.extract::<i64>()) {
                Some(Ok(first)) if first.abs() < MOST => (ENUMERATE, vec![list], first),
                _ => return Ok(None),
            },
            [_, _, ..] if is(ZIP) => (ZIP, args.positional.clone(), 0),
            _ => return Ok(None),
        };
        let are_lists = lists.iter().all(|list| self.is_list_from_outside(*list));
        if !are_lists || !lists.iter().any(|list| self.is_list_of_open_length(*list)) {
            return Ok(None);
        }
        for list in &lists {
            self.class_of(*list)?;
        }
        self.known(callable);
        Ok(Some(self.open_loop(name, Over::Lists { lists, next: 0, first })))
    }

    /// Whether it is an integer that can be compared and added to.
    fn is_bound(&mut self, value: ValueId) -> Traced<bool> {
        if self.is_unread(value) || !self.class_of(value)?.is(self.py.get_type::<PyInt>()) {
            return Ok(false);
        }
        Ok(self.hint_of_bound(value).is_some_and(|hint| hint.unsigned_abs() < MOST.unsigned_abs()))
    }

    /// What such an integer is in this call.
    fn hint_of_bound(&self, value: ValueId) -> Option<i64> {
        let hint = match self.value(value) {
            Value::New(New::Computed(computed)) => computed.hint.bind(self.py).clone(),
            _ => self.real(value)?,
        };
        hint.extract().ok()
    }

    /// The iterator of a loop over such a range or list; `None`: it goes over something else.
    pub(crate) fn begin_open_loop(&mut self, frame: &Frame, iterable: ValueId) -> Traced<Option<ValueId>> {
        if let Some(OpenLoop { over, .. }) = self.open_loop_of(iterable) {
            return Ok(Some(match over.clone() {
                range @ Over::Range { .. } => self.open_loop(RANGE_ITERATOR, range),
                Over::Lists { .. } => iterable,
            }));
        }
        let is_list = begins_loop(frame, 0) && self.is_list_of_open_length(iterable);
        if !is_list {
            return Ok(None);
        }
        self.class_of(iterable)?;
        Ok(Some(self.open_loop(LIST_ITERATOR, Over::Lists { lists: vec![iterable], next: 0, first: 0 })))
    }

    fn open_loop(&mut self, name: &'static str, over: Over) -> ValueId {
        let value = self.push(Value::New(New::Opaque(name)));
        self.state.open_loops.push(OpenLoop { value, over });
        value
    }

    fn open_loop_of(&self, value: ValueId) -> Option<&OpenLoop> {
        self.state.open_loops.iter().rev().find(|open| open.value == value)
    }

    /// The class of such a range or iterator, by its name.
    pub(crate) fn class_in_open_loop(&self, name: &str) -> Option<Bound<'py, PyType>> {
        let range = self.py.get_type::<PyRange>();
        match name {
            RANGE => Some(range),
            RANGE_ITERATOR => range.call1((0,)).and_then(|range| range.try_iter()).ok().map(|it| it.get_type()),
            LIST_ITERATOR => PyList::empty(self.py).as_any().try_iter().ok().map(|it| it.get_type()),
            ENUMERATE | ZIP => {
                crate::ffi::modules::import(self.py, "builtins").ok()?.getattr(name).ok()?.cast_into().ok()
            }
            _ => None,
        }
    }

    /// What the next step of a loop gets, `None` at its end; `None`: it is another loop.
    pub(crate) fn next_of_open_loop(&mut self, iterator: ValueId) -> Traced<Option<Option<ValueId>>> {
        let Some(OpenLoop { over, .. }) = self.open_loop_of(iterator) else { return Ok(None) };
        let (item, over) = match over.clone() {
            Over::Range { next, stop, step, .. } => {
                let (Some(now), Some(end)) = (self.hint_of_bound(next), self.hint_of_bound(stop)) else {
                    return internal("a range without bounds");
                };
                let is_there = if step > 0 { now < end } else { now > end };
                if !is_there {
                    self.is_before(next, stop, step)?;
                    return Ok(Some(None));
                }
                let by = self.integer(step as isize);
                let after = self.operator("add", &[next, by])?;
                (next, Over::Range { last: Some(next), next: after, stop, step })
            }
            Over::Lists { lists, next, first } => {
                let mut items = Vec::new();
                for list in &lists {
                    match self.item_of_open_list(*list, next)? {
                        Some(item) => items.push(item),
                        None => return Ok(Some(None)),
                    }
                }
                let item = match self.value(iterator) {
                    Value::New(New::Opaque(LIST_ITERATOR)) => items[0],
                    Value::New(New::Opaque(ENUMERATE)) => {
                        let number = self.integer(first as isize + next as isize);
                        self.tuple(&[number, items[0]])?
                    }
                    _ => self.tuple(&items)?,
                };
                (item, Over::Lists { lists, next: next + 1, first })
            }
        };
        if let Some(open) = self.state.open_loops.iter_mut().rev().find(|open| open.value == iterator) {
            open.over = over;
        }
        Ok(Some(Some(item)))
    }

    /// Guards that ranges have the items that loops over them had: the last ones, at the end of the trace.
    pub(crate) fn guard_open_loops(&mut self) -> Traced<()> {
        for open in self.state.open_loops.clone() {
            if let Over::Range { last: Some(last), stop, step, .. } = open.over {
                self.is_before(last, stop, step)?;
            }
        }
        Ok(())
    }

    /// Whether a range has this item, under a guard.
    fn is_before(&mut self, item: ValueId, stop: ValueId, step: i64) -> Traced<bool> {
        let is_before = self.operator(if step > 0 { "lt" } else { "gt" }, &[item, stop])?;
        self.is_true(is_before)
    }

    fn item_of_open_list(&mut self, list: ValueId, next: usize) -> Traced<Option<ValueId>> {
        if let Some(item) = self.item_of_copy(list, next) {
            return Ok(item);
        }
        let Some(length) = self.read_container("len", &[list])? else { return internal("a list without a length") };
        let index = self.integer(next as isize);
        let is_there = self.operator("lt", &[index, length])?;
        if !self.is_true(is_there)? {
            return Ok(None);
        }
        match self.read_container("getitem", &[list, index])? {
            Some(item) => Ok(Some(item)),
            None => self.item_of_copy(list, next).map_or_else(|| internal("a list without an item that is there"), Ok),
        }
    }

    /// The same where the trace has a copy of the list; `None`: it has none.
    fn item_of_copy(&mut self, list: ValueId, next: usize) -> Option<Option<ValueId>> {
        let copy = self.state.private_copies.of(list)?.object.bind(self.py).clone();
        let item = copy.cast_exact::<PyList>().ok()?.get_item(next).ok();
        Some(item.map(|item| self.absorb(item)))
    }

    /// How compiled code makes such a range or iterator; `None` for other values.
    pub(crate) fn describe_open_loop(&mut self, id: ValueId) -> Traced<Option<Materialised<Vec<ValueId>>>> {
        let Some(OpenLoop { over, .. }) = self.open_loop_of(id) else { return Ok(None) };
        let over = over.clone();
        let name = match self.value(id) {
            Value::New(New::Opaque(name)) => *name,
            _ => return Ok(None),
        };
        let (next, stop, step) = match over {
            Over::Lists { lists, next, first } => {
                return Ok(Some(self.describe_over_lists(id, name, &lists, next, first)));
            }
            Over::Range { next, stop, step, .. } => (next, stop, self.integer(step as isize)),
        };
        let range = self.constant(self.py.get_type::<PyRange>().into_any());
        let args = vec![next, stop, step];
        let children = vec![range, next, stop, step];
        let made = New::Call { callable: range, args, state: None };
        if name == RANGE {
            return Ok(Some(self.set(id, made, children)));
        }
        let range = self.push(Value::New(made));
        let iter = self.import("builtins", "iter")?;
        let iter = self.constant(iter);
        let iterator = New::Call { callable: iter, args: vec![range], state: None };
        Ok(Some(self.set(id, iterator, vec![iter, range])))
    }

    fn describe_over_lists(
        &mut self,
        id: ValueId,
        name: &str,
        lists: &[ValueId],
        next: usize,
        first: i64,
    ) -> Materialised<Vec<ValueId>> {
        let of = |list: ValueId| New::SequenceIterator { sequence: list, next, reversed: false };
        // `__setstate__` goes no further than to the end.
        let is_past_end = |list: &ValueId| {
            let copy = self.state.private_copies.of(*list).map(|copy| copy.object.bind(self.py).clone());
            let mut both = copy.into_iter().chain(self.real(*list));
            both.any(|list| list.len().is_ok_and(|length| length < next))
        };
        if lists.iter().any(is_past_end) {
            return self.escape(id, "an iterator that has come further than its list now goes");
        }
        if name == LIST_ITERATOR {
            return self.set(id, of(lists[0]), vec![lists[0]]);
        }
        let Some(class) = self.class_in_open_loop(name) else { return internal("a loop over nothing known") };
        let callable = self.constant(class.into_any());
        let mut args: Vec<_> = lists.iter().map(|list| self.push(Value::New(of(*list)))).collect();
        if name == ENUMERATE {
            args.push(self.integer(first as isize + next as isize));
        }
        let children = args.iter().chain(lists).copied().chain([callable]).collect();
        self.set(id, New::Call { callable, args, state: None }, children)
    }
}

/// Whether the instruction so many after the one that runs begins a `for` loop: nothing else gets what it goes over.
fn begins_loop(frame: &Frame, after: usize) -> bool {
    let op = |place: usize| frame.code.instrs.get(frame.pc + place).map(|instr| instr.op);
    op(after) == Some(Op::GET_ITER) && op(after + 1) == Some(Op::FOR_ITER)
}
