//! Compares coverage with that of an earlier run: a row may not fall to a worse state.
use super::rows::{Coverage, Row, SCHEMA, State};
use crate::place;
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What `--format json` writes, as far as a comparison reads it.
#[derive(Debug, Deserialize)]
struct Published {
    schema: String,
    releases: Vec<Coverage>,
}

/// A row that was covered better before.
#[derive(Clone, Debug)]
pub struct Fall {
    /// The release.
    pub release: String,
    /// The row as it was.
    pub before: Row,
    /// The row as it is; none if it is gone.
    pub after: Option<Row>,
}

impl Fall {
    /// What fell, and how far.
    pub fn text(&self) -> String {
        let after = self.after.as_ref().map_or("gone", |row| row.state.word());
        format!("CPython {}: {}: {} before, {after} now", self.release, self.before.id, self.before.state.word())
    }
}

/// Reads a baseline.
pub fn read(path: &Path) -> Result<Vec<Coverage>> {
    let way = "write one with `cargo xtask audit --format json > FILE`";
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the baseline {} cannot be read", place::shown(path)))
        .advise(way)?;
    let found: Published = serde_json::from_str(&text)
        .with_context(|| format!("{} is no report of an audit", place::shown(path)))
        .advise(way)?;
    if found.schema != SCHEMA {
        return Err(anyhow!("{} has the schema {}, not {SCHEMA}", place::shown(path), found.schema)).advise(way);
    }
    Ok(found.releases)
}

/// The rows that fell. A row that C no longer has falls as well, but only within the same sources.
pub fn falls(before: &[Coverage], after: &[Coverage]) -> Vec<Fall> {
    let series = |release: &str| release.split('.').take(2).collect::<Vec<_>>().join(".");
    let mut falls = Vec::new();
    for now in after {
        let Some(then) = before.iter().find(|then| series(&then.release) == series(&now.release)) else { continue };
        let rows: BTreeMap<(_, &str), &Row> = now.rows.iter().map(|row| ((row.kind, row.id.as_str()), row)).collect();
        let same_sources = then.digest == now.digest;
        for row in then.rows.iter().filter(|row| row.state > State::Untraced) {
            let found = rows.get(&(row.kind, row.id.as_str())).copied();
            let fell = found.map_or(same_sources, |found| found.state < row.state);
            if fell {
                falls.push(Fall { release: now.release.clone(), before: row.clone(), after: found.cloned() });
            }
        }
    }
    falls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::coverage::rows::{Kind, Totals};

    fn row(id: &str, state: State) -> Row {
        let text = String::new;
        Row {
            id: id.into(),
            kind: Kind::Slot,
            owner: text(),
            name: text(),
            state,
            function: None,
            file: None,
            line: None,
            digest: None,
            from: None,
            why: text(),
            uses: 0,
        }
    }

    fn coverage(digest: &str, rows: Vec<Row>) -> Coverage {
        Coverage {
            release: "3.13.5".into(),
            digest: digest.into(),
            bodies: None,
            counted: BTreeMap::new(),
            slots: Vec::new(),
            types: Vec::new(),
            absent: 0,
            totals: Totals::new(),
            rows,
        }
    }

    #[test]
    fn rows_that_fall_or_vanish_are_named() {
        let before = coverage("a", vec![row("x", State::Translated), row("y", State::Break), row("z", State::Native)]);
        let after = coverage("a", vec![row("x", State::Native), row("y", State::Break)]);
        let found: Vec<String> =
            falls(std::slice::from_ref(&before), std::slice::from_ref(&after)).iter().map(Fall::text).collect();
        assert_eq!(
            found,
            [
                "CPython 3.13.5: x: translated before, native on proxies now",
                "CPython 3.13.5: z: native on proxies before, gone now"
            ]
        );
        assert!(
            falls(std::slice::from_ref(&after), std::slice::from_ref(&before)).is_empty(),
            "what rises does not fall"
        );
        let other_sources = Coverage { digest: "b".into(), ..after };
        assert_eq!(falls(&[before], &[other_sources]).len(), 1, "what C no longer has is no fall");
    }
}
