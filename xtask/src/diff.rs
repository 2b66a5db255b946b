//! `diff`: what changed between two releases for somebody who mirrors CPython.

use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

use crate::facts;

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

/// Says what changed between two CPython releases: slots, types, flags, messages, function bodies
///
/// Both are read from their C sources, since most changes that break a mirror stand in no table.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cargo xtask diff 3.13.5 3.13.15\n  cargo xtask diff 3.11 3.13 --format markdown > diff.md"
)]
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
    /// How the differences are written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let before = facts::from_sources(&options.from, options.from_source.as_deref())?;
    let after = facts::from_sources(&options.to, options.to_source.as_deref())?;
    let diff = slotgen::diff::diff(&before, &after);
    let text = match options.format {
        Format::Text => diff.to_text(),
        Format::Markdown => diff.to_markdown(),
        Format::Json => diff.to_json()?,
    };
    anstream::println!("{}", text.trim_end());
    Ok(())
}
