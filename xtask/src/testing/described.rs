//! Checks that the runtime compiles for releases without an interpreter at hand: cargo gets a description of each.
use super::tally::Tally;
use crate::ui::Step;
use crate::{place, run, wheel};
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::fs;

/// One of which nothing is read, and those of which code objects alone are.
const RELEASES: [&str; 3] = ["3.10", "3.14", "3.15"];

/// Checks the runtime for each.
pub fn check() -> Result<Tally> {
    let counted: Vec<Tally> = RELEASES.par_iter().map(|series| counted(series)).collect();
    let mut tally = Tally::default();
    counted.into_iter().for_each(|counts| tally.add(counts));
    Ok(tally)
}

fn counted(series: &str) -> Tally {
    let name = format!("Checking the runtime for CPython {series}");
    let step = Step::start(&name);
    match one(series) {
        Ok(()) => {
            step.done("compiles");
            Tally { passed: 1, ..Tally::default() }
        }
        Err(error) => {
            step.failed(format!("{error:#}"));
            Tally::failure(name)
        }
    }
}

fn one(series: &str) -> Result<()> {
    let room = place::python_target("described").join(series);
    fs::create_dir_all(&room).with_context(|| format!("{} could not be made", room.display()))?;
    let description = room.join("description.txt");
    let text = format!("implementation=CPython\nversion={series}\nshared=true\nabi3=false\npointer_width=64\n");
    fs::write(&description, text).with_context(|| format!("{} could not be written", description.display()))?;
    let mut command = wheel::nested_cargo();
    command.args(["check", "--quiet", "--package", "slotrt", "--lib", "--color", "never"]);
    command.env("PYO3_CONFIG_FILE", &description).env("CARGO_TARGET_DIR", &room).env_remove("PYO3_PYTHON");
    run::output(&mut command).map(drop)
}
