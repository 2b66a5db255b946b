//! Effects: a bounded part of `prove effects`, on every release with generated effects.
use super::tally::Tally;
use crate::obtain::Interpreter;
use crate::prove::effects;
use anyhow::Result;

/// Lists of arguments for one way to a function, and seconds for one interpreter.
const BOUND: [&str; 4] = ["--limit", "9", "--seconds", "5"];

/// Each function that ran without contradicting a claim counts as one test.
pub fn run(interpreters: &[Interpreter]) -> Result<Tally> {
    let mut tally = Tally::default();
    for python in interpreters {
        let name = |call: &str| format!("effects, CPython {}: {call}", python.full_version());
        let report = effects::one(python, &BOUND.map(str::to_owned))?;
        tally.passed += usize::try_from(report.tried)?.saturating_sub(report.contradicted.len());
        tally.failed.extend(report.contradicted.iter().map(|call| name(call)));
        if report.calls == 0 {
            tally.failed.push(name("nothing was run"));
        }
    }
    Ok(tally)
}
