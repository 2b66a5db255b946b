//! What is covered of a release, row by row: slots, methods, getters, slotdefs, instructions, vocabulary.
//!
//! In: facts, generated modules, the tables of the runtime's sources. Out: `Coverage`. It knows no format but its own text.
pub mod baseline;
mod collect;
pub mod render;
pub mod rows;
mod states;

#[cfg(test)]
pub use collect::collect_with;
pub use collect::{by_name, collect};
pub use rows::{Coverage, Row, SCHEMA};

use super::findings::{Finding, Severity};
use baseline::Fall;

/// What breaks the graph, as notes.
pub fn findings(coverage: &Coverage) -> Vec<Finding> {
    let missing = coverage.missing();
    missing
        .into_iter()
        .map(|row| finding(row, &coverage.release, Severity::Note, "not-covered", message(row)))
        .collect()
}

fn message(row: &Row) -> String {
    let why = if row.why.is_empty() { String::new() } else { format!(": {}", row.why) };
    format!("{} breaks the graph{why}.", row.id)
}

/// What is covered worse than before, as errors.
pub fn fallen(falls: &[Fall]) -> Vec<Finding> {
    let text = |fall: &Fall| format!("{}.", fall.text());
    falls
        .iter()
        .map(|fall| {
            finding(
                fall.after.as_ref().unwrap_or(&fall.before),
                &fall.release,
                Severity::Error,
                "coverage-fell",
                text(fall),
            )
        })
        .collect()
}

fn finding(row: &Row, release: &str, severity: Severity, rule: &str, message: String) -> Finding {
    let advice = match &row.function {
        Some(function) => {
            format!("`cargo xtask explain {}` shows the way to {function}, and what prevents it.", row.id)
        }
        None => format!("`cargo xtask explain {}` shows what is known of it.", row.id),
    };
    Finding {
        rule: rule.to_owned(),
        severity,
        message,
        advice,
        path: row.file.clone().unwrap_or_else(|| "Include/opcode_ids.h".to_owned()),
        line: row.line.unwrap_or(0),
        function: row.function.clone(),
        c_place: Some(row.place()).filter(|place| !place.is_empty()),
        release: release.to_owned(),
        digest: row.digest.clone(),
        subject: row.id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::rows::{Kind, State};
    use super::*;
    use crate::audit::usage::Usage;

    #[test]
    fn a_release_has_rows_of_every_kind_and_the_counts_agree() {
        let coverage = collect_with("3.13", Usage::default()).unwrap();
        for kind in Kind::ALL {
            assert!(coverage.rows.iter().any(|row| row.kind == kind), "{kind:?}");
        }
        let filled = coverage.rows.iter().filter(|row| row.kind == Kind::Slot).count();
        assert_eq!(filled + coverage.absent, coverage.types.len() * coverage.slots.len());
        let row = coverage.rows.iter().find(|row| row.id == "dict.nb_or").unwrap();
        assert_eq!(row.function.as_deref(), Some("dict_or"));
        assert_eq!(row.file.as_deref(), Some("Objects/dictobject.c"));
        assert!(row.digest.is_some() && row.state > State::Break);
        let ids: std::collections::BTreeSet<_> = coverage.rows.iter().map(|row| (row.kind, &row.id)).collect();
        assert_eq!(ids.len(), coverage.rows.len(), "an id means one row");
    }

    #[test]
    fn a_release_that_is_not_traced_says_so_of_every_row() {
        let coverage = collect_with("3.9", Usage::default()).unwrap();
        assert!(!coverage.rows.is_empty() && coverage.rows.iter().all(|row| row.state == State::Untraced));
        assert!(coverage.missing().is_empty());
    }
}
