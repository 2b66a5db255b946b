//! `regen`: `generated/` from CPython's sources, written or compared.
use crate::obtain::{compiled, interpreter, releases, sources};
use crate::ui::{Advise, Step, paint};
use crate::{facts, place, ui};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use slotgen::emit::Mode;
use slotgen::facts::{Facts, Origin, SlotOrigin};
use slotgen::source::{Tree, built, on_demand};
use slotgen::unchanged::Unchanged;
use slotgen::{Report, generate, generate_binary, generate_installed};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Generates `generated/` from CPython's sources, or checks that it is what they give
///
/// Rust is made of several releases together, so that a body that they have in common stands once: with one of them, all are read.
/// Nothing is written unless everything was understood; then the folder is replaced as a whole.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask regen 3.13             read CPython 3.13, write generated/\n  \
    cargo xtask regen 3.13 --check     exit 1 and name the files if generated/ differs\n  \
    cargo xtask regen --check          the same for every release with C sources\n  \
    cargo xtask regen 3.14             fetch CPython 3.14 and give it Rust of its own, beside the others\n  \
    cargo xtask regen 3.15 --source ~/cpython            the same from any source tree, alphas and forks included\n  \
    cargo xtask regen 3.15 --source ~/cpython --facts    its facts alone\n  \
    cargo xtask regen 3.14 --library   the facts alone, from a compiled library\n  \
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
    /// Take the sources from here: a directory or a release tarball; may be given once for each release
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Vec<PathBuf>,
    /// Make no Rust of a release that has none yet: its facts alone
    #[arg(long)]
    facts: bool,
    /// Read the compiled library of the release, not its sources: its facts alone
    #[arg(long, conflicts_with = "source")]
    library: bool,
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
        if options.library || reads_library(release, options, mode)? {
            done.push(from_library(release, mode)?);
        } else {
            from_sources.push(sources::obtain(release, given_for(release, &options.source)?)?);
        }
    }
    if !from_sources.is_empty() {
        let rust = rust_with(&from_sources, options.facts)?;
        done.push(all(&with_companions(from_sources, &rust, &options.source)?, &rust, mode)?);
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

/// Whether a release is read from its compiled library: nothing else is known of it, or its facts came so and are compared.
fn reads_library(release: &str, options: &Options, mode: Mode) -> Result<bool> {
    let has_sources = releases::named(release).is_ok() || on_demand(release).is_some();
    let came_so = mode == Mode::Check && origin(&releases::series_of(release))? == Some(Origin::Binary);
    Ok(options.source.is_empty() && (came_so || !has_sources) && compiled::is_known(release))
}

/// The sources that were given for a release: the only ones, or those of its series.
fn given_for<'s>(release: &str, given: &'s [PathBuf]) -> Result<Option<&'s Path>> {
    if let [only] = given {
        return Ok(Some(only));
    }
    for path in given {
        let version = sources::obtain_any(path)?.version;
        if version == release || releases::series_of(&version) == releases::series_of(release) {
            return Ok(Some(path));
        }
    }
    if given.is_empty() { Ok(None) } else { Err(anyhow!("none of the sources given is CPython {release}")) }
        .advise("give `--source` once for each release that is named")
}

/// From this series on, a release whose sources are read gets Rust: the oldest one that the runtime traces.
const FIRST_WITH_RUST: u32 = 11;

/// The series that Rust is made of: the pinned ones, those that `generated/` has Rust of, and those asked for.
fn rust_with(sources: &[sources::Sources], facts_only: bool) -> Result<Vec<String>> {
    let mut all: BTreeSet<String> = built().into_iter().chain(vocabularies()?).collect();
    let minor = |series: &str| series.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    let asked = sources.iter().map(|sources| releases::series_of(&sources.version));
    all.extend(asked.filter(|series| !facts_only && minor(series) >= FIRST_WITH_RUST));
    Ok(all.into_iter().collect())
}

/// The series that `generated/` has Rust of.
fn vocabularies() -> Result<Vec<String>> {
    let folder = place::root().join("generated").join("facts").join("vocabulary");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("{} is missing", place::shown(&folder)))?;
    Ok(entries.flatten().filter_map(|entry| stem(&entry.path())).collect())
}

/// The sources with those of the other releases that Rust is made of, if one of them is among them.
fn with_companions(
    mut sources: Vec<sources::Sources>,
    rust: &[String],
    given: &[PathBuf],
) -> Result<Vec<sources::Sources>> {
    let has = |sources: &[sources::Sources], series: &String| {
        sources.iter().any(|sources| releases::series_of(&sources.version) == *series)
    };
    if rust.iter().any(|series| has(&sources, series)) {
        for series in rust {
            if !has(&sources, series) {
                let given = if given.len() > 1 { given_for(series, given).ok().flatten() } else { None };
                let found = sources::obtain(series, given).advise(format!(
                    "generated/ has Rust of {series}, which is made together with this: give its sources with another `--source`, \
                    or take it away: delete generated/facts/vocabulary/{series}.json"
                ))?;
                sources.push(found);
            }
        }
    }
    Ok(sources)
}

/// Releases from their sources; a check of what was checked before and has not changed since is not made again.
fn all(sources: &[sources::Sources], rust: &[String], mode: Mode) -> Result<Done> {
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
    let done = Done::from(of_trees(&trees, rust, mode)?);
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
    let rust = rust_with(std::slice::from_ref(sources), true)?;
    let sources = with_companions(vec![sources.clone()], &rust, &[])?;
    of_trees(&sources.iter().map(open).collect::<Result<Vec<Tree>>>()?, &rust, Mode::Check)
}

fn open(sources: &sources::Sources) -> Result<Tree> {
    Tree::open(&sources.path).with_context(|| sources.path.display().to_string())
}

fn of_trees(trees: &[Tree], rust: &[String], mode: Mode) -> Result<Report> {
    let releases = trees.iter().map(|tree| tree.release().to_string()).collect::<Vec<_>>().join(", ");
    let step = Step::start(format!("Generating Rust from CPython {releases}"));
    step.at("preprocessing, parsing, extracting");
    let report = generate(trees, rust, &place::root().join("generated"), mode)?;
    step.done(format!("{} files, {} to change", report.files, report.changes.len()));
    for read in &report.read {
        read.diagnostics.iter().for_each(ui::note);
        if !read.facts.gaps.is_empty() {
            ui::note(format!("{} gaps of CPython {}: the facts name them", read.facts.gaps.len(), read.release));
        }
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
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    let mut series: Vec<String> = files.filter_map(|path| stem(&path)).collect();
    series.retain(|series| releases::named(series).is_ok() || matches!(origin(series), Ok(Some(Origin::C))));
    series.sort();
    if series.is_empty() {
        bail!("generated/facts holds no release yet");
    }
    Ok(series)
}

fn stem(path: &Path) -> Option<String> {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

/// Where the committed facts of a series come from.
fn origin(series: &str) -> Result<Option<Origin>> {
    #[derive(Deserialize)]
    struct Source {
        source: Origin,
    }
    let path = place::root().join("generated").join("facts").join(format!("{series}.json"));
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let facts: Source = serde_json::from_str(&text).with_context(|| place::shown(&path))?;
    Ok(Some(facts.source))
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
