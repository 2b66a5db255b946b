//! The record of a trace for `explain`: text and numbers, no objects of the program.
use super::describe;
use crate::bytecode::Code;
use crate::emit::EmittedCode;
use crate::graph::{PyGraph, text};
use crate::guard::{Guard, GuardMode};
use crate::trace::state::outcome::{Break, End, LockHold, Outcome, RAISES, Route, YIELDS};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// A guard in words: source, check, reason; and what becomes of it after the first call.
#[derive(Debug)]
struct GuardText {
    parts: [String; 3],
    how: Option<GuardMode>,
}

/// Nanoseconds per stage.
#[derive(Debug, Default)]
pub struct Times {
    /// Symbolic execution.
    pub trace: u64,
    /// The backend.
    pub backend: u64,
    /// Code generation, the backend included.
    pub emit: u64,
}

/// Which frame a record is about.
#[derive(Debug)]
pub struct Place<'py> {
    /// The function, or the one that a continuation descends from.
    pub function: Bound<'py, PyAny>,
    /// The line where a continuation goes on.
    pub resumed_at: Option<i32>,
}

/// A graph break, and where it is: in this frame, or in one that it called.
#[derive(Debug)]
struct Stop {
    reason: Break,
    file: String,
    frame: String,
    line: i32,
}

/// One frame that was traced, or left alone.
#[derive(Debug)]
pub struct Frame {
    name: String,
    file: String,
    line: i32,
    resumed_at: Option<i32>,
    steps: u64,
    guards: Vec<GuardText>,
    routes: Vec<Route>,
    effects: Vec<String>,
    end: &'static str,
    stop: Option<Stop>,
    before: Vec<String>,
    after: Vec<String>,
    graph: Option<Py<PyGraph>>,
    ops: usize,
    missed: Vec<String>,
    skipped: Option<String>,
    times: Times,
}

impl Frame {
    /// What a trace says before it is emitted.
    pub fn new(
        place: Place<'_>,
        code: &Code,
        outcome: &Outcome,
        stop: Option<(&Break, &Code, usize)>,
    ) -> PyResult<Self> {
        let py = place.function.py();
        let mut frame = Self::bare(place, code)?;
        frame.steps = outcome.steps;
        let words = |guard| PyResult::Ok(GuardText { parts: describe::guard(py, guard, code)?, how: None });
        frame.guards = outcome.guards.iter().map(words).collect::<PyResult<_>>()?;
        frame.routes = outcome.routes.clone();
        let first: Vec<_> = outcome.acquired_first.iter().map(LockHold::take).collect();
        frame.effects =
            first.iter().chain(&outcome.effects).map(|effect| describe::effect(py, effect, outcome, code)).collect();
        frame.end = match &outcome.end {
            End::Return { .. } => "return",
            End::Raise(_) => "raise",
            End::Break { reason, .. } if reason.kind == RAISES => "raise",
            End::Break { reason, .. } if reason.kind == YIELDS => "yield",
            End::Break { .. } if stop.is_none() => "call",
            End::Break { .. } => "break",
        };
        frame.stop = stop.map(|(reason, code, at)| Stop {
            reason: reason.clone(),
            file: code.file.to_string(),
            frame: code.qualname.clone(),
            line: code.line(at),
        });
        Ok(frame)
    }

    /// A frame that runs as it is; with the guards that failed, where it was traced before.
    pub fn skipped(place: Place<'_>, code: &Code, reason: String, missed: Vec<String>) -> PyResult<Self> {
        let mut frame = Self::bare(place, code)?;
        frame.skipped = Some(reason);
        frame.missed = missed;
        frame.end = "skip";
        Ok(frame)
    }

    fn bare(place: Place<'_>, code: &Code) -> PyResult<Self> {
        let py = place.function.py();
        Ok(Self {
            name: place.function.getattr("__qualname__")?.extract()?,
            file: code.file.to_string(),
            line: place.function.getattr("__code__")?.getattr("co_firstlineno")?.extract()?,
            resumed_at: place.resumed_at,
            steps: 0,
            guards: Vec::new(),
            routes: Vec::new(),
            effects: Vec::new(),
            end: "return",
            stop: None,
            before: lines(&code.listing(py)),
            after: Vec::new(),
            graph: None,
            ops: 0,
            missed: Vec::new(),
            skipped: None,
            times: Times::default(),
        })
    }

    /// The guards as `source check: reason`, in their order.
    pub fn words(&self) -> Arc<[String]> {
        let words = |guard: &GuardText| {
            let [source, check, reason] = &guard.parts;
            format!("{source} {check} ({reason})")
        };
        self.guards.iter().map(words).collect()
    }

    /// Adds what becomes of the guards.
    pub fn watch(&mut self, modes: &[GuardMode]) {
        self.guards.iter_mut().zip(modes).for_each(|(guard, how)| guard.how = Some(*how));
    }

