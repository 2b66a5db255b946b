//! The reviewed differences between a release's tables and an interpreter of another patch release.

use serde::{Deserialize, Serialize};

use super::ProveError;
use crate::facts::Type;

const DATA: &str = include_str!("../../data/exceptions.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    exception: Vec<Row>,
    alone: Vec<AloneRow>,
}

/// Types that only one side has, in any release.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AloneRow {
    only: Side,
    types: Vec<String>,
    reason: String,
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The tables: sources, or a library where it is compared with a process.
    Tables,
    /// The library that sources are compared with.
    Library,
    /// The process.
    Process,
}

/// A type that only one side has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Alone {
    /// Which side.
    pub only: Side,
    /// Its compiled file, where it is known.
    pub file: String,
    /// Its C variable, where it has one.
    pub c_name: String,
    /// `tp_name`.
    pub tp_name: String,
    /// Why, from the reviewed exceptions.
    pub reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    tables: String,
    process: String,
    #[serde(rename = "type")]
    ty: String,
    slots: Vec<String>,
    reason: String,
}

impl Alone {
    /// A type of the tables or of a library.
    pub(super) fn of(ty: &Type, only: Side) -> Alone {
        let (file, c_name, tp_name) = (ty.unit().to_owned(), ty.c_name.clone(), ty.tp_name.clone());
        Alone { only, file, c_name, tp_name, reason: None }
    }
}

/// The exceptions for one pair of releases.
pub(super) struct Exceptions {
    rows: Vec<Row>,
    alone: Vec<AloneRow>,
}

impl Exceptions {
    /// Reads the rows for the tables of one release and a process of another.
    pub(super) fn between(tables: &str, process: &str) -> Result<Self, ProveError> {
        let data: Data = toml::from_str(DATA).map_err(|error| ProveError::Exceptions(error.to_string()))?;
        let rows = data.exception.into_iter();
        let rows = rows.filter(|row| row.tables == tables && row.process == process && tables != process).collect();
        Ok(Self { rows, alone: data.alone })
    }

    /// Why a slot may differ.
    pub(super) fn reason(&self, ty: &str, slot: &str) -> Option<String> {
        let row = self.rows.iter().find(|row| row.ty == ty && row.slots.iter().any(|known| known == slot));
        row.map(|row| row.reason.clone())
    }

    /// Says why only one side has these types, where that is reviewed.
    pub(super) fn explain(&self, alone: &mut [Alone]) {
        for ty in alone {
            let names = |known: &String| *known == ty.c_name || *known == ty.tp_name;
            let row = self.alone.iter().find(|row| row.only == ty.only && row.types.iter().any(names));
            ty.reason = row.map(|row| row.reason.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exceptions;

    #[test]
    fn a_row_counts_for_its_releases_only() {
        let known = |tables, process| Exceptions::between(tables, process).unwrap().reason("zoneinfo_spec", "tp_new");
        assert!(known("3.13.5", "3.13.0").is_some());
        assert!(known("3.13.5", "3.13.5").is_none());
        assert!(known("3.13.15", "3.13.0").is_none());
    }
}
