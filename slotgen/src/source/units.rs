//! Which C files are no units of a build: data, with a reason a row, in `data/units.toml`.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Table {
    #[serde(rename = "not-a-unit")]
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    paths: Vec<String>,
    reason: String,
}

const DATA: &str = include_str!("../../data/units.toml");

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    // A test asserts that the embedded table parses.
    toml::from_str::<Table>(DATA).map(|table| table.rows).unwrap_or_default()
});

/// Why the file of that path is no unit; `None` when it is one.
pub(super) fn why_no_unit(path: &str) -> Option<&'static str> {
    let names = |row: &&Row| row.paths.iter().any(|p| path == p || (p.ends_with('/') && path.starts_with(p.as_str())));
    ROWS.iter().find(names).map(|row| row.reason.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_table_is_sound() {
        let table: Table = toml::from_str(DATA).unwrap();
        assert!(table.rows.iter().all(|row| row.reason.len() > 10 && !row.paths.is_empty()));
        assert!(why_no_unit("Objects/mimalloc/prim/prim.c").is_some());
        assert!(why_no_unit("Objects/dictobject.c").is_none());
    }
}
