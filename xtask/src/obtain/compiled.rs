//! Compiled CPythons of a release: library, headers, extension modules, and the interpreter that runs them.
use super::apt::unpacked;
use super::interpreter::{self, Interpreter};
use super::releases::series_of;
use crate::ui::Advise;
use anyhow::{Result, anyhow, ensure};
use slotgen::binary::Build;
use std::path::{Path, PathBuf};

/// The origin of unpacked builds.
pub const DEBIAN: &str = "Debian";

/// Where the parts are.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Library (with symbols, or symbols by build id), headers, modules.
    pub build: Build,
    /// Runs it.
    pub python: PathBuf,
    /// `installed`, `Debian`.
    pub origin: &'static str,
}

/// Whether a compiled CPython of the release may be at hand.
pub fn is_known(release: &str) -> bool {
    unpacked::is_known(release) || interpreter::find(&series_of(release), None).is_ok()
}

/// Those of `all` that need not be fetched.
pub fn at_hand(release: &str) -> Result<Vec<Compiled>> {
    let mut found = installed(release, interpreter::find(&series_of(release), None).ok());
    if unpacked::is_there(release) {
        found.push(debian(release)?);
    }
    Ok(found)
}

/// The first of `all`.
pub fn find(release: &str) -> Result<Compiled> {
    all(release)?.into_iter().next().ok_or_else(|| anyhow!("no compiled CPython {release} is known"))
}

/// Every compiled CPython of the release: an installed one whose library is shared, and Debian's, unpacked.
///
/// A series (`3.13`) takes any patch release, a patch release (`3.13.15`) itself alone.
pub fn all(release: &str) -> Result<Vec<Compiled>> {
    let installed = interpreter::find(&series_of(release), None);
    let mut found = self::installed(release, installed.as_ref().ok().cloned());
    if unpacked::is_known(release) {
        match debian(release) {
            Ok(build) => found.push(build),
            Err(error) if found.is_empty() => return Err(error),
            // Where Debian cannot be reached, the installed one is still compared.
            Err(error) => crate::ui::note(format!("Debian's build of CPython {release} is left out: {error:#}")),
        }
    }
    if found.is_empty() {
        // The error says what was looked for.
        return installed.and_then(|python| {
            let (path, version) = (python.executable.display(), python.full_version());
            let missing = Err(anyhow!("{path} (CPython {version}) has no shared library or no internal headers"));
            missing.advise("releases are known from 3.8 on; for another build, pass `--library` and `--headers` to `cargo xtask facts`")
        });
    }
    Ok(found)
}

/// The interpreter that the user named: by its path, or by its series.
pub fn named(path: &Path) -> Result<Interpreter> {
    let series = path.to_str().filter(|name| {
        name.split_once('.').is_some_and(|(major, minor)| {
            major == "3" && !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    series.filter(|_| !path.exists()).map_or_else(|| interpreter::named(path), |series| interpreter_of(series, None))
}

/// The interpreters to prove something in: of each release, or the named one alone, or one of each of `all`.
pub fn interpreters(releases: &[String], given: Option<&Path>, all: &[String]) -> Result<Vec<Interpreter>> {
    match given {
        Some(path) if releases.is_empty() => Ok(vec![named(path)?]),
        _ => {
            let wanted = if releases.is_empty() { all } else { releases };
            wanted.iter().map(|release| interpreter_of(release, given)).collect()
        }
    }
}

/// An interpreter of the series: the named one, else an installed one, else Debian's, unpacked.
pub fn interpreter_of(series: &str, given: Option<&Path>) -> Result<Interpreter> {
    let found = interpreter::find(series, given);
    if found.is_ok() || given.is_some() || !unpacked::is_known(series) {
        return found;
    }
    interpreter::named(&unpacked::ensure(series)?.join("python"))
}

fn installed(release: &str, python: Option<Interpreter>) -> Vec<Compiled> {
    let fits = |python: &Interpreter| release == python.series() || release == python.full_version();
    python.iter().filter(|python| fits(python)).filter_map(shared).collect()
}

fn debian(release: &str) -> Result<Compiled> {
    let (tree, series) = (unpacked::ensure(release)?, series_of(release));
    let library = unpacked::library(&tree, &series);
    ensure!(library.is_file(), "{} is missing", library.display());
    let modules = modules(&tree.join("usr"), &series);
    let build = Build { library, headers: unpacked::headers(&tree, &series), modules };
    Ok(Compiled { build, python: tree.join("python"), origin: DEBIAN })
}

/// The parts of an installed interpreter, where its library is shared.
fn shared(python: &Interpreter) -> Option<Compiled> {
    let series = python.series();
    let library = python.library_dir.join(format!("libpython{series}.so"));
    let headers = python.include_dir.clone();
    let modules = modules(python.library_dir.parent()?, &series);
    let there = library.is_file() && headers.join("internal").is_dir();
    let build = Build { library, headers, modules };
    there.then(|| Compiled { build, python: python.executable.clone(), origin: "installed" })
}

/// The extension modules of the standard library below a prefix.
fn modules(prefix: &Path, series: &str) -> Option<PathBuf> {
    let folder = prefix.join(format!("lib/python{series}/lib-dynload"));
    folder.is_dir().then_some(folder)
}
