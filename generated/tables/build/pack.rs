//! The packed form: tables of 32-bit words, and a pool of texts that words point into.
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error;

/// What goes wrong while packing.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Tables of a release, in the order of `slotrt_tables::packed::Table`.
pub const TABLES: usize = 11;

/// Everything packed so far.
pub struct Pack {
    words: Vec<u32>,
    text: Vec<u8>,
    known: HashMap<String, u32>,
    /// For each release: series, version, origin, first opcode with an argument, 256 bytes of caches, and place and size of its tables.
    heads: Vec<Vec<u32>>,
}

impl Default for Pack {
    fn default() -> Self {
        // Place 0 stands for no text, place 1 holds the empty one.
        let known = HashMap::from([(String::new(), 1)]);
        Self { words: Vec::new(), text: vec![0, 0], known, heads: Vec::new() }
    }
}

impl Pack {
    /// The place of a text.
    pub fn text(&mut self, text: &str) -> u32 {
        if let Some(place) = self.known.get(text) {
            return *place;
        }
        let place = self.text.len() as u32;
        self.text.extend(text.bytes().filter(|byte| *byte != 0));
        self.text.push(0);
        self.known.insert(text.to_owned(), place);
        place
    }

    /// The place of a text, or 0 where there is none.
    pub fn value(&mut self, value: &Value) -> u32 {
        value.as_str().map_or(0, |text| self.text(text))
    }

    /// The place of a list of names, joined as C joins flags.
    pub fn flags(&mut self, value: &Value) -> u32 {
        let names: Vec<&str> = list(value).iter().filter_map(Value::as_str).collect();
        self.text(&names.join(" | "))
    }

    /// A release with its tables.
    pub fn release(&mut self, head: Vec<u32>, caches: &[u8; 256], tables: [Vec<Vec<u32>>; TABLES]) {
        let mut head = head;
        head.extend(caches.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        for rows in tables {
            head.extend([self.words.len() as u32, rows.len() as u32]);
            self.words.extend(rows.into_iter().flatten());
        }
        self.heads.push(head);
    }

    /// The words, little-endian, and the texts. The heads come first: how many, how long, then one after the other.
    pub fn finish(self) -> (Vec<u8>, Vec<u8>) {
        let length = self.heads.first().map_or(0, Vec::len);
        let mut all = vec![self.heads.len() as u32, length as u32];
        all.extend(self.heads.into_iter().flatten());
        all.extend(self.words);
        (all.into_iter().flat_map(u32::to_le_bytes).collect(), self.text)
    }
}

/// The items of a list; none of anything else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A number that fits.
pub fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

/// `PY_VERSION_HEX >> 16` of facts: 0x030D for 3.13.
pub fn series(facts: &Value) -> Result<u32> {
    let release = facts["release"].as_str().ok_or("facts without a release")?;
    let mut parts = release.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok(major << 8 | minor),
        _ => Err(format!("`{release}` is no release").into()),
    }
}
