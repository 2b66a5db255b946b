//! A graph flattened for eager execution: the nodes are called one after the other, each result is dropped after its last use.
use super::node::{Argument, Graph, NodeOp};
use crate::internal_error::InternalError;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyString, PyTuple};
use smallvec::SmallVec;

/// A graph flattened for running.
#[derive(Debug)]
pub struct Program {
    /// The registers of the placeholders, which may stand between other nodes, in their order.
    inputs: Vec<usize>,
    steps: Vec<Step>,
    results: Vec<Operand>,
    registers: usize,
}

#[derive(Debug)]
struct Step {
    target: Py<PyAny>,
    args: Vec<Operand>,
    kwargs: Vec<(Py<PyString>, Operand)>,
    register: usize,
    /// Registers that no later step reads.
    dead: Vec<usize>,
}

#[derive(Debug)]
enum Operand {
    Register(usize),
    Constant(Py<PyAny>),
    Tuple(Vec<Operand>),
    List(Vec<Operand>),
    Slice(Vec<Operand>),
}

type Registers<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 16]>;

impl Program {
    /// Flattens a graph. Register `n` is node `n`.
    pub fn new(py: Python<'_>, graph: &Graph) -> Self {
        let mut program =
            Self { inputs: Vec::new(), steps: Vec::new(), results: Vec::new(), registers: graph.nodes.len() };
        for (register, node) in graph.nodes.iter().enumerate() {
            let args = node.args.iter().map(|argument| Operand::new(py, argument)).collect();
            match (node.op, &node.target) {
                (NodeOp::Placeholder, _) => program.inputs.push(register),
                (NodeOp::Output, _) => program.results = args,
                (NodeOp::CallFunction, None) => {}
                (NodeOp::CallFunction, Some(target)) => {
                    let kwargs = node
                        .kwargs
                        .iter()
                        .map(|(name, value)| (PyString::intern(py, name).unbind(), Operand::new(py, value)));
                    let (target, kwargs) = (target.clone_ref(py), kwargs.collect());
                    program.steps.push(Step { target, args, kwargs, register, dead: Vec::new() });
                }
            }
        }
        program.find_last_uses();
        program
    }

    fn find_last_uses(&mut self) {
        let mut needed = vec![false; self.registers];
        self.results.iter().for_each(|operand| operand.registers(&mut |register| needed[register] = true));
        for step in self.steps.iter_mut().rev() {
            let mut dead = Vec::new();
            let operands = step.args.iter().chain(step.kwargs.iter().map(|(_, operand)| operand));
            operands.for_each(|operand| {
                operand.registers(&mut |register| {
                    if !std::mem::replace(&mut needed[register], true) {
                        dead.push(register);
                    }
                })
            });
            step.dead = dead;
        }
    }

    /// Runs it; the inputs are the placeholders' values in order.
    pub fn run<'py>(&self, inputs: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        let py = inputs.py();
        if inputs.len() != self.inputs.len() {
            let text = format!("the graph takes {} inputs ({} given)", self.inputs.len(), inputs.len());
            return Err(PyTypeError::new_err(text));
        }
        let mut registers: Registers<'py> = SmallVec::from_elem(None, self.registers);
        for (register, input) in self.inputs.iter().zip(inputs.iter()) {
            registers[*register] = Some(input);
        }
        for step in &self.steps {
            registers[step.register] = Some(step.run(py, &registers)?);
            step.dead.iter().for_each(|register| registers[*register] = None);
        }
        PyTuple::new(
            py,
            self.results.iter().map(|operand| operand.value(py, &registers)).collect::<PyResult<Vec<_>>>()?,
        )
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.steps.iter().try_for_each(|step| {
            visit.call(&step.target)?;
            step.args.iter().try_for_each(|operand| operand.traverse(visit))?;
            step.kwargs.iter().try_for_each(|(_, operand)| operand.traverse(visit))
        })?;
        self.results.iter().try_for_each(|operand| operand.traverse(visit))
    }
}

impl Step {
    fn run<'py>(&self, py: Python<'py>, registers: &Registers<'py>) -> PyResult<Bound<'py, PyAny>> {
        let args = self.args.iter().map(|operand| operand.value(py, registers)).collect::<PyResult<Vec<_>>>()?;
        let target = self.target.bind(py);
        match (args.as_slice(), self.kwargs.is_empty()) {
            ([one], true) => target.call1((one,)),
            ([one, two], true) => target.call1((one, two)),
            (_, true) => target.call1(PyTuple::new(py, args)?),
            (_, false) => {
                let kwargs = PyDict::new(py);
                for (name, operand) in &self.kwargs {
                    kwargs.set_item(name, operand.value(py, registers)?)?;
                }
                target.call(PyTuple::new(py, args)?, Some(&kwargs))
            }
        }
    }
}

impl Operand {
    fn new(py: Python<'_>, argument: &Argument) -> Self {
        let all = |items: &[Argument]| items.iter().map(|item| Self::new(py, item)).collect();
        match argument {
            Argument::Node(id) => Self::Register(id.0 as usize),
            Argument::Constant(constant) => Self::Constant(constant.clone_ref(py)),
            Argument::Tuple(items) => Self::Tuple(all(items)),
            Argument::List(items) => Self::List(all(items)),
            Argument::Slice(items) => Self::Slice(all(items)),
        }
    }

    fn value<'py>(&self, py: Python<'py>, registers: &Registers<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = |items: &[Self]| items.iter().map(|item| item.value(py, registers)).collect::<PyResult<Vec<_>>>();
        match self {
            Self::Register(register) => registers
                .get(*register)
                .cloned()
                .flatten()
                .ok_or_else(|| InternalError::new_err(format!("graph node {register} is used before it ran"))),
            Self::Constant(constant) => Ok(constant.bind(py).clone()),
            Self::Tuple(items) => Ok(PyTuple::new(py, all(items)?)?.into_any()),
            Self::List(items) => Ok(PyList::new(py, all(items)?)?.into_any()),
            Self::Slice(items) => py.get_type::<PySlice>().call1(PyTuple::new(py, all(items)?)?),
        }
    }

    fn registers(&self, found: &mut dyn FnMut(usize)) {
        match self {
            Self::Register(register) => found(*register),
            Self::Constant(_) => {}
            Self::Tuple(items) | Self::List(items) | Self::Slice(items) => {
                items.iter().for_each(|item| item.registers(found))
            }
        }
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Register(_) => Ok(()),
            Self::Constant(constant) => visit.call(constant),
            Self::Tuple(items) | Self::List(items) | Self::Slice(items) => {
                items.iter().try_for_each(|item| item.traverse(visit))
            }
        }
    }
}
