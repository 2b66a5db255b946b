//! `prove tables`: compares the tables read from C with compiled libraries and running interpreters.
use crate::obtain::compiled::{self, Compiled, DEBIAN};
use crate::obtain::{interpreter, releases};
use crate::ui::table::table;
use crate::ui::{Advise, Step};
use crate::{facts, place};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::{Value, json};
use slotgen::facts::Facts;
use slotgen::prove::{Alone, FrontEnd, Proof, Side, explain_drift};
use std::path::{Path, PathBuf};

/// Every release that is proven when none is named.
const RELEASES: [&str; 9] = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.13.15", "3.14", "3.15"];

/// What `prove tables` takes.
#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.13, 3.13.15); without any, 3.8 to 3.15
    releases: Vec<String>,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL", requires = "releases")]
    source: Option<PathBuf>,
    /// Compare the sources with this interpreter alone
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Also name types that only one side has for a reviewed reason
    #[arg(long)]
    verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
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
        rows.extend(one(release, options).with_context(|| format!("CPython {release} could not be proven"))?);
    }
    if options.json {
        anstream::println!("{:#}", json!(rows.iter().map(as_json).collect::<Vec<_>>()));
    } else {
        rows.iter().for_each(|row| show(row, options.verbose));
        anstream::println!("{}", table(&HEADINGS, &rows.iter().map(cells).collect::<Vec<_>>()));
    }
    match rows.iter().map(|row| row.proof.unexplained()).sum::<usize>() {
        0 => Ok(()),
        differences => Err(anyhow!("{differences} differences have no reviewed reason")).advise(
            "correct the extraction or the model, or give each a row with its reason in slotgen/data/exceptions.toml",
        ),
    }
}

/// Every comparison that the release allows.
fn one(release: &str, options: &Options) -> Result<Vec<Row>> {
    let given = options.source.as_deref();
    let has_sources = given.is_some() || releases::named(release).is_ok();
    let sources = if has_sources { Some(facts::from_sources(release, given)?) } else { None };
    if let Some(path) = &options.python {
        let python = interpreter::find(&releases::series_of(release), Some(path))?.executable;
        let Some(sources) = sources else {
            return Err(anyhow!("no C sources of CPython {release} are pinned")).advise(
                "name some with `--source DIR|TARBALL`, or leave `--python` out: then its compiled library is read",
            );
        };
        let proof = live(FrontEnd::Source, &sources, &python)?;
        return Ok(vec![Row { release: release.to_owned(), origin: "given", proof }]);
    }
    compare(release, sources.as_ref(), compiled::all(release)?)
}

/// Sources with each build, and each of them with the process of the build.
fn compare(release: &str, sources: Option<&Facts>, builds: Vec<Compiled>) -> Result<Vec<Row>> {
    let (mut origins, mut proofs) = (Vec::new(), Vec::new());
    let mut add = |origin, proof| {
        origins.push(origin);
        proofs.push(proof);
    };
    for Compiled { build, python, origin } in builds {
        let (library, binary) = facts::from_library(release, &build)?;
        if let Some(sources) = sources {
            add(origin, Proof::FrontEnds(slotgen::prove::front_ends(sources, &library)?));
            add(origin, live(FrontEnd::Source, sources, &python)?);
        }
        add(origin, live(FrontEnd::Binary, &binary, &python)?);
    }
    explain_drift(&mut proofs);
    let row = |(origin, proof)| Row { release: release.to_owned(), origin, proof };
    Ok(origins.into_iter().zip(proofs).map(row).collect())
}

/// For the tests: what can be compared without fetching anything, each with the count of its unexplained differences.
///
/// Sources are left out where no build of the same patch release is at hand: the differences could not be told from drift.
pub fn at_hand() -> Result<Vec<(String, usize)>> {
    let mut all = Vec::new();
    for release in RELEASES {
        let builds = compiled::at_hand(release)?;
        let unpacked = builds.iter().any(|build| build.origin == DEBIAN);
        let sources =
            if unpacked && releases::named(release).is_ok() { Some(facts::from_sources(release, None)?) } else { None };
        let rows = compare(release, sources.as_ref(), builds).with_context(|| format!("CPython {release}"))?;
        all.extend(rows.iter().map(|row| (row.what(), row.proof.unexplained())));
    }
    Ok(all)
}

