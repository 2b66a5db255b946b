//! The report of the proof of breaks: summed over processes, kept in a file.
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Reachable instructions of a function; those split at, and those where the frame was transferred, as hexadecimal bit strings.
type Row = (u64, String, String);

/// What one process prints last, and the sum of many.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Report {
    /// Programs, groups of library calls, files of tests.
    units: u64,
    /// Programs that do not agree with themselves.
    unstable: u64,
    /// Calls that ran whole for want of room on the thread's stack of frames.
    declined: u64,
    /// By file, line, name and content.
    functions: BTreeMap<String, Row>,
    /// Code objects that were not split, by reason.
    refused: BTreeMap<String, u64>,
    /// What behaves differently.
    pub different: Vec<serde_json::Value>,
}

/// What tests/transparency/run.py prints last.
#[derive(Debug, Deserialize)]
pub struct Tests {
    failed: Vec<String>,
    functions: BTreeMap<String, Row>,
    refused: BTreeMap<String, u64>,
}

/// The figures of a report.
#[derive(Debug, Serialize)]
pub struct Numbers {
    units: u64,
    unstable: u64,
    declined: u64,
    functions: usize,
    functions_tried_everywhere: usize,
    instructions: u64,
    pairs: u64,
    pairs_reached: u64,
    refused: BTreeMap<String, u64>,
    different: Vec<serde_json::Value>,
}

fn set(bits: &str) -> u64 {
    bits.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| u64::from(digit.count_ones())).sum()
}

fn merged(one: &str, other: &str) -> String {
    let digit = |(one, other): (char, char)| Some(one.to_digit(16)? | other.to_digit(16)?);
    let digits = one.chars().zip(other.chars()).filter_map(digit);
    digits.filter_map(|digit| char::from_digit(digit, 16)).collect()
}

impl Report {
    /// The report of a file of tests.
    pub fn of_tests(tests: Tests) -> Self {
        let different = tests.failed.into_iter().map(serde_json::Value::from).collect();
        Self { units: 1, functions: tests.functions, refused: tests.refused, different, ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        self.units += other.units;
        self.unstable += other.unstable;
        self.declined += other.declined;
        self.different.extend(other.different);
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
        for (function, row) in other.functions {
            let sum = match self.functions.remove(&function) {
                Some(known) => (row.0, merged(&known.1, &row.1), merged(&known.2, &row.2)),
                None => row,
            };
            self.functions.insert(function, sum);
        }
    }

    /// The figures.
    pub fn numbers(&self) -> Numbers {
        let sum = |of: fn(&Row) -> u64| self.functions.values().map(of).sum();
        Numbers {
            units: self.units,
            unstable: self.unstable,
            declined: self.declined,
            functions: self.functions.len(),
            functions_tried_everywhere: self.functions.values().filter(|row| set(&row.1) == row.0).count(),
            instructions: sum(|row| row.0),
            pairs: sum(|row| set(&row.1)),
            pairs_reached: sum(|row| set(&row.2)),
            refused: self.refused.clone(),
            different: self.different.clone(),
        }
    }

    /// One line.
    pub fn summary(&self) -> String {
        let numbers = self.numbers();
        format!("{} (function, instruction) pairs of {} functions", numbers.pairs, numbers.functions)
    }

    /// Prints it.
    pub fn show(&self) {
        let numbers = self.numbers();
        for difference in &numbers.different {
            anstream::println!("differs: {difference}");
        }
        for (reason, count) in &numbers.refused {
            anstream::println!("refused {count}: {reason}");
        }
        let Numbers { units, unstable, declined, functions, functions_tried_everywhere, .. } = numbers;
        let Numbers { instructions, pairs, pairs_reached, .. } = numbers;
        anstream::println!(
            "{units} programs, groups of library calls and files of tests; {unstable} more runs differ from themselves and do not count"
        );
        anstream::println!(
            "{functions} functions with {instructions} reachable instructions; {functions_tried_everywhere} functions were tried at every instruction"
        );
        anstream::println!(
            "{pairs} (function, instruction) pairs tried: a call ran code that was split there; {pairs_reached} reached: the frame was transferred there"
        );
        let refused: u64 = numbers.refused.values().sum();
        anstream::println!(
            "{refused} code objects refused; {declined} calls ran unbroken, because the stack of frames was full; {} differences",
            numbers.different.len()
        );
    }
}

/// A report with the units that it sums, kept in a file if one is named.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Ledger {
    /// The interpreter's release.
    version: String,
    done: BTreeSet<String>,
    pub report: Report,
    #[serde(skip)]
    path: Option<PathBuf>,
}

impl Ledger {
    /// What the file holds, or nothing yet.
    pub fn open(path: Option<&Path>, version: &str) -> Result<Self> {
        let fresh = Self { version: version.to_owned(), path: path.map(Path::to_owned), ..Self::default() };
        let Some(path) = path.filter(|path| path.exists()) else { return Ok(fresh) };
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("{shown} cannot be read"))?;
        let kept: Self =
            serde_json::from_str(&text).with_context(|| format!("{shown} is no report of `prove breaks --into`"))?;
        if kept.version != version {
            return Err(anyhow!("{shown} holds the results of CPython {}, not of {version}", kept.version))
                .advise("name another file with `--into`");
        }
        Ok(Self { path: Some(path.to_owned()), ..kept })
    }

    /// Whether the unit is among those summed.
    pub fn has(&self, unit: &str) -> bool {
        self.done.contains(unit)
    }

    /// Adds a unit, and writes the file.
    pub fn add(&mut self, unit: &str, report: Report) -> Result<()> {
        self.report.add(report);
        self.done.insert(unit.to_owned());
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string(self)?;
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tried: &str, reached: &str) -> Report {
        let functions = BTreeMap::from([("f".to_owned(), (6, tried.to_owned(), reached.to_owned()))]);
        Report { units: 1, functions, ..Report::default() }
    }

    #[test]
    fn pairs_are_counted_once() {
        let mut sum = report("f0", "10");
        sum.add(report("33", "20"));
        let numbers = sum.numbers();
        assert_eq!((numbers.units, numbers.functions, numbers.instructions), (2, 1, 6));
        assert_eq!((numbers.pairs, numbers.pairs_reached, numbers.functions_tried_everywhere), (6, 2, 1));
    }

    #[test]
    fn what_a_file_keeps_is_gone_on_with() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("kept.json");
        let mut ledger = Ledger::open(Some(&path), "3.13.0")?;
        ledger.add("seeds 0 to 9", report("f0", "10"))?;
        let again = Ledger::open(Some(&path), "3.13.0")?;
        assert!(again.has("seeds 0 to 9") && !again.has("seeds 10 to 19"));
        assert_eq!(again.report.numbers().pairs, 4);
        assert!(Ledger::open(Some(&path), "3.12.1").is_err());
        Ok(())
    }
}
