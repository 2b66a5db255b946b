//! CPython's sources: given by the user, cached under `target/cpython`, or fetched and checked against the pinned hash.
use super::{apt, archive, python_org, releases};
use crate::place;
use crate::ui::{Advise, Step};
use anyhow::{Context, Result, anyhow, bail};
use slotgen::source::{Pin, on_demand, pins};
use std::path::{Path, PathBuf};

/// A source tree.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Its directory.
    pub path: PathBuf,
    /// `3.13.5`.
    pub version: String,
}

/// Sources of a release (`3.13`, `3.13.5`), from what the user gave or from the first way that works.
pub fn obtain(release: &str, given: Option<&Path>) -> Result<Sources> {
    let sources = match given {
        Some(path) => from_user(path)?,
        None => fetched(on_demand(release).map_or_else(|| releases::named(release), Ok)?)?,
    };
    let fits = sources.version == release || releases::series_of(&sources.version) == release;
    if fits { Ok(sources) } else { Err(anyhow!("these sources are CPython {}", sources.version)) }
        .advise(format!("CPython {release} is wanted: name its sources, or ask for the release that you have"))
}

/// Sources that the user named, of whatever release.
pub fn obtain_any(path: &Path) -> Result<Sources> {
    from_user(path)
}

/// A directory or a tarball that the user named.
fn from_user(path: &Path) -> Result<Sources> {
    if path.is_dir() {
        let version = archive::version_of(path).advise("`--source` wants the top directory of a CPython checkout")?;
        return Ok(Sources { path: path.to_owned(), version });
    }
    let bytes = std::fs::read(path)
        .with_context(|| format!("{} cannot be read", path.display()))
        .advise("`--source` wants a CPython source directory or release tarball")?;
    let found = archive::digest(&bytes);
    if let Some(pin) = pins().iter().find(|pin| pin.sha256 == found) {
        return place_checked(&bytes, pin);
    }
    let step = Step::start(format!("Unpacking {}", path.display()));
    let tree = place::target().join("cpython").join(format!("given-{}", &found[..16]));
    let files = archive::unpack(&bytes, &tree).with_context(|| path.display().to_string())?;
    let version = archive::version_of(&tree).inspect_err(|_| drop(std::fs::remove_dir_all(&tree)))?;
    let pin = pins().iter().find(|pin| pin.release == version && same_format(pin, path));
    if let Some(pin) = pin {
        std::fs::remove_dir_all(&tree)?;
        return Err(wrong_hash(&path.display().to_string(), pin, &found));
    }
    step.done(format!("CPython {version}, {files} files; no pinned hash for this release, taken as it is"));
    Ok(Sources { path: tree, version })
}

/// Whether the file is in the format whose hash is pinned.
fn same_format(pin: &Pin, path: &Path) -> bool {
    let name = path.to_string_lossy();
    let gz = |name: &str| name.ends_with(".tgz") || name.ends_with(".tar.gz");
    gz(&name) == gz(&pin.archive)
}

/// The cached tree of a pinned release, else the tarball from the first way that works.
fn fetched(pin: &Pin) -> Result<Sources> {
    let tree = tree_of(pin);
    if archive::is_unpacked(&tree, &pin.release) {
        return Ok(Sources { path: tree, version: pin.release.clone() });
    }
    type Way = (&'static str, fn(&Pin) -> Result<Vec<u8>>);
    let ways: [Way; 2] = [("python.org", python_org::fetch), ("Debian's source package", apt::source::fetch)];
    let has_package = releases::package(&pin.release)?.is_some();
    for (name, fetch) in ways.into_iter().take(1 + usize::from(has_package)) {
        let step = Step::start(format!("CPython {} from {name}", pin.release));
        match fetch(pin).and_then(|bytes| check(name, &bytes, pin).map(|()| bytes)) {
            Ok(bytes) => {
                step.done(format!("{:.1} MB, SHA-256 as pinned", bytes.len() as f64 / 1e6));
                return place_checked(&bytes, pin);
            }
            Err(error) => step.failed(format!("{error:#}").replace('\n', " ")),
        };
    }
    Err(anyhow!("the sources of CPython {} could not be obtained", pin.release))
        .advise(format!("download {} elsewhere and pass `--source {}`", pin.archive, pin.archive))
}

fn tree_of(pin: &Pin) -> PathBuf {
    place::target().join("cpython").join(&pin.release)
}

fn check(name: &str, bytes: &[u8], pin: &Pin) -> Result<()> {
    let found = archive::digest(bytes);
    if found == pin.sha256 { Ok(()) } else { Err(wrong_hash(name, pin, &found)) }
}

fn wrong_hash(name: &str, pin: &Pin, found: &str) -> anyhow::Error {
    let wanted = &pin.sha256;
    let error = anyhow!("{name}: CPython {} has the wrong SHA-256: {found}, pinned is {wanted}", pin.release);
    error
        .context("help: the file is damaged or changed: obtain it again; to read changed sources, pass their directory")
}

/// Unpacks bytes whose hash is right; a tree that is there already is used as it is.
fn place_checked(bytes: &[u8], pin: &Pin) -> Result<Sources> {
    let tree = tree_of(pin);
    let sources = Sources { path: tree.clone(), version: pin.release.clone() };
    if archive::is_unpacked(&tree, &pin.release) {
        return Ok(sources);
    }
    let step = Step::start(format!("Unpacking {}", pin.archive));
    let files = archive::unpack(bytes, &tree)?;
    let version = archive::version_of(&tree)?;
    if version != pin.release {
        bail!("slotgen/data/releases.toml pins a tarball of {version} as {}", pin.release);
    }
    step.done(format!("{files} files in {}", place::shown(&tree)));
    Ok(sources)
}
