//! `facts`: what a release says of its slots, types and functions, for people and machines.
use crate::obtain::{compiled, releases, sources};
use crate::ui::Step;
use crate::ui::table::table;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use slotgen::binary::Reader;
use slotgen::diagnostics::Diagnostics;
use slotgen::facts::Facts;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use std::path::{Path, PathBuf};

/// Which front door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Door {
    /// C sources
    C,
    /// A compiled libpython
    Binary,
}

/// Prints what a CPython release says of its slots, types and functions
///
/// From C sources where they are pinned or given; else from a compiled libpython (pyenv's, or Debian's, unpacked).
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask facts 3.13                          counts\n  \
    cargo xtask facts 3.13.15 --json > facts.json   everything, stable and sorted\n  \
    cargo xtask facts 3.15 --json                   from the compiled library\n  \
    cargo xtask facts 3.13 --door binary            the other front door")]
pub struct Options {
    /// 3.9 … 3.15, or a patch release
    release: String,
    /// Read this way
    #[arg(long)]
    door: Option<Door>,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL", conflicts_with = "door")]
    source: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let pinned = options.source.is_some() || releases::named(&options.release).is_ok();
    let door = options.door.unwrap_or(if pinned { Door::C } else { Door::Binary });
    let text = match door {
        Door::C => from_sources(&options.release, options.source.as_deref())?.to_json()?,
        Door::Binary => format!("{:#}", from_library(&options.release)?),
    };
    if options.json {
        anstream::println!("{text}");
        return Ok(());
    }
    let facts: Value = serde_json::from_str(&text)?;
    anstream::println!("CPython {} from {}", facts["release"].as_str().unwrap_or_default(), facts["source"]);
    anstream::println!("{}", table(&["what", "count"], &counts(&facts)));
    Ok(())
}

/// Reads a source tree, inherited slots included.
pub fn from_sources(release: &str, given: Option<&Path>) -> Result<Facts> {
    let sources = sources::obtain(release, given)?;
    let step = Step::start(format!("Reading CPython {}", sources.version));
    let tree = Tree::open(&sources.path).with_context(|| sources.path.display().to_string())?;
    let configuration = Configuration::named("release", tree.release())?;
    let mut diagnostics = Diagnostics::default();
    let facts = slotgen::extract::extract(&tree, &configuration, &mut diagnostics);
    let Some(mut facts) = facts.filter(|_| !diagnostics.has_errors()) else { bail!("{diagnostics}") };
    slotgen::model::link(&mut facts);
    step.done(format!("{} functions, {} types", facts.functions.len(), facts.types.len()));
    Ok(facts)
}

/// Reads a compiled library through its headers.
fn from_library(release: &str) -> Result<Value> {
    let compiled = compiled::find(&releases::series_of(release))?;
    let step = Step::start(format!("Reading {}", compiled.library.display()));
    let headers = Tree::open(&compiled.headers).with_context(|| compiled.headers.display().to_string())?;
    let configuration = Configuration::named("release", headers.release())?;
    let bytes = std::fs::read(&compiled.library)?;
    let library = Reader::new(&headers, &configuration)?.library(&bytes, None)?;
    step.done(format!("{} types", library.types.len()));
    if library.release != release && releases::series_of(&library.release) != release {
        bail!("{} is CPython {}, not {release}", compiled.library.display(), library.release);
    }
    Ok(json!({
        "release": library.release, "source": "binary", "slotdefs": library.slotdefs, "types": library.types,
        "functions": [],
    }))
}

fn counts(facts: &Value) -> Vec<Vec<String>> {
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    let types = facts["types"].as_array().cloned().unwrap_or_default();
    let slots = |origin: &str| {
        let filled = types.iter().filter_map(|ty| ty["slots"].as_object()).flat_map(|slots| slots.values());
        filled.filter(|slot| slot["origin"] == origin).count()
    };
    let methods: usize = types.iter().map(|ty| length(&ty["methods"])).sum();
    let rows = [
        ("slotdefs", length(&facts["slotdefs"])),
        ("types", types.len()),
        ("own slots", slots("own")),
        ("slots that PyType_Ready fills", slots("ready")),
        ("inherited slots", slots("inherited")),
        ("methods", methods),
        ("functions", length(&facts["functions"])),
    ];
    rows.iter().map(|(name, count)| vec![(*name).to_owned(), count.to_string()]).collect()
}
