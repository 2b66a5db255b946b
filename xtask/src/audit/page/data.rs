//! What the page shows, small: strings stand once, rows are numbers.
use crate::audit::coverage::rows::{Kind, State};
use crate::audit::coverage::{Coverage, SCHEMA};
use crate::audit::dossier::{Archive, Dossier};
use crate::audit::dynamo::Audit;
use crate::audit::history::Change;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that the page holds.
#[derive(Serialize)]
pub struct Page<'a> {
    /// The schema of the audit.
    pub schema: &'static str,
    /// The title.
    pub title: String,
    /// States by number: key and word.
    pub states: Vec<(String, &'static str)>,
    /// Kinds by number.
    pub kinds: Vec<&'static str>,
    /// Every string of the rows.
    pub strings: Vec<String>,
    /// The releases.
    pub releases: Vec<Release>,
    /// The release that the dossiers are of.
    pub sources: Option<String>,
    /// The releases whose sources the history knows.
    pub read: Vec<String>,
    /// What became of a function, in words.
    pub changes: BTreeMap<&'static str, &'static str>,
    /// What is known of C functions, by file and name.
    pub functions: BTreeMap<String, Dossier>,
    /// The audits of TorchDynamo.
    pub dynamo: Vec<&'a Audit>,
}

/// A release.
#[derive(Serialize)]
pub struct Release {
    release: String,
    bodies: Option<String>,
    absent: usize,
    counted: BTreeMap<String, u64>,
    slots: Vec<[usize; 3]>,
    types: Vec<[usize; 4]>,
    /// Kind, owner, name, state, function, file, line, digest, from, why, uses; strings by number, 0 is none.
    rows: Vec<[u64; 11]>,
}

/// Strings by number.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Strings {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len();
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn optional(&mut self, text: Option<&String>) -> usize {
        self.number(text.map_or("", String::as_str))
    }
}

impl<'a> Page<'a> {
    /// Takes everything that there is to show.
    pub fn new(coverages: &[Coverage], archive: Option<&Archive>, dynamo: &'a [Audit]) -> Self {
        let mut strings = Strings::default();
        strings.number("");
        let releases = coverages.iter().map(|coverage| release(coverage, &mut strings)).collect();
        let names: Vec<&str> = coverages.iter().map(|coverage| coverage.release.as_str()).collect();
        let title = if names.is_empty() {
            "slotrt audit".to_owned()
        } else {
            format!("slotrt audit: CPython {}", names.join(", "))
        };
        Page {
            schema: SCHEMA,
            title,
            states: State::ALL.iter().map(|state| (key(*state), state.word())).collect(),
            kinds: Kind::ALL.iter().map(|kind| kind.word()).collect(),
            strings: strings.all,
            releases,
            sources: archive.map(|archive| archive.index.release.clone()),
            read: archive.map(|archive| archive.history.names()).unwrap_or_default(),
            changes: Change::all().collect(),
            functions: archive.map(|archive| functions(coverages, archive)).unwrap_or_default(),
            dynamo: dynamo.iter().collect(),
        }
    }
}

fn key(state: State) -> String {
    serde_json::to_value(state).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn release(coverage: &Coverage, strings: &mut Strings) -> Release {
    let slots = coverage.slots.iter().map(|slot| {
        [strings.number(&slot.name), strings.optional(slot.suite.as_ref()), strings.number(&slot.signature)]
    });
    let slots = slots.collect();
    let types = coverage
        .types
        .iter()
        .map(|ty| [strings.number(&ty.name), strings.number(&ty.c_name), strings.number(&ty.file), ty.line as usize]);
    let types = types.collect();
    let number = |found: usize| u64::try_from(found).unwrap_or(0);
    let place = |of: usize| number(of);
    let rows = coverage.rows.iter().map(|row| {
        let kind = Kind::ALL.iter().position(|kind| *kind == row.kind).unwrap_or(0);
        let state = State::ALL.iter().position(|state| *state == row.state).unwrap_or(0);
        [
            place(kind),
            number(strings.number(&row.owner)),
            number(strings.number(&row.name)),
            place(state),
            number(strings.optional(row.function.as_ref())),
            number(strings.optional(row.file.as_ref())),
            u64::from(row.line.unwrap_or(0)),
            number(strings.optional(row.digest.as_ref())),
            number(strings.optional(row.from.as_ref())),
            number(strings.number(&row.why)),
            row.uses,
        ]
    });
    let rows = rows.collect();
    Release {
        release: coverage.release.clone(),
        bodies: coverage.bodies.clone(),
        absent: coverage.absent,
        counted: coverage.counted.clone(),
        slots,
        types,
        rows,
    }
}

/// The dossiers of all functions that rows name, by `file name`.
fn functions(coverages: &[Coverage], archive: &Archive) -> BTreeMap<String, Dossier> {
    let mut found = BTreeMap::new();
    for row in coverages.iter().flat_map(|coverage| &coverage.rows) {
        let (Some(function), Some(file)) = (&row.function, &row.file) else { continue };
        found.entry(format!("{file} {function}")).or_insert_with(|| archive.named(function, file));
    }
    found.into_iter().filter_map(|(key, dossier)| Some((key, dossier?))).collect()
}
