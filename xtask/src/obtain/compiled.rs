//! A compiled CPython of a series: its library, its headers, and the interpreter that runs it.
use super::apt::unpacked;
use super::interpreter::{self, Interpreter};
use anyhow::{Result, ensure};
use std::path::PathBuf;

/// Where the parts are.
#[derive(Debug)]
pub struct Compiled {
    /// `libpython3.X.so` or `.a`, with symbols.
    pub library: PathBuf,
    /// The directory with `Python.h`.
    pub headers: PathBuf,
    /// Runs it.
    pub python: PathBuf,
}

/// pyenv's where its library is shared, else Debian's, unpacked.
pub fn find(series: &str) -> Result<Compiled> {
    if let Ok(python) = interpreter::find(series, None)
        && let Some(compiled) = installed(&python)
    {
        return Ok(compiled);
    }
    let tree = unpacked::ensure(series)?;
    let library = unpacked::library(&tree, series);
    ensure!(library.is_file(), "{} is missing", library.display());
    let python = tree.join("python");
    Ok(Compiled { library, headers: unpacked::headers(&tree, series), python })
}

/// The parts of an installed interpreter, where its library is shared.
fn installed(python: &Interpreter) -> Option<Compiled> {
    let library = python.library_dir.join(format!("libpython{}.so", python.series()));
    let headers = python.include_dir.clone();
    let there = library.is_file() && headers.join("internal").is_dir();
    there.then(|| Compiled { library, headers, python: python.executable.clone() })
}
