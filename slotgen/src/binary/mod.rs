//! The second front door: slot definitions and types read from a compiled CPython, which is never run.

mod abi;
mod image;
mod tables;

use crate::diagnostics::Diagnostics;
use crate::extract;
use crate::facts::{Facts, FunctionType, Opcodes, Origin, Slotdef, Struct, Type};
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// What a compiled CPython says about its types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The release that the headers name.
    pub release: String,
    /// The slot structs, as the headers lay them out.
    pub structs: Vec<Struct>,
    /// `slotdefs[]`, in its order.
    pub slotdefs: Vec<Slotdef>,
    /// Static types and type specs by file and name; slots are those of the tables, nothing is inherited.
    pub types: Vec<Type>,
    /// Pointer types of the headers, by name.
    pub function_types: Vec<FunctionType>,
    /// Names of all functions and data.
    pub symbols: BTreeSet<String>,
    /// SHA-256 of the library.
    pub digest: String,
    aliases: BTreeMap<String, BTreeSet<String>>,
}

impl Library {
    /// Whether two names stand for one function.
    pub fn same(&self, one: &str, other: &str) -> bool {
        one == other || self.aliases.get(one).is_some_and(|names| names.contains(other))
    }

    /// The library as facts, which have no functions, prototypes or opcodes then. Which slots a base hands down no table says: `inherits` is
    /// what the sources of the nearest release say.
    pub fn facts(&self, configuration: &str, inherits: &[String]) -> Facts {
        Facts {
            release: self.release.clone(),
            source: Origin::Binary,
            configuration: configuration.to_owned(),
            digest: self.digest.clone(),
            structs: self
                .structs
                .iter()
                .filter(|layout| abi::SLOT_STRUCTS.contains(&layout.name.as_str()))
                .cloned()
                .collect(),
            inherits: inherits.to_vec(),
            slotdefs: self.slotdefs.clone(),
            types: self.types.clone(),
            functions: Vec::new(),
            prototypes: Vec::new(),
            function_types: self.function_types.clone(),
            opcodes: Opcodes { have_argument: 0, opcodes: Vec::new() },
        }
    }
}

/// Reads compiled CPythons of one release, whose headers tell how the tables are laid out.
#[derive(Debug)]
pub struct Reader {
    release: String,
    abi: abi::Abi,
    function_types: Vec<FunctionType>,
}

impl Reader {
    /// Reads the headers: those of a source tree, or the include directory of an installation.
    pub fn new(headers: &Tree, configuration: &Configuration) -> Result<Reader, BinaryError> {
        let mut diagnostics = Diagnostics::default();
        let found = extract::structs(headers, configuration, &abi::STRUCTS, &mut diagnostics);
        let (structs, functions) = found.map_err(BinaryError::Headers)?;
        if structs.len() < abi::STRUCTS.len() {
            return Err(BinaryError::Headers(diagnostics));
        }
        let preprocessor = Preprocessor::new(headers, configuration).map_err(BinaryError::Headers)?;
        Ok(Reader {
            release: headers.release().to_string(),
            abi: abi::Abi::new(structs, &functions, &preprocessor),
            function_types: functions,
        })
    }

    /// Reads `libpython3.X.so` or `libpython3.X.a`; `symbols` is the file of separate symbols of a stripped library.
    pub fn library(&self, library: &[u8], symbols: Option<&[u8]>) -> Result<Library, BinaryError> {
        let read = self.module(library, symbols)?;
        if read.slotdefs.is_empty() { Err(BinaryError::NoSlotdefs) } else { Ok(read) }
    }

    /// Reads an extension module, which has types but no `slotdefs`.
    pub fn module(&self, library: &[u8], symbols: Option<&[u8]>) -> Result<Library, BinaryError> {
        let image = image::Image::load(library, symbols)?;
        let tables = tables::Tables { image: &image, abi: &self.abi };
        Ok(Library {
            release: self.release.clone(),
            structs: self.abi.structs.clone(),
            slotdefs: tables.slotdefs().unwrap_or_default(),
            types: tables.types(),
            function_types: self.function_types.clone(),
            symbols: image.symbols.iter().map(|symbol| symbol.name.to_owned()).collect(),
            digest: crate::source::sha256(library),
            aliases: image.aliases(),
        })
    }
}

/// Why a library could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// It is no ELF file, or a damaged one.
    #[error(
        "the library is malformed or truncated: {0}\n  help: name libpython3.X.so or libpython3.X.a of a CPython for Linux, x86-64"
    )]
    Malformed(String),
    /// It is for another system or processor.
    #[error(
        "the library is {found}, not ELF for x86-64\n  help: name libpython3.X.so or libpython3.X.a of a CPython for Linux, x86-64"
    )]
    Foreign {
        /// What it is.
        found: String,
    },
    /// It has no names for its static functions and tables.
    #[error(
        "the library has no symbols for its static tables\n  help: give the file of separate symbols (usr/lib/debug/.build-id), or the unstripped library or archive"
    )]
    Stripped,
    /// It has symbols, but no `slotdefs`.
    #[error(
        "the library has no table `slotdefs`\n  help: name libpython3.X.so or libpython3.X.a, not an extension module"
    )]
    NoSlotdefs,
    /// The headers do not say how the tables are laid out.
    #[error("the headers do not tell the layout of the types:\n{0}")]
    Headers(Diagnostics),
    /// It is larger than any CPython.
    #[error("the library has more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

impl BinaryError {
    fn malformed(error: object::Error) -> BinaryError {
        BinaryError::Malformed(error.to_string())
    }
}
