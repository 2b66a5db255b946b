//! Wheels: maturin builds them, names the oldest manylinux platform that they run on, and lists what they are made of.
use super::libraries::{reproducible, room};
use super::tools::Tools;
use crate::obtain::Interpreter;
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the wheel for an interpreter into `wheels`, and copies its bill of materials into `sbom`.
pub fn make(python: &Interpreter, out: &Path, flags: &[String]) -> Result<()> {
    let tools = Tools::ensure(python)?;
    let step = Step::start(format!("Building the wheel for CPython {}", python.full_version()));
    let folder = out.join("wheels");
    let mut maturin = tools.command("maturin");
    reproducible(&mut maturin, &room(python), flags);
    maturin.current_dir(place::root().join("runtime"));
    maturin.args(["build", "--release", "--quiet", "--auditwheel", "check", "--interpreter"]).arg(&python.executable);
    maturin.arg("--out").arg(&folder);
    run::output(&mut maturin).advise("maturin says above what is missing; it builds with cargo and pip's packages")?;
    let wheel = newest(&folder, &format!("cp{}{}", python.version.0, python.version.1))?;
    bill(python, &wheel, out)?;
    step.done(place::shown(&wheel));
    Ok(())
}

fn newest(folder: &Path, tag: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).with_context(|| place::shown(folder))?;
    let mut wheels = entries.flatten().map(|entry| entry.path());
    wheels
        .find(|path| path.extension().is_some_and(|ending| ending == "whl") && path.to_string_lossy().contains(tag))
        .with_context(|| format!("maturin wrote no wheel for {tag}"))
}

/// The CycloneDX list that maturin put into the wheel.
const BILL: &str = "
import sys, zipfile, pathlib
wheel, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    bills = [name for name in archive.namelist() if '/sboms/' in name]
    if not bills:
        sys.exit('the wheel holds no bill of materials')
    for name in bills:
        pathlib.Path(out, name.rsplit('/', 1)[1]).write_bytes(archive.read(name))
";

fn bill(python: &Interpreter, wheel: &Path, out: &Path) -> Result<()> {
    let folder = out.join("sbom");
    std::fs::create_dir_all(&folder)?;
    run::output(Command::new(&python.executable).args(["-I", "-c", BILL]).arg(wheel).arg(&folder)).map(drop)
}
