//! A compiled library as one flat memory: bytes, pointers after relocation, and the symbols that name addresses.

use super::BinaryError;
use object::read::archive::ArchiveFile;
use object::{
    Architecture, File, FileKind, Object, ObjectKind, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget,
    SectionIndex, SectionKind, SymbolIndex, SymbolKind, elf,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// No library of CPython has a quarter of this.
const SIZE_LIMIT: usize = 1 << 30;
/// Where symbols that the library does not define are put.
const OUTSIDE: u64 = 0xffff_0000_0000_0000;

/// A name for an address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol<'d> {
    /// The name, without what the compiler appended to it.
    pub name: &'d str,
    pub address: u64,
    pub size: u64,
    pub kind: SymbolKind,
    pub local: bool,
    /// The C file, for local symbols.
    pub file: Option<&'d str>,
}

/// A stretch of memory; what `bytes` lacks of `size` is zero.
#[derive(Debug, Clone, Copy)]
struct Piece<'d> {
    start: u64,
    size: u64,
    bytes: &'d [u8],
}

/// The memory of a library.
#[derive(Debug, Default)]
pub(super) struct Image<'d> {
    pieces: Vec<Piece<'d>>,
    pointers: FxHashMap<u64, u64>,
    /// All symbols, by address, then name.
    pub symbols: Vec<Symbol<'d>>,
}

