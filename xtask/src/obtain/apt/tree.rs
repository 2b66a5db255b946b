//! Debian packages and all that they need, unpacked and never installed.
//!
//! Such a tree brings its own loader and libc, so its programs run on machines whose libc is older or newer.
use super::Suite;
use crate::run;
use crate::ui::Step;
use anyhow::{Context, Result, anyhow, bail, ensure};
use liblzma::read::XzDecoder;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Magic words at the start of an `ar` archive, which a `.deb` is.
const AR: &[u8] = b"!<arch>\n";

/// Unpacks packages of a suite with their dependencies; replaces the destination.
pub fn unpack(suite: &Suite, packages: &[String], destination: &Path, step: &Step) -> Result<()> {
    if destination.exists() {
        std::fs::remove_dir_all(destination)?;
    }
    step.at("downloading");
    run::output(suite.apt_get().args(["--download-only", "install"]).args(packages))?;
    let plan = run::output(suite.apt_get().args(["--simulate", "install"]).args(packages))?;
    merged_usr(destination)?;
    for archive in archives(&plan) {
        step.at(&archive);
        let path = suite.path("cache/archives").join(&archive);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        unpack_one(&bytes, destination).with_context(|| archive.clone())?;
    }
    Ok(())
}

/// A script `name` in the tree that starts a program of it through the tree's own loader. The program knows itself by the script, where
/// the loader can tell it: what it starts again, it starts so.
pub fn launcher(tree: &Path, program: &str, name: &str) -> Result<PathBuf> {
    let libraries = tree.join("usr/lib/x86_64-linux-gnu");
    let known = run::output(Command::new(libraries.join("ld-linux-x86-64.so.2")).arg("--help"));
    let itself = if known.is_ok_and(|help| help.contains("--argv0")) { "--argv0 \"$0\" " } else { "" };
    let script = format!(
        "#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 {itself}--library-path {libraries}:{usr}/lib {program} \"$@\"\n",
        libraries = libraries.display(),
        usr = tree.join("usr").display(),
        program = tree.join(program).display(),
    );
    let path = tree.join(name);
    std::fs::write(&path, script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// File names of the packages in apt's plan: `Inst libc6 (2.41-12 Debian:13.0/stable [amd64])`.
pub(super) fn archives(plan: &str) -> Vec<String> {
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
fn unpack_one(deb: &[u8], destination: &Path) -> Result<()> {
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
