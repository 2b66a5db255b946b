//! `facts`: prints a release as data: slots, types, functions, opcodes.
use crate::obtain::{compiled, releases, sources};
use crate::ui::table::table;
use crate::ui::{self, Advise, Step};
use crate::{place, regen};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use slotgen::binary::{Build, Library};
use slotgen::facts::{Facts, Origin, SlotOrigin, Type, TypeKind};
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use std::path::{Path, PathBuf};

/// Where facts come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Door {
    /// C sources
    C,
    /// A compiled libpython
    Binary,
}

/// Prints a CPython release as data: slots, types, functions, opcodes
///
/// Reads C sources if they are pinned or given, else a compiled libpython (pyenv's, or Debian's, unpacked). A compiled library is
/// never run. Without `--json`, prints counts.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask facts 3.13                          counts\n  \
    cargo xtask facts 3.13.15 --json > facts.json   everything, in a stable order\n  \
    cargo xtask facts 3.15 --json                   from the compiled library: no C sources are pinned\n  \
    cargo xtask facts 3.13 --door binary            from the compiled library all the same\n  \
    cargo xtask facts 3.14 --library libpython3.14.so --headers include/python3.14")]
pub struct Options {
    /// 3.8 … 3.15, or a patch release
    release: String,
    /// Read the release this way
    #[arg(long)]
    door: Option<Door>,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL", conflicts_with = "door")]
    source: Option<PathBuf>,
    /// Read this library: libpython3.X.so or .a, with symbols or with a file of symbols below usr/lib/debug
    #[arg(long, value_name = "FILE", requires = "headers", conflicts_with_all = ["door", "source"])]
    library: Option<PathBuf>,
    /// The directory with the library's Python.h
    #[arg(long, value_name = "DIR", requires = "library")]
    headers: Option<PathBuf>,
    /// The directory of the library's extension modules
    #[arg(long, value_name = "DIR", requires = "library")]
    modules: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let given = options.library.clone().zip(options.headers.clone());
    let given = given.map(|(library, headers)| Build { library, headers, modules: options.modules.clone() });
    let facts = match (options.door, given) {
        (_, Some(build)) => from_library(&options.release, &build)?.1,
        (Some(Door::C), _) => from_sources(&options.release, None)?,
        (Some(Door::Binary), _) => from_library(&options.release, &compiled::find(&options.release)?.build)?.1,
        (None, _) => of(&options.release, options.source.as_deref())?,
    };
    if options.json {
        anstream::print!("{}", facts.to_json()?);
        return Ok(());
    }
    let source = if facts.source == Origin::C { "C sources" } else { "a compiled library" };
    anstream::println!("CPython {} from {source}", facts.release);
    anstream::println!("{}", table(&["what", "count"], &counts(&facts)));
    Ok(())
}

/// The facts of a release, inherited slots included: from C sources where they are pinned or given, else from a compiled library.
pub fn of(release: &str, given: Option<&Path>) -> Result<Facts> {
    if given.is_some() || releases::named(release).is_ok() {
        return from_sources(release, given);
    }
    let found = compiled::find(release).advise("to read C sources instead, pass `--source DIR|TARBALL`")?;
    Ok(from_library(release, &found.build)?.1)
}

/// Reads a source tree, inherited slots included.
pub fn from_sources(release: &str, given: Option<&Path>) -> Result<Facts> {
    Ok(tree_and_facts(release, given)?.0)
}

/// A source tree and its facts.
pub fn tree_and_facts(release: &str, given: Option<&Path>) -> Result<(Facts, Tree)> {
    let sources = sources::obtain(release, given)?;
    let step = Step::start(format!("Reading CPython {}", sources.version));
    let tree = Tree::open(&sources.path).with_context(|| sources.path.display().to_string())?;
    let facts = slotgen::facts_of(&tree)?;
    step.done(format!("{} functions, {} types", facts.functions.len(), facts.types.len()));
    Ok((facts, tree))
}

/// Reads a compiled library and its extension modules through their headers: as they are, and as facts with inherited slots.
pub fn from_library(release: &str, build: &Build) -> Result<(Library, Facts)> {
    let Build { library: path, headers, .. } = build;
    let step = Step::start(format!("Reading {}", place::shown(path)));
    let headers = Tree::open(headers).with_context(|| headers.display().to_string())?;
    let configuration = Configuration::named("release", headers.release())?;
    let library = build.read(&headers, &configuration).with_context(|| path.display().to_string())?;
    if library.release != release && releases::series_of(&library.release) != release {
        bail!("{} is CPython {}, not {release}", path.display(), library.release);
    }
    let known = regen::committed_facts()?;
    if library.opcodes.is_none() {
        ui::note("its headers do not hold the instruction set: these facts have no opcodes");
    }
    let mut facts = library.facts("release", &slotgen::facts::nearest(&library.release, &known));
    slotgen::model::link(&mut facts);
    step.done(format!("CPython {}, {} types", library.release, library.types.len()));
    Ok((library, facts))
}

fn counts(facts: &Facts) -> Vec<Vec<String>> {
    let slots =
        |origin| facts.types.iter().flat_map(|ty| ty.slots.values()).filter(|slot| slot.origin == origin).count();
    let kind = |kind| facts.types.iter().filter(|ty| ty.kind == kind).count();
    let rows_of = |rows: fn(&Type) -> usize| facts.types.iter().map(rows).sum::<usize>();
    let rows = [
        ("slotdefs", facts.slotdefs.len()),
        ("types", facts.types.len()),
        ("static types", kind(TypeKind::Static)),
        ("types from a spec", kind(TypeKind::Spec)),
        ("struct sequences", kind(TypeKind::StructSequence)),
        ("own slots that initialisers name", slots(SlotOrigin::Own)),
        ("own slots that PyType_Ready fills", slots(SlotOrigin::Ready)),
        ("inherited slots", slots(SlotOrigin::Inherited)),
        ("methods", rows_of(|ty| ty.methods.len())),
        ("methods with a signature", rows_of(|ty| ty.methods.iter().filter(|row| row.signature.is_some()).count())),
        ("getters", rows_of(|ty| ty.getset.len())),
        ("members", rows_of(|ty| ty.members.len())),
        ("functions", facts.functions.len()),
        ("macros of the API", facts.macros.len()),
        ("opcodes", facts.opcodes.opcodes.len()),
        ("layouts", facts.structs.len()),
    ];
    rows.iter().map(|(name, count)| vec![(*name).to_owned(), count.to_string()]).collect()
}
