//! What a user may mean: a row of the audit, an operator, a C function, a function of a module, a message.
use crate::audit::coverage::rows::{Kind, Row};
use crate::audit::dossier::Archive;
use crate::audit::index::Entry;
use slotgen::facts::{Facts, Slotdef};

/// How many C functions one message may lead to.
const FUNCTIONS: usize = 8;

/// What was meant.
#[derive(Debug, Default)]
pub struct Meant<'a> {
    /// How the text was understood.
    pub how: String,
    /// Rows of the audit.
    pub rows: Vec<&'a Row>,
    /// C functions.
    pub functions: Vec<&'a Entry>,
}

/// Everything that can be meant.
pub struct Known<'a> {
    /// The audit's rows.
    pub rows: &'a [Row],
    /// The C sources.
    pub archive: &'a Archive,
    /// The facts.
    pub facts: &'a Facts,
}

impl<'a> Known<'a> {
    /// What a text means; nothing where it means nothing.
    pub fn find(&self, asked: &str) -> Meant<'a> {
        let asked = asked.trim();
        type Way<'w, 'a> = (&'static str, &'w dyn Fn() -> Meant<'a>);
        let ways: [Way<'_, 'a>; 6] = [
            ("a row of the audit", &|| self.row(asked)),
            ("a special method", &|| self.special(asked)),
            ("an operator", &|| self.operator(asked)),
            ("a C function", &|| self.function(asked)),
            ("a slot", &|| self.slot(asked)),
            ("a message", &|| self.message(asked)),
        ];
        for (how, way) in ways {
            let found = way();
            if !found.rows.is_empty() || !found.functions.is_empty() {
                return Meant { how: how.to_owned(), ..found };
            }
        }
        Meant::default()
    }

    fn with_functions(&self, rows: Vec<&'a Row>) -> Meant<'a> {
        let named = rows.iter().filter_map(|row| Some((row.function.as_deref()?, row.file.as_deref()?)));
        let mut functions: Vec<&Entry> = Vec::new();
        for entry in named.filter_map(|(function, file)| self.archive.index.find(function, file)) {
            if !functions.iter().any(|known| known.name == entry.name && known.unit == entry.unit) {
                functions.push(entry);
            }
        }
        Meant { how: String::new(), rows, functions }
    }

    fn row(&self, asked: &str) -> Meant<'a> {
        // `operator.or_` is `_operator.or_` in C.
        let private = format!("_{asked}");
        let found = self.rows.iter().filter(|row| row.id == asked || row.kind == Kind::Function && row.id == private);
        self.with_functions(found.collect())
    }

