//! A Debian CPython with headers and debug symbols, unpacked and never installed.
use super::{Suite, tree};
use crate::obtain::releases::series_of;
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};

/// Series, or patch releases beside them, and the suite that serves each.
const SUITES: &[(&str, &str)] = &[
    ("3.9", "bullseye"),
    ("3.11", "bookworm"),
    ("3.13", "trixie"),
    ("3.13.15", "forky"),
    ("3.14", "sid"),
    ("3.15", "sid"),
];

/// Written last; another name where what is unpacked is more than it was.
const MARK: &str = ".slotrt-complete-2";

/// Whether a suite is known to serve the release.
pub fn is_known(release: &str) -> bool {
    SUITES.iter().any(|(known, _)| *known == release)
}

/// Whether the release is unpacked already.
pub fn is_there(release: &str) -> bool {
    place::target().join("debian-python").join(release).join(MARK).is_file()
}

/// The unpacked tree of a release: `python` starts the release build, `pythond` the debug build.
pub fn ensure(release: &str) -> Result<PathBuf> {
    let series = &series_of(release);
    let destination = place::target().join("debian-python").join(release);
    if destination.join(MARK).is_file() {
        launchers(series, &destination)?;
        prefix_headers(series, &destination)?;
        return Ok(destination);
    }
    let suite = SUITES.iter().find(|(known, _)| *known == release).map(|(_, suite)| *suite);
    let suite = suite.ok_or_else(|| anyhow!("no Debian suite is known to serve CPython {series}"))?;
    let step = Step::start(format!("CPython {release} from Debian {suite}"));
    make(series, suite, &destination, &step)
        .with_context(|| format!("CPython {series} could not be unpacked from Debian {suite}"))
        .advise("this needs apt-get and a Debian mirror; without them, leave this release out")?;
    std::fs::write(destination.join(MARK), "")?;
    step.done(place::shown(&destination));
    Ok(destination)
}

fn make(series: &str, suite: &str, destination: &Path, step: &Step) -> Result<()> {
    step.at("reading package lists");
    let suite = Suite::open(suite, "deb")?;
    tree::unpack(&suite, &packages(series, &suite), destination, step)?;
    own_wheels(series, destination)?;
    launchers(series, destination)?;
    prefix_headers(series, destination)
}

/// `sysconfig` names headers below the prefix, which is the tree, and compilers do not look below it for what Debian's `pyconfig.h` includes.
fn prefix_headers(series: &str, tree: &Path) -> Result<()> {
    for build in ["", "d"] {
        let name = format!("python{series}{build}");
        let (own, whole) = (tree.join("include").join(&name), tree.join("usr/include"));
        if own.join("pyconfig.h").exists() {
            continue;
        }
        std::fs::create_dir_all(&own)?;
        let of_platform = whole.join("x86_64-linux-gnu").join(&name).join("pyconfig.h");
        let headers = std::fs::read_dir(whole.join(&name))?.collect::<std::io::Result<Vec<_>>>()?;
        for header in headers.iter().map(|header| header.path()) {
            let to = own.join(header.file_name().unwrap_or_default());
            let from = if to.ends_with("pyconfig.h") { &of_platform } else { &header };
            if !to.exists() {
                std::os::unix::fs::symlink(from, to)?;
            }
        }
    }
    Ok(())
}

/// `ensurepip` looks for pip where Debian installs it: here that is in the tree.
fn own_wheels(series: &str, tree: &Path) -> Result<()> {
    const INSTALLED: &str = "'/usr/share/python-wheels/'";
    let library = tree.join(format!("usr/lib/python{series}"));
    let own = format!("'{}'", tree.join("usr/share/python-wheels/").display());
    for file in std::fs::read_dir(&library)?.flatten().map(|entry| entry.path()) {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("_sysconfigdata") && name.ends_with(".py") {
            std::fs::write(&file, std::fs::read_to_string(&file)?.replace(INSTALLED, &own))?;
        }
    }
    Ok(())
}

/// The packages to unpack. The test suite, and modules that Debian packs apart, are added only if apt can satisfy them.
fn packages(series: &str, suite: &Suite) -> Vec<String> {
    let endings = ["", "-minimal", "-dbg"].map(|ending| format!("python{series}{ending}"));
    let libraries = ["", "-minimal", "-stdlib", "-dev", "-dbg"].map(|ending| format!("libpython{series}{ending}"));
    let mut packages: Vec<String> = endings.into_iter().chain(libraries).collect();
    let plan = |packages: &[String], more: &str| {
        run::output(suite.apt_get().args(["--simulate", "install"]).args(packages).arg(more)).ok()
    };
    for more in [format!("libpython{series}-testsuite"), format!("python{series}-venv")] {
        if plan(&packages, &more).is_some() {
            packages.push(more);
        }
    }
    for module in ["tk", "gdbm"] {
        let own = format!("python{series}-{module}");
        let Some(planned) = plan(&packages, &own) else { continue };
        packages.push(own);
        // Where the name stands for a package of all series, its symbols are in a package beside it.
        if tree::archives(&planned).iter().any(|archive| archive.starts_with(&format!("python3-{module}_"))) {
            packages.push(format!("python3-{module}-dbg"));
        }
    }
    packages
}

/// Scripts that start the interpreters.
fn launchers(series: &str, destination: &Path) -> Result<()> {
    for build in ["", "d"] {
        tree::launcher(destination, &format!("usr/bin/python{series}{build}"), &format!("python{build}"))?;
    }
    run::output(std::process::Command::new(destination.join("python")).args(["-c", "import ssl, ctypes, sqlite3"]))
        .map(drop)
        .context("the unpacked interpreter does not run")
}

/// The static library of the unpacked tree, with symbols.
pub fn library(tree: &Path, series: &str) -> PathBuf {
    tree.join(format!("usr/lib/python{series}/config-{series}-x86_64-linux-gnu/libpython{series}.a"))
}

/// The headers of the unpacked tree.
pub fn headers(tree: &Path, series: &str) -> PathBuf {
    tree.join(format!("usr/include/python{series}"))
}
