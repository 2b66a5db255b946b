//! Operators that take functions (conditions, loops, scans, checkpoints): a node that gets graphs in the functions' places. What the
//! functions use of the outer graph they get as more operands.
use crate::domain::{Domain, Formal, GraphCall, HigherOrder, Operand};
use crate::ffi::callee;
use crate::graph::{ForBackend, Node, NodeId, NodeOp, Origin, PyGraph};
use crate::names::name;
use crate::trace::call::subgraph_bodies::{Body, Leaf, Shape, lifted};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};
use std::sync::Arc;

const WHAT: &str = "operator that takes functions";

/// The name of the argument that gets what functions use beside theirs.
const LIFTED: &str = "additional_inputs";

impl<'py> Tracer<'py> {
    /// A call of an operator that takes functions.
    pub(crate) fn call_higher_order(
        &mut self,
        domain: &Arc<dyn Domain>,
        operator: Bound<'py, PyAny>,
        order: &'static HigherOrder,
        args: &Arguments,
    ) -> Traced<ValueId> {
        let mut args = args.clone();
        if let Some(index) = args.keywords.iter().position(|(name, _)| name == LIFTED)
            && args.positional.len() == order.lifted
        {
            let (_, lifted) = args.keywords.remove(index);
            args.positional.push(lifted);
        }
        if order.arity == order.lifted {
            self.hand_keywords_on(order, &mut args)?;
        }
        self.take_nested(order, &mut args)?;
        let args = &args;
        if args.keywords.iter().any(|(name, _)| !order.options.contains(&name.as_str())) {
            return unsupported(WHAT, "it is called with other keywords");
        }
        if let Some(function) = self.chosen(order, args) {
            let given = self.items_of(args, order.lifted)?;
            return self.call(function, Arguments::positional(given));
        }
        let mut bodies = Vec::new();
        for (place, index) in order.bodies.iter().enumerate() {
            let Some(function) = args.positional.get(*index) else { return unsupported(WHAT, "a function is missing") };
            let (formals, given) = self.formals(domain, order.formals_of(place), args)?;
            let called = match order.formals {
                [] if order.arity == order.lifted => args.positional.get(order.arity..).unwrap_or_default().to_vec(),
                [] => self.items_of(args, order.lifted)?,
                _ => given,
            };
            bodies.push(self.body(*function, called, formals, order)?);
        }
        // What its function gives, the call gives: others work out sizes of their own.
        if !keeps_layouts(order, &bodies) && !self.state.numbers.layouts.is_empty() {
            return self.fix_sizes(self.state.numbers.layouts.keys().copied().collect());
        }
        if order.apart && bodies.iter().any(|body| body.shape != Shape::Leaf(0)) {
            return unsupported(WHAT, "a function gives no tensor, or several");
        }
        let lifted: Vec<_> = match order.apart {
            true => bodies.chunks(1).map(lifted).collect(),
            false => vec![lifted(&bodies)],
        };
        let mut graphs = Vec::new();
        for (place, body) in bodies.iter_mut().enumerate() {
            let Some(uses) = lifted.get(place).or(lifted.last()) else { return internal("no function") };
            let graph = PyGraph::new(self.py, &body.graph(uses)).or_else(|error| internal(error.to_string()))?;
            graphs.push((graph.into_any(), order.single && body.shape == Shape::Leaf(0)));
        }
        self.call_with_graphs(domain, operator, order, args, &bodies, &lifted, graphs)
    }

    /// The function that a truth among the arguments chooses.
    fn chosen(&mut self, order: &'static HigherOrder, args: &Arguments) -> Option<ValueId> {
        let choice = self.known(*args.positional.get(order.chooses?)?)?;
        let index = if choice.cast_exact::<PyBool>().ok()?.is_true() { 0 } else { 1 };
        args.positional.get(*order.bodies.get(index)?).copied()
    }