impl<'d> Image<'d> {
    /// Loads a shared library, whose symbols may stand in a file of their own, or an archive of objects.
    pub fn load(library: &'d [u8], symbols: Option<&'d [u8]>) -> Result<Image<'d>, BinaryError> {
        if library.len() > SIZE_LIMIT {
            return Err(BinaryError::TooLarge { limit: SIZE_LIMIT });
        }
        let mut image = match FileKind::parse(library).map_err(BinaryError::malformed)? {
            FileKind::Archive => Image::objects(members(library)?)?,
            FileKind::Elf64 if parse(library)?.kind() == ObjectKind::Relocatable => Image::objects(vec![library])?,
            FileKind::Elf64 => Image::shared(library, symbols)?,
            kind => return Err(BinaryError::Foreign { found: format!("{kind:?}") }),
        };
        image.pieces.sort_by_key(|piece| piece.start);
        image.symbols.sort_by(|a, b| (a.address, a.name, a.local).cmp(&(b.address, b.name, b.local)));
        if !image.symbols.iter().any(|symbol| symbol.local && symbol.kind == SymbolKind::Data) {
            return Err(BinaryError::Stripped);
        }
        Ok(image)
    }

    fn shared(library: &'d [u8], symbols: Option<&'d [u8]>) -> Result<Image<'d>, BinaryError> {
        let file = parse(library)?;
        let mut image = Image::default();
        for section in file.sections().filter(|section| is_memory(section.kind())) {
            image.piece(section.address(), &section)?;
        }
        let mut outside = Outside::default();
        for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let target =
                match (r_type, relocation.target()) {
                    (elf::R_X86_64_RELATIVE, _) => relocation.addend() as u64,
                    (elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT, RelocationTarget::Symbol(index)) => {
                        let Ok(symbol) = file.dynamic_symbol_table().ok_or(()).and_then(|table| {
                            object::ObjectSymbolTable::symbol_by_index(&table, index).map_err(|_| ())
                        }) else {
                            continue;
                        };
                        let name = symbol.name().unwrap_or("");
                        let base = if symbol.is_undefined() { outside.address(name) } else { symbol.address() };
                        base.wrapping_add(relocation.addend() as u64)
                    }
                    _ => continue,
                };
            image.pointers.insert(at, target);
        }
        match symbols {
            Some(bytes) => image.name(&parse(bytes)?, &|_, address| Some(address)),
            None => image.name(&file, &|_, address| Some(address)),
        }
        image.symbols.extend(outside.symbols);
        Ok(image)
    }

    /// Puts object files side by side, as a linker would.
    fn objects(objects: Vec<&'d [u8]>) -> Result<Image<'d>, BinaryError> {
        let mut image = Image::default();
        let mut members = Vec::new();
        let mut free = 0x1000u64;
        for data in objects {
            let file = parse(data)?;
            let mut bases = FxHashMap::default();
            for section in file.sections().filter(|section| is_memory(section.kind())) {
                bases.insert(section.index(), free);
                image.piece(free, &section)?;
                let room = section.size().min(SIZE_LIMIT as u64).next_multiple_of(4096);
                free = free.saturating_add(room + 4096);
            }
            members.push((file, bases));
        }
        for (file, bases) in &members {
            image.name(file, &|section, address| Some(bases.get(&section?)?.wrapping_add(address)));
        }
        let globals: FxHashMap<&str, u64> =
            image.symbols.iter().filter(|symbol| !symbol.local).map(|symbol| (symbol.name, symbol.address)).collect();
        let mut outside = Outside::default();
        for (file, bases) in &members {
            image.relocate(file, bases, &globals, &mut outside);
        }
        image.symbols.extend(outside.symbols);
        Ok(image)
    }

    fn relocate(
        &mut self,
        file: &File<'d>,
        bases: &FxHashMap<SectionIndex, u64>,
        globals: &FxHashMap<&str, u64>,
        outside: &mut Outside<'d>,
    ) {
        for section in file.sections() {
            let Some(base) = bases.get(&section.index()).copied() else { continue };
            for (at, relocation) in section.relocations() {
                let RelocationFlags::Elf { r_type: elf::R_X86_64_64 } = relocation.flags() else { continue };
                let target = match relocation.target() {
                    RelocationTarget::Symbol(index) => symbol_address(file, index, bases, globals, outside),
                    RelocationTarget::Section(index) => bases.get(&index).copied(),
                    _ => None,
                };
                if let Some(target) = target {
                    self.pointers.insert(base.wrapping_add(at), target.wrapping_add(relocation.addend() as u64));
                }
            }
        }
    }

    fn piece(&mut self, start: u64, section: &object::Section<'d, '_>) -> Result<(), BinaryError> {
        let bytes = section.data().map_err(BinaryError::malformed)?;
        self.pieces.push(Piece { start, size: section.size(), bytes });
        Ok(())
    }

    /// Notes the symbols of a file, placed by `place`.
    fn name(&mut self, file: &File<'d>, place: &dyn Fn(Option<SectionIndex>, u64) -> Option<u64>) {
        let mut source = None;
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if symbol.kind() == SymbolKind::File {
                source = Some(name).filter(|name| !name.is_empty());
                continue;
            }
            let wanted =
                matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data | SymbolKind::Unknown | SymbolKind::Label);
            let Some(address) =
                place(symbol.section_index(), symbol.address()).filter(|_| wanted && !symbol.is_undefined())
            else {
                continue;
            };
            let local = symbol.is_local();
            let file = source.filter(|_| local);
            self.symbols.push(Symbol {
                name: plain(name),
                address,
                size: symbol.size(),
                kind: symbol.kind(),
                local,
                file,
            });
        }
    }

    /// The bytes of a number; `None` outside the memory.
    fn number<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let after = self.pieces.partition_point(|piece| piece.start <= address);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        let from = address - piece.start;
        if from.checked_add(N as u64)? > piece.size {
            return None;
        }
        let from = usize::try_from(from).ok()?;
        let mut number = [0; N];
        for (i, byte) in number.iter_mut().enumerate() {
            *byte = piece.bytes.get(from + i).copied().unwrap_or(0);
        }
        Some(number)
    }

    /// An `unsigned long`.
    pub fn u64(&self, address: u64) -> Option<u64> {
        self.number(address).map(u64::from_le_bytes)
    }

    /// An `int`.
    pub fn i32(&self, address: u64) -> Option<i32> {
        self.number(address).map(i32::from_le_bytes)
    }

    /// A pointer, relocated; 0 is NULL.
    pub fn pointer(&self, address: u64) -> Option<u64> {
        match self.pointers.get(&address) {
            Some(target) => Some(*target),
            None => self.u64(address),
        }
    }

    /// A C string of at most 64 KB.
    pub fn text(&self, address: u64) -> Option<String> {
        let mut bytes = Vec::new();
        while bytes.len() < 1 << 16 {
            match self.number::<1>(address.checked_add(bytes.len() as u64)?)? {
                [0] => {
                    return Some(
                        String::from_utf8(bytes)
                            .unwrap_or_else(|e| e.into_bytes().iter().map(|&b| char::from(b)).collect()),
                    );
                }
                [byte] => bytes.push(byte),
            }
        }
        None
    }

    /// For each name of a function that has several, all of them.
    pub fn aliases(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for group in self.symbols.chunk_by(|a, b| a.address == b.address) {
            let named = group.iter().filter(|symbol| matches!(symbol.kind, SymbolKind::Text | SymbolKind::Unknown));
            let names: BTreeSet<&str> = named.map(|symbol| symbol.name).collect();
            for name in names.iter().filter(|_| names.len() > 1) {
                found.entry((*name).to_owned()).or_default().extend(names.iter().map(|&name| name.to_owned()));
            }
        }
        found
    }

    /// All symbols at an address.
    pub fn at(&self, address: u64) -> &[Symbol<'d>] {
        let from = self.symbols.partition_point(|symbol| symbol.address < address);
        let to = self.symbols.partition_point(|symbol| symbol.address <= address);
        self.symbols.get(from..to).unwrap_or(&[])
    }

    /// The symbol that best names an address: what the C file calls it rather than an alias that others see.
    pub fn named(&self, address: u64) -> Option<&Symbol<'d>> {
        let rank = |symbol: &&Symbol| (!symbol.local, symbol.name.starts_with('_'), symbol.name.len());
        self.at(address).iter().filter(|symbol| !symbol.name.is_empty()).min_by_key(rank)
    }
}

