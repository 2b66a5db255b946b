//! Between which numbers those lie that contents decide, as far as the operations say that made them: then powers of them are known to be
//! floats, and what they choose is known to be there.
use crate::domain::{Domain, Operand, Range, RangeRule};
use crate::ffi::callee;
use crate::graph::{Argument, NodeId, NodeOp};
use crate::symbol::Operation;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::Value;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many nodes are looked at for one range.
const MOST_NODES: usize = 256;

/// Looks for ranges.
struct Search<'a, 'py> {
    tracer: &'a Tracer<'py>,
    known: FxHashMap<NodeId, Option<Range>>,
    /// Arrays whose contents a range relies on, beyond their type.
    arrays: Vec<NodeId>,
}

impl<'py> Tracer<'py> {
    /// The range of a number.
    pub(super) fn range_of(&self, operand: &Operand<'py>) -> Option<Range> {
        match operand {
            Operand::Known(number) => range_of_known(number),
            Operand::Graph { value, .. } => match self.value(*value) {
                Value::Node { node, .. } => {
                    let mut search = Search { tracer: self, known: FxHashMap::default(), arrays: Vec::new() };
                    let range = search.node(*node)?;
                    let Search { arrays, .. } = search;
                    (!self.are_written(&arrays)).then_some(range)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an operation on floats gives one whichever they are.
    pub(super) fn gives_float(&self, operation: Operation, args: &[Operand<'py>]) -> bool {
        let range = || self.range_of(args.first()?);
        let given = match (operation, args) {
            (Operation::Power, [Operand::Graph { .. }, Operand::Known(exponent)]) => {
                let exponent = range_of_known(exponent).map(|exponent| exponent.least);
                exponent.and_then(|exponent| range()?.power(exponent))
            }
            (Operation::SquareRoot, [_]) => range().and_then(Range::root),
            _ => None,
        };
        given.is_some()
    }

    /// Whether what chooses items in a call is known to choose such as are there, and nothing else makes the call raise.
    pub(crate) fn chooses_what_is_there(
        &self,
        domain: &Arc<dyn Domain>,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> bool {
        let Some((place, count)) = domain.chosen_among(target, args) else { return false };
        let range = args.get(place).and_then(|choice| self.range_of(choice));
        range.is_some_and(|range| range.is_exact() && range.least >= -(count as f64) && range.most < count as f64)
    }

    /// Whether a node writes into the memory of one of these.
    fn are_written(&self, arrays: &[NodeId]) -> bool {
        let Some(first) = arrays.iter().min() else { return false };
        let memory: rustc_hash::FxHashSet<_> =
            arrays.iter().flat_map(|array| self.memory_behind(*array).0.into_iter().chain([*array])).collect();
        self.state.graph.nodes.iter().enumerate().skip(first.0 as usize).any(|(index, node)| {
            let Some((_, effects)) = self.effects_of(node) else { return false };
            let mut written = self.written(NodeId(index as u32), node, &effects);
            if effects.is_unknown {
                node.arguments().for_each(|argument| argument.nodes(&mut written));
            }
            written.into_iter().any(|node| self.memory_behind(node).0.iter().any(|node| memory.contains(node)))
        })
    }
}

fn range_of_known(number: &Bound<'_, PyAny>) -> Option<Range> {
    let is_number = number.is_exact_instance_of::<PyFloat>() || number.is_exact_instance_of::<PyInt>();
    Range::of(number.extract().ok().filter(|_| is_number)?)
}

impl<'py> Search<'_, 'py> {
    fn node(&mut self, id: NodeId) -> Option<Range> {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        if self.known.len() >= MOST_NODES {
            return None;
        }
        self.known.insert(id, None);
        let found = self.search(id);
        self.known.insert(id, found);
        found
    }

    fn search(&mut self, id: NodeId) -> Option<Range> {
        let tracer = self.tracer;
        let node = tracer.state.graph.nodes.get(id.0 as usize)?;
        let example = self.example(id);
        let target = node.target.as_ref().map(|target| target.bind(tracer.py));
        let target = target.filter(|_| node.op == NodeOp::CallFunction);
        if target.is_some_and(|target| tracer.works_on_numbers(target)) {
            return self.number(&callee::name_of(target?), &node.args);
        }
        let domain = tracer.state.domains.iter().find(|domain| domain.name() == node.domain);
        let domain = match (domain, &example) {
            (Some(domain), _) => Arc::clone(domain),
            (None, Some(example)) => tracer.domain_of(&example.get_type())?,
            _ => return None,
        };
        let args: Vec<_> = node.args.iter().map(|argument| self.operand(argument)).collect();
        let kwargs: Vec<_> =
            node.kwargs.iter().map(|(name, argument)| (name.clone(), self.operand(argument))).collect();
        match domain.range_rule(target, &args, &kwargs, example.as_ref())? {
            RangeRule::Known(range) if range == Range::singles() => Some(range),
            RangeRule::Known(range) => {
                self.arrays.push(id);
                Some(range)
            }
            RangeRule::OfFirst => match node.args.first()? {
                Argument::Node(first) => self.node(*first),
                _ => None,
            },
        }
    }

    /// The range of what a function on numbers gives.
    fn number(&mut self, name: &str, args: &[Argument]) -> Option<Range> {
        let mut ranges = Vec::with_capacity(args.len());
        for argument in args {
            ranges.push(match argument {
                Argument::Node(node) => self.node(*node)?,
                Argument::Constant(number) => range_of_known(number.bind(self.tracer.py))?,
                _ => return None,
            });
        }
        match (name, ranges.as_slice()) {
            ("added", [left, right]) => left.plus(*right),
            ("subtracted", [left, right]) => left.plus(right.negative()),
            ("multiplied", [left, right]) => left.times(*right),
            ("divided", [left, right]) => left.divided_by(*right),
            ("powered", [base, exponent]) if exponent.least == exponent.most => base.power(exponent.least),
            ("square_root", [number]) => number.root(),
            ("negated", [number]) => Some(number.negative()),
            ("absolute", [number]) => Some(number.absolute()),
            ("to_float", [number]) => Some(*number),
            ("least" | "greatest", [first, rest @ ..]) => {
                Some(rest.iter().fold(*first, |range, next| range.extreme(*next)))
            }
            _ => None,
        }
    }

    fn operand(&self, argument: &Argument) -> Operand<'py> {
        let py = self.tracer.py;
        match argument {
            Argument::Constant(constant) => Operand::Known(constant.bind(py).clone()),
            Argument::Tuple(items) | Argument::List(items) => {
                Operand::Tuple(items.iter().map(|item| self.operand(item)).collect())
            }
            Argument::Node(node) => match self.tracer.value_given_by(*node).zip(self.example(*node)) {
                Some((value, example)) => {
                    let layout = self.tracer.state.numbers.layouts.get(&value).cloned();
                    Operand::Graph { value, example, layout }
                }
                None => Operand::Foreign(py.get_type::<PyAny>()),
            },
            Argument::Slice(_) => Operand::Foreign(py.get_type::<PyAny>()),
        }
    }

    /// What has the metadata of what a node gives.
    fn example(&self, node: NodeId) -> Option<Bound<'py, PyAny>> {
        let tracer = self.tracer;
        let value = match tracer.value_given_by(node) {
            Some(value) => value,
            None => tracer.state.inputs.iter().find(|(input, _)| *input == node).map(|(_, value)| *value)?,
        };
        match tracer.state.examples.get(&value) {
            Some(example) => Some(example.bind(tracer.py).clone()),
            None => match tracer.value(value) {
                Value::Node { example, .. } => Some(example.bind(tracer.py).clone()),
                _ => tracer.real(value),
            },
        }
    }
}
