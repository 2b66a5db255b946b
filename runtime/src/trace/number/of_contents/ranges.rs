//! Between which numbers those lie that contents decide, as far as the operations say that made them: then powers of them are known to be
//! floats, and what they choose is known to be there.
use crate::domain::{Choice, Domain, Operand, Range, RangeRule};
use crate::ffi::callee;
use crate::graph::{Argument, NodeId, NodeOp};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::symbol::Operation;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many nodes are looked at for one range.
const MOST_NODES: usize = 256;

/// Inputs, their paths, and conditions on what they hold.
type Found = Vec<(NodeId, Source, Box<dyn DomainCheck>)>;

/// Looks for ranges.
struct Search<'a, 'py> {
    tracer: &'a Tracer<'py>,
    known: FxHashMap<NodeId, Option<Range>>,
    /// Arrays whose contents a range relies on, beyond their type.
    arrays: Vec<NodeId>,
    /// What arrays from outside are to hold, and those that hold it.
    wanted: Option<(&'a Arc<dyn Domain>, &'a Choice<'py>)>,
    found: Found,
}

impl<'py> Tracer<'py> {
    /// The range of a number.
    pub(in crate::trace::number) fn range_of(&self, operand: &Operand<'py>) -> Option<Range> {
        match operand {
            Operand::Known(number) => range_of_known(number),
            Operand::Graph { value, .. } => match self.value(*value) {
                Value::Node { node, .. } => {
                    let mut search = Search::new(self, None);
                    let range = search.node(*node)?;
                    let Search { arrays, known, .. } = search;
                    (!self.are_written(&arrays, &known)).then_some(range)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an operation on floats gives one whichever they are.
    pub(in crate::trace::number) fn gives_float(&self, operation: Operation, args: &[Operand<'py>]) -> bool {
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

    /// Whether what chooses items in a call is known to choose such as are there, and nothing else makes the call raise. Guards say so of what
    /// arrays from outside hold.
    pub(crate) fn chooses_what_is_there(
        &mut self,
        domain: &Arc<dyn Domain>,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        keywords: &[(String, Operand<'py>)],
    ) -> Traced<bool> {
        let Some(choices) = domain.choices(target, args, keywords) else { return Ok(false) };
        let mut guards = Vec::new();
        for choice in &choices {
            let range = self.range_of(&choice.operand).filter(Range::is_exact);
            let is_there =
                range.is_some_and(|range| range.least >= choice.least as f64 && range.most <= choice.most as f64);
            if is_there {
                continue;
            }
            let Some(found) = self.found_there(domain, choice)? else { return Ok(false) };
            guards.extend(found);
        }
        for (node, source, check) in guards {
            self.state.numbers.looked_at.insert(node);
            self.guard(source, Check::Domain(check), "the graph chooses by it what is there");
        }
        Ok(true)
    }

    /// Conditions on what arrays from outside hold, under which a choice is one of what is there; `None`: nobody knows some.
    fn found_there(&mut self, domain: &Arc<dyn Domain>, choice: &Choice<'py>) -> Traced<Option<Found>> {
        let Operand::Graph { value, .. } = choice.operand else { return Ok(None) };
        let is_closed = self.state.numbers.left_open == Some(0);
        if is_closed || !self.state.numbers.layouts.is_empty() || self.state.rehearsals > 0 {
            return Ok(None);
        }
        let node = self.graph_node(value)?;
        let mut search = Search::new(self, Some((domain, choice)));
        if search.node(node).is_none() {
            return Ok(None);
        }
        let Search { known, found, .. } = search;
        let nodes: Vec<_> = known.keys().copied().collect();
        Ok((!self.are_written(&nodes, &known) && !self.may_lie_in_changed(&found)).then_some(found))
    }

    /// Whether some of these lie where an input lies that the graph changes.
    fn may_lie_in_changed(&self, found: &Found) -> bool {
        let is_looked_at = |node: &NodeId| found.iter().any(|(held, ..)| held == node);
        let inputs = self.state.inputs.iter().filter_map(|(node, value)| {
            let object = self.real(*value).filter(|object| self.domain_of(&object.get_type()).is_some())?;
            Some((object, is_looked_at(node)))
        });
        let (objects, looked_at): (Vec<_>, Vec<_>) = inputs.unzip();
        let domain = objects.first().and_then(|object| self.domain_of(&object.get_type()));
        !found.is_empty() && domain.is_none_or(|domain| domain.share_memory(&objects, &looked_at))
    }

    /// Whether a node writes into the memory of one of these, beside those that only read it.
    fn are_written(&self, arrays: &[NodeId], readers: &FxHashMap<NodeId, Option<Range>>) -> bool {
        let Some(first) = arrays.iter().min() else { return false };
        let memory: rustc_hash::FxHashSet<_> =
            arrays.iter().flat_map(|array| self.memory_behind(*array).0.into_iter().chain([*array])).collect();
        self.state.graph.nodes.iter().enumerate().skip(first.0 as usize).any(|(index, node)| {
            let Some((_, effects)) = self.effects_of(node) else { return false };
            let mut written = self.written(NodeId(index as u32), node, &effects);
            if effects.is_unknown && !readers.contains_key(&NodeId(index as u32)) {
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

impl<'a, 'py> Search<'a, 'py> {
    fn new(tracer: &'a Tracer<'py>, wanted: Option<(&'a Arc<dyn Domain>, &'a Choice<'py>)>) -> Self {
        Self { tracer, known: FxHashMap::default(), arrays: Vec::new(), wanted, found: Vec::new() }
    }

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
        if let Some((domain, choice)) = self.wanted.filter(|_| node.op == NodeOp::Placeholder) {
            let value = self.value(id)?;
            let check = domain.guard_of_choice(&tracer.real(value)?, choice)?;
            self.found.push((id, tracer.source(value)?, check));
            return Some(Range::integers(choice.least, choice.most));
        }
        if target.is_some_and(|target| tracer.works_on_numbers(target)) {
            // A number may be the one that chooses nothing.
            self.wanted.is_none_or(|(_, choice)| choice.beside.is_none()).then_some(())?;
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
            RangeRule::Known(range) if self.wanted.is_some() => {
                let (_, choice) = self.wanted?;
                let fits = range.least >= choice.least as f64 && range.most <= choice.most as f64;
                (fits && range.is_exact()).then_some(range)
            }
            RangeRule::Known(range) if range == Range::singles() => Some(range),
            RangeRule::Known(range) => {
                self.arrays.push(id);
                Some(range)
            }
            RangeRule::OfFirst => match node.args.first()? {
                Argument::Node(first) => self.node(*first),
                _ => None,
            },
            RangeRule::OfItems => match node.args.first()? {
                Argument::Tuple(items) | Argument::List(items) => {
                    let mut all: Option<Range> = None;
                    for item in items {
                        let Argument::Node(item) = item else { return None };
                        let range = self.node(*item)?;
                        all = Some(all.map_or(range, |all| all.extreme(range)));
                    }
                    all
                }
                _ => None,
            },
        }
    }

    /// The range of what a function on numbers gives.
    fn number(&mut self, name: &str, args: &[Argument]) -> Option<Range> {
        if let ("chosen", [Argument::Constant(items), _]) = (name, args) {
            let items = items.bind(self.tracer.py).try_iter().ok()?;
            let mut ranges = items.map(|item| range_of_known(&item.ok()?));
            let first = ranges.next()??;
            return ranges.try_fold(first, |range, next| Some(range.extreme(next?)));
        }
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
            Argument::Node(node) => match self.value(*node).zip(self.example(*node)) {
                Some((value, example)) => {
                    let layout = self.tracer.state.numbers.layouts.get(&value).cloned();
                    Operand::Graph { value, example, layout }
                }
                None => Operand::Foreign(py.get_type::<PyAny>()),
            },
            Argument::Slice(_) => Operand::Foreign(py.get_type::<PyAny>()),
        }
    }

    fn value(&self, node: NodeId) -> Option<ValueId> {
        let from_outside =
            || self.tracer.state.inputs.iter().find(|(input, _)| *input == node).map(|(_, value)| *value);
        self.tracer.value_given_by(node).or_else(from_outside)
    }

    /// What has the metadata of what a node gives.
    fn example(&self, node: NodeId) -> Option<Bound<'py, PyAny>> {
        let tracer = self.tracer;
        let value = self.value(node)?;
        match tracer.state.examples.get(&value) {
            Some(example) => Some(example.bind(tracer.py).clone()),
            None => match tracer.value(value) {
                Value::Node { example, .. } => Some(example.bind(tracer.py).clone()),
                _ => tracer.real(value),
            },
        }
    }
}
