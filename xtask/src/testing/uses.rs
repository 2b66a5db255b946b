//! `test --torch --uses`: what the tests have of PyTorch's uses, compiled here and by TorchDynamo, and compared with themselves.
use super::script::{Script, cell};
use super::tally::Tally;
use crate::obtain::{Interpreter, torch};
use crate::ui::Step;
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// What one compiler does with a use, over three calls.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Done {
    /// `equal`; or a failure: `differs`, `raises`, and, of slotrt, `died`, `fails`.
    outcome: String,
    /// What differs, or was raised.
    #[serde(default)]
    why: String,
    #[serde(default)]
    graphs: u64,
    #[serde(default)]
    breaks: u64,
}

impl Done {
    fn is_equal(&self) -> bool {
        self.outcome == "equal"
    }

    fn is_whole(&self) -> bool {
        self.is_equal() && self.graphs > 0 && self.breaks == 0
    }

    /// `2 / 1`, graphs and breaks; what is wrong otherwise.
    fn shown(&self) -> String {
        match self.is_equal() {
            true => format!("{} / {}", self.graphs, self.breaks),
            false => cell(&format!("{} / {}, {}: {}", self.graphs, self.breaks, self.outcome, self.why)),
        }
    }
}

/// One use, as the script reports it.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    /// `uses_of_checkpoints: nested`.
    r#use: String,
    #[serde(flatten)]
    done: Done,
    /// The same of TorchDynamo.
    #[serde(default)]
    peer: Done,
}

impl Row {
    /// Whether TorchDynamo compiles the use, does what the program does, and breaks less often.
    fn is_behind(&self) -> bool {
        self.peer.is_equal() && self.peer.graphs > 0 && self.done.breaks > self.peer.breaks
    }
}

/// Runs the uses in files of the tests whose names contain one of these, or all.
pub fn run(base: &Interpreter, names: &[String]) -> Result<Tally> {
    let python = torch::ensure(base)?;
    develop::install(&python, Profile::Release)?;
    let mut script = Script::new(&python, "uses")?;
    script.command.args(names);
    let step = Step::start(format!("Uses of PyTorch, here and in TorchDynamo, CPython {}", base.full_version()));
    let (mut rows, early) = script.rows(&step, |row: &Row| &row.r#use)?;
    rows.sort_by(|one, other| one.r#use.cmp(&other.r#use));
    let mut tally = tally(&rows);
    tally.failed.extend(early);
    script.write(&rows, &table(&rows))?;
    let text = format!("{}; {} has the table", figures(&rows), place::shown(&script.results()));
    if tally.failed.is_empty() {
        step.done(text)
    } else {
        step.failed(text)
    };
    Ok(tally)
}

/// What is right passes; with more breaks than TorchDynamo has, it counts as skipped.
fn tally(rows: &[Row]) -> Tally {
    let mut tally = Tally::default();
    for row in rows {
        match (row.done.is_equal(), row.is_behind()) {
            (true, false) => tally.passed += 1,
            (true, true) => {
                let why = format!("right, with {} breaks; TorchDynamo has {}", row.done.breaks, row.peer.breaks);
                tally.skip(row.r#use.clone(), why);
            }
            (false, _) => tally.failed.push(format!("{} ({}: {})", row.r#use, row.done.outcome, row.done.why)),
        }
    }
    tally
}

fn figures(rows: &[Row]) -> String {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    format!(
        "{} uses: no break in {}, in {} in TorchDynamo; {} that TorchDynamo breaks less often, {} more often; {} right, {} in TorchDynamo",
        rows.len(),
        count(&|row| row.done.is_whole()),
        count(&|row| row.peer.is_whole()),
        count(&Row::is_behind),
        count(&|row| row.done.is_equal() && row.peer.breaks > row.done.breaks),
        count(&|row| row.done.is_equal()),
        count(&|row| row.peer.is_equal()),
    )
}

fn table(rows: &[Row]) -> String {
    let mut text = format!("# Uses of PyTorch: graphs and breaks of three calls\n\n{}.\n\n", figures(rows));
    text.push_str("| use | slotrt | TorchDynamo |\n| --- | --- | --- |\n");
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} | {} | {} |", cell(&row.r#use), row.done.shown(), row.peer.shown());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Done, Row, figures, table, tally};

    fn done(outcome: &str, graphs: u64, breaks: u64) -> Done {
        Done { outcome: outcome.to_owned(), why: String::new(), graphs, breaks }
    }

    fn rows() -> [Row; 3] {
        let row = |name: &str, done, peer| Row { r#use: name.to_owned(), done, peer };
        [
            row("one", done("equal", 1, 0), done("differs", 2, 1)),
            row("two", done("equal", 2, 2), done("equal", 1, 1)),
            row("three", done("raises", 0, 0), done("equal", 0, 0)),
        ]
    }

    #[test]
    fn what_is_wrong_fails_and_more_breaks_do_not() {
        let tally = tally(&rows());
        assert_eq!((tally.passed, tally.skipped.len()), (1, 1));
        assert_eq!(tally.failed, ["three (raises: )"]);
    }

    #[test]
    fn figures_count_both() {
        let expected = "3 uses: no break in 1, in 0 in TorchDynamo; 1 that TorchDynamo breaks less often, 1 more often; 2 right, 2 in TorchDynamo";
        assert_eq!(figures(&rows()), expected);
        assert!(table(&rows()).contains("| one | 1 / 0 | 2 / 1, differs:  |"));
    }
}
