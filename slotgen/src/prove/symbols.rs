//! Names for addresses of a running process, from the symbol tables of the files mapped into it.

use std::collections::BTreeMap;
use std::path::Path;

use object::{Object, ObjectSegment, ObjectSymbol};

use super::ProveError;

/// A mapping of a file into memory: start, offset in the file, path.
#[derive(Debug, Clone, serde::Deserialize)]
pub(super) struct Mapping(pub u64, pub u64, pub String);

/// The symbols of all mapped files, by address in the process.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    names: BTreeMap<u64, Vec<String>>,
}

impl Symbols {
    /// Reads the symbol tables of the ELF files among `mappings`.
    pub(super) fn read(mappings: &[Mapping]) -> Result<Self, ProveError> {
        let mut symbols = Self::default();
        let mut files: BTreeMap<&str, Vec<&Mapping>> = BTreeMap::new();
        for mapping in mappings {
            files.entry(&mapping.2).or_default().push(mapping);
        }
        for (path, mapped) in files {
            if Path::new(path).is_file() {
                symbols.add(path, &mapped)?;
            }
        }
        Ok(symbols)
    }

    fn add(&mut self, path: &str, mapped: &[&Mapping]) -> Result<(), ProveError> {
        let bytes = std::fs::read(path).map_err(|error| ProveError::File(path.to_owned(), error.to_string()))?;
        // Locale archives and caches are mapped too; they are no ELF files.
        let Ok(file) = object::File::parse(&*bytes) else { return Ok(()) };
        let bias = file.segments().find_map(|segment| {
            let (offset, _) = segment.file_range();
            let page = |number: u64| number & !0xfff;
            let found = mapped.iter().find(|mapping| mapping.1 == page(offset))?;
            found.0.checked_sub(page(segment.address()))
        });
        let Some(bias) = bias else { return Ok(()) };
        self.names_of(&file, bias);
        // A stripped file's symbols stand in a file of their own.
        if let Some(debug) = crate::binary::symbols_of(Path::new(path), &bytes)
            && let Ok(bytes) = std::fs::read(&debug)
            && let Ok(file) = object::File::parse(&*bytes)
        {
            self.names_of(&file, bias);
        }
        Ok(())
    }

    fn names_of(&mut self, file: &object::File<'_>, bias: u64) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let (Ok(name), address) = (symbol.name(), symbol.address()) else { continue };
            if address == 0 || name.is_empty() || symbol.is_undefined() {
                continue;
            }
            // `name.part.0`, `name.cold` and `name.lto_priv.3` are the compiler's additions.
            let plain = name.split(['.', '@']).next().unwrap_or(name).to_owned();
            let names = self.names.entry(bias.wrapping_add(address)).or_default();
            if !names.contains(&plain) {
                names.push(plain);
            }
        }
    }

    /// All names at an address.
    pub(super) fn at(&self, address: u64) -> &[String] {
        self.names.get(&address).map_or(&[], |names| names.as_slice())
    }
}
