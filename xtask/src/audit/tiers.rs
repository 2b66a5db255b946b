//! `audit tiers`: counts the C functions that Python code reaches by tier, and lists hand-written code.
use super::models::{self, ByHand};
use crate::place;
use crate::ui::{paint, table::table};
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use slotgen::effects::FunctionEffects;
use slotgen::facts::Facts;
use slotgen::source::{Pin, pins};
use std::collections::{BTreeMap, BTreeSet};

/// What to count.
#[derive(Args, Debug)]
pub struct Options {
    /// CPython release
    #[arg(long, default_value = "3.13", value_parser = with_bodies())]
    release: String,
    /// Name every function, with its reason
    #[arg(long)]
    verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Effects that reach beyond the arguments.
const FOREIGN: [&str; 6] = ["python", "io", "reads global", "writes global", "unknown", "imports"];

/// Tiers, best first; a function is in the first that fits.
const TIERS: [(&str, &str); 9] = [
    ("folded", "pure: the C function runs on numbers, text and the like"),
    ("real object", "touches its arguments alone: the C function runs on an object that the trace made"),
    ("reviewed", "the C function runs on objects of the trace and proxies, by a row of the reviewed table"),
    ("proxies", "touches its arguments alone, and reaches them by slots: the C function runs on proxies"),
    ("unread *", "the C function runs: its whole type or module is reviewed; the effects do not read its source"),
    ("builtin *", "the C function runs: a method of a builtin type, all of which are reviewed at once"),
    ("modelled", "a hand-written model stands for it"),
    ("stateful", "a graph break, by a row of the reviewed table"),
    ("break", "a graph break, by its effects"),
];

/// Owner, Python name, C function, and why it is in its tier.
type Member = (String, String, String, String);

struct Report {
    release: String,
    /// C functions whose bodies are generated Rust.
    translated: BTreeMap<String, BTreeSet<String>>,
    tiers: BTreeMap<&'static str, Vec<Member>>,
    by_hand: BTreeMap<String, ByHand>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let facts = slotgen::committed(&place::root().join("generated"), &options.release)?;
    let by_hand = models::read()?;
    let report = Report {
        release: facts.release.to_string(),
        translated: translated(&options.release)?,
        tiers: tiers(&facts, &Rows::of(&by_hand)),
        by_hand,
    };
    if options.json {
        anstream::println!("{:#}", report.as_json());
    } else {
        report.show(options.verbose);
    }
    Ok(())
}

/// The releases that Rust is made of.
pub(super) fn with_bodies() -> PossibleValuesParser {
    pins().iter().filter(|pin| pin.rust).map(Pin::series).collect::<Vec<_>>().into()
}

/// Functions with a generated body, by C file, as the generated modules say it.
pub(super) fn translated(release: &str) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in place::generated(release)? {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("/// CPython: ")) {
            if let Some((file, name)) = line.split_once(", `") {
                let name = name.split('`').next().unwrap_or_default();
                found.entry(file.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }
    Ok(found)
}

/// Functions of slots whose generated bodies the tracer runs for every object, as its table says it; `slot_*` is each that begins so.
pub(super) fn run_by_body(by_hand: &BTreeMap<String, ByHand>) -> BTreeSet<String> {
    by_hand.values().filter_map(|file| file.tables.get("RUN_BY_BODY")).flatten().flatten().cloned().collect()
}

/// Whether such rows cover a function.
pub(super) fn covers(rows: &BTreeSet<String>, function: &str) -> bool {
    rows.iter().any(|row| row.strip_suffix('*').map_or(row == function, |start| function.starts_with(start)))
}

/// The rows of the reviewed tables.
pub(super) struct Rows<'m> {
    reviewed: Vec<&'m models::Row>,
    stateful: Vec<&'m models::Row>,
    /// Owners whose functions run on proxies.
    proxies: BTreeMap<&'m str, &'m str>,
    /// Owners that are reviewed as a whole.
    unread: BTreeMap<&'m str, &'m str>,
    modelled: BTreeSet<&'m str>,
    made: BTreeSet<&'m str>,
}

impl<'m> Rows<'m> {
    pub(super) fn of(by_hand: &'m BTreeMap<String, ByHand>) -> Self {
        let rows = |name: &str| -> Vec<&'m models::Row> {
            by_hand.values().filter_map(|file| file.tables.get(name)).flatten().collect()
        };
        let owners = |name: &str| -> BTreeMap<&'m str, &'m str> {
            rows(name).into_iter().filter_map(|row| Some((row.first()?.as_str(), row.last()?.as_str()))).collect()
        };
        let first = |rows: Vec<&'m models::Row>| rows.into_iter().filter_map(|row| row.first()).map(String::as_str);
        Self {
            reviewed: rows("REVIEWED"),
            stateful: rows("STATEFUL"),
            proxies: owners("PROXIES_ALLOWED"),
            unread: owners("UNREAD"),
            modelled: first(rows("MODELLED")).collect(),
            made: first(rows("MADE")).collect(),
        }
    }

