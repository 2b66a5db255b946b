//! Builds the runtime for one interpreter and packs it, with the Python package, into a wheel.
use crate::obtain::Interpreter;
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the runtime is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Cargo's `release`.
    Release,
    /// Cargo's `dev`.
    Dev,
}

/// A cargo command of its own: what the cargo that runs xtask has set is no business of a nested build.
pub fn nested_cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(place::root());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO_PRIMARY_PACKAGE" {
            command.env_remove(name);
        }
    }
    command
}

/// A cargo command whose builds are for `python`: its own target directory, and libpython where tests find it.
pub fn cargo(python: &Interpreter) -> Command {
    let mut command = nested_cargo();
    command.env("PYO3_PYTHON", &python.base_executable);
    command.env("CARGO_TARGET_DIR", place::python_target(&python.series()));
    let libraries = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut paths = vec![python.library_dir.clone()];
    paths.extend(std::env::split_paths(&libraries).filter(|path| !path.as_os_str().is_empty()));
    if let Ok(joined) = std::env::join_paths(paths) {
        command.env("LD_LIBRARY_PATH", joined);
    }
    command
}

/// Compiles the runtime; returns the shared library.
pub fn compile(python: &Interpreter, profile: Profile) -> Result<PathBuf> {
    let (directory, options) = match profile {
        Profile::Release => ("release", &["--release"][..]),
        Profile::Dev => ("debug", &[][..]),
    };
    let step = Step::start(format!("Building the runtime for CPython {}", python.full_version()));
    run::output(build(python).args(options)).context("the runtime does not build")?;
    let library = place::python_target(&python.series()).join(directory).join("libslotrt.so");
    step.done(place::shown(&library));
    Ok(library)
}

/// `cargo build` of the runtime.
pub fn build(python: &Interpreter) -> Command {
    let mut command = cargo(python);
    // Extension modules find the interpreter's functions in the process; there may be no library to link them with.
    if !python.library_dir.join(format!("libpython{}.so", python.series())).exists() {
        command.env("PYO3_BUILD_EXTENSION_MODULE", "1");
    }
    command.args(["build", "--quiet", "--package", "slotrt", "--lib", "--color", "never"]);
    command
}

/// The package for `python`, from a compiled library, in a folder that can stand in `PYTHONPATH`.
pub fn tree(python: &Interpreter, library: &Path) -> Result<PathBuf> {
    let room = place::python_target(&python.series()).join("wheel");
    if room.exists() {
        std::fs::remove_dir_all(&room)?;
    }
    let tree = room.join("tree");
    copy_package(&place::root().join("runtime").join("python").join("slotrt"), &tree.join("slotrt"))?;
    let module = format!("_slotrt{}", python.extension_suffix);
    std::fs::copy(library, tree.join("slotrt").join(module)).context("the compiled library is missing")?;
    Ok(tree)
}

/// Installs the package, from a compiled library, into the environment of `python`.
pub fn put(python: &Interpreter, library: &Path) -> Result<()> {
    let wheel = pack(python, library)?;
    install(python, &wheel)
}

/// A wheel for `python` from a compiled library; returns its path.
fn pack(python: &Interpreter, library: &Path) -> Result<PathBuf> {
    let tree = tree(python, library)?;
    let room = place::python_target(&python.series()).join("wheel");
    write_metadata(&tree, &tag(python))?;
    let wheel = room.join(format!("slotrt-{}-{}.whl", env!("CARGO_PKG_VERSION"), tag(python)));
    let mut zip = Command::new(&python.executable);
    zip.args(["-I", "-m", "zipfile", "-c"]).arg(&wheel).current_dir(&tree);
    zip.args(["slotrt".to_owned(), info_directory()]);
    run::output(&mut zip).context("the wheel could not be packed")?;
    Ok(wheel)
}

/// `cp313-cp313-linux_x86_64`.
fn tag(python: &Interpreter) -> String {
    let abi = format!("cp{}{}", python.version.0, python.version.1);
    format!("{abi}-{abi}-linux_{}", std::env::consts::ARCH)
}

fn info_directory() -> String {
    format!("slotrt-{}.dist-info", env!("CARGO_PKG_VERSION"))
}

/// Copies the Python files of the package, folder by folder.
fn copy_package(from: &Path, to: &Path) -> Result<()> {
    let entries = std::fs::read_dir(from).with_context(|| format!("{} is missing", place::shown(from)))?;
    std::fs::create_dir_all(to)?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().ok_or_else(|| anyhow!("{} has no name", path.display()))?;
        if path.is_dir() && name != "__pycache__" {
            copy_package(&path, &to.join(name))?;
        } else if path.extension().is_some_and(|ending| ending == "py" || ending == "pyi") || name == "py.typed" {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn write_metadata(tree: &Path, tag: &str) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let info = tree.join(info_directory());
    std::fs::create_dir_all(&info)?;
    let metadata =
        format!("Metadata-Version: 2.1\nName: slotrt\nVersion: {version}\nLicense: (MIT OR Apache-2.0) AND PSF-2.0\n");
    std::fs::write(info.join("METADATA"), metadata)?;
    let wheel = format!("Wheel-Version: 1.0\nGenerator: xtask {version}\nRoot-Is-Purelib: false\nTag: {tag}\n");
    std::fs::write(info.join("WHEEL"), wheel)?;
    let mut record = String::new();
    list(tree, tree, &mut record)?;
    record.push_str(&format!("{}/RECORD,,\n", info_directory()));
    Ok(std::fs::write(info.join("RECORD"), record)?)
}

/// Lists files in the form of a wheel's RECORD; pip fills in the hashes when it installs.
fn list(root: &Path, directory: &Path, record: &mut String) -> Result<()> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(root, &path, record)?;
        } else {
            record.push_str(&format!("{},,\n", path.strip_prefix(root)?.display()));
        }
    }
    Ok(())
}

/// Installs the wheel into the interpreter's environment, replacing an older one.
fn install(python: &Interpreter, wheel: &Path) -> Result<()> {
    let step = Step::start(format!("Installing {}", place::shown(wheel)));
    let mut pip = Command::new(&python.executable);
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"]).arg(wheel);
    run::output(&mut pip)
        .context("pip could not install the wheel")
        .advise("check that pip is installed: `python -m ensurepip`")?;
    step.done(format!("`import slotrt` works in {}", python.executable.display()));
    Ok(())
}
