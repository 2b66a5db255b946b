//! Reads compiled CPythons of one release.

use std::collections::BTreeMap;

use super::{BinaryError, Library, abi, image, tables};
use crate::diagnostics::Diagnostics;
use crate::extract;
use crate::facts::{FunctionType, Macro};
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;

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
            layouts: Vec::new(),
            digest: crate::source::sha256(library),
            constants: self.constants.clone(),
            macros: self.macros.clone(),
            aliases: image.aliases(),
        })
    }
}
