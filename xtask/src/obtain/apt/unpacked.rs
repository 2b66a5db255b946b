//! A Debian CPython with headers and debug symbols, unpacked and never installed.
//!
//! It brings its own loader and libc, so it runs on machines whose libc is older or newer.
use super::Suite;
use crate::obtain::releases::series_of;
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result, anyhow, bail, ensure};
use liblzma::read::XzDecoder;
use std::os::unix::fs::{PermissionsExt, symlink};
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

/// Written last.
const MARK: &str = ".slotrt-complete";

/// Magic words at the start of an `ar` archive, which a `.deb` is.
const AR: &[u8] = b"!<arch>\n";

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
        return Ok(destination);
    }
    let suite = SUITES.iter().find(|(known, _)| *known == release).map(|(_, suite)| *suite);
    let suite = suite.ok_or_else(|| anyhow!("no Debian suite is known to serve CPython {series}"))?;
    let step = Step::start(format!("CPython {release} from Debian {suite}"));
    make(series, suite, &destination, &step)
        .with_context(|| format!("CPython {series} could not be unpacked from Debian {suite}"))
        .advise("this needs apt-get and a Debian mirror; without them leave the release out")?;
    std::fs::write(destination.join(MARK), "")?;
    step.done(place::shown(&destination));
    Ok(destination)
}

fn make(series: &str, suite: &str, destination: &Path, step: &Step) -> Result<()> {
    if destination.exists() {
        std::fs::remove_dir_all(destination)?;
    }
    step.at("reading package lists");
    let suite = Suite::open(suite, "deb")?;
    let packages = packages(series, &suite);
    step.at("downloading");
    run::output(suite.apt_get().args(["--download-only", "install"]).args(&packages))?;
    let plan = run::output(suite.apt_get().args(["--simulate", "install"]).args(&packages))?;
    merged_usr(destination)?;
    for archive in archives(&plan) {
        step.at(&archive);
        let path = suite.path("cache/archives").join(&archive);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        unpack(&bytes, destination).with_context(|| archive.clone())?;
    }
    launchers(series, destination)
}

/// What is unpacked; the test suite, and modules that Debian packs apart, only where apt can satisfy them.
fn packages(series: &str, suite: &Suite) -> Vec<String> {
    let endings = ["", "-minimal", "-dbg"].map(|ending| format!("python{series}{ending}"));
    let libraries = ["", "-minimal", "-stdlib", "-dev", "-dbg"].map(|ending| format!("libpython{series}{ending}"));
    let mut packages: Vec<String> = endings.into_iter().chain(libraries).collect();
    let plan = |packages: &[String], more: &str| {
        run::output(suite.apt_get().args(["--simulate", "install"]).args(packages).arg(more)).ok()
    };
    let tests = format!("libpython{series}-testsuite");
    if plan(&packages, &tests).is_some() {
        packages.push(tests);
    }
    for module in ["tk", "gdbm"] {
        let own = format!("python{series}-{module}");
        let Some(planned) = plan(&packages, &own) else { continue };
        packages.push(own);
        // Where the name stands for a package of all series, its symbols are in a package beside it.
        if archives(&planned).iter().any(|archive| archive.starts_with(&format!("python3-{module}_"))) {
            packages.push(format!("python3-{module}-dbg"));
        }
    }
    packages
}

/// File names of the packages in apt's plan: `Inst libc6 (2.41-12 Debian:13.0/stable [amd64])`.
fn archives(plan: &str) -> Vec<String> {
    let entries = plan.lines().filter_map(|line| {
        let mut words = line.strip_prefix("Inst ")?.split_whitespace();
        let name = words.next()?;
        let version = words.next()?.strip_prefix('(')?.replace(':', "%3a");
        let architecture = words.find_map(|word| {
            word.strip_prefix('[')?.strip_suffix("])").or(word.strip_prefix('[')?.strip_suffix(']'))
        })?;
        Some(format!("{name}_{version}_{architecture}.deb"))
    });
    entries.collect()
}

/// `/bin`, `/sbin`, `/lib`, `/lib64` are links into `/usr`, as on an installed Debian.
fn merged_usr(destination: &Path) -> Result<()> {
    for name in ["bin", "sbin", "lib", "lib64"] {
        std::fs::create_dir_all(destination.join("usr").join(name))?;
        symlink(format!("usr/{name}"), destination.join(name))?;
    }
    Ok(())
}

/// Unpacks the data member of a `.deb`.
fn unpack(deb: &[u8], destination: &Path) -> Result<()> {
    let data = data_member(deb)?;
    let mut archive = tar::Archive::new(XzDecoder::new(data));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        // A directory of the archive must not replace a link such as `/lib`.
        if entry.header().entry_type().is_dir() {
            std::fs::create_dir_all(inside(destination, &path)?)?;
            continue;
        }
        let target = inside(destination, &path)?;
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        if entry.header().entry_type().is_hard_link() {
            let link = entry.link_name()?.ok_or_else(|| anyhow!("{} links to nothing", path.display()))?;
            std::fs::copy(inside(destination, &link)?, target)?;
        } else {
            entry.unpack(&target).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// A path of the archive below the destination.
fn inside(destination: &Path, path: &Path) -> Result<PathBuf> {
    let parts: Vec<_> = path.components().filter(|part| *part != std::path::Component::CurDir).collect();
    let plain = parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)));
    ensure!(plain, "{} leads out of the package", path.display());
    Ok(parts.iter().fold(destination.to_owned(), |path, part| path.join(part)))
}

/// The bytes of `data.tar.xz`.
fn data_member(deb: &[u8]) -> Result<&[u8]> {
    let mut rest = deb.strip_prefix(AR).ok_or_else(|| anyhow!("not a Debian package"))?;
    while rest.len() >= 60 {
        let (header, body) = rest.split_at(60);
        let name = String::from_utf8_lossy(&header[..16]).trim().trim_end_matches('/').to_owned();
        let size: usize = String::from_utf8_lossy(&header[48..58]).trim().parse().context("damaged package")?;
        ensure!(size <= body.len(), "the package is cut short");
        match name.as_str() {
            "data.tar.xz" => return Ok(&body[..size]),
            other if other.starts_with("data.tar") => bail!("packages compressed as {other} are not supported"),
            _ => rest = &body[(size + size % 2).min(body.len())..],
        }
    }
    bail!("the package holds no files")
}

/// Scripts that start the interpreters through the tree's own loader.
fn launchers(series: &str, destination: &Path) -> Result<()> {
    let libraries = destination.join("usr/lib/x86_64-linux-gnu");
    for build in ["", "d"] {
        let script = format!(
            "#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries}:{usr}/lib {usr}/bin/python{series}{build} \"$@\"\n",
            libraries = libraries.display(),
            usr = destination.join("usr").display(),
        );
        let path = destination.join(format!("python{build}"));
        std::fs::write(&path, script)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apts_plan_names_the_archives() {
        let plan = "NOTE: simulation\nInst libc6 (2.41-12 Debian:13.0/stable [amd64])\nInst tzdata (1:2025b-4 Debian:13 [all]) []\nConf libc6 (2.41)";
        assert_eq!(archives(plan), ["libc6_2.41-12_amd64.deb", "tzdata_1%3a2025b-4_all.deb"]);
    }

    #[test]
    fn what_is_no_package_is_refused() {
        assert!(data_member(b"x").is_err());
        let cut = [AR, b"data.tar.xz     0           0     0     100644  999       `\n", b"abc"].concat();
        assert!(data_member(&cut).unwrap_err().to_string().contains("cut short"));
    }
}
