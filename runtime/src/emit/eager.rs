//! A graph that no backend wants: its calls are written into the code, each result dropped after its last use.
use super::failure::{Failure, fault};
use super::graph_io::FinishedGraph;
use super::host::Host;
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::graph::{Argument, Node, NodeOp};
use crate::trace::state::value::ValueId;
use pyo3::types::{PyString, PyTuple};

/// Where the values of nodes are.
struct Places<'a> {
    /// By node; temporaries of results, `None` for inputs.
    temporaries: Vec<Option<usize>>,
    inputs: &'a [ValueId],
    /// By node: how many arguments name it that are not written yet.
    uses: Vec<usize>,
}

impl Writer<'_, '_> {
    /// Writes the calls; gives the temporaries of the graph's results, in their order.
    pub(super) fn write_calls(&mut self, finished: &FinishedGraph, host: &dyn Host) -> Result<Vec<usize>, Failure> {
        let nodes = &finished.graph.nodes;
        let mut places = Places { temporaries: vec![None; nodes.len()], inputs: &finished.inputs, uses: uses(nodes) };
        let mut results = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            match node.op {
                NodeOp::Placeholder => {}
                NodeOp::Output => results = self.results_of(node, &places)?,
                NodeOp::CallFunction => self.write_call(index, node, &mut places, host)?,
            }
        }
        Ok(results)
    }

    fn results_of(&self, output: &Node, places: &Places<'_>) -> Result<Vec<usize>, Failure> {
        let place = |argument: &Argument| match argument {
            Argument::Node(id) => places.temporaries.get(id.0 as usize).copied().flatten(),
            _ => None,
        };
        let all: Option<Vec<usize>> = output.args.iter().map(place).collect();
        all.ok_or_else(|| fault("a result of the graph is no result of a call".into()))
    }

    fn write_call(
        &mut self,
        index: usize,
        node: &Node,
        places: &mut Places<'_>,
        host: &dyn Host,
    ) -> Result<(), Failure> {
        let target = node.target.as_ref().ok_or_else(|| fault(format!("node {} calls nothing", node.name)))?;
        self.at_line_of(node);
        let count = node.arguments().count() as u32;
        if node.kwargs.is_empty() {
            self.callee(target.bind(self.py).clone());
        } else {
            let names = PyTuple::new(self.py, node.kwargs.iter().map(|(name, _)| PyString::intern(self.py, name)))?;
            self.constant(host.constants().keyword_caller(self.py));
            self.constant(names.into_any());
            self.kept_constant(target.bind(self.py).clone());
        }
        node.arguments().try_for_each(|argument| self.argument(argument, places))?;
        self.call(count + u32::from(!node.kwargs.is_empty()));
        if places.uses[index] == 0 {
            self.plain(Op::POP_TOP, 0);
        } else {
            let temporary = self.temporary();
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
            places.temporaries[index] = Some(temporary);
        }
        node.arguments().for_each(|argument| argument.each_node(&mut |id| self.drop_unused(id.0 as usize, places)));
        self.at_no_line();
        Ok(())
    }

    fn argument(&mut self, argument: &Argument, places: &Places<'_>) -> Result<(), Failure> {
        let mut all = |items: &[Argument]| -> Result<u32, Failure> {
            items.iter().try_for_each(|item| self.argument(item, places))?;
            Ok(items.len() as u32)
        };
        match argument {
            Argument::Tuple(items) => {
                let count = all(items)?;
                self.build_tuple(count);
            }
            Argument::List(items) => {
                let count = all(items)?;
                self.plain(Op::BUILD_LIST, count);
            }
            Argument::Slice(items) => {
                let count = all(items)?;
                self.plain(Op::BUILD_SLICE, count);
            }
            Argument::Constant(object) => self.kept_constant(object.bind(self.py).clone()),
            Argument::Node(id) => match places.temporaries.get(id.0 as usize).copied().flatten() {
                Some(temporary) => self.op(Op::LOAD_FAST, Arg::Temporary(temporary)),
                None => {
                    let input = places.inputs.get(id.0 as usize);
                    let input = input.ok_or_else(|| fault(format!("graph node {} is used before it ran", id.0)))?;
                    self.load(*input)?;
                }
            },
        }
        Ok(())
    }

    /// After an argument was written: the last use of a result empties its temporary, which serves again.
    fn drop_unused(&mut self, node: usize, places: &mut Places<'_>) {
        places.uses[node] -= 1;
        if places.uses[node] == 0
            && let Some(temporary) = places.temporaries[node].take()
        {
            self.plain(Op::PUSH_NULL, 0);
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
            self.free_temporary(temporary);
        }
    }
}

/// By node, how many arguments name it.
fn uses(nodes: &[Node]) -> Vec<usize> {
    let mut uses = vec![0; nodes.len()];
    let arguments = nodes.iter().flat_map(Node::arguments);
    arguments.for_each(|argument| argument.each_node(&mut |id| uses[id.0 as usize] += 1));
    uses
}
