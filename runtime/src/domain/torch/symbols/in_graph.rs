//! What operations make of symbolic sizes where they alone do not tell: the graph is run beside the trace, on PyTorch's fake tensors.
use super::asked::{MODULE, Question, unanswered};
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, AnsweredOperation, GraphOfSizes, Operand, SizedCall, SizedNode};
use crate::graph::{Argument, ValueId};
use crate::names::name;
use crate::symbol::{SizeArithmetic, SymbolicLayout};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};

/// Where the class is whose objects run graphs.
const GRAPHS: &str = "slotrt._graphs_of_sizes";

impl<'py> Meta<'_, 'py> {
    /// The layouts of what an operation gives, as the graph so far says.
    pub(super) fn layouts_in_graph(
        &self,
        operation: &AnsweredOperation<'_, 'py>,
        graph: &GraphOfSizes<'py>,
        arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        if !self.torch.ambient.plain(self.py).ok()? || self.torch.ambient.is_autocast(self.py).ok()? {
            return None;
        }
        let module = crate::ffi::modules::import(self.py, MODULE).ok()?;
        let mut tensors = Vec::new();
        operation.args.iter().chain(operation.kwargs.iter().map(|(_, value)| value)).for_each(|operand| {
            tensors_of(operand, &mut tensors);
        });
        let (symbols, tensors_known) = (Vec::new(), Vec::new());
        let mut question =
            Question { meta: self, module, arithmetic, floats_are_contents: false, symbols, tensors: tensors_known };
        let changes = matches!(operation.answer, Answer::Change { .. });
        let told = self.keeping_random(|| question.ask_graph(graph, changes));
        question.tensors = tensors;
        let layouts = told.ok().and_then(|told| question.layouts(&told, operation.answer));
        if layouts.is_none() {
            // What it has done in part, it does again.
            graph.kept.replace(None);
        }
        layouts
    }
}

/// The tensors that an operand is, or holds, in order.
fn tensors_of(operand: &Operand<'_>, tensors: &mut Vec<ValueId>) {
    match operand {
        Operand::Graph { value, .. } => tensors.push(*value),
        Operand::Tuple(items) | Operand::List(items) => items.iter().for_each(|item| tensors_of(item, tensors)),
        Operand::Slice(_) | Operand::Known(_) | Operand::Number { .. } | Operand::Foreign(_) => {}
    }
}

impl<'py> Question<'_, 'py> {
    fn ask_graph(&mut self, graph: &GraphOfSizes<'py>, changes: bool) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.meta.py;
        let room = crate::ffi::modules::import(py, GRAPHS)?;
        let kept = match &*graph.kept.borrow() {
            Some(kept) => kept.bind(py).clone(),
            None => room.getattr(name!("Graph"))?.call0()?,
        };
        let node = room.getattr(name!("Node"))?;
        let nodes = graph.nodes.iter().map(|recorded| self.node(recorded, &node)).collect::<PyResult<Vec<_>>>()?;
        let call = (&graph.call.target, arguments(&node, &graph.call.args)?, named(&node, &graph.call.kwargs)?);
        let told = kept.call_method1(name!("ask"), (self.named_symbols()?, nodes, call, changes))?;
        graph.kept.replace(Some(kept.unbind()));
        Ok(told.cast_into()?)
    }

    /// A node as the graph gets it: its kind, and what it consists of.
    fn node(&mut self, recorded: &SizedNode<'py>, node: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.meta.py;
        let other = || PyTuple::new(py, ["other"]);
        match recorded {
            SizedNode::Input(example, layout) => match self.tensor(ValueId(0), example, layout.as_deref()) {
                Ok(tensor) => ("input", tensor).into_pyobject(py),
                // What is no tensor, or one that is not told in words, is not to be needed.
                Err(_) => other(),
            },
            SizedNode::Number(expression) => ("number", self.size(*expression)?).into_pyobject(py),
            SizedNode::Contents(number) => ("number", number).into_pyobject(py),
            SizedNode::Call(SizedCall { target, is_mode: true, .. }) if !self.meta.torch.is_nesting(target) => other(),
            SizedNode::Call(SizedCall { target, args, kwargs, .. }) => {
                ("call", target, arguments(node, args)?, named(node, kwargs)?).into_pyobject(py)
            }
            SizedNode::Other => other(),
        }
    }
}

fn arguments<'py>(node: &Bound<'py, PyAny>, args: &[Argument]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(node.py(), args.iter().map(|arg| argument(node, arg)).collect::<PyResult<Vec<_>>>()?)
}

fn named<'py>(node: &Bound<'py, PyAny>, kwargs: &[(String, Argument)]) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(node.py());
    kwargs.iter().try_for_each(|(name, value)| named.set_item(name, argument(node, value)?))?;
    Ok(named)
}

/// An argument as the graph gets it.
fn argument<'py>(node: &Bound<'py, PyAny>, arg: &Argument) -> PyResult<Bound<'py, PyAny>> {
    let py = node.py();
    match arg {
        Argument::Node(id) => node.call1((id.0,)),
        Argument::Constant(constant) => crate::domain::torch::meta::plain(constant.bind(py)).map_err(|_| unanswered()),
        Argument::Tuple(items) => Ok(arguments(node, items)?.into_any()),
        Argument::List(items) => Ok(PyList::new(py, arguments(node, items)?)?.into_any()),
        Argument::Slice(parts) => py.get_type::<PySlice>().call1(arguments(node, parts)?),
    }
}
