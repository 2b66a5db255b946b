//! `test --torch --ops`: compiles PyTorch's own operators with the samples of its tests, and compares them with themselves.
use super::script::{Script, cell};
use super::tally::Tally;
use crate::obtain::{Interpreter, torch};
use crate::ui::Step;
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One operator, as the script reports it.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    /// `nn.functional.conv2d`.
    operator: String,
    /// `one graph`, `no operation`, `breaks`, `no samples`; or a failure: `wrong`, `refused`, `died`, `fails`.
    outcome: String,
    /// The first break, or what differs.
    why: Option<String>,
    /// How many calls were compared.
    #[serde(default)]
    samples: u64,
    /// The types of numbers that were tried.
    #[serde(default)]
    dtypes: Vec<String>,
}

/// Runs the operators whose names contain one of these, or all; `all`: with all samples.
pub fn run(base: &Interpreter, names: &[String], all: bool) -> Result<Tally> {
    let python = torch::ensure(base)?;
    develop::install(&python, Profile::Release)?;
    let mut script = Script::new(&python, "operators")?;
    let folder = script.results();
    script.command.args(names).arg("--kept").arg(folder.join(format!("{}.jsonl", base.series())));
    if all {
        script.command.arg("--all");
    }
    let step = Step::start(format!("PyTorch's operators, CPython {}", base.full_version()));
    let (mut rows, early) = script.rows(&step, |row: &Row| &row.operator)?;
    rows.sort_by(|one, other| one.operator.cmp(&other.operator));
    let mut tally = tally(&rows);
    tally.failed.extend(early);
    script.write(&rows, &table(&rows))?;
    let text = format!("{}; {} has the table", figures(&rows), place::shown(&folder));
    if tally.failed.is_empty() {
        step.done(text)
    } else {
        step.failed(text)
    };
    Ok(tally)
}

/// One graph passes, what is right but not one graph counts as skipped.
fn tally(rows: &[Row]) -> Tally {
    let mut tally = Tally::default();
    for Row { operator, outcome, why, .. } in rows {
        let why = why.clone().unwrap_or_default();
        match outcome.as_str() {
            "one graph" | "no operation" => tally.passed += 1,
            "breaks" => tally.skip(operator.clone(), format!("right, but not one graph: {why}")),
            "no samples" => tally.skip(operator.clone(), "no sample that PyTorch takes".to_owned()),
            _ => tally.failed.push(format!("{operator} ({outcome}: {why})")),
        }
    }
    tally
}

/// `650 one graph, 50 breaks`.
fn figures(rows: &[Row]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(&row.outcome).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts: Vec<_> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    parts.join(", ")
}

fn table(rows: &[Row]) -> String {
    let mut text = format!("# PyTorch's operators, compiled\n\n{} operators: {}.\n\n", rows.len(), figures(rows));
    text.push_str("| operator | outcome | calls | types | why |\n| --- | --- | ---: | ---: | --- |\n");
    for Row { operator, outcome, why, samples, dtypes } in rows {
        let why = cell(why.as_deref().unwrap_or_default());
        // Writing to a string does not fail.
        let _ = writeln!(text, "| `{operator}` | {outcome} | {samples} | {} | {why} |", dtypes.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Row, figures, table, tally};

    fn row(operator: &str, outcome: &str, why: Option<&str>) -> Row {
        let (operator, outcome, why) = (operator.to_owned(), outcome.to_owned(), why.map(str::to_owned));
        Row { operator, outcome, why, samples: 3, dtypes: vec!["torch.float32".to_owned()] }
    }

    #[test]
    fn a_wrong_operator_fails_and_a_break_does_not() {
        let rows = [
            row("add", "one graph", None),
            row("nonzero", "breaks", Some("a | b")),
            row("sub", "wrong", Some("results")),
            row("empty", "no samples", None),
        ];
        let tally = tally(&rows);
        assert_eq!((tally.passed, tally.skipped.len()), (1, 2));
        assert_eq!(tally.failed, ["sub (wrong: results)"]);
        assert_eq!(figures(&rows[..2]), "1 breaks, 1 one graph");
        assert!(table(&rows).contains("| `nonzero` | breaks | 3 | 1 | a \\| b |"));
    }
}
