//! The data that `tests/demo/driver.py` writes: the runs, and the report of `slotrt.explain`.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The whole of it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Record {
    /// The program's file, whole.
    pub source: String,
    /// Line of the traced function.
    pub first_line: u32,
    /// Uncompiled beside compiled.
    pub runs: Vec<Run>,
    /// `slotrt.stats()` after the runs.
    pub stats: BTreeMap<String, serde_json::Value>,
    /// `slotrt.explain(program)(…).data()`.
    pub explain: Explain,
}

/// One set of arguments.
#[derive(Debug, Deserialize, Serialize)]
pub struct Run {
    /// What is special about the arguments.
    pub title: String,
    /// Without slotrt; `ns` is a median.
    pub plain: Call,
    /// The call that traces.
    pub compiled: Call,
    /// Later calls; `ns` is a median.
    pub cached: Call,
    /// Result, its type and what was printed agree in all three.
    pub same: bool,
}

/// One call.
#[derive(Debug, Deserialize, Serialize)]
pub struct Call {
    /// `repr` of the result.
    pub result: String,
    /// What it wrote to standard output.
    pub printed: String,
    /// Nanoseconds.
    #[serde(alias = "first_ns")]
    pub ns: u64,
}

/// Counts, and one entry per compiled frame.
#[derive(Debug, Deserialize, Serialize)]
pub struct Explain {
    /// Graphs handed to the backend.
    pub graphs: u64,
    /// Graph breaks.
    pub breaks: u64,
    /// Calls recorded in graphs.
    pub ops: u64,
    /// Guards installed.
    pub guards: u64,
    /// In order of compilation.
    pub frames: Vec<Frame>,
}

impl Explain {
    /// How reasons name a line of the program: ` at FILE:`.
    pub fn place(&self) -> String {
        self.frames.first().map_or(String::new(), |frame| format!(" at {}:", frame.file))
    }
}

/// A function or continuation that was traced.
#[derive(Debug, Deserialize, Serialize)]
pub struct Frame {
    /// Qualified name.
    pub name: String,
    /// The program's file.
    pub file: String,
    /// First line of the function.
    pub line: u32,
    /// The line where a continuation goes on; `None` for a function from its start.
    #[serde(default)]
    pub resumed_at: Option<u32>,
    /// Bytecode instructions executed symbolically.
    pub steps: u64,
    /// What was recorded.
    #[serde(default)]
    pub graph: Vec<Node>,
    /// What must hold for the compiled code to be used.
    #[serde(default)]
    pub guards: Vec<Guard>,
    /// Ways through C.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Side effects replayed.
    #[serde(default)]
    pub effects: Vec<String>,
    /// `return`, `raise` or `break`.
    pub end: String,
    /// Why the graph ended, if it broke.
    #[serde(default, rename = "break")]
    pub stop: Option<Break>,
    /// Why the frame was left alone, if it was.
    #[serde(default)]
    pub skipped: Option<String>,
    /// Listings.
    pub bytecode: Bytecode,
    /// Nanoseconds per stage.
    #[serde(default)]
    pub ns: BTreeMap<String, u64>,
}

/// A node of a graph.
#[derive(Debug, Deserialize, Serialize)]
pub struct Node {
    /// FX's kind of node.
    pub op: String,
    /// Its name.
    pub name: String,
    /// What is called.
    pub target: String,
    /// Its arguments, as text.
    pub args: Vec<String>,
    /// Keyword arguments, as text.
    #[serde(default)]
    pub kwargs: BTreeMap<String, String>,
    /// Type and shape.
    #[serde(default)]
    pub meta: String,
    /// Line of the program.
    #[serde(default)]
    pub line: u32,
    /// C functions that led there.
    #[serde(default)]
    pub route: Vec<String>,
}

/// A guard.
#[derive(Debug, Deserialize, Serialize)]
pub struct Guard {
    /// The value it looks at.
    pub source: String,
    /// What must hold.
    pub check: String,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// An operation's way through C.
#[derive(Debug, Deserialize, Serialize)]
pub struct Route {
    /// Line of the program.
    pub line: u32,
    /// As `dis` prints it.
    pub instruction: String,
    /// Outermost first.
    pub functions: Vec<String>,
}

/// A graph break in its four parts.
#[derive(Debug, Deserialize, Serialize)]
pub struct Break {
    /// Kind of break.
    pub kind: String,
    /// The particulars.
    pub context: String,
    /// In a sentence.
    pub explanation: String,
    /// What the user may do.
    #[serde(default)]
    pub hints: Vec<String>,
    /// Line of the program.
    #[serde(default)]
    pub line: u32,
}

/// Listings as `dis` prints them.
#[derive(Debug, Deserialize, Serialize)]
pub struct Bytecode {
    /// What CPython compiled.
    pub before: Vec<String>,
    /// What runs instead.
    pub after: Vec<String>,
}
