//! Generated code: for every committed release, one test that slotgen produces it again, byte for byte, and one that what it makes of
//! another tree compiles.
use super::changed;
use super::tally::Tally;
use crate::obtain::sources;
use crate::regen;
use anyhow::Result;
use slotgen::source::built;

/// Compares `generated/` with what the sources give; a release whose sources cannot be obtained is skipped, and with it those that
/// Rust is made of together with it.
pub fn run() -> Result<Tally> {
    let mut tally = Tally::default();
    let (together, alone): (Vec<_>, Vec<_>) =
        regen::committed()?.into_iter().partition(|series| built().contains(series));
    for group in std::iter::once(together).chain(alone.into_iter().map(|series| vec![series])) {
        compare(&group, &mut tally)?;
    }
    if let ([oldest, ..], [.., newest]) = (&*built(), &*built()) {
        tally.add(changed::run(newest, oldest)?);
    }
    Ok(tally)
}

fn compare(group: &[String], tally: &mut Tally) -> Result<()> {
    let obtained: Result<Vec<_>> = group.iter().map(|series| sources::obtain(series, None)).collect();
    let names = group.iter().map(|series| format!("generated/ of CPython {series}"));
    let first = match obtained.as_deref() {
        Ok([first, ..]) => first,
        Ok([]) => return Ok(()),
        Err(error) => {
            names.for_each(|name| tally.skip(name, format!("{:#}", error.root_cause())));
            return Ok(());
        }
    };
    match regen::compare(first)?.changes.first() {
        None => tally.passed += group.len(),
        Some(change) => names.for_each(|name| tally.failed.push(format!("{name}: {change}; run `cargo xtask regen`"))),
    }
    Ok(())
}
