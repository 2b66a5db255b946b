//! Unpacks the parts of a CPython tarball that slotgen reads: all of them, or nothing.
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow, bail, ensure};
use flate2::read::GzDecoder;
use liblzma::read::XzDecoder;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Directories and files of a source tree that slotgen and the reports read.
const WANTED: &[&str] =
    &["Include", "Modules", "Objects", "Parser", "Programs", "Python", "Lib/opcode.py", "pyconfig.h.in", "LICENSE"];

/// Written last into an unpacked tree: which parts it holds.
const MARK: &str = ".slotrt-unpacked";

/// Upper bound on what one file of a source tree may hold; CPython's largest is about 3 MB.
const LARGEST_FILE: u64 = 64 << 20;

/// SHA-256 as lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Unpacks into `destination`, which appears only when everything is there. Returns the number of files.
pub fn unpack(tarball: &[u8], destination: &Path) -> Result<usize> {
    let parent = destination.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    let staging = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(parent)?;
    let files = unpack_into(tarball, staging.path())
        .context("the tarball is truncated or damaged")
        .advise("obtain it again; the pinned ones have the SHA-256 given in slotgen/data/releases.toml")?;
    std::fs::write(staging.path().join(MARK), WANTED.join(" "))?;
    ensure!(files > 0, "the tarball holds no CPython sources (nothing under Include/, Objects/, Python/)");
    if destination.exists() {
        std::fs::remove_dir_all(destination)?;
    }
    std::fs::rename(staging.keep(), destination)
        .with_context(|| format!("{} could not be put in place", destination.display()))?;
    Ok(files)
}

fn unpack_into(tarball: &[u8], destination: &Path) -> Result<usize> {
    let reader: Box<dyn Read + '_> = match tarball {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Box::new(XzDecoder::new(tarball)),
        [0x1f, 0x8b, ..] => Box::new(GzDecoder::new(tarball)),
        _ => bail!("neither an xz nor a gzip file"),
    };
    let mut archive = tar::Archive::new(reader);
    let mut files = 0;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let Some(path) = wanted_path(&entry.path()?) else { continue };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        ensure!(entry.size() <= LARGEST_FILE, "{} claims {} bytes", path.display(), entry.size());
        let target = destination.join(path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = std::fs::File::create(&target)?;
        let copied = std::io::copy(&mut entry, &mut file)?;
        ensure!(copied == entry.size(), "{} ends early", target.display());
        files += 1;
    }
    Ok(files)
}

/// The path below `Python-3.X.Y/`, if it is one that is wanted and stays inside.
fn wanted_path(path: &Path) -> Option<PathBuf> {
    let inner: PathBuf = path.components().filter(|part| *part != Component::CurDir).skip(1).collect();
    let plain = inner.components().all(|part| matches!(part, Component::Normal(_)));
    (plain && WANTED.iter().any(|wanted| inner.starts_with(wanted))).then_some(inner)
}

/// Whether `tree` was unpacked by this program, whole, from the tarball of `version`.
pub fn is_unpacked(tree: &Path, version: &str) -> bool {
    let whole = std::fs::read_to_string(tree.join(MARK)).is_ok_and(|parts| parts == WANTED.join(" "));
    whole && version_of(tree).is_ok_and(|found| found == version)
}

/// The version that a source tree says it is: `3.13.5`.
pub fn version_of(tree: &Path) -> Result<String> {
    let header = tree.join("Include").join("patchlevel.h");
    let text = std::fs::read_to_string(&header)
        .map_err(|error| anyhow!("{} is no CPython source tree: {}: {error}", tree.display(), header.display()))?;
    let number = |name: &str| -> Result<u8> {
        let mut words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let found = words.find(|words| words.len() >= 3 && words[0] == "#define" && words[1] == name);
        let found = found.and_then(|words| words[2].parse().ok());
        found.ok_or_else(|| anyhow!("{}: `#define {name}` with a number is missing", header.display()))
    };
    let version =
        format!("{}.{}.{}", number("PY_MAJOR_VERSION")?, number("PY_MINOR_VERSION")?, number("PY_MICRO_VERSION")?);
    for needed in ["Objects/abstract.c", "Objects/typeobject.c", "Include/object.h", "Python/ceval.c"] {
        ensure!(tree.join(needed).is_file(), "{} is no CPython source tree: {needed} is missing", tree.display());
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tarball(files: &[(&str, &str)]) -> Vec<u8> {
        let gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut builder = tar::Builder::new(gz);
        for (path, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn only_what_is_read_is_unpacked() {
        let room = tempfile::tempdir().unwrap();
        let bytes = tarball(&[("Python-3.13.5/Include/object.h", "x"), ("Python-3.13.5/Doc/index.rst", "y")]);
        let tree = room.path().join("3.13.5");
        assert_eq!(unpack(&bytes, &tree).unwrap(), 1);
        assert!(tree.join("Include/object.h").is_file());
        assert!(!tree.join("Doc").exists());
    }

    #[test]
    fn a_truncated_tarball_leaves_nothing_behind() {
        let room = tempfile::tempdir().unwrap();
        let bytes = tarball(&[("P/Include/object.h", &"int x;\n".repeat(10_000)), ("P/Objects/a.c", "y")]);
        let tree = room.path().join("tree");
        let error = unpack(&bytes[..bytes.len() / 2], &tree).unwrap_err();
        assert!(format!("{error:#}").contains("truncated or damaged"), "{error:#}");
        assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 0);
    }

    #[test]
    fn paths_that_lead_outside_are_not_written() {
        assert_eq!(wanted_path(Path::new("P/Include/../../x")), None);
        assert_eq!(wanted_path(Path::new("./P/Include/x.h")), Some(PathBuf::from("Include/x.h")));
    }

    #[test]
    fn a_tree_of_something_else_is_refused() {
        let room = tempfile::tempdir().unwrap();
        let error = version_of(room.path()).unwrap_err().to_string();
        assert!(error.contains("is no CPython source tree"), "{error}");
    }
}