    #[allow(clippy::too_many_arguments)]
    fn call_with_graphs(
        &mut self,
        domain: &Arc<dyn Domain>,
        mut operator: Bound<'py, PyAny>,
        order: &'static HigherOrder,
        args: &Arguments,
        bodies: &[Body],
        lifted: &[Vec<NodeId>],
        graphs: Vec<(Bound<'py, PyAny>, bool)>,
    ) -> Traced<ValueId> {
        let mut extra = Vec::new();
        for node in lifted.iter().flatten() {
            let value = self.value_of_node(*node)?;
            let is_called_so = keeps_layouts(order, bodies);
            let numbers = if is_called_so { TakenNumbers::Integers } else { TakenNumbers::None };
            extra.push(self.operand_of(value, numbers)?);
        }
        let mut operands = Vec::new();
        for (index, value) in args.positional.iter().enumerate().take(order.arity) {
            let operand = match order.bodies.contains(&index) {
                true => Operand::Known(self.py.None().into_bound(self.py)),
                false => self.operand_or_options(*value)?,
            };
            operands.push(operand);
        }
        if order.apart {
            let mut extra = extra.into_iter();
            let each = lifted.iter().map(|uses| Operand::Tuple(extra.by_ref().take(uses.len()).collect()));
            operands.extend(each.collect::<Vec<_>>());
        } else if order.arity == order.lifted {
            // What the functions use is all that they are called with.
            operands.extend(extra);
        } else {
            let mut items = match operands.get(order.lifted) {
                Some(Operand::Tuple(items) | Operand::List(items)) if order.formals.is_empty() => {
                    Vec::with_capacity(items.len())
                }
                Some(Operand::Tuple(items) | Operand::List(items)) => items.clone(),
                Some(Operand::Known(empty)) if empty.cast_exact::<PyTuple>().is_ok_and(|empty| empty.is_empty()) => {
                    Vec::new()
                }
                _ => return unsupported(WHAT, "its operands are no tuple or list"),
            };
            items.extend(extra);
            operands[order.lifted] = Operand::Tuple(items);
        }
        let mut named = self.named_operands(&args.keywords, TakenNumbers::None)?;
        let examples: Vec<_> = bodies
            .iter()
            .map(|body| body.leaves.iter().map(|(_, example, _)| example.bind(self.py).clone()).collect())
            .collect();
        let given = self.operands_given(args, order)?;
        let call = GraphCall {
            operator: &mut operator,
            operands: &mut operands,
            named: &mut named,
            order,
            given: &given,
            graphs,
            as_recorded: !self.state.backend,
            examples,
        };
        let made = domain.with_graphs(self.py, call).map_err(Unwind::Break)?;
        let whole = self.record(domain, operator, &operands, &named, made.clone())?;
        let getitem =
            crate::ffi::modules::import(self.py, "operator").and_then(|module| module.getattr(name!("getitem")));
        let getitem = getitem.or_else(|error| internal(error.to_string()))?;
        let mut parts = Vec::new();
        for (place, part) in made.try_iter().into_iter().flatten().flatten().enumerate() {
            let index = place.into_pyobject(self.py).map(Bound::into_any).unwrap_or_else(|never| match never {});
            let from = [Operand::Graph { value: whole, example: made.clone(), layout: None }, Operand::Known(index)];
            let part = self.record(domain, getitem.clone(), &from, &[], part)?;
            let layout = bodies.first().and_then(|body| body.leaves.get(place)?.2.as_deref().cloned());
            self.keep_layout(part, layout.filter(|_| keeps_layouts(order, bodies)));
            parts.push(part);
        }
        let alike = !order.formals.is_empty() || bodies.windows(2).all(|pair| pair[0].shape == pair[1].shape);
        match order.shaped.and_then(|index| bodies.get(index)) {
            Some(body) if alike => self.in_shape(&body.shape, &parts),
            Some(_) => unsupported(WHAT, "the functions give results of different structure"),
            None => self.tuple(&parts),
        }
    }

    /// Takes the last function out of the argument that it is in.
    fn take_nested(&mut self, order: &HigherOrder, args: &mut Arguments) -> Traced<()> {
        let Some(at) = order.nested else { return Ok(()) };
        let mut items = self.items_of(args, at)?;
        let (Some(function), true) = (items.pop(), args.positional.len() + 1 == order.arity) else {
            return unsupported(WHAT, "it is called with other arguments");
        };
        args.positional[at] = self.tuple(&items)?;
        args.positional.push(function);
        Ok(())
    }

    /// An argument that is a value of the graph, known, or a dict of options.
    fn operand_or_options(&mut self, value: ValueId) -> Traced<Operand<'py>> {
        let options = self.owned(value).and_then(|options| options.cast_into_exact::<PyDict>().ok());
        let Some(options) = options else { return self.operand_of(value, TakenNumbers::None) };
        let known = PyDict::new(self.py);
        for (name, option) in options {
            let (name, option) = (self.absorb(name), self.absorb(option));
            let (Some(name), Some(option)) = (self.known(name), self.known(option)) else {
                return unsupported(WHAT, "an option is not known");
            };
            known.set_item(name, option).or_else(|error| internal(error.to_string()))?;
        }
        Ok(Operand::Known(known.into_any()))
    }

