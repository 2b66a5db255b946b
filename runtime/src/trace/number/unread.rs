//! Numbers that contents of arrays decide: the graph gives them, and nobody knows them before it has run.
use crate::domain::{Domain, Operand};
use crate::ffi::types;
use crate::graph::NodeId;
use crate::graph_break::Break;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::{Open, OpenCall, TakenNumbers};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, hints, stop, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyTuple, PyType};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Classes whose instances are as well known from outside as from within the trace.
const PLAIN: &[&str] = &["int", "float", "complex", "bool", "str", "bytes"];

impl<'py> Tracer<'py> {
    /// Whether a value is such a number. It may be kept, given back and handed to operations of the graph.
    pub(crate) fn is_unread(&self, value: ValueId) -> bool {
        let Value::Node { kind, .. } = self.value(value) else { return false };
        let kind = kind.bind(self.py);
        kind.is(self.py.get_type::<PyInt>())
            || kind.is(self.py.get_type::<PyFloat>())
            || kind.is(self.py.get_type::<PyBool>())
            || kind.is(self.py.get_type::<PyComplex>())
    }

    /// Whether it is one, and a float: no size depends on it.
    pub(crate) fn is_unread_float(&self, value: ValueId) -> bool {
        matches!(self.value(value), Value::Node { kind, .. } if kind.bind(self.py).is(self.py.get_type::<PyFloat>()))
    }

    /// Whether what a call gives is, or holds, such a number or the text of one.
    pub(crate) fn gives_unread(&self, domain: &Arc<dyn Domain>, example: &Bound<'py, PyAny>) -> bool {
        let is_sequence = example.is_instance_of::<PyTuple>() || example.is_instance_of::<PyList>();
        if is_sequence {
            let mut items = example.try_iter().into_iter().flatten().flatten();
            return items.any(|item| self.gives_unread(domain, &item));
        }
        let class = domain.class_of(example);
        domain.is_open(example) && PLAIN.contains(&&*types::c_name(&class))
    }

    /// `bool(array)`, where contents decide it: such a number, too. `None`: the value is no array of such a library.
    pub(crate) fn truth_of_contents(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        let class = self.class_of(value)?;
        let gives = |domain: &Arc<dyn Domain>| domain.unread(&self.py.get_type::<PyBool>()).is_some();
        if self.domain_of(&class).is_none_or(|domain| !gives(&domain)) || self.has_taking_modes() {
            return Ok(None);
        }
        match self.special(value, "__bool__")? {
            Some(method) => self.call(method, Arguments::default()).map(Some),
            None => Ok(None),
        }
    }

    /// Has the graph check that such a number has this truth.
    pub(crate) fn check_unread(&mut self, value: ValueId, truth: bool) -> Traced<Option<bool>> {
        let Value::Node { node, example, .. } = self.value(value) else { return Ok(None) };
        let example = example.bind(self.py).clone();
        let room = self.state.graph.nodes.get(node.0 as usize).map_or("", |node| node.domain);
        let domain = self.state.domains.iter().find(|domain| domain.name() == room).cloned();
        let Some((domain, checks)) = domain.and_then(|domain| {
            let checks = domain.checks_of_truth(&example, truth)?;
            Some((domain, checks))
        }) else {
            return Ok(None);
        };
        for check in checks {
            let operand = Operand::Graph { value, example: example.clone(), layout: None };
            self.record(&domain, check, &[operand], &[], self.py.None().into_bound(self.py))?;
        }
        Ok(Some(truth))
    }

    /// Breaks where something else is to be done with it. Where C works, what it works on may be nothing that can leave the trace.
    pub(crate) fn refuse_unread(&mut self, value: ValueId) -> Traced<()> {
        self.know_addresses(value)?;
        match self.is_unread(value) || self.is_unread_text(value) {
            true if self.is_further_in() => Err(self.closing(&[value])),
            true => stop(
                "number that contents of an array decide",
                "use of the number",
                "Python needs the number, which is known only when the graph has run.",
                hints::DATA,
            ),
            false => Ok(()),
        }
    }

    /// Whether the trace would stop further in than where contents decided something: in a frame that was entered since, or where C works
    /// or makes an object. What goes on there goes on with less in sight, and would break more often.
    fn is_further_in(&self) -> bool {
        let depth = self.state.numbers.open_depth;
        self.state.nesting > 0
            || self.state.numbers.makes_object
            || depth.is_some_and(|depth| self.state.places.len() > depth)
    }

    /// Makes an object of C: one that was made natively is from outside, where less is known of it.
    pub(crate) fn making_an_object<T>(
        &mut self,
        class: &Bound<'py, PyType>,
        make: impl FnOnce(&mut Self) -> Traced<T>,
    ) -> Traced<T> {
        let is_plain = PLAIN.contains(&&*types::c_name(class));
        let outer = std::mem::replace(&mut self.state.numbers.makes_object, !is_plain);
        let made = make(self);
        self.state.numbers.makes_object = outer;
        made
    }