    /// Adds what emitting made.
    pub fn finish(self, py: Python<'_>, made: &EmittedCode, times: Times, missed: Vec<String>) -> PyResult<Self> {
        let after = lines(&Code::decode(made.code.bind(py))?.listing(py));
        let graph = made.graph.as_ref().map(|graph| PyGraph::new(py, graph)).transpose()?.map(Bound::unbind);
        Ok(Self { after, graph, ops: made.ops, times, missed, ..self })
    }

    /// The record as Python data that `json.dumps` takes.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("name", &self.name)?;
        dict.set_item("file", &self.file)?;
        dict.set_item("line", self.line)?;
        dict.set_item("resumed_at", self.resumed_at)?;
        dict.set_item("steps", self.steps)?;
        dict.set_item("ops", self.ops)?;
        dict.set_item("graph", graph(py, self.graph.as_ref())?)?;
        dict.set_item("guards", guards(py, &self.guards)?)?;
        dict.set_item("routes", routes(py, &self.routes)?)?;
        dict.set_item("effects", &self.effects)?;
        dict.set_item("end", self.end)?;
        dict.set_item("break", self.stop.as_ref().map(|stop| reason(py, stop)).transpose()?)?;
        dict.set_item("skipped", &self.skipped)?;
        dict.set_item("recompiled_because", (!self.missed.is_empty()).then_some(&self.missed))?;
        let bytecode = PyDict::new(py);
        bytecode.set_item("before", &self.before)?;
        bytecode.set_item("after", &self.after)?;
        dict.set_item("bytecode", bytecode)?;
        let emit = self.times.emit.saturating_sub(self.times.backend);
        let ns = PyDict::new(py);
        for (name, value) in [("trace", self.times.trace), ("backend", self.times.backend), ("emit", emit)] {
            ns.set_item(name, value)?;
        }
        ns.set_item("total", self.times.trace + self.times.emit)?;
        dict.set_item("ns", ns)?;
        Ok(dict)
    }
}

/// Guards as `source check: reason`, where no record is kept.
pub fn words(py: Python<'_>, guards: &[Guard], code: &Code) -> PyResult<Arc<[String]>> {
    let words =
        |guard| describe::guard(py, guard, code).map(|[source, check, reason]| format!("{source} {check} ({reason})"));
    guards.iter().map(words).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn graph<'py>(py: Python<'py>, graph: Option<&Py<PyGraph>>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let Some(graph) = graph else { return Ok(list) };
    for node in graph.bind(py).getattr("nodes")?.try_iter()? {
        list.append(node_dict(&node?)?)?;
    }
    Ok(list)
}

fn node_dict<'py>(node: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = node.py();
    let dict = PyDict::new(py);
    for name in ["op", "name"] {
        dict.set_item(name, node.getattr(name)?)?;
    }
    dict.set_item("target", text::target(&node.getattr("target")?)?)?;
    let args = node.getattr("args")?.cast_into::<PyTuple>()?;
    dict.set_item("args", args.iter().map(|arg| text::short(&arg)).collect::<PyResult<Vec<_>>>()?)?;
    let kwargs = PyDict::new(py);
    for (name, value) in node.getattr("kwargs")?.cast_into::<PyDict>()? {
        kwargs.set_item(name, text::short(&value)?)?;
    }
    dict.set_item("kwargs", kwargs)?;
    let meta = node.getattr("meta")?.cast_into::<PyDict>()?;
    for (name, key) in [("meta", "value"), ("file", "file"), ("line", "line"), ("route", "route")] {
        dict.set_item(name, meta.get_item(key)?)?;
    }
    Ok(dict)
}

fn guards<'py>(py: Python<'py>, guards: &[GuardText]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for guard in guards {
        let [source, check, reason] = &guard.parts;
        let (how, because) = match guard.how {
            Some(GuardMode::Checked(why)) => (Some("checked"), Some(why)),
            Some(GuardMode::Watched(what)) => (Some("watched"), Some(what)),
            None => (None, None),
        };
        let dict = PyDict::new(py);
        dict.set_item("source", source)?;
        dict.set_item("check", check)?;
        dict.set_item("reason", reason)?;
        dict.set_item("how", how)?;
        dict.set_item("because", because)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn routes<'py>(py: Python<'py>, routes: &[Route]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for route in routes {
        let dict = PyDict::new(py);
        dict.set_item("file", &*route.file)?;
        dict.set_item("line", route.line)?;
        dict.set_item("instruction", format!("{} ({})", route.op.name(), route.operator))?;
        dict.set_item("functions", &route.functions)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn reason<'py>(py: Python<'py>, stop: &Stop) -> PyResult<Bound<'py, PyDict>> {
    let Stop { reason, file, frame, line } = stop;
    let dict = PyDict::new(py);
    dict.set_item("kind", &reason.kind)?;
    dict.set_item("context", &reason.context)?;
    dict.set_item("explanation", &reason.explanation)?;
    dict.set_item("hints", &reason.hints)?;
    dict.set_item("file", file)?;
    dict.set_item("line", line)?;
    dict.set_item("frame", frame)?;
    Ok(dict)
}
