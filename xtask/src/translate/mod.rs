//! `translate`: shows a C function, the Rust generated from it, its callees and its callers.
mod listing;

use crate::obtain::sources;
use crate::place;
use crate::ui::table::side_by_side;
use crate::ui::{Advise, Step, paint};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::json;
use slotgen::diagnostics::Diagnostics;
use slotgen::preprocess::{Configuration, Preprocessor};
use slotgen::source::Tree;
use slotgen::translate::{Left, Translation, UNITS, translate};
use std::path::PathBuf;

/// Columns that each side gets.
const COLUMN: usize = 92;

/// Shows a C function beside the Rust generated from it, what it calls, and who calls it
///
/// Use it to check a translation, or to follow a path through CPython. The C comes from CPython's sources, which are fetched; it is
/// no part of this project. If a function is not translated, the error names the C construct that prevents it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask translate binary_op1            C on the left, Rust on the right\n  \
    cargo xtask translate dict_or --stacked     C above Rust, for narrow terminals\n  \
    cargo xtask translate slot_nb_power --release 3.11 --json")]
pub struct Options {
    /// Name of the C function, as in C
    name: String,
    /// CPython release
    #[arg(long, default_value = "3.13")]
    release: String,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// C above Rust instead of beside it
    #[arg(long)]
    stacked: bool,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// A source tree and what became of its functions.
pub struct Read {
    /// The tree.
    pub tree: Tree,
    /// Translated and left functions.
    pub translation: Translation,
}

/// Reads and translates a release.
pub fn read(release: &str, given: Option<&std::path::Path>) -> Result<Read> {
    let sources = sources::obtain(release, given)?;
    let step = Step::start(format!("Translating CPython {}", sources.version));
    let tree = Tree::open(&sources.path).with_context(|| sources.path.display().to_string())?;
    let configuration = Configuration::named("release", tree.release())?;
    let preprocessor = Preprocessor::new(&tree, &configuration).map_err(|found| anyhow!("{found}"))?;
    let mut diagnostics = Diagnostics::default();
    let elsewhere = slotgen::elsewhere(&place::root().join("generated"), &tree.release().series())?;
    let translation = translate(&tree, &preprocessor, UNITS, elsewhere, &mut diagnostics);
    let translation = translation.map_err(|found| anyhow!("{found}"))?;
    let (done, left) = (translation.translated.values().map(Vec::len).sum::<usize>(), translation.left.len());
    step.done(format!("{done} functions translated, {left} left"));
    Ok(Read { tree, translation })
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Read { tree, translation } = read(&options.release, options.source.as_deref())?;
    let name = options.name.as_str();
    if let Some(left) = translation.left.iter().find(|left| left.name == name) {
        return Err(not_translated(left));
    }
    let found = translation.translated.iter().find_map(|(unit, functions)| {
        functions.iter().find(|function| function.name() == name).map(|function| (unit, function))
    });
    let (unit, function) = found
        .ok_or_else(|| anyhow!("there is no function `{name}` in the {} C files that are translated", UNITS.len()))
        .advise("spell it as in C; `cargo xtask audit translation --verbose` lists all of them")?;
    let c = listing::c(&tree, unit, name).unwrap_or_else(|| vec!["(made by a macro)".to_owned()]);
    // `generated/` holds what the project's own trees give.
    let rust = match options.source {
        Some(_) => listing::fresh(&translation, unit, name)?,
        None => listing::rust(&tree.release().series(), unit, name)?,
    };
    let calls: Vec<&str> = function.calls.iter().map(String::as_str).collect();
    let callers: Vec<&str> = translation
        .translated
        .values()
        .flatten()
        .filter(|other| other.calls.contains(name))
        .map(|other| other.name())
        .collect();
    if options.json {
        let report = json!({ "name": name, "file": unit, "c": c, "rust": rust, "calls": calls, "called_by": callers });
        anstream::println!("{report:#}");
        return Ok(());
    }
    anstream::println!("{} {unit}, CPython {}\n", paint::bold(name), tree.release());
    if options.stacked {
        anstream::println!("{}\n\n{}", c.join("\n"), rust.join("\n"));
    } else {
        anstream::println!("{}", side_by_side(&c, &rust, COLUMN));
    }
    anstream::println!("\n{} {}", paint::dim("calls"), calls.join(", "));
    anstream::println!("{} {}", paint::dim("called by"), callers.join(", "));
    Ok(())
}

fn not_translated(left: &Left) -> anyhow::Error {
    let place = format!("{}:{}", left.file, left.line);
    anyhow!("{place}: `{}` is not translated: {}", left.name, left.construct)
        .context("help: nothing is broken: a call of it is `unsupported`, which the tracer turns into a graph break")
}
