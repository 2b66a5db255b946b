//! The second front door: slot definitions and types read from a compiled CPython, which is never run.

mod abi;
mod build;
mod image;
mod neighbours;
mod tables;

pub use build::{Build, symbols_of};

use crate::diagnostics::Diagnostics;
use crate::extract;
use crate::facts::{
    Facts, FunctionType, Macro, Method, Opcodes, Origin, SLOT_STRUCTS, Slotdef, Struct, Type, TypeKind,
};
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
    /// Names of data as large as a type or a spec that were not read as one.
    pub unread: BTreeSet<String>,
    /// The methods of every struct sequence.
    pub sequence_methods: Vec<Method>,
    /// The instruction set, where headers and `opcode.py` tell it; before 3.11 stack effects stand in `compile.c` alone.
    pub opcodes: Option<Opcodes>,
    /// SHA-256 of the library.
    pub digest: String,
    /// Numbers of the macros that stand in flags.
    pub constants: BTreeMap<String, i64>,
    /// The macros of the API.
    pub macros: Vec<Macro>,
    aliases: BTreeMap<String, BTreeSet<String>>,
}

impl Library {
    /// Whether two names stand for one function.
    pub fn same(&self, one: &str, other: &str) -> bool {
        one == other || self.aliases.get(one).is_some_and(|names| names.contains(other))
    }

    /// The library as facts, which have no functions, prototypes or opcodes then.
    ///
    /// What code alone says (bases given to `PyType_FromModuleAndSpec`, which slots a base hands down) stands in no table: it is
    /// taken from the facts of `neighbours`, releases read from sources, the nearest first.
    pub fn facts(&self, configuration: &str, neighbours: &[&Facts]) -> Facts {
        let is_slots = |layout: &&Struct| SLOT_STRUCTS.contains(&layout.name.as_str());
        let mut facts = Facts {
            release: self.release.clone(),
            source: Origin::Binary,
            configuration: configuration.to_owned(),
            digest: self.digest.clone(),
            structs: self.structs.iter().filter(is_slots).cloned().collect(),
            inherits: neighbours.first().map_or(Vec::new(), |facts| facts.inherits.clone()),
            slotdefs: self.slotdefs.clone(),
            types: self.types.clone(),
            functions: Vec::new(),
            prototypes: Vec::new(),
            function_types: self.function_types.clone(),
            opcodes: self.opcodes.clone().unwrap_or(Opcodes { have_argument: 0, opcodes: Vec::new() }),
            constants: self.constants.clone(),
            macros: self.macros.clone(),
            effects: Vec::new(),
            module_functions: Vec::new(),
        };
        for ty in facts.types.iter_mut().filter(|ty| ty.kind == TypeKind::StructSequence) {
            ty.methods = self.sequence_methods.clone();
        }
        neighbours::supplement(&mut facts.types, neighbours);
        facts.types.sort_by(|a, b| (a.unit(), &a.c_name, &a.tp_name).cmp(&(b.unit(), &b.c_name, &b.tp_name)));
        facts
    }

    /// Adds what an extension module of the same build says.
    pub fn add(&mut self, module: Library) {
        self.types.extend(module.types);
        self.unread.extend(module.unread);
        for (name, others) in module.aliases {
            self.aliases.entry(name).or_default().extend(others);
        }
    }
}

/// Reads compiled CPythons of one release, whose headers tell how the tables are laid out.
#[derive(Debug)]
pub struct Reader {
    release: String,
    abi: abi::Abi,
    function_types: Vec<FunctionType>,
    constants: BTreeMap<String, i64>,
    macros: Vec<Macro>,
}

impl Reader {
    /// Reads the headers: those of a source tree, or the include directory of an installation.
    pub fn new(headers: &Tree, configuration: &Configuration) -> Result<Reader, BinaryError> {
        let mut diagnostics = Diagnostics::default();
        let found = extract::structs(headers, configuration, &abi::structs(), &mut diagnostics);
        let (structs, functions) = found.map_err(BinaryError::Headers)?;
        if structs.len() < abi::structs().len() {
            return Err(BinaryError::Headers(diagnostics));
        }
        let preprocessor = Preprocessor::new(headers, configuration).map_err(BinaryError::Headers)?;
        Ok(Reader {
            release: headers.release().to_string(),
            abi: abi::Abi::new(structs, &functions, &preprocessor),
            function_types: functions,
            constants: extract::constants(&preprocessor),
            macros: extract::api_macros(&preprocessor),
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
            unread: tables.unread(),
            sequence_methods: tables.sequence_methods(),
            opcodes: None,
            digest: crate::source::sha256(library),
            constants: self.constants.clone(),
            macros: self.macros.clone(),
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
    /// A file cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// Its path.
        path: String,
        /// What is wrong.
        reason: String,
    },
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
