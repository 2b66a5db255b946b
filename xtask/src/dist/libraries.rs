//! Compiles the libraries of the kit.
use super::archive;
use super::kit::Kit;
use crate::obtain::Interpreter;
use crate::ui::Step;
use crate::{place, run, wheel};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The moment that files say they are of, where a format wants one: 2020-01-01.
pub const EPOCH: &str = "1577836800";

/// The tables without Python: `libslotrt_tables.a` and `libslotrt_tables.so`.
pub fn tables(kit: &Kit) -> Result<()> {
    let step = Step::start("Building the tables without Python");
    let (archive, library) = build_tables()?;
    archive::hide(&archive, &kit.lib().join("libslotrt_tables.a"))?;
    strip(&kit.copy(&library, &kit.lib(), "libslotrt_tables.so")?)?;
    step.done(place::shown(&kit.lib()));
    Ok(())
}

/// Compiles the tables; gives the archive and the shared library.
pub fn build_tables() -> Result<(PathBuf, PathBuf)> {
    let room = place::target().join("dist-build").join("tables");
    let mut command = wheel::nested_cargo();
    reproducible(&mut command, &room, &["-Clink-arg=-Wl,-soname,libslotrt_tables.so".to_owned()]);
    command.args([
        "rustc",
        "--quiet",
        "--color",
        "never",
        "--package",
        "slotrt-tables",
        "--lib",
        "--profile",
        "tables",
    ]);
    command.args(["--features", "standalone", "--crate-type", "staticlib,cdylib"]);
    run::output(&mut command).context("the tables do not build")?;
    let folder = room.join("tables");
    Ok((folder.join("libslotrt_tables.a"), folder.join("libslotrt_tables.so")))
}

/// The runtime for an interpreter: `libslotrt.a` and `libslotrt.so`.
pub fn runtime(kit: &Kit, python: &Interpreter, flags: &[String]) -> Result<()> {
    let step = Step::start(format!("Building the link kit for CPython {}", python.full_version()));
    let room = room(python);
    let mut command = wheel::cargo(python);
    reproducible(&mut command, &room, flags);
    command.env("PYO3_BUILD_EXTENSION_MODULE", "1");
    command.args(["rustc", "--quiet", "--color", "never", "--package", "slotrt", "--lib", "--release"]);
    command.args(["--crate-type", "staticlib,cdylib"]);
    run::output(&mut command).context("the runtime does not build")?;
    let folder = kit.lib_for(&python.series());
    archive::hide(&room.join("release").join("libslotrt.a"), &folder.join("libslotrt.a"))?;
    strip(&kit.copy(&room.join("release").join("libslotrt.so"), &folder, "libslotrt.so")?)?;
    step.done(place::shown(&folder));
    Ok(())
}

/// Where the libraries for an interpreter are compiled.
pub fn room(python: &Interpreter) -> PathBuf {
    place::target().join("dist-build").join(python.series())
}

/// Has a build give the same bytes wherever the checkout and cargo's own files lie.
pub fn reproducible(command: &mut Command, room: &Path, flags: &[String]) {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let mut all = vec![format!("--remap-path-prefix={}=slotrt", place::root().display())];
    all.extend(cargo.map(|cargo| format!("--remap-path-prefix={}=cargo", cargo.display())));
    all.extend_from_slice(flags);
    command.env("CARGO_TARGET_DIR", room).env("CARGO_ENCODED_RUSTFLAGS", all.join("\u{1f}"));
    command.env("SOURCE_DATE_EPOCH", EPOCH).env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    // Counts fit only a build that is optimised as the one that made them.
    if flags.iter().any(|flag| flag.starts_with("-Cprofile-use")) {
        command.env("CARGO_PROFILE_RELEASE_LTO", "fat").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    }
}

fn strip(library: &Path) -> Result<()> {
    run::output(Command::new("strip").arg("--strip-unneeded").arg(library)).map(drop)
}