    /// The trace is made again, and leaves nothing open that contents decide.
    pub(super) fn close_open<T>(&mut self) -> Traced<T> {
        self.state.numbers.closing = Some(0);
        Err(Unwind::Specialise)
    }

    /// The trace is made again, and ends where contents began to decide the last thing that these values come from.
    fn closing(&mut self, values: &[ValueId]) -> Unwind {
        let mut work: Vec<_> = values.iter().filter_map(|value| self.open_node(*value)).collect();
        let numbers = &self.state.numbers;
        let (mut seen, mut last) = (FxHashSet::default(), 0);
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            last = last.max(numbers.open_roots.iter().position(|root| *root == node).unwrap_or(0));
            let mut operands = Vec::new();
            if let Some(node) = self.state.graph.nodes.get(node.0 as usize) {
                node.arguments().for_each(|argument| argument.nodes(&mut operands));
            }
            work.extend(operands.into_iter().filter(|operand| numbers.open.contains(operand)));
        }
        self.state.numbers.closing = Some(last);
        Unwind::Specialise
    }

    fn open_node(&self, value: ValueId) -> Option<NodeId> {
        match self.value(value) {
            Value::Node { node, .. } => Some(*node).filter(|node| self.state.numbers.open.contains(node)),
            _ => None,
        }
    }

    /// What becomes of a break at an operation on what contents have decided.
    pub(crate) fn break_at_open(&mut self, reason: Box<Break>, operands: &[&Operand<'py>]) -> Unwind {
        let is_open = self.are_open(operands.iter().copied());
        let mut values = Vec::new();
        operands.iter().for_each(|operand| operand.values(&mut values));
        match is_open && self.is_further_in() {
            true => self.closing(&values),
            false => Unwind::Break(reason),
        }
    }

    /// Whether contents decide sizes of one of these, or an integer.
    pub(crate) fn have_open_sizes<'a>(&self, operands: impl Iterator<Item = &'a Operand<'py>>) -> bool
    where
        'py: 'a,
    {
        let mut values = Vec::new();
        operands.for_each(|operand| operand.values(&mut values));
        values.into_iter().any(|value| match self.value(value) {
            Value::Node { node, .. } => {
                self.state.numbers.open.contains(node) && !self.state.numbers.open_floats.contains(node)
            }
            _ => false,
        })
    }

    /// Whether contents decide something about one of these.
    pub(crate) fn are_open<'a>(&self, operands: impl Iterator<Item = &'a Operand<'py>>) -> bool
    where
        'py: 'a,
    {
        let mut values = Vec::new();
        operands.for_each(|operand| operand.values(&mut values));
        values.into_iter().any(|value| match self.value(value) {
            Value::Node { example, .. } => {
                let example = example.bind(self.py);
                self.state.domains.iter().any(|domain| domain.is_open(example))
            }
            _ => false,
        })
    }

    /// Notes a node that gives, or works on, what contents decide.
    pub(crate) fn note_open(&mut self, node: NodeId, call: OpenCall, of: Open) {
        if call == OpenCall::None {
            return;
        }
        let depth = self.state.places.len();
        let numbers = &mut self.state.numbers;
        if of != Open::Contents {
            numbers.open.insert(node);
        }
        if of == Open::Float {
            numbers.open_floats.insert(node);
        }
        if call == OpenCall::Begins {
            numbers.open_roots.push(node);
        }
        numbers.open_depth = Some(numbers.open_depth.map_or(depth, |known| known.min(depth)));
    }

    /// Breaks at an operation whose result contents decide, where the trace is to leave it open no more.
    pub(crate) fn refuse_open(&self, open: OpenCall) -> Traced<()> {
        let numbers = &self.state.numbers;
        match open == OpenCall::Begins && numbers.left_open.is_some_and(|most| numbers.open_roots.len() >= most) {
            true => unsupported("result that contents of an array decide", "what is done with it cannot be taken back"),
            false => Ok(()),
        }
    }

    /// Such a number as an operand of an operation whose result has the same metadata whatever the number.
    pub(crate) fn unread_operand(&mut self, value: ValueId, taken: TakenNumbers) -> Traced<Option<Operand<'py>>> {
        let takes = match (taken, self.value(value)) {
            (TakenNumbers::All | TakenNumbers::Classes, _) => self.is_unread(value),
            (TakenNumbers::OpenIntegers | TakenNumbers::Ruled, Value::Node { kind, .. }) => {
                kind.bind(self.py).is(self.py.get_type::<PyInt>())
            }
            _ => false,
        };
        if takes && let Value::Node { example, .. } = self.value(value) {
            return Ok(Some(Operand::Graph { value, example: example.bind(self.py).clone(), layout: None }));
        }
        self.refuse_unread(value).map(|()| None)
    }
}
