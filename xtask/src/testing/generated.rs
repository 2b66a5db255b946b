//! Generated code: for every committed release, one test that slotgen produces it again, byte for byte.
use super::tally::Tally;
use crate::obtain::sources;
use crate::regen;
use anyhow::Result;
use slotgen::emit::Mode;

/// Compares `generated/` with what the sources give; a release whose sources cannot be obtained is skipped.
pub fn run() -> Result<Tally> {
    let mut tally = Tally::default();
    for series in regen::committed()? {
        let name = format!("generated/ of CPython {series}");
        let sources = match sources::obtain(&series, None) {
            Ok(sources) => sources,
            Err(error) => {
                tally.skip(name, format!("{:#}", error.root_cause()));
                continue;
            }
        };
        let report = regen::one(&sources, Mode::Check)?;
        match report.changes.first() {
            None => tally.passed += 1,
            Some(change) => tally.failed.push(format!("{name}: {change}; run `cargo xtask regen {series}`")),
        }
    }
    Ok(tally)
}
