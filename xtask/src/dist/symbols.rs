//! Which symbols a library offers.
use crate::run;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// How the names of the API begin; the other one is what Python calls when it imports the runtime.
const API: [&str; 2] = ["slotrt_", "PyInit__slotrt"];

/// What assembly and Rust call each other by, hidden already.
const HIDDEN: [&str; 2] = ["slotrt_guarded_call", "slotrt_guarded_landing"];

fn is_api(name: &str) -> bool {
    API.iter().any(|start| name.starts_with(start)) && !HIDDEN.contains(&name)
}

/// The API in a static library, sorted.
pub fn of_archive(archive: &Path) -> Result<Vec<String>> {
    let mut names = named(Command::new("nm").args(["--defined-only", "--extern-only", "--format=posix"]).arg(archive))?;
    names.retain(|name| is_api(name));
    Ok(names)
}

/// Everything that a shared library offers, sorted.
pub fn of_shared(library: &Path) -> Result<Vec<String>> {
    named(Command::new("nm").args(["--dynamic", "--defined-only", "--extern-only", "--format=posix"]).arg(library))
}

fn named(command: &mut Command) -> Result<Vec<String>> {
    let text = run::output(command)?;
    let columns = text.lines().filter_map(|line| line.split_once(' '));
    let mut names: Vec<String> = columns.map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}