    fn covering(rows: &[&'m models::Row], owner: &str, name: &str) -> Option<&'m models::Row> {
        rows.iter().copied().find(|row| match row.as_slice() {
            [of, names @ .., _] => of == owner && names.iter().any(|it| it == name),
            _ => false,
        })
    }

    /// The tier of a function, and why; `of_builtins`: it is a method of a builtin type.
    pub(super) fn tier(
        &self,
        owner: &str,
        name: &str,
        effects: &FunctionEffects,
        of_builtins: bool,
    ) -> (&'static str, String) {
        let reason = |row: &models::Row| row.last().cloned().unwrap_or_default();
        if let Some(row) = Self::covering(&self.stateful, owner, name) {
            return ("stateful", reason(row));
        }
        if owner == "builtins" && self.modelled.contains(name) {
            return ("modelled", String::new());
        }
        if let Some(row) = Self::covering(&self.reviewed, owner, name) {
            return ("reviewed", reason(row));
        }
        if let Some(why) = self.unread.get(owner) {
            return ("unread *", (*why).to_owned());
        }
        if name == "__new__" && self.made.contains(owner) {
            return ("reviewed", "its class is in MADE".to_owned());
        }
        let module = owner.rsplit_once('.').map_or("", |(module, _)| module);
        let tokens = self.proxies.get(owner).or_else(|| self.proxies.get(module));
        let foreign = foreign(effects);
        let changes = !(effects.mutates.is_empty() && effects.sets.is_empty());
        match (foreign.is_empty(), changes, tokens) {
            (true, false, _) if effects.slots.is_empty() => ("folded", String::new()),
            (true, _, Some(why)) => ("proxies", (*why).to_owned()),
            (true, false, None) => ("folded", "given numbers and text alone".to_owned()),
            (true, true, None) => ("real object", String::new()),
            _ if of_builtins && name != "__new__" => ("builtin *", foreign.join(", ")),
            _ => ("break", foreign.join(", ")),
        }
    }
}

fn foreign(row: &FunctionEffects) -> Vec<&str> {
    let mut found: Vec<&str> = FOREIGN.into_iter().filter(|word| row.flags.iter().any(|flag| flag == word)).collect();
    if row.verdict == "unknown" && !found.contains(&"unknown") {
        found.push("unknown");
    }
    found
}

/// Methods and functions of modules whose effects are published, by tier.
fn tiers(facts: &Facts, rows: &Rows<'_>) -> BTreeMap<&'static str, Vec<Member>> {
    let mut known: BTreeMap<&str, Vec<&FunctionEffects>> = BTreeMap::new();
    facts.effects.iter().for_each(|row| known.entry(&row.name).or_default().push(row));
    let effects = |function: &str, file: &str| {
        let all = known.get(function)?;
        all.iter().copied().find(|row| row.file == file).or(if all.len() == 1 { all.first().copied() } else { None })
    };
    let mut found: BTreeMap<&'static str, Vec<Member>> = BTreeMap::new();
    let mut add = |owner: &str, name: &str, function: &str, file: &str, of_builtins: bool| {
        let Some(row) = effects(function, file) else { return };
        let (tier, why) = rows.tier(owner, name, row, of_builtins);
        found.entry(tier).or_default().push((owner.to_owned(), name.to_owned(), function.to_owned(), why));
    };
    for ty in &facts.types {
        ty.methods
            .iter()
            .for_each(|method| add(&ty.tp_name, &method.name, &method.function, &ty.file, !ty.tp_name.contains('.')));
        if let Some(new) = ty.slots.get("tp_new") {
            add(&ty.tp_name, "__new__", &new.function, &ty.file, false);
        }
    }
    facts.module_functions.iter().for_each(|row| add(&row.module, &row.name, &row.function, &row.file, false));
    found
}

impl Report {
    fn vocabulary(&self) -> usize {
        self.by_hand.values().map(|file| file.vocabulary.len()).sum()
    }

    fn show(&self, verbose: bool) {
        let bodies: usize = self.translated.values().map(BTreeSet::len).sum();
        anstream::println!("CPython {}\n", self.release);
        let mut rows = vec![vec![
            "translated".to_owned(),
            bodies.to_string(),
            format!(
                "a generated body, which may run on symbolic values: it asks them through {} methods",
                self.vocabulary()
            ),
        ]];
        rows.extend(TIERS.iter().map(|(tier, what)| {
            vec![(*tier).to_owned(), self.tiers.get(tier).map_or(0, Vec::len).to_string(), (*what).to_owned()]
        }));
        anstream::println!("{}\n", table(&["tier", "C functions", "what it means"], &rows));
        let line = |name: &str, file: [usize; 3]| {
            std::iter::once(name.to_owned()).chain(file.map(|count| count.to_string())).collect::<Vec<_>>()
        };
        let counts = |file: &ByHand| [file.vocabulary.len(), file.rows(), file.cases.len()];
        let mut rows: Vec<_> = self.by_hand.iter().map(|(name, file)| line(name, counts(file))).collect();
        let [vocabulary, tables, _] =
            self.by_hand.values().map(counts).fold([0; 3], |[a, b, c], [x, y, z]| [a + x, b + y, c + z]);
        // A name that several files tell apart is one name: a file that is split changes no count.
        let names: BTreeSet<&String> = self.by_hand.values().flat_map(|file| &file.cases).collect();
        rows.push(line("all", [vocabulary, tables, names.len()]));
        anstream::println!(
            "By hand, under runtime/src/trace:\n{}",
            table(&["file", "vocabulary", "rows of tables", "names told apart"], &rows)
        );
        if verbose {
            self.show_names();
        }
    }

    fn show_names(&self) {
        for (tier, _) in TIERS {
            let Some(members) = self.tiers.get(tier) else { continue };
            anstream::println!("\n{}", paint::bold(tier));
            for (owner, name, function, why) in members {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                anstream::println!("  {owner}.{name} ({function}){why}");
            }
        }
        for (name, file) in &self.by_hand {
            anstream::println!("\n{}", paint::bold(name));
            if !file.vocabulary.is_empty() {
                anstream::println!("  vocabulary: {}", file.vocabulary.join(", "));
            }
            for (table, rows) in &file.tables {
                rows.iter().for_each(|row| anstream::println!("  {table}: {}", row.join(", ")));
            }
            if !file.cases.is_empty() {
                anstream::println!("  told apart: {}", file.cases.join(", "));
            }
        }
    }

    fn as_json(&self) -> Value {
        let members = |list: &Vec<Member>| -> Vec<Value> {
            list.iter()
                .map(|(owner, name, function, why)| json!({"owner": owner, "name": name, "function": function, "why": why}))
                .collect()
        };
        let tiers: BTreeMap<_, _> = self.tiers.iter().map(|(tier, list)| (tier, members(list))).collect();
        json!({"release": self.release, "translated": self.translated, "tiers": tiers, "by_hand": self.by_hand})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_reviewed_tables_are_found() {
        let by_hand = models::read().unwrap();
        let rows = Rows::of(&by_hand);
        assert!(!rows.reviewed.is_empty() && !rows.stateful.is_empty() && rows.modelled.contains("len"));
        let pure = FunctionEffects { verdict: "pure".to_owned(), ..FunctionEffects::default() };
        assert_eq!(rows.tier("datetime.datetime", "now", &pure, false).0, "stateful");
        assert_eq!(rows.tier("method", "__new__", &pure, false).0, "reviewed");
        assert_eq!(rows.tier("no.such", "f", &pure, false).0, "folded");
        let io = FunctionEffects { verdict: "impure".to_owned(), flags: vec!["io".to_owned()], ..pure };
        assert_eq!(rows.tier("no.such", "f", &io, false), ("break", "io".to_owned()));
    }

    #[test]
    fn every_release_with_bodies_has_some() {
        for release in slotgen::source::built() {
            let bodies = translated(&release).unwrap();
            assert!(bodies.get("Objects/abstract.c").is_some_and(|functions| functions.contains("PyNumber_Or")));
        }
    }
}
