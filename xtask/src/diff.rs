//! `diff`: lists what changed between two releases, for whoever mirrors CPython.

use crate::obtain::{compiled, releases};
use anyhow::{Error, Result, anyhow};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

use crate::facts;
use crate::ui::{Advise, Step};
use slotgen::diff::meaning;
use slotgen::meaning::Meanings;

/// How the differences are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Plain text
    Text,
    /// Markdown
    Markdown,
    /// JSON
    Json,
}

/// Lists what changed between two CPython releases
///
/// Slots, types, flags, messages, opcodes and function bodies. For whoever mirrors CPython's semantics: most changes that break a mirror stand in no table. So both releases are read from
/// their C sources, and a changed function body is listed with the slots and generated functions that reach it. If one release
/// has no pinned C sources, both are read from compiled libraries, and only their tables are compared.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask diff 3.13.5 3.13.15                      two patch releases\n  \
    cargo xtask diff 3.11 3.13 --format markdown         the report as Markdown\n  \
    cargo xtask diff 3.13 3.14 --by-meaning --to-source ~/cpython    what operations do otherwise\n  \
    cargo xtask diff 3.14 3.15                           tables alone: no C sources are pinned\n  \
    cargo xtask diff 3.13 3.14 --to-source ~/cpython     your own sources")]
pub struct Options {
    /// The older release
    from: String,
    /// The newer release
    to: String,
    /// Take the older sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    from_source: Option<PathBuf>,
    /// Take the newer sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    to_source: Option<PathBuf>,
    /// Tell only what functions mean otherwise: casts, names, reference counts and inlined helpers count for nothing
    ///
    /// For each function that means something else: the slot or operation, and what changed: a call more or less, their order, a
    /// check, an exception, a message. What programs can see comes first, then what is used most.
    #[arg(long)]
    by_meaning: bool,
    /// How to write the differences
    #[arg(long, value_enum, default_value = "text", conflicts_with = "json")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if options.by_meaning {
        return by_meaning(options);
    }
    let has_sources = |release: &str, given: &Option<PathBuf>| given.is_some() || releases::named(release).is_ok();
    let diff = if has_sources(&options.from, &options.from_source) && has_sources(&options.to, &options.to_source) {
        let (before, older) = facts::tree_and_facts(&options.from, options.from_source.as_deref())?;
        let (after, newer) = facts::tree_and_facts(&options.to, options.to_source.as_deref())?;
        let mut generated = slotgen::diff::generated(&older).map_err(|reason| anyhow!(reason))?;
        generated.extend(slotgen::diff::generated(&newer).map_err(|reason| anyhow!(reason))?);
        slotgen::diff::diff(&before, &after, &generated)
    } else {
        let library = |release: &str| {
            let found =
                compiled::find(release).advise("to read C sources instead, pass `--from-source` or `--to-source`")?;
            Ok::<_, Error>(facts::from_library(release, &found.build)?.1)
        };
        slotgen::diff::diff(&library(&options.from)?, &library(&options.to)?, &Default::default())
    };
    let text = match if options.json { Format::Json } else { options.format } {
        Format::Text => diff.to_text(),
        Format::Markdown => diff.to_markdown(),
        Format::Json => diff.to_json()?,
    };
    anstream::println!("{}", text.trim_end());
    Ok(())
}

/// What functions mean otherwise: both releases are read from C sources.
fn by_meaning(options: &Options) -> Result<()> {
    let read = |release: &str, given: &Option<PathBuf>| -> Result<_> {
        let (facts, tree) = facts::tree_and_facts(release, given.as_deref())
            .advise("meanings are read from C sources: pass `--from-source` and `--to-source`")?;
        let step = Step::start(format!("Translating CPython {}", facts.release));
        let meanings = Meanings::of_tree(&tree).map_err(|reason| anyhow!(reason))?;
        step.done(format!("{} functions", meanings.digests().count()));
        Ok((meanings, facts))
    };
    let (before, older) = read(&options.from, &options.from_source)?;
    let (after, newer) = read(&options.to, &options.to_source)?;
    let found = meaning::by_meaning((&before, &older), (&after, &newer));
    let format = if options.json { Format::Json } else { options.format };
    match format {
        Format::Text => anstream::print!("{}", found.to_text()),
        Format::Markdown => anstream::print!("{}", found.to_markdown()),
        Format::Json => anstream::println!("{}", found.to_json()?),
    }
    Ok(())
}
