//! `dist`: everything that is shipped, in one folder: wheels, the link kit, checksums, a bill of materials.
mod archive;
mod baseline;
mod checksums;
mod declarations;
mod header;
mod kit;
mod libraries;
mod packages;
mod symbols;
mod tools;
mod wheels;

pub use kit::Kit;
pub use tools::Tools;

use crate::obtain::{Interpreter, interpreter};
use crate::testing::SUPPORTED;
use crate::ui::{self, Advise, Step, table::table};
use crate::{place, profiled};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use std::path::{Path, PathBuf};

/// Makes what is shipped: wheels, and the link kit for C, C++ and PyTorch builds
///
/// One folder holds `wheels/` (`pip install FILE` is all a user does), `kit/` (a prefix: libraries, headers, a CMake package, pkg-config
/// files), `sbom/` (CycloneDX) and `SHA256SUMS`. The same sources and toolchain give the same bytes, wherever the checkout lies.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask dist                              every release found\n  \
    cargo xtask dist --python /usr/bin/python3.13 one interpreter\n  \
    cargo xtask dist --tables                     the tables without Python alone: seconds\n  \
    cargo xtask dist --profiled                   optimised by a profile: ten minutes a release\n  \
    cargo xtask dist --check                      does it keep what was released before? Names what broke\n  \
    cargo xtask dist --release                    take this API as released: later checks compare with it")]
pub struct Options {
    /// For these interpreters; without it, for every supported release that is found
    #[arg(long, value_name = "PATH")]
    python: Vec<PathBuf>,
    /// Write into this folder, which is replaced; `target/dist` without it
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Make the tables without Python alone: no wheel, no runtime
    #[arg(long, conflicts_with_all = ["python", "profiled"])]
    tables: bool,
    /// Compile twice, the second time optimised by a profile of random programs; needs llvm-profdata
    #[arg(long)]
    profiled: bool,
    /// Make nothing: compare headers and exported symbols with what was released before
    #[arg(long, conflicts_with_all = ["out", "release"])]
    check: bool,
    /// Make nothing: record headers and exported symbols as released
    #[arg(long, conflicts_with = "out")]
    release: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if options.check || options.release {
        let found = baseline::of_sources()?;
        return if options.check { baseline::check(&found) } else { baseline::write(&found) };
    }
    let out = options.out.clone().unwrap_or_else(|| place::target().join("dist"));
    let pythons = if options.tables { Vec::new() } else { pythons(&options.python)? };
    make(&out, &pythons, options.profiled)?;
    show(&out)
}

/// The interpreters that are named, or one of each supported release.
fn pythons(named: &[PathBuf]) -> Result<Vec<Interpreter>> {
    if !named.is_empty() {
        return named.iter().map(|path| interpreter::named(path)).collect();
    }
    let mut found = Vec::new();
    for series in SUPPORTED.iter() {
        match interpreter::find(series, None) {
            Ok(python) => found.push(python),
            Err(error) => ui::note(format!("no wheel for CPython {series}: {:#}", error.root_cause())),
        }
    }
    if found.is_empty() { Err(anyhow!("no CPython that slotrt supports was found")) } else { Ok(found) }
        .advise("name one with `--python PATH`, or make the tables alone: `cargo xtask dist --tables`")
}

/// Makes the folder; an old one is replaced when the new one is complete.
pub fn make(out: &Path, pythons: &[Interpreter], with_profile: bool) -> Result<Kit> {
    let fresh = out.with_extension("new");
    clear(&fresh)?;
    let kit = Kit::new(fresh.join("kit"));
    libraries::tables(&kit)?;
    for python in pythons {
        let flags = if with_profile { profiled::flags(python)? } else { Vec::new() };
        libraries::runtime(&kit, python, &flags)?;
        wheels::make(python, &fresh, &flags)?;
    }
    header::write(&kit)?;
    packages::write(&kit, pythons)?;
    kit.licences()?;
    checksums::write(&fresh)?;
    clear(out)?;
    std::fs::rename(&fresh, out).with_context(|| place::shown(out))?;
    Ok(Kit::new(out.join("kit")))
}

fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    Ok(())
}

/// What is in the folder, with sizes.
fn show(out: &Path) -> Result<()> {
    let step = Step::start("Distribution");
    let files = checksums::files(out)?;
    let rows: Vec<Vec<String>> = files
        .iter()
        .map(|path| {
            let bytes = std::fs::metadata(out.join(path)).map_or(0, |found| found.len());
            vec![path.display().to_string(), bytes.to_string()]
        })
        .collect();
    step.done(place::shown(out));
    anstream::println!("{}", table(&["file", "bytes"], &rows));
    Ok(())
}