/// Names without an address in the library.
#[derive(Default)]
struct Outside<'d> {
    by_name: FxHashMap<String, u64>,
    symbols: Vec<Symbol<'d>>,
}

impl<'d> Outside<'d> {
    fn address(&mut self, name: &'d str) -> u64 {
        if let Some(address) = self.by_name.get(name) {
            return *address;
        }
        let address = OUTSIDE + 16 * self.by_name.len() as u64;
        self.by_name.insert(name.to_owned(), address);
        self.symbols.push(Symbol {
            name: plain(name),
            address,
            size: 0,
            kind: SymbolKind::Unknown,
            local: false,
            file: None,
        });
        address
    }
}

fn symbol_address<'d>(
    file: &File<'d>,
    index: SymbolIndex,
    bases: &FxHashMap<SectionIndex, u64>,
    globals: &FxHashMap<&str, u64>,
    outside: &mut Outside<'d>,
) -> Option<u64> {
    let symbol = file.symbol_by_index(index).ok()?;
    if let Some(section) = symbol.section_index() {
        return bases.get(&section).map(|base| base.wrapping_add(symbol.address()));
    }
    let name = symbol.name().ok()?;
    Some(globals.get(plain(name)).copied().unwrap_or_else(|| outside.address(name)))
}

/// The object files of an archive.
fn members(library: &[u8]) -> Result<Vec<&[u8]>, BinaryError> {
    let archive = ArchiveFile::parse(library).map_err(BinaryError::malformed)?;
    archive
        .members()
        .map(|member| member.and_then(|member| member.data(library)).map_err(BinaryError::malformed))
        .collect()
}

fn parse(bytes: &[u8]) -> Result<File<'_>, BinaryError> {
    let file = File::parse(bytes).map_err(BinaryError::malformed)?;
    if file.architecture() != Architecture::X86_64 || !file.is_64() {
        return Err(BinaryError::Foreign { found: format!("{:?}", file.architecture()) });
    }
    Ok(file)
}

fn is_memory(kind: SectionKind) -> bool {
    matches!(
        kind,
        SectionKind::Text
            | SectionKind::Data
            | SectionKind::ReadOnlyData
            | SectionKind::ReadOnlyDataWithRel
            | SectionKind::ReadOnlyString
            | SectionKind::UninitializedData
    )
}

/// A symbol's name without `.part.0`, `.lto_priv.1`, `@VERSION`.
fn plain(name: &str) -> &str {
    name.split(['.', '@']).next().unwrap_or(name)
}
