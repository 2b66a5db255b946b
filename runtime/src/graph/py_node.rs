//! `slotrt.Node`: a node as Python sees it, described as in FX.
use super::node::{Argument, ForBackend, InputSize, Node, NodeOp};
use crate::names::{interned, name};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyString, PyTuple};

/// A node as FX describes one.
#[pyclass(name = "Node", module = "slotrt", frozen)]
#[derive(Debug)]
pub struct PyNode {
    /// `placeholder`, `call_function` or `output`.
    #[pyo3(get)]
    op: &'static str,
    /// Unique name in the graph.
    #[pyo3(get)]
    name: Py<PyString>,
    /// The callable; the name itself for placeholders and the output.
    #[pyo3(get)]
    target: Py<PyAny>,
    /// Positional arguments, nodes as `Node`.
    #[pyo3(get)]
    args: Py<PyTuple>,
    /// Keyword arguments, nodes as `Node`.
    #[pyo3(get)]
    kwargs: Py<PyDict>,
    /// The nodes that use this one, as the keys of a dict in order of use.
    #[pyo3(get)]
    users: Py<PyDict>,
    /// `value` (type and shape), `sizes` (of an input whose sizes differ from call to call), `file`, `line`, `route` (C functions, outermost first),
    /// `apart` (of a call that no backend compiles; `mode`: one that sets a mode).
    #[pyo3(get)]
    meta: Py<PyDict>,
}

#[pymethods]
impl PyNode {
    fn __repr__(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.target)?;
        visit.call(&self.args)?;
        visit.call(&self.kwargs)?;
        visit.call(&self.users)?;
        visit.call(&self.meta)
    }
}

/// FX's word for a kind of node.
fn word(op: NodeOp) -> &'static str {
    match op {
        NodeOp::Placeholder => "placeholder",
        NodeOp::CallFunction => "call_function",
        NodeOp::Output => "output",
    }
}

/// A node as a Python object; `earlier` are those before it.
pub(super) fn build<'py>(node: &Node, earlier: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyNode>> {
    let py = earlier.py();
    let args: Vec<_> = node.args.iter().map(|argument| object(argument, earlier)).collect::<PyResult<_>>()?;
    let kwargs = PyDict::new(py);
    for (name, argument) in &node.kwargs {
        kwargs.set_item(name, object(argument, earlier)?)?;
    }
    let target = match &node.target {
        Some(target) => target.clone_ref(py),
        None => node.name.as_str().into_pyobject(py)?.into_any().unbind(),
    };
    let made = PyNode {
        op: word(node.op),
        name: PyString::new(py, &node.name).unbind(),
        target,
        args: PyTuple::new(py, args)?.unbind(),
        kwargs: kwargs.unbind(),
        users: PyDict::new(py).unbind(),
        meta: meta(py, node)?.unbind(),
    };
    let made = Bound::new(py, made)?;
    node.arguments().try_for_each(|argument| add_user(argument, earlier, &made))?;
    Ok(made)
}

fn meta<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyDict>> {
    let meta = PyDict::new(py);
    meta.set_item(name!("value"), &node.meta)?;
    meta.set_item(name!("domain"), interned(py, node.domain))?;
    if let Some(sizes) = &node.sizes {
        let list = PyList::empty(py);
        for size in sizes {
            match size {
                InputSize::Known(size) => list.append(size)?,
                InputSize::Symbol(name) => list.append(name)?,
            }
        }
        meta.set_item(name!("sizes"), list)?;
    }
    meta.set_item(name!("file"), interned(py, &node.origin.file))?;
    meta.set_item(name!("line"), node.origin.line)?;
    let route = node.origin.route.iter().map(|function| interned(py, function));
    meta.set_item(name!("route"), PyList::new(py, route)?)?;
    let apart = match node.backend {
        ForBackend::Compiles => None,
        ForBackend::EndsPart => Some("end"),
        ForBackend::Mode | ForBackend::KeptMode => Some("mode"),
        ForBackend::LeavesAlone => Some("call"),
    };
    if let Some(apart) = apart {
        meta.set_item(name!("apart"), interned(py, apart))?;
    }
    if !node.origin.modules.is_empty() {
        let modules = node.origin.modules.iter().map(|module| (module.address, &module.path, module.class.bind(py)));
        meta.set_item(name!("modules"), PyList::new(py, modules)?)?;
    }
    Ok(meta)
}

fn add_user<'py>(argument: &Argument, earlier: &Bound<'py, PyList>, user: &Bound<'py, PyNode>) -> PyResult<()> {
    match argument {
        Argument::Node(id) => {
            let used = earlier.get_item(id.0 as usize)?.cast_into::<PyNode>()?;
            used.get().users.bind(earlier.py()).set_item(user, earlier.py().None())
        }
        Argument::Constant(_) => Ok(()),
        Argument::Tuple(items) | Argument::List(items) | Argument::Slice(items) => {
            items.iter().try_for_each(|item| add_user(item, earlier, user))
        }
    }
}

fn object<'py>(argument: &Argument, earlier: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    let py = earlier.py();
    let all = |items: &[Argument]| items.iter().map(|item| object(item, earlier)).collect::<PyResult<Vec<_>>>();
    match argument {
        Argument::Node(id) => earlier.get_item(id.0 as usize),
        Argument::Constant(constant) => Ok(constant.bind(py).clone()),
        Argument::Tuple(items) => Ok(PyTuple::new(py, all(items)?)?.into_any()),
        Argument::List(items) => Ok(PyList::new(py, all(items)?)?.into_any()),
        Argument::Slice(items) => py.get_type::<PySlice>().call1(PyTuple::new(py, all(items)?)?),
    }
}
