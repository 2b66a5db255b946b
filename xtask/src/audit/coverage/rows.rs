//! What is covered, as data: one row for a slot that a type fills, a method, an instruction, …
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema of the published JSON; a change that readers notice changes it.
pub const SCHEMA: &str = "slotrt-audit-1";

/// What the tracer does with a row; better ones are greater. A slot that C leaves empty has no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The graph ends there.
    Break,
    /// The runtime does not trace this release.
    Untraced,
    /// Hand-written code stands for it.
    Modelled,
    /// The C function runs on constants.
    Folded,
    /// The C function runs on objects of the trace, and looks at symbolic values through proxies.
    Native,
    /// The tracer runs the generated body.
    Translated,
}

impl State {
    /// Every state, best first.
    pub const ALL: [State; 6] =
        [State::Translated, State::Native, State::Folded, State::Modelled, State::Break, State::Untraced];

    /// The state in words.
    pub fn word(self) -> &'static str {
        match self {
            State::Translated => "translated",
            State::Native => "native on proxies",
            State::Folded => "folded",
            State::Modelled => "modelled",
            State::Break => "break",
            State::Untraced => "not traced",
        }
    }
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A slot that a type fills.
    Slot,
    /// A row of `tp_methods`.
    Method,
    /// A row of `tp_getset`.
    Getter,
    /// A row of `tp_members`.
    Member,
    /// A function of a module.
    Function,
    /// A row of `slotdefs[]`: the function that calls a special method of a class.
    Slotdef,
    /// An instruction.
    Opcode,
    /// A method of `CApi`, which generated code asks.
    Vocabulary,
}

impl Kind {
    /// Every kind, in the order of the reports.
    pub const ALL: [Kind; 8] = [
        Kind::Slot,
        Kind::Slotdef,
        Kind::Method,
        Kind::Getter,
        Kind::Member,
        Kind::Function,
        Kind::Opcode,
        Kind::Vocabulary,
    ];

    /// The kind in the plural.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Slot => "slots",
            Kind::Method => "methods",
            Kind::Getter => "getters",
            Kind::Member => "members",
            Kind::Function => "module functions",
            Kind::Slotdef => "slotdefs",
            Kind::Opcode => "opcodes",
            Kind::Vocabulary => "CApi methods",
        }
    }
}

/// One thing that can be covered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What tells it apart, and what a link to it ends with: `dict.nb_or`, `BINARY_OP`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// The type or the module; empty for others.
    pub owner: String,
    /// The slot, method, …
    pub name: String,
    /// What the tracer does with it.
    pub state: State,
    /// The C function.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub function: Option<String>,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// The digest of its text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// The base whose slot it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Why it is in its state.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// Places in code objects that ask for the slot, instruction or name, whatever the type is there.
    pub uses: u64,
}

impl Row {
    /// `Objects/dictobject.c:4642`, as far as it is known.
    pub fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.clone(),
            _ => String::new(),
        }
    }
}

/// A slot that programs see.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    /// `nb_or`.
    pub name: String,
    /// `tp_as_number`; none if it stands in `PyTypeObject` itself.
    pub suite: Option<String>,
    /// `binaryfunc`.
    pub signature: String,
}

/// A type of C.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// `dict`.
    pub name: String,
    /// `PyDict_Type`.
    pub c_name: String,
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
}

/// How often each state occurs.
pub type Totals = BTreeMap<Kind, BTreeMap<State, usize>>;

/// What is covered of one release.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coverage {
    /// `3.13.5`.
    pub release: String,
    /// Digest of the sources that the facts come from.
    pub digest: String,
    /// Whose bodies the runtime runs for this release; none if it does not trace it.
    pub bodies: Option<String>,
    /// What code was counted for `uses`, with the number of its code objects; or why nothing was.
    pub counted: BTreeMap<String, u64>,
    /// The slots, in C's order.
    pub slots: Vec<Column>,
    /// The types, in the order of the facts.
    pub types: Vec<Head>,
    /// Slots of types that C leaves empty.
    pub absent: usize,
    /// Counts by kind and state.
    pub totals: Totals,
    /// Everything that there is.
    pub rows: Vec<Row>,
}

impl Coverage {
    /// Counts rows by kind and state.
    pub fn count(rows: &[Row]) -> Totals {
        let mut totals = Totals::new();
        for row in rows {
            *totals.entry(row.kind).or_default().entry(row.state).or_default() += 1;
        }
        totals
    }

    /// What breaks the graph, most used first.
    pub fn missing(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().filter(|row| row.state == State::Break).collect();
        rows.sort_by(|a, b| b.uses.cmp(&a.uses).then_with(|| (a.kind, &a.id).cmp(&(b.kind, &b.id))));
        rows
    }
}
