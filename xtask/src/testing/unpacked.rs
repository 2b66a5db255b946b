//! Python tests on releases that the runtime hooks and that are not installed: on Debian's interpreters, unpacked. A part of the tests,
//! for the sake of time; `cargo xtask test --only python --python 3.X` runs them all.
use super::python;
use super::releases::HOOKED;
use super::tally::Tally;
use crate::obtain::apt::unpacked;
use crate::obtain::{compiled, interpreter};
use anyhow::Result;

/// What is run: whatever meets the interpreter's memory, its instructions and its messages.
const PART: &[&str] = &["/bytecode/", "/ffi/", "/guard/", "/trace/instructions/", "/trace/exception/", "/trace/generator/"];

/// Whether Debian's interpreter stands in for one that is not installed.
pub fn serves(series: &str) -> bool {
    interpreter::find(series, None).is_err() && unpacked::is_known(series)
}

/// Runs the part, or the files that the filter names, on each of these releases.
pub fn run(filter: Option<&str>) -> Result<Tally> {
    let mut tally = Tally::default();
    for series in HOOKED.iter().filter(|series| serves(series)) {
        match compiled::interpreter_of(series, None) {
            Ok(python) => tally.add(python::run_part(python, filter.as_ref().map_or(PART, std::slice::from_ref))?),
            Err(error) => tally.skip(format!("CPython {series}"), format!("{error:#}")),
        }
    }
    Ok(tally)
}
