//! `prove tables`: what was read from C against what compiled libraries and running interpreters hold.
use crate::obtain::compiled::{self, Compiled};
use crate::obtain::{interpreter, releases};
use crate::ui::Step;
use crate::ui::table::table;
use crate::{facts, place};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use slotgen::facts::Facts;
use slotgen::prove::{DoorsProof, LiveProof};
use std::path::{Path, PathBuf};

/// Every release that is proven when none is named.
const RELEASES: [&str; 9] = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.13.15", "3.14", "3.15"];

/// What `prove tables` takes.
#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.13, 3.13.15); without any, 3.8 to 3.15
    releases: Vec<String>,
    /// Compare the sources with this interpreter alone
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Name types that only one side knows, too
    #[arg(long)]
    verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What was compared with what.
enum Proof {
    /// Sources with a library.
    Doors(DoorsProof),
    /// Sources or a library with a process.
    Live(&'static str, String, LiveProof),
}

/// One comparison of one release.
struct Row {
    release: String,
    origin: &'static str,
    proof: Proof,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let all = RELEASES.map(str::to_owned).to_vec();
    let releases = if options.releases.is_empty() { &all } else { &options.releases };
    let mut rows = Vec::new();
    for release in releases {
        one(release, options, &mut rows).with_context(|| format!("CPython {release} could not be proven"))?;
    }
    if options.json {
        anstream::println!("{:#}", json!(rows.iter().map(as_json).collect::<Vec<_>>()));
    } else {
        rows.iter().for_each(|row| show(row, options.verbose));
        anstream::println!("{}", table(&HEADINGS, &rows.iter().map(cells).collect::<Vec<_>>()));
    }
    match rows.iter().map(Row::unexplained).sum::<usize>() {
        0 => Ok(()),
        differences => bail!("{differences} differences have no reviewed reason"),
    }
}

fn one(release: &str, options: &Options, rows: &mut Vec<Row>) -> Result<()> {
    let sources = if releases::named(release).is_ok() { Some(facts::from_sources(release, None)?) } else { None };
    let mut add = |origin, proof| rows.push(Row { release: release.to_owned(), origin, proof });
    if let Some(path) = &options.python {
        let python = interpreter::find(&releases::series_of(release), Some(path))?.executable;
        let Some(sources) = sources else { bail!("no sources of CPython {release} are known; leave --python out") };
        add("given", live("source", &sources, &python)?);
        return Ok(());
    }
    let mut builds = Vec::new();
    for compiled in compiled::all(release)? {
        let read = facts::from_library(release, &compiled)?;
        builds.push((compiled, read));
    }
    let has_same = |sources: &Facts| builds.iter().any(|(_, (library, _))| library.release == sources.release);
    for (Compiled { python, origin, .. }, (library, binary)) in &builds {
        // Sources are compared with builds of the same patch release, with others only where there is none.
        if let Some(sources) =
            sources.as_ref().filter(|sources| library.release == sources.release || !has_same(sources))
        {
            add(origin, Proof::Doors(slotgen::prove::doors(sources, library)?));
            add(origin, live("source", sources, python)?);
        }
        add(origin, live("binary", binary, python)?);
    }
    Ok(())
}

fn live(door: &'static str, facts: &Facts, python: &Path) -> Result<Proof> {
    let step = Step::start(format!("Reading types in {}", place::shown(python)));
    let proof = slotgen::prove::live(facts, python).with_context(|| python.display().to_string())?;
    step.done(format!("CPython {}, {} types", proof.release, proof.types));
    Ok(Proof::Live(door, facts.release.clone(), proof))
}

const HEADINGS: [&str; 13] = [
    "release",
    "compared",
    "",
    "types",
    "pairs",
    "own",
    "inherited",
    "methods",
    "signatures",
    "getters",
    "members",
    "differences",
    "unexplained",
];

impl Row {
    fn what(&self) -> String {
        match &self.proof {
            Proof::Doors(proof) => format!("source {} = binary {}", proof.source, proof.library),
            Proof::Live(door, tables, proof) => format!("{door} {tables} = live {}", proof.release),
        }
    }

    fn unexplained(&self) -> usize {
        match &self.proof {
            Proof::Doors(proof) => proof.differences.iter().filter(|found| found.reason.is_none()).count(),
            Proof::Live(_, _, proof) => proof.unexplained(),
        }
    }
}

fn cells(row: &Row) -> Vec<String> {
    let numbers = match &row.proof {
        Proof::Doors(proof) => {
            let own = proof.pairs;
            [proof.matched, own, own, 0, proof.methods, 0, proof.getset, proof.members, proof.differences.len()]
        }
        Proof::Live(_, _, proof) => [
            proof.matched,
            proof.pairs,
            proof.own,
            proof.inherited,
            proof.methods,
            proof.signatures,
            proof.getset,
            proof.members,
            proof.differences.len(),
        ],
    };
    let mut cells = vec![row.release.clone(), row.what(), row.origin.to_owned()];
    cells.extend(numbers.iter().chain([&row.unexplained()]).map(ToString::to_string));
    cells
}

fn show(row: &Row, verbose: bool) {
    let what = row.what();
    let line = |file: &str, name: &str, point: &str, left: &str, right: &str, reason: &Option<String>| {
        let reason = reason.as_deref().unwrap_or("unexplained");
        anstream::println!("{what}: {file}: {name}.{point}: {left}, {right} ({reason})");
    };
    match &row.proof {
        Proof::Doors(proof) => {
            for found in &proof.differences {
                let says = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
                let (left, right) = (says(&found.source), says(&found.library));
                line(&found.file, &found.c_name, &found.what, &left, &right, &found.reason);
            }
            if verbose {
                proof.not_built.iter().for_each(|name| anstream::println!("{what}: only in the sources: {name}"));
                proof.unknown.iter().for_each(|name| anstream::println!("{what}: only in the library: {name}"));
            }
        }
        Proof::Live(_, _, proof) => {
            for found in &proof.differences {
                let live = if found.live.is_empty() { "nothing".to_owned() } else { found.live.join(" | ") };
                let table = found.table.as_deref().unwrap_or("nothing");
                line(&found.file, &found.c_name, &found.slot, table, &live, &found.reason);
            }
            if verbose {
                proof.unknown.iter().for_each(|name| anstream::println!("{what}: only in the process: {name}"));
                proof.unseen.iter().for_each(|name| anstream::println!("{what}: only in the tables: {name}"));
            }
            proof.failed.iter().for_each(|(module, why)| anstream::println!("{what}: not importable: {module}: {why}"));
        }
    }
}

fn as_json(row: &Row) -> Value {
    let mut report = match &row.proof {
        Proof::Doors(proof) => json!(proof),
        Proof::Live(_, _, proof) => json!(proof),
    };
    report["asked"] = json!(row.release);
    report["compared"] = json!(row.what());
    report["origin"] = json!(row.origin);
    report["unexplained"] = json!(row.unexplained());
    report
}
