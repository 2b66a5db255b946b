//! Finds a CPython of a release, and asks it for its version and paths.
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that the interpreter runs; it prints one JSON object.
const PROBE: &str = r#"
import json, os, sys, sysconfig
print(json.dumps(dict(
    implementation=sys.implementation.name,
    version=list(sys.version_info[:3]),
    executable=sys.executable,
    base_executable=sys._base_executable if sys.prefix != sys.base_prefix else sys.executable,
    include_dir=sysconfig.get_path("include"),
    standard_library=os.path.dirname(os.__file__),
    library_dir=sysconfig.get_config_var("LIBDIR") or "",
    extension_suffix=sysconfig.get_config_var("EXT_SUFFIX") or ".so",
    free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    virtual_environment=sys.prefix != sys.base_prefix,
    externally_managed=os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")),
)))
"#;

/// A CPython that answered.
#[derive(Clone, Debug, Deserialize)]
pub struct Interpreter {
    /// `cpython`.
    implementation: String,
    /// Major, minor, micro.
    pub version: (u8, u8, u8),
    /// The path it knows itself by.
    pub executable: PathBuf,
    /// The same outside a virtual environment: builds for it serve all environments made of it.
    pub base_executable: PathBuf,
    /// Where its headers are.
    pub include_dir: PathBuf,
    /// Where its standard library is.
    pub standard_library: PathBuf,
    /// Where its libpython is.
    pub library_dir: PathBuf,
    /// Ending of extension modules: `.cpython-313-x86_64-linux-gnu.so`.
    pub extension_suffix: String,
    /// Built without the GIL.
    pub free_threaded: bool,
    /// Runs inside a virtual environment.
    pub virtual_environment: bool,
    /// The distribution asks pip to leave its packages alone (PEP 668).
    pub externally_managed: bool,
}

impl Interpreter {
    /// Asks the program at `path`.
    pub fn probe(path: &Path) -> Result<Interpreter> {
        let output = Command::new(path).args(["-I", "-c", PROBE]).output().context("does not start")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("{}", said.lines().find(|line| !line.trim().is_empty()).unwrap_or("ended with an error").trim());
        }
        let found: Interpreter = serde_json::from_slice(&output.stdout).context("does not answer like CPython 3")?;
        ensure!(found.implementation == "cpython", "is {}, not CPython", found.implementation);
        ensure!(!found.free_threaded, "is a free-threaded build, which the runtime does not support yet");
        Ok(found)
    }

    /// `3.13`.
    pub fn series(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// `3.13.0`.
    pub fn full_version(&self) -> String {
        format!("{}.{}.{}", self.version.0, self.version.1, self.version.2)
    }
}

/// The interpreter that the user named, whatever its release.
pub fn named(path: &Path) -> Result<Interpreter> {
    Interpreter::probe(path)
        .with_context(|| format!("{} cannot be used", path.display()))
        .advise("pass the path of a CPython executable, for example `--python ~/.pyenv/versions/3.13.0/bin/python`")
}

/// An interpreter of the series (`3.13`): the named one, else pyenv's newest, else what PATH has.
pub fn find(series: &str, given: Option<&Path>) -> Result<Interpreter> {
    if let Some(path) = given {
        let found = named(path)?;
        let have = found.full_version();
        return if found.series() == series { Ok(found) } else { Err(anyhow!("{} is CPython {have}", path.display())) }
            .advise(format!("CPython {series} is wanted: tables and sources must fit the interpreter"));
    }
    let mut tried = Vec::new();
    for path in candidates(series) {
        match Interpreter::probe(&path) {
            Ok(found) if found.series() == series => return Ok(found),
            Ok(found) => tried.push(format!("{}: is CPython {}", path.display(), found.full_version())),
            Err(error) => tried.push(format!("{}: {error:#}", path.display())),
        }
    }
    let tried = if tried.is_empty() { "nothing was found to try".to_owned() } else { tried.join("\n    ") };
    Err(anyhow!("no CPython {series} found; tried\n    {tried}")).advise(format!(
        "install one (`pyenv install {series}`), or name one with `--python PATH` where the command takes it"
    ))
}

/// Where a CPython of the series may be, best first.
fn candidates(series: &str) -> Vec<PathBuf> {
    let mut paths = pyenv_versions(series);
    let names = [format!("python{series}"), "python3".to_owned(), "python".to_owned()];
    let directories: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    for name in names {
        paths.extend(directories.iter().map(|directory| directory.join(&name)).filter(|path| path.is_file()));
    }
    paths
}

/// pyenv's interpreters of the series, newest patch release first.
fn pyenv_versions(series: &str) -> Vec<PathBuf> {
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let root = root.or_else(|| std::env::home_dir().map(|home| home.join(".pyenv")));
    let Some(entries) = root.and_then(|root| std::fs::read_dir(root.join("versions")).ok()) else { return Vec::new() };
    let prefix = format!("{series}.");
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let micro = name.strip_prefix(&prefix)?.parse().ok()?;
            Some((micro, entry.path().join("bin").join("python")))
        })
        .filter(|(_, path)| path.is_file())
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_interpreter_is_refused_with_the_reason() {
        let error = named(Path::new("/bin/false")).unwrap_err();
        assert!(format!("{error:#}").contains("/bin/false cannot be used"));
        assert!(named(Path::new("/nowhere/python")).is_err());
    }
}
