//! The tables: sources, compiled libraries and running interpreters agree; only those at hand are compared.
use super::tally::Tally;
use crate::prove;
use anyhow::Result;

/// Every comparison of `prove tables` that needs no download counts as one test.
pub fn run() -> Result<Tally> {
    let mut tally = Tally::default();
    for (what, unexplained) in prove::tables::at_hand()? {
        match unexplained {
            0 => tally.passed += 1,
            count => {
                tally.failed.push(format!("{what}: {count} unexplained differences; run `cargo xtask prove tables`"))
            }
        }
    }
    Ok(tally)
}
