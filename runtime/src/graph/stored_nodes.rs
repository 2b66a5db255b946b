//! Graphs on disk, node by node: what a backend of another process gets.
use super::node::{Argument, CalledModule, ForBackend, Graph, InputSize, Node, NodeId, NodeOp, Origin};
use crate::stored::{Damaged, In, Misfit, Out, at_place, place_in};
use pyo3::types::PyType;
use std::sync::Arc;

const OPERATIONS: [NodeOp; 3] = [NodeOp::Placeholder, NodeOp::CallFunction, NodeOp::Output];

const FOR_BACKEND: [ForBackend; 5] =
    [ForBackend::Compiles, ForBackend::Mode, ForBackend::KeptMode, ForBackend::EndsPart, ForBackend::LeavesAlone];

impl Graph {
    /// Writes it.
    ///
    /// # Errors
    /// What of it cannot be written.
    pub fn write<'py>(&self, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        let mut modules: Vec<*const CalledModule> = Vec::new();
        let mut file: &str = "";
        out.bytes.number(self.nodes.len() as u64);
        for node in &self.nodes {
            out.bytes.text(&node.name);
            out.bytes.0.push(place_in(&OPERATIONS, &node.op));
            out.bytes.0.push(u8::from(node.target.is_some()));
            if let Some(target) = &node.target {
                out.object(target.bind(out.py()))?;
            }
            arguments(&node.args, out)?;
            out.bytes.number(node.kwargs.len() as u64);
            for (name, argument) in &node.kwargs {
                out.bytes.text(name);
                argument.write(out)?;
            }
            out.bytes.text(&node.meta);
            out.bytes.text(node.domain);
            write_sizes(node.sizes.as_deref(), out);
            // Most nodes come from the file of the one before.
            let same = *node.origin.file == *file;
            out.bytes.0.push(u8::from(same));
            if !same {
                out.bytes.text(&node.origin.file);
                file = &node.origin.file;
            }
            out.bytes.number(u64::from(node.origin.line));
            out.bytes.number(u64::from(node.origin.outer));
            out.bytes.number(node.origin.route.len() as u64);
            node.origin.route.iter().for_each(|name| out.bytes.text(name));
            out.bytes.number(node.origin.modules.len() as u64);
            for module in &node.origin.modules {
                write_module(module, &mut modules, out)?;
            }
            out.bytes.0.push(place_in(&FOR_BACKEND, &node.backend));
        }
        Ok(())
    }

    /// Reads what [`Graph::write`] has written; `domains` are those that there are here.
    ///
    /// # Errors
    /// What is not in this process as it was in the other.
    pub fn read(from: &mut In<'_, '_>, domains: &[&'static str]) -> Result<Self, Misfit> {
        let mut modules: Vec<Arc<CalledModule>> = Vec::new();
        let mut file: Arc<str> = Arc::from("");
        let mut nodes: Vec<Node> = Vec::new();
        for _ in 0..from.bytes.count()? {
            let name = from.bytes.text()?.to_owned();
            let op = at_place(&OPERATIONS, from.bytes.byte()?)?;
            let target = if from.bytes.byte()? == 0 { None } else { Some(from.object()?.unbind()) };
            if target.is_some() != (op == NodeOp::CallFunction) {
                return Err(Damaged.into());
            }
            let args = read_arguments(from, nodes.len())?;
            let mut kwargs = Vec::new();
            for _ in 0..from.bytes.count()? {
                kwargs.push((from.bytes.text()?.to_owned(), Argument::read(from, nodes.len())?));
            }
            let meta = from.bytes.text()?.to_owned();
            let domain = from.bytes.text()?;
            let known = domains.iter().chain(&[""]).find(|known| **known == domain).copied();
            let domain = known.ok_or_else(|| Misfit(format!("the library {domain} is not loaded")))?;
            let sizes = read_sizes(from)?;
            if from.bytes.byte()? == 0 {
                file = Arc::from(from.bytes.text()?);
            }
            let line = u32::try_from(from.bytes.number()?).map_err(|_| Damaged)?;
            let outer = u32::try_from(from.bytes.number()?).map_err(|_| Damaged)?;
            let route = (0..from.bytes.count()?).map(|_| Ok(from.bytes.text()?.to_owned().into()));
            let route = route.collect::<Result<_, Damaged>>()?;
            let called = (0..from.bytes.count()?).map(|_| read_module(from, &mut modules));
            let (file, modules) = (Arc::clone(&file), called.collect::<Result<_, Misfit>>()?);
            let origin = Origin { file, line, outer, route, modules };
            let backend = at_place(&FOR_BACKEND, from.bytes.byte()?)?;
            nodes.push(Node { name, op, target, args, kwargs, meta, domain, sizes, origin, backend });
        }
        match nodes.iter().position(|node| node.op == NodeOp::Output) {
            Some(last) if last + 1 == nodes.len() => Ok(Self { nodes }),
            _ => Err(Damaged.into()),
        }
    }
}

