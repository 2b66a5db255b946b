//! `fetch`: fetches CPython's sources, interpreters and environments, and prints their paths.
use crate::obtain::apt::unpacked;
use crate::obtain::{interpreter, releases, sources, torch, venv};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Fetches CPython's sources, an interpreter, or an environment with numpy or PyTorch
///
/// Other commands fetch what they need; use this one to do it beforehand or to learn the paths. Sources come from `--source`,
/// else from the cache under target/cpython, else from python.org, else from Debian's source package. A fetched archive must
/// have the SHA-256 that slotgen/data/releases.toml pins.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cargo xtask fetch 3.13                               sources of the pinned 3.13 release\n  \
    cargo xtask fetch 3.13.15 --json                     one patch release, its path as JSON\n  \
    cargo xtask fetch 3.13 --source Python-3.13.5.tgz    sources from a tarball you have\n  \
    cargo xtask fetch 3.13 --environment                 an environment with numpy, too\n  \
    cargo xtask fetch 3.15 --debian                      Debian's interpreter, unpacked"
)]
pub struct Options {
    /// A CPython release: 3.13, 3.13.15, …
    release: String,
    /// Take the sources from here instead: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// Make an environment with numpy, too
    #[arg(long)]
    environment: bool,
    /// Make the PyTorch environment, too (5 GB, under the user's cache directory)
    #[arg(long)]
    torch: bool,
    /// Unpack Debian's interpreter instead, with headers and symbols; nothing is installed
    #[arg(long)]
    debian: bool,
    /// Base the environments on this interpreter
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let series = releases::series_of(&options.release);
    if options.debian {
        let release = &options.release;
        let path = unpacked::ensure(if unpacked::is_known(release) { release } else { &series })?;
        return show(options, &options.release, &[("interpreter", path.join("python"))]);
    }
    let sources = sources::obtain(&options.release, options.source.as_deref())?;
    let mut found = vec![("sources", sources.path.clone())];
    if options.environment || options.torch {
        let base = interpreter::find(&releases::series_of(&sources.version), options.python.as_deref())?;
        if options.environment {
            found.push(("environment", venv::ensure(&base)?.executable));
        }
        if options.torch {
            found.push(("torch", torch::ensure(&base)?.executable));
        }
    }
    show(options, &sources.version, &found)
}

fn show(options: &Options, version: &str, found: &[(&str, PathBuf)]) -> Result<()> {
    if options.json {
        let mut report = json!({ "version": version });
        for (name, path) in found {
            report[*name] = json!(path);
        }
        anstream::println!("{report:#}");
        return Ok(());
    }
    anstream::println!("CPython {version}");
    for (name, path) in found {
        anstream::println!("  {name:<12} {}", path.display());
    }
    Ok(())
}
