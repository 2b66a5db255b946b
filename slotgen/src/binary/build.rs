//! A build of CPython on disk: its library, its extension modules, and the files that hold their symbols.

use super::{BinaryError, Library, Reader};
use crate::diagnostics::Diagnostics;
use crate::extract;
use crate::facts::Installed;
use crate::preprocess::Configuration;
use crate::source::Tree;
use object::Object;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Where the parts of a build are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// `libpython3.X.so` or `libpython3.X.a`.
    pub library: PathBuf,
    /// The directory with `Python.h`.
    pub headers: PathBuf,
    /// The directory of the extension modules, `lib-dynload`.
    pub modules: Option<PathBuf>,
}

impl Build {
    /// Reads the library and every extension module of the release build; nothing is run.
    pub fn read(&self, headers: &Tree, configuration: &Configuration) -> Result<Library, BinaryError> {
        let reader = Reader::new(headers, configuration)?;
        let mut library = read(&self.library, |bytes, symbols| reader.library(bytes, symbols))?;
        let paths = self.modules.as_deref().map_or(Ok(Vec::new()), modules)?;
        let modules: Vec<_> =
            paths.par_iter().map(|path| read(path, |bytes, symbols| reader.module(bytes, symbols))).collect();
        for module in modules {
            match module {
                Ok(module) => library.add(module),
                // A module without static data has no types.
                Err(BinaryError::Stripped) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(installed) = self.installed(headers, configuration) {
            library.opcodes = Some(installed.opcodes);
            library.layouts = installed.structs;
        }
        library.types.sort_by(|a, b| (&a.file, &a.c_name, &a.tp_name).cmp(&(&b.file, &b.c_name, &b.tp_name)));
        Ok(library)
    }
}

impl Build {
    /// What the headers and `opcode.py` say of code objects and frames, if they hold it.
    fn installed(&self, headers: &Tree, configuration: &Configuration) -> Option<Installed> {
        let text = std::fs::read_to_string(self.modules.as_deref()?.parent()?.join("opcode.py")).ok()?;
        let tree = headers.with("Lib/opcode.py", text).ok()?;
        let mut findings = Diagnostics::default();
        let found = extract::installed(&tree, configuration, &mut findings)?;
        (!findings.has_errors()).then_some(found)
    }
}

fn read(
    path: &Path,
    read: impl Fn(&[u8], Option<&[u8]>) -> Result<Library, BinaryError>,
) -> Result<Library, BinaryError> {
    let file =
        |error: std::io::Error| BinaryError::File { path: path.display().to_string(), reason: error.to_string() };
    let bytes = std::fs::read(path).map_err(file)?;
    let symbols = symbols_of(path, &bytes).map(std::fs::read).transpose().map_err(file)?;
    read(&bytes, symbols.as_deref())
}

/// The shared objects of a directory, those of debug builds left out.
fn modules(folder: &Path) -> Result<Vec<PathBuf>, BinaryError> {
    let file =
        |error: std::io::Error| BinaryError::File { path: folder.display().to_string(), reason: error.to_string() };
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).map_err(file)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // `x.cpython-314d-x86_64-linux-gnu.so` is of the debug build.
        let is_debug =
            name.split('.').nth(1).is_some_and(|tag| tag.split('-').nth(1).is_some_and(|abi| abi.ends_with('d')));
        name.ends_with(".so") && !is_debug
    });
    paths.sort();
    Ok(paths)
}

/// The file of separate symbols of a stripped library: `usr/lib/debug/.build-id` below any folder above it.
pub fn symbols_of(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let file = object::File::parse(bytes).ok()?;
    let hex: String = file.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect();
    let (start, rest) = hex.split_at_checked(2)?;
    let name = format!("usr/lib/debug/.build-id/{start}/{rest}.debug");
    path.ancestors().map(|folder| folder.join(&name)).find(|file| file.is_file())
}
