//! The reviewed differences between a release's tables and an interpreter of another patch release.

use serde::Deserialize;

use super::ProveError;

const DATA: &str = include_str!("../../data/exceptions.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    exception: Vec<Row>,
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

/// The exceptions for one pair of releases.
pub(super) struct Exceptions(Vec<Row>);

impl Exceptions {
    /// Reads the rows for the tables of one release and a process of another.
    pub(super) fn between(tables: &str, process: &str) -> Result<Self, ProveError> {
        let data: Data = toml::from_str(DATA).map_err(|error| ProveError::Exceptions(error.to_string()))?;
        let rows = data.exception.into_iter();
        Ok(Self(rows.filter(|row| row.tables == tables && row.process == process && tables != process).collect()))
    }

    /// Why a slot may differ.
    pub(super) fn reason(&self, ty: &str, slot: &str) -> Option<String> {
        let row = self.0.iter().find(|row| row.ty == ty && row.slots.iter().any(|known| known == slot));
        row.map(|row| row.reason.clone())
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
