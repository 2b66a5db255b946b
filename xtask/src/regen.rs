//! `regen`: `generated/` from CPython's sources, written or compared.
use crate::obtain::{compiled, interpreter, releases, sources};
use crate::ui::{Advise, Step, paint};
use crate::{facts, place, ui};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use slotgen::emit::Mode;
use slotgen::facts::{Facts, SlotOrigin};
use slotgen::source::{Tree, built};
use slotgen::unchanged::Unchanged;
use slotgen::{Report, generate, generate_binary, generate_installed};
use std::path::{Path, PathBuf};

/// Generates `generated/` from CPython's sources, or checks that it is what they give
///
/// Rust is made of several releases together, so that a body that they have in common stands once: with one of them, all are read.
/// Nothing is written unless everything was understood; then the folder is replaced as a whole.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask regen 3.13             read CPython 3.13, write generated/\n  \
    cargo xtask regen 3.13 --check     exit 1 and name the files if generated/ differs\n  \
    cargo xtask regen --check          the same for every release with C sources\n  \
    cargo xtask regen 3.14             the facts alone, from a compiled library: no C sources are pinned\n  \
    cargo xtask regen 3.13 --source ~/cpython --dry-run\n  \
    cargo xtask regen --installed 3.12 opcodes and layouts alone, from an installation's headers")]
pub struct Options {
    /// CPython releases: 3.13, …; without any, those that generated/ holds and whose C sources are pinned
    releases: Vec<String>,
    /// Write nothing; fail if generated/ differs
    #[arg(long)]
    check: bool,
    /// Write nothing; say what would change
    #[arg(long, conflicts_with = "check")]
    dry_run: bool,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// Take the instruction set and the layouts alone, from the headers of an installed or unpacked interpreter
    #[arg(long, value_name = "SERIES", conflicts_with = "source")]
    installed: Option<String>,
    /// That interpreter, where it is not the one that is found
    #[arg(long, value_name = "PATH", requires = "installed")]
    python: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let mode = match (options.check, options.dry_run) {
        (true, _) => Mode::Check,
        (false, true) => Mode::DryRun,
        (false, false) => Mode::Write,
    };
    if let Some(series) = &options.installed {
        return installed(series, options.python.as_deref(), mode);
    }
    let releases = if options.releases.is_empty() { committed()? } else { options.releases.clone() };
    let mut done = Vec::new();
    let mut from_sources = Vec::new();
    for release in &releases {
        match (&options.source, releases::named(release)) {
            (None, Err(_)) if compiled::is_known(release) => done.push(from_library(release, mode)?),
            (given, _) => from_sources.push(sources::obtain(release, given.as_deref())?),
        }
    }
    if !from_sources.is_empty() {
        done.push(all(&with_companions(from_sources)?, mode)?);
    }
    if options.json {
        anstream::println!("{}", serde_json::to_string_pretty(&done)?);
    } else {
        done.iter().for_each(|done| show(done, mode));
    }
    let stale = done.iter().any(|done| mode == Mode::Check && !done.changes.is_empty());
    if stale { Err(anyhow!("generated/ is not what slotgen produces")) } else { Ok(()) }
        .advise(format!("run `cargo xtask regen {}` and commit the result", releases.join(" ")))
}

/// What was done for releases that belong together.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Done {
    releases: Vec<String>,
    files: usize,
    changes: Vec<String>,
    diagnostics: Vec<String>,
    /// Nothing that it depends on has changed since it was last compared.
    #[serde(default)]
    unchanged: bool,
}

/// The sources with those of the other releases that Rust is made of, if one of them is among them.
fn with_companions(mut sources: Vec<sources::Sources>) -> Result<Vec<sources::Sources>> {
    let has = |sources: &[sources::Sources], series: &String| {
        sources.iter().any(|sources| releases::series_of(&sources.version) == *series)
    };
    if built().iter().any(|series| has(&sources, series)) {
        for series in built() {
            if !has(&sources, &series) {
                sources.push(sources::obtain(&series, None)?);
            }
        }
    }
    Ok(sources)
}

/// Releases from their sources; a check of what was checked before and has not changed since is not made again.
fn all(sources: &[sources::Sources], mode: Mode) -> Result<Done> {
    let generated = place::root().join("generated");
    let mut trees: Vec<Tree> = sources.iter().map(open).collect::<Result<_>>()?;
    trees.sort_by_key(|tree| (tree.release().major, tree.release().minor));
    let unchanged = Unchanged { records: &place::target().join("regen"), trees: &trees, generated: &generated };
    if mode == Mode::Check
        && let Some(found) = unchanged.recall()
        && let Ok(done) = serde_json::from_str::<Done>(&found)
    {
        return Ok(Done { unchanged: true, ..done });
    }
    let done = Done::from(of_trees(&trees, mode)?);
    if mode != Mode::DryRun && (mode == Mode::Write || done.changes.is_empty()) {
        let clean = Done { changes: Vec::new(), ..done.clone() };
        unchanged.remember(&serde_json::to_string(&clean)?)?;
    }
    Ok(done)
}

