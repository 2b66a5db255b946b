//! Reads the packed tables; every access is bounds-checked.
use crate::status::{SLOTRT_OUT_OF_RANGE, SLOTRT_UNKNOWN_RELEASE, slotrt_status};
use core::ffi::{CStr, c_char};

static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/words.bin"));
static TEXT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/text.bin"));

/// Words in front of the heads.
const START: usize = 2;
/// Words of a head in front of the caches, and words of the caches.
const FIXED: usize = 4;
const CACHES: usize = 64;

/// A table of a release, in the order of the pack.
#[derive(Clone, Copy)]
pub enum Table {
    Slots,
    Slotdefs,
    Wrappers,
    Types,
    Values,
    Methods,
    Getsets,
    Members,
    Opcodes,
    Structs,
    Fields,
}

impl Table {
    /// Words of a row.
    const fn width(self) -> usize {
        match self {
            Table::Slots | Table::Slotdefs | Table::Structs => 7,
            Table::Wrappers => 3,
            Table::Types => 18,
            Table::Values | Table::Methods | Table::Getsets | Table::Members | Table::Fields => 4,
            Table::Opcodes => 10,
        }
    }
}

fn word(place: usize) -> u32 {
    let bytes = WORDS.as_chunks::<4>().0.get(place);
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// How many releases there are.
pub fn releases() -> u32 {
    word(0)
}

/// A release.
#[derive(Clone, Copy)]
pub struct Release {
    head: usize,
}

impl Release {
    /// The release at a place.
    pub fn at(index: u32) -> Option<Self> {
        (index < releases()).then(|| Self { head: START + index as usize * word(1) as usize })
    }

    /// The release with this `PY_VERSION_HEX >> 16`.
    pub fn of(series: u32) -> Result<Self, slotrt_status> {
        let all = (0..releases()).filter_map(Self::at);
        let mut found = all.filter(|release| release.series() == series);
        found.next().ok_or(SLOTRT_UNKNOWN_RELEASE)
    }

    /// `PY_VERSION_HEX >> 16`.
    pub fn series(self) -> u32 {
        word(self.head)
    }

    /// The patch release that was read.
    pub fn version(self) -> *const c_char {
        text(word(self.head + 1))
    }

    /// 0: C sources. 1: a compiled library and its headers.
    pub fn origin(self) -> u32 {
        word(self.head + 2)
    }

    /// `HAVE_ARGUMENT`.
    pub fn have_argument(self) -> u32 {
        word(self.head + 3)
    }

    /// The 256 bytes of `_PyOpcode_Caches`.
    pub fn caches(self) -> &'static [u8] {
        let start = (self.head + FIXED) * 4;
        WORDS.get(start..start + CACHES * 4).unwrap_or(&[])
    }

    fn extent(self, table: Table) -> (u32, u32) {
        let place = self.head + FIXED + CACHES + table as usize * 2;
        (word(place), word(place + 1))
    }

    /// Rows of a table.
    pub fn count(self, table: Table) -> u32 {
        self.extent(table).1
    }

    /// A row.
    pub fn row(self, table: Table, index: u32) -> Result<Row, slotrt_status> {
        let (start, count) = self.extent(table);
        if index >= count {
            return Err(SLOTRT_OUT_OF_RANGE);
        }
        let heads = START + word(0) as usize * word(1) as usize;
        Ok(Row { place: heads + start as usize + index as usize * table.width() })
    }

    /// The first row whose first word is a text equal to this one, and its index.
    pub fn named(self, table: Table, column: usize, name: &CStr) -> Option<(u32, Row)> {
        let rows = (0..self.count(table)).filter_map(|index| Some((index, self.row(table, index).ok()?)));
        let mut found = rows.filter(|(_, row)| row.str(column) == Some(name));
        found.next()
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
pub struct Row {
    place: usize,
}

impl Row {
    /// A word of it.
    pub fn word(self, column: usize) -> u32 {
        word(self.place + column)
    }

    /// A text of it, NULL if there is none.
    pub fn text(self, column: usize) -> *const c_char {
        text(self.word(column))
    }

    /// A text of it.
    pub fn str(self, column: usize) -> Option<&'static CStr> {
        let place = self.word(column) as usize;
        (place != 0).then(|| CStr::from_bytes_until_nul(TEXT.get(place..).unwrap_or(&[])).ok()).flatten()
    }
}

fn text(place: u32) -> *const c_char {
    match TEXT.get(place as usize..) {
        Some(rest) if place != 0 => rest.as_ptr().cast(),
        _ => core::ptr::null(),
    }
}