    /// `__or__`, `dict.__or__`.
    fn special(&self, asked: &str) -> Meant<'a> {
        let (owner, name) = asked.rsplit_once('.').map_or((None, asked), |(owner, name)| (Some(owner), name));
        let defs: Vec<&Slotdef> = self.facts.slotdefs.iter().filter(|def| def.name == name).collect();
        self.slots(&defs, owner)
    }

    fn slots(&self, defs: &[&Slotdef], owner: Option<&str>) -> Meant<'a> {
        let is_row = |row: &&Row| match row.kind {
            Kind::Slotdef => owner.is_none() && defs.iter().any(|def| row.name == format!("{}/{}", def.name, def.slot)),
            Kind::Slot => owner == Some(row.owner.as_str()) && defs.iter().any(|def| row.name == def.slot),
            _ => false,
        };
        self.with_functions(self.rows.iter().filter(is_row).collect())
    }

    /// `BINARY_OP |`, `|`, `dict |`: the symbol stands in the documentation of the special method.
    fn operator(&self, asked: &str) -> Meant<'a> {
        let (before, symbol) = asked.rsplit_once(' ').map_or(("", asked), |(before, symbol)| (before.trim(), symbol));
        if symbol.is_empty() || symbol.chars().any(|c| c.is_alphanumeric() || c == '_' || c == '"') {
            return Meant::default();
        }
        let forms = [format!("self{symbol}value."), format!("{symbol}self")];
        let written = |def: &&Slotdef| {
            let text = def.doc.rsplit("\n--\n\n").next().unwrap_or_default();
            let power =
                symbol.trim_end_matches('=') == "**" && text.starts_with("Return pow(self") && !symbol.ends_with('=');
            power || text.ends_with(&forms[0]) || text == forms[1]
        };
        let defs: Vec<&Slotdef> = self.facts.slotdefs.iter().filter(written).collect();
        let opcode = self.rows.iter().find(|row| row.kind == Kind::Opcode && row.id == before);
        let owner = Some(before).filter(|owner| opcode.is_none() && !owner.is_empty());
        let mut meant = self.slots(&defs, owner);
        if !meant.rows.is_empty() {
            meant.rows.splice(0..0, opcode);
            meant.functions.extend(self.readers(&defs));
        }
        meant
    }

    /// The functions of C's API that read the slots.
    fn readers(&self, defs: &[&Slotdef]) -> Vec<&'a Entry> {
        let keys = defs.iter().flat_map(|def| self.archive.readers(&def.slot));
        let api = keys.filter(|(unit, name)| unit == "Objects/abstract.c" && name.starts_with("Py"));
        let mut found: Vec<&Entry> = api.filter_map(|(unit, name)| self.archive.index.find(name, unit)).collect();
        found.sort_by_key(|entry| entry.line);
        found.dedup_by_key(|entry| &entry.name);
        found
    }

    fn function(&self, asked: &str) -> Meant<'a> {
        let functions = self.archive.index.named(asked);
        let rows = self.rows.iter().filter(|row| row.function.as_deref() == Some(asked)).collect();
        if functions.is_empty() { Meant::default() } else { Meant { how: String::new(), rows, functions } }
    }

    /// `nb_or`: its definitions, and the functions that read it.
    fn slot(&self, asked: &str) -> Meant<'a> {
        let defs: Vec<&Slotdef> = self.facts.slotdefs.iter().filter(|def| def.slot == asked).collect();
        let mut meant = self.slots(&defs, None);
        meant.functions.extend(self.readers(&defs));
        meant
    }

    /// Part of a message: the functions whose strings have it, with `%` parts standing for anything.
    fn message(&self, asked: &str) -> Meant<'a> {
        if asked.len() < 6 {
            return Meant::default();
        }
        let says = |entry: &&Entry| entry.strings.iter().any(|text| fits(text, asked));
        let functions: Vec<&Entry> = self.archive.index.entries.iter().filter(says).take(FUNCTIONS).collect();
        let of = |row: &&Row| functions.iter().any(|entry| row.function.as_deref() == Some(&entry.name));
        Meant { how: String::new(), rows: self.rows.iter().filter(of).take(FUNCTIONS * 4).collect(), functions }
    }
}

/// Whether a format of C can give a text: what stands between its `%` parts comes in order.
pub fn fits(format: &str, text: &str) -> bool {
    if format.contains(text) {
        return true;
    }
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        parts.push(&rest[..at]);
        let tail = &rest[at + 1..];
        let length =
            tail.find(|c: char| c.is_ascii_alphabetic() && !"lzjth".contains(c)).map_or(tail.len(), |at| at + 1);
        rest = tail.get(length..).unwrap_or_default();
    }
    parts.push(rest);
    let length: usize = parts.iter().map(|part| part.trim().len()).sum();
    if parts.len() < 2 || length < 10 {
        return false;
    }
    let mut from = 0;
    parts.iter().all(|part| match text.get(from..).and_then(|rest| rest.find(part)) {
        Some(at) => {
            from += at + part.len();
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn formats_fit_what_they_give() {
        let format = "unsupported operand type(s) for %.100s: '%.100s' and '%.100s'";
        assert!(fits(format, "unsupported operand type(s) for |: 'dict' and 'int'"));
        assert!(fits(format, "unsupported operand"));
        assert!(!fits(format, "unsupported format"));
        assert!(!fits("%s", "anything at all"));
    }
}