    /// Binds the keywords that are handed on to the function, as the newer kind of checkpoint does.
    fn hand_keywords_on(&mut self, order: &HigherOrder, args: &mut Arguments) -> Traced<()> {
        let is_option = |name: &String| order.options.contains(&name.as_str());
        let newer = args.keywords.iter().find(|(name, _)| name == "use_reentrant").map(|(_, value)| *value);
        let newer = newer.and_then(|value| self.known(value)).is_some_and(|value| !value.is_truthy().unwrap_or(true));
        if !newer || args.keywords.iter().all(|(name, _)| is_option(name)) {
            return Ok(());
        }
        let (options, others) = std::mem::take(&mut args.keywords).into_iter().partition(|(name, _)| is_option(name));
        args.keywords = options;
        let Some(function) = args.positional.first().copied() else { return Ok(()) };
        let partial = self.import("functools", "partial")?;
        let partial = self.constant(partial);
        let bound = Arguments { positional: vec![function], keywords: others, ..Arguments::default() };
        args.positional[0] = self.call(partial, bound)?;
        Ok(())
    }

    /// The arguments that are handed on to the function.
    fn operands_given(&mut self, args: &Arguments, order: &HigherOrder) -> Traced<Vec<Operand<'py>>> {
        match order.arity == order.lifted {
            true => self.operands_of(args.positional.get(order.arity..).unwrap_or_default(), TakenNumbers::None),
            false => Ok(Vec::new()),
        }
    }

    /// Stand-ins for what a function is called with: nodes of its own graph.
    fn formals(
        &mut self,
        domain: &Arc<dyn Domain>,
        formals: &'static [Formal],
        args: &Arguments,
    ) -> Traced<(Vec<NodeId>, Vec<ValueId>)> {
        let (mut nodes, mut values) = (Vec::new(), Vec::new());
        for formal in formals {
            let items = match formal {
                Formal::Whole(index) | Formal::First(index) => self.items_of(args, *index)?,
                Formal::Item(index) | Formal::Index(index) => {
                    args.positional.get(*index).copied().into_iter().collect()
                }
            };
            for item in items {
                let Operand::Graph { example, .. } = self.operand_of(item, TakenNumbers::None)? else {
                    return unsupported(WHAT, "an operand is no tensor");
                };
                let example = domain.formal(&example, *formal).map_err(Unwind::Break)?;
                let node = self.formal_node(domain, &example);
                nodes.push(node);
                let kind = example.get_type().into_any().unbind();
                values.push(self.push(Value::Node { node, kind, example: example.unbind() }));
            }
        }
        Ok((nodes, values))
    }

    fn formal_node(&mut self, domain: &Arc<dyn Domain>, example: &Bound<'py, PyAny>) -> NodeId {
        self.node(Node {
            name: "arg".to_owned(),
            op: NodeOp::CallFunction,
            target: None,
            args: Vec::new(),
            kwargs: Vec::new(),
            meta: domain.describe(example),
            domain: domain.name(),
            sizes: None,
            origin: Origin::default(),
            backend: ForBackend::default(),
        })
    }

    fn items_of(&mut self, args: &Arguments, index: usize) -> Traced<Vec<ValueId>> {
        if index >= args.positional.len() {
            return Ok(Vec::new());
        }
        let value = args.positional[index];
        let items =
            self.owned(value).or_else(|| self.real(value).filter(|value| value.is_exact_instance_of::<PyTuple>()));
        let items: Vec<_> = match items {
            Some(items) if items.is_exact_instance_of::<PyTuple>() || items.is_exact_instance_of::<PyList>() => {
                items.try_iter().into_iter().flatten().flatten().collect()
            }
            _ => return unsupported(WHAT, "its operands are no tuple or list"),
        };
        Ok(items.into_iter().map(|item| self.absorb(item)).collect())
    }

    /// Traces a function, and takes what it has recorded out of the graph.
    fn body(
        &mut self,
        function: ValueId,
        called: Vec<ValueId>,
        formals: Vec<NodeId>,
        order: &HigherOrder,
    ) -> Traced<Body> {
        let before = formals.first().map_or(self.state.graph.nodes.len(), |first| first.0 as usize);
        let changed = self.state.changed_by_graph.len();
        let rehearsed = self.rehearse(before, |tracer| tracer.call(function, Arguments::positional(called)));
        let (result, dropped) = match rehearsed {
            // What it was called with stands for nothing in the graph.
            Err(Unwind::Raised(_)) if !formals.is_empty() => return unsupported(WHAT, "a function raises"),
            rehearsed => rehearsed?,
        };
        if self.state.changed_by_graph.len() != changed {
            return unsupported(WHAT, "a function changes a tensor from outside");
        }
        let mut leaves = Vec::new();
        let given = if order.apart { formals.as_slice() } else { &[] };
        let shape = self.shape_of(result, given, &mut leaves)?;
        let mut nodes = Vec::new();
        for id in dropped {
            if formals.contains(&id) {
                continue;
            }
            let empty = Node {
                name: String::new(),
                op: NodeOp::CallFunction,
                target: None,
                args: Vec::new(),
                kwargs: Vec::new(),
                meta: String::new(),
                domain: "",
                sizes: None,
                origin: Origin::default(),
                backend: ForBackend::default(),
            };
            let recorded = &self.state.graph.nodes[id.0 as usize];
            let target = recorded.target.as_ref().map(|target| target.bind(self.py));
            let is_index = || order.indexed && target.is_some_and(|target| callee::name_of(target) == "getitem");
            if recorded.backend == ForBackend::LeavesAlone && !is_index() {
                return unsupported(WHAT, "a function makes a call that no backend compiles");
            }
            nodes.push((id, std::mem::replace(&mut self.state.graph.nodes[id.0 as usize], empty)));
        }
        Ok(Body { nodes, formals, leaves, shape })
    }

    fn shape_of(&mut self, result: ValueId, given: &[NodeId], leaves: &mut Vec<Leaf>) -> Traced<Shape> {
        if let Value::Node { node, example, .. } = self.value(result) {
            let node = *node;
            let example = self.state.examples.get(&result).unwrap_or(example).clone_ref(self.py);
            let made = self.state.graph.nodes.get(node.0 as usize).is_some_and(|node| node.target.is_some());
            if !given.contains(&node) && (!made || !self.state.dropped_nodes.contains(&node)) {
                return unsupported(WHAT, "a function gives what it was given");
            }
            let known = leaves.iter().position(|(known, ..)| *known == node);
            let layout = self.state.numbers.layouts.get(&result).cloned();
            return Ok(Shape::Leaf(known.unwrap_or_else(|| {
                leaves.push((node, example, layout));
                leaves.len() - 1
            })));
        }
        let Some(items) = self.owned(result) else {
            return match self.known(result) {
                Some(_) => Ok(Shape::Other(result)),
                None => unsupported(WHAT, "a function gives other things than new tensors"),
            };
        };
        let (tuple, list) = (items.is_exact_instance_of::<PyTuple>(), items.is_exact_instance_of::<PyList>());
        if !tuple && !list {
            return unsupported(WHAT, "a function gives other things than new tensors");
        }
        let mut shapes = Vec::new();
        for item in items.try_iter().into_iter().flatten().flatten() {
            let item = self.absorb(item);
            shapes.push(self.shape_of(item, given, leaves)?);
        }
        Ok(if tuple { Shape::Tuple(shapes) } else { Shape::List(shapes) })
    }

    fn in_shape(&mut self, shape: &Shape, parts: &[ValueId]) -> Traced<ValueId> {
        let (items, is_list) = match shape {
            Shape::Leaf(index) => {
                return parts.get(*index).copied().map_or_else(|| internal("a result is missing"), Ok);
            }
            Shape::Other(value) => return Ok(*value),
            Shape::Tuple(items) => (items, false),
            Shape::List(items) => (items, true),
        };
        let mut values = Vec::new();
        for item in items {
            values.push(self.in_shape(item, parts)?);
        }
        let made = self.tuple(&values)?;
        if is_list { self.call_builtin("list", &[made]) } else { Ok(made) }
    }

    /// The value that a node of the outer graph computes, or that is passed in.
    fn value_of_node(&self, node: NodeId) -> Traced<ValueId> {
        if let Some((_, value)) = self.state.inputs.iter().find(|(input, _)| *input == node) {
            return Ok(*value);
        }
        if let Some((value, _)) = self.state.changed_nodes.iter().find(|(_, changed)| **changed == node) {
            return Ok(*value);
        }
        if let Some(value) = self.number_of_node(node) {
            return Ok(value);
        }
        let found = self
            .state
            .values
            .iter()
            .position(|value| matches!(value, Value::Node { node: known, .. } if *known == node));
        found.map_or_else(|| internal("a node without a value"), |index| Ok(ValueId(index as u32)))
    }
}

/// Whether the call gives what its functions give, which are called with what it is called with: a choice between such as give tensors of the
/// same sizes.
fn keeps_layouts(order: &HigherOrder, bodies: &[Body]) -> bool {
    let sizes = |body: &Body| body.leaves.iter().map(|(_, _, layout)| layout.clone()).collect::<Vec<_>>();
    let are_alike = || bodies.windows(2).all(|pair| sizes(&pair[0]) == sizes(&pair[1]));
    order.arity == order.lifted || order.chooses.is_some() && order.formals.is_empty() && are_alike()
}