impl From<Report> for Done {
    fn from(report: Report) -> Done {
        let diagnostics = report.read.iter().flat_map(|read| &read.diagnostics.0);
        Done {
            releases: report.read.iter().map(|read| read.release.clone()).collect(),
            files: report.files,
            changes: report.changes.iter().map(ToString::to_string).collect(),
            diagnostics: diagnostics.map(ToString::to_string).collect(),
            unchanged: false,
        }
    }
}

/// The facts of a release without C sources, from a compiled library.
fn from_library(release: &str, mode: Mode) -> Result<Done> {
    let (_, facts) = facts::from_library(release, &compiled::find(release)?.build)?;
    let series = releases::series_of(&facts.release);
    let changes = generate_binary(&facts, &series, &place::root().join("generated"), mode)?;
    let changes = changes.iter().map(ToString::to_string).collect();
    Ok(Done { releases: vec![facts.release], files: 1, changes, diagnostics: Vec::new(), unchanged: false })
}

/// The tables of code objects and frames of a release of which there is an interpreter.
fn installed(series: &str, python: Option<&Path>, mode: Mode) -> Result<()> {
    let python = interpreter::find(series, python)?;
    let step = Step::start(format!("Reading the headers of CPython {}", python.full_version()));
    let opcode_py = python.standard_library.join("opcode.py");
    let root = place::root().join("generated");
    let changes = generate_installed((&python.include_dir, &opcode_py), series, &built(), &root, mode)?;
    step.done(format!("{} to change", changes.len()));
    changes.iter().for_each(|change| anstream::println!("  {change}"));
    let stale = mode == Mode::Check && !changes.is_empty();
    if stale { Err(anyhow!("generated/ is not what the headers give")) } else { Ok(()) }
        .advise(format!("run `cargo xtask regen --installed {series}` and commit the result"))
}

/// Compares `generated/` with what a release gives, and those that Rust is made of together with it; the release comes first.
pub fn compare(sources: &sources::Sources) -> Result<Report> {
    let trees: Vec<Tree> = with_companions(vec![sources.clone()])?.iter().map(open).collect::<Result<_>>()?;
    of_trees(&trees, Mode::Check)
}

fn open(sources: &sources::Sources) -> Result<Tree> {
    Tree::open(&sources.path).with_context(|| sources.path.display().to_string())
}

fn of_trees(trees: &[Tree], mode: Mode) -> Result<Report> {
    let releases = trees.iter().map(|tree| tree.release().to_string()).collect::<Vec<_>>().join(", ");
    let step = Step::start(format!("Generating Rust from CPython {releases}"));
    step.at("preprocessing, parsing, extracting");
    let report = generate(trees, &built(), &place::root().join("generated"), mode)?;
    step.done(format!("{} files, {} to change", report.files, report.changes.len()));
    for diagnostic in report.read.iter().flat_map(|read| &read.diagnostics.0) {
        ui::note(diagnostic);
    }
    Ok(report)
}

/// What was read and made, for reports.
pub fn counts(report: &Report) -> Vec<(String, usize)> {
    let Some(facts) = report.read.first().map(|read| &read.facts) else { return Vec::new() };
    let filled = |origin: SlotOrigin| {
        let slots = facts.types.iter().flat_map(|ty| ty.slots.values());
        slots.filter(|slot| slot.origin == origin).count()
    };
    let counts = [
        ("C functions read", facts.functions.len()),
        ("declarations in headers", facts.prototypes.len()),
        ("slots", facts.slots().len()),
        ("slotdefs[] entries", facts.slotdefs.len()),
        ("C types", facts.types.len()),
        ("slots filled by their types", filled(SlotOrigin::Own)),
        ("inherited", filled(SlotOrigin::Inherited)),
        ("files generated", report.files),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// The series that `generated/facts` holds and whose C sources are pinned.
pub fn committed() -> Result<Vec<String>> {
    let folder = place::root().join("generated").join("facts");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("{} is missing", place::shown(&folder)))?;
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    let mut series: Vec<String> = files.filter_map(|path| stem(&path)).collect();
    series.retain(|series| releases::named(series).is_ok());
    series.sort();
    if series.is_empty() {
        bail!("generated/facts holds no release yet");
    }
    Ok(series)
}

/// The facts that `generated/facts` holds and that were read from C.
pub fn committed_facts() -> Result<Vec<Facts>> {
    let read = |series: &String| {
        let path = place::root().join("generated").join("facts").join(format!("{series}.json"));
        let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
        serde_json::from_str(&text).with_context(|| place::shown(&path))
    };
    committed()?.iter().map(read).collect()
}

fn show(done: &Done, mode: Mode) {
    let verb = match (mode, done.changes.is_empty()) {
        (_, true) if done.unchanged => paint::green("is up to date (nothing has changed since the last check)"),
        (_, true) => paint::green("is up to date"),
        (Mode::Write, false) => paint::green("written"),
        (Mode::Check, false) => paint::red("differs"),
        (Mode::DryRun, false) => paint::yellow("would change"),
    };
    anstream::println!("generated/ for CPython {}: {} files, {verb}", done.releases.join(", "), done.files);
    for change in &done.changes {
        anstream::println!("  {change}");
    }
}
