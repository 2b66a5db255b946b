//! `sum` of numbers of which some are symbolic. From 3.12 on it adds floats up more exactly than `+` does: the graph calls it.
use crate::ffi::containers;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList};

/// How deep what is gone through is looked into.
const DEPTH: usize = 6;

/// How many numbers `+` adds up as exactly, beside an integer that is zero.
const EXACT: usize = 2;

impl<'py> Tracer<'py> {
    /// What `sum` gives for a generator of the trace, or for what holds symbolic numbers; `None`: C does it.
    pub(crate) fn model_sum(&mut self, args: &Arguments) -> Traced<Option<ValueId>> {
        let (items, start) = match (args.positional.as_slice(), args.keywords.as_slice()) {
            ([items], []) => (*items, None),
            ([items, start], []) => (*items, Some(*start)),
            ([items], [(name, start)]) if *name == *"start" => (*items, Some(*start)),
            _ => return Ok(None),
        };
        if !self.is_stepped(items) && !self.holds_proxies(items)? {
            return Ok(None);
        }
        let start = match start {
            // Texts are refused with a message of their own.
            Some(start) if !self.is_plain_number(start)? => return Ok(None),
            Some(start) => start,
            None => self.integer(0),
        };
        let iterator = self.get_iter(items)?;
        let (mut numbers, mut total) = (vec![start], None);
        while let Some(item) = self.next(iterator)? {
            if total.is_none() && self.is_plain_number(item)? {
                numbers.push(item);
                continue;
            }
            let sum = match total {
                Some(sum) => sum,
                None => self.sum_of_numbers(&numbers)?,
            };
            total = Some(self.operator("add", &[sum, item])?);
        }
        match total {
            Some(total) => Ok(Some(total)),
            None => self.sum_of_numbers(&numbers).map(Some),
        }
    }

    /// Whether what is gone through holds numbers for which C gets proxies: made by the trace, or a container from outside.
    fn holds_proxies(&mut self, items: ValueId) -> Traced<bool> {
        let is_container = |object: &Bound<'py, PyAny>| containers::of(&object.get_type()).is_some();
        let held = match self.owned(items) {
            Some(made) => Some(made),
            None if !self.state.numbers.any_changes() => None,
            None if self.real(items).is_some_and(|object| is_container(&object)) => Some(self.receiver(items)?),
            None => None,
        };
        Ok(held.is_some_and(|held| self.holds_proxy_of_number(&held, DEPTH)))
    }

    fn is_plain_number(&mut self, value: ValueId) -> Traced<bool> {
        let class = self.class_of(value)?;
        Ok(class.is(self.py.get_type::<PyInt>())
            || class.is(self.py.get_type::<PyFloat>())
            || class.is(self.py.get_type::<PyBool>()))
    }

    /// What `sum` makes of numbers, the first of which it begins with.
    fn sum_of_numbers(&mut self, numbers: &[ValueId]) -> Traced<ValueId> {
        let [start, items @ ..] = numbers else { return Ok(self.integer(0)) };
        let symbolic: Vec<_> = numbers.iter().copied().filter(|number| self.is_symbolic(*number)).collect();
        let mut has_floats = false;
        for number in numbers {
            has_floats |= self.class_of(*number)?.is(self.py.get_type::<PyFloat>());
        }
        let is_zero = !self.is_symbolic(*start)
            && self
                .known(*start)
                .is_some_and(|start| start.is_exact_instance_of::<PyInt>() && start.eq(0).unwrap_or(false));
        if symbolic.is_empty() {
            let known: Option<Vec<_>> = items.iter().map(|item| self.known(*item)).collect();
            let (Some(known), Some(start)) = (known, self.known(*start)) else {
                return unsupported("sum of numbers", "one is not known");
            };
            let sum = PyList::new(self.py, known).and_then(|known| self.builtin("sum")?.call1((known, start)));
            let sum = sum.or_else(|error| self.raise_error(error))?;
            return Ok(self.constant(sum));
        }
        if !has_floats || items.len() + usize::from(!is_zero) <= EXACT {
            let mut sum = *start;
            for item in items {
                sum = self.operator("add", &[sum, *item])?;
            }
            return Ok(sum);
        }
        let unread = symbolic.iter().copied().find(|number| self.is_unread(*number));
        if let Some(unread) = unread
            && let Some((args, _)) = self.tried_operands(numbers)?
            && let Some(sum) = self.record_of_numbers("summed", &args, unread, &self.py.get_type::<PyFloat>())?
        {
            return Ok(sum);
        }
        match unread {
            Some(unread) => self.refuse_unread(unread)?,
            None => self.fix_numbers(symbolic)?,
        }
        unsupported("sum of numbers", "what it gives is not known")
    }

    fn builtin(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        crate::ffi::snapshot::original(self.py, "builtins", name)
    }
}