fn live(door: FrontEnd, facts: &Facts, python: &Path) -> Result<Proof> {
    let step = Step::start(format!("Reading types in {}", place::shown(python)));
    let proof = slotgen::prove::live(facts, python).with_context(|| python.display().to_string())?;
    step.done(format!("CPython {}, {} types", proof.release, proof.types));
    Ok(Proof::Live(door, facts.release.clone(), proof))
}

const HEADINGS: [&str; 14] = [
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
    "one side",
    "differences",
    "unexplained",
];

impl Row {
    fn what(&self) -> String {
        match &self.proof {
            Proof::FrontEnds(proof) => format!("source {} = binary {}", proof.source, proof.library),
            Proof::Live(FrontEnd::Source, tables, proof) => format!("source {tables} = live {}", proof.release),
            Proof::Live(FrontEnd::Binary, tables, proof) => format!("binary {tables} = live {}", proof.release),
        }
    }

    fn alone(&self) -> &[Alone] {
        match &self.proof {
            Proof::FrontEnds(proof) => &proof.alone,
            Proof::Live(_, _, proof) => &proof.alone,
        }
    }
}

fn cells(row: &Row) -> Vec<String> {
    let numbers = match &row.proof {
        Proof::FrontEnds(proof) => {
            let own = proof.pairs;
            [
                proof.matched,
                own,
                own,
                0,
                proof.methods,
                0,
                proof.getset,
                proof.members,
                proof.alone.len(),
                proof.differences.len(),
            ]
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
            proof.alone.len(),
            proof.differences.len(),
        ],
    };
    let mut cells = vec![row.release.clone(), row.what(), row.origin.to_owned()];
    cells.extend(numbers.iter().chain([&row.proof.unexplained()]).map(ToString::to_string));
    cells
}

fn show(row: &Row, verbose: bool) {
    let what = row.what();
    let line = |file: &str, name: &str, point: &str, left: &str, right: &str, reason: &Option<String>| {
        let reason = reason.as_deref().unwrap_or("unexplained");
        anstream::println!("{what}: {file}: {name}.{point}: {left}, {right} ({reason})");
    };
    for ty in row.alone().iter().filter(|ty| verbose || ty.reason.is_none()) {
        let side = match ty.only {
            Side::Tables => "the tables",
            Side::Library => "the library",
            Side::Process => "the process",
        };
        let reason = ty.reason.as_deref().unwrap_or("unexplained");
        anstream::println!("{what}: only in {side}: {} {} {} ({reason})", ty.file, ty.c_name, ty.tp_name);
    }
    match &row.proof {
        Proof::FrontEnds(proof) => {
            for found in &proof.differences {
                let says = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
                let (left, right) = (says(&found.source), says(&found.library));
                line(&found.file, &found.c_name, &found.what, &left, &right, &found.reason);
            }
        }
        Proof::Live(_, _, proof) => {
            for found in &proof.differences {
                let live = if found.live.is_empty() { "nothing".to_owned() } else { found.live.join(" | ") };
                let table = found.table.as_deref().unwrap_or("nothing");
                line(&found.file, &found.c_name, &found.slot, table, &live, &found.reason);
            }
            proof.failed.iter().for_each(|(module, why)| anstream::println!("{what}: not importable: {module}: {why}"));
        }
    }
}

fn as_json(row: &Row) -> Value {
    let mut report = match &row.proof {
        Proof::FrontEnds(proof) => json!(proof),
        Proof::Live(_, _, proof) => json!(proof),
    };
    report["asked"] = json!(row.release);
    report["compared"] = json!(row.what());
    report["origin"] = json!(row.origin);
    report["unexplained"] = json!(row.proof.unexplained());
    report
}