fn write_module<'py>(
    module: &Arc<CalledModule>,
    known: &mut Vec<*const CalledModule>,
    out: &mut Out<'_, 'py>,
) -> Result<(), Misfit> {
    let this = Arc::as_ptr(module);
    let index = known.iter().position(|known| *known == this).unwrap_or(known.len());
    out.bytes.number(index as u64);
    if index == known.len() {
        known.push(this);
        out.bytes.text(&module.path);
        out.identity(module.class.bind(out.py()).as_any())?;
    }
    Ok(())
}

/// Their addresses only tell modules apart: other numbers do that, too.
fn read_module(from: &mut In<'_, '_>, known: &mut Vec<Arc<CalledModule>>) -> Result<Arc<CalledModule>, Misfit> {
    let index = from.bytes.index()?;
    if index == known.len() {
        let path = from.bytes.text()?.to_owned();
        let class = from.object()?.cast_into::<PyType>().map_err(|_| Damaged)?.unbind();
        known.push(Arc::new(CalledModule { path, class, address: index + 1 }));
    }
    Ok(Arc::clone(known.get(index).ok_or(Damaged)?))
}

fn write_sizes(sizes: Option<&[InputSize]>, out: &mut Out<'_, '_>) {
    out.bytes.number(sizes.map_or(0, |sizes| sizes.len() as u64 + 1));
    for size in sizes.into_iter().flatten() {
        match size {
            InputSize::Known(size) => {
                out.bytes.0.push(0);
                out.bytes.signed(*size);
            }
            InputSize::Symbol(name) => {
                out.bytes.0.push(1);
                out.bytes.text(name);
            }
        }
    }
}

fn read_sizes(from: &mut In<'_, '_>) -> Result<Option<Box<[InputSize]>>, Damaged> {
    let Some(count) = from.bytes.index()?.checked_sub(1) else { return Ok(None) };
    let mut sizes = Vec::new();
    for _ in 0..count {
        sizes.push(match from.bytes.byte()? {
            0 => InputSize::Known(from.bytes.signed()?),
            1 => InputSize::Symbol(from.bytes.text()?.to_owned()),
            _ => return Err(Damaged),
        });
    }
    Ok(Some(sizes.into()))
}

impl Argument {
    fn write<'py>(&self, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        let (tag, items) = match self {
            Self::Node(node) => {
                out.bytes.0.push(0);
                out.bytes.number(u64::from(node.0));
                return Ok(());
            }
            Self::Constant(object) => {
                out.bytes.0.push(1);
                return out.object(object.bind(out.py()));
            }
            Self::Tuple(items) => (2, items),
            Self::List(items) => (3, items),
            Self::Slice(items) => (4, items),
        };
        out.bytes.0.push(tag);
        arguments(items, out)
    }

    /// An argument of the node with this index: those that it names stand before it.
    fn read(from: &mut In<'_, '_>, index: usize) -> Result<Self, Misfit> {
        Ok(match from.bytes.byte()? {
            0 => {
                let node = from.bytes.index()?;
                if node >= index {
                    return Err(Damaged.into());
                }
                Self::Node(NodeId(u32::try_from(node).map_err(|_| Damaged)?))
            }
            1 => Self::Constant(from.object()?.unbind()),
            2 => Self::Tuple(read_arguments(from, index)?),
            3 => Self::List(read_arguments(from, index)?),
            4 => Self::Slice(read_arguments(from, index)?),
            _ => return Err(Damaged.into()),
        })
    }
}

fn arguments<'py>(all: &[Argument], out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    out.bytes.number(all.len() as u64);
    all.iter().try_for_each(|argument| argument.write(out))
}

fn read_arguments(from: &mut In<'_, '_>, index: usize) -> Result<Vec<Argument>, Misfit> {
    from.within(|from| (0..from.bytes.count()?).map(|_| Argument::read(from, index)).collect())
}
