//! The rules that cargo checks: formatting, lints, the lock file.
use super::checkout::root;
use super::finding::Finding;
use crate::obtain::interpreter;
use crate::testing::{HOOKED, newest};
use crate::wheel;
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use std::process::Command;

/// Rule, cargo arguments, and what to do when they fail.
const COMMANDS: &[(&str, &[&str], &str)] = &[
    (
        "lock-file",
        &["metadata", "--locked", "--format-version=1", "--no-deps", "--quiet"],
        "run `cargo check` and commit Cargo.lock",
    ),
    ("format", &["fmt", "--all", "--check"], "run `cargo xtask tidy --fix`"),
    (
        "lints",
        &[
            "clippy",
            "--workspace",
            "--exclude",
            "slotrt",
            "--all-targets",
            "--locked",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
        "mend what clippy names above",
    ),
];

/// The runtime's lints, with an interpreter that it supports: for others most of it is not compiled at all.
const RUNTIME: &[&str] =
    &["clippy", "--package", "slotrt", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"];

/// The same without its tests, which are the same on every release.
const LIBRARY: &[&str] = &["clippy", "--package", "slotrt", "--lib", "--locked", "--quiet", "--", "-D", "warnings"];

/// Runs them all; what they print goes to the terminal.
pub fn check() -> Vec<Finding> {
    let plain = COMMANDS.iter().filter_map(|(rule, args, help)| finding(rule, args, help, run(cargo(), args)));
    let mut findings: Vec<Finding> = plain.collect();
    // Each release has a folder of its own for what is built: they do not wait for one another.
    findings.par_extend(HOOKED.par_iter().filter_map(|series| lint_runtime(series)));
    findings
}

/// Without such an interpreter `cargo xtask test` counts what it could not check.
fn lint_runtime(series: &str) -> Option<Finding> {
    let python = interpreter::find(series, None).ok()?;
    let lints = if series == newest() { RUNTIME } else { LIBRARY };
    let outcome = run(wheel::cargo(&python), lints);
    finding("lints", lints, &format!("mend what clippy names above (CPython {series})"), outcome)
}

/// Lets rustfmt repair formatting.
pub fn format() -> Result<()> {
    if !run(cargo(), &["fmt", "--all"])? {
        bail!("cargo fmt failed; what it printed stands above");
    }
    Ok(())
}

fn finding(rule: &'static str, args: &[&str], help: &str, outcome: Result<bool>) -> Option<Finding> {
    let message = match outcome {
        Ok(true) => return None,
        Ok(false) => help.to_owned(),
        Err(error) => format!("{error:#}"),
    };
    Some(Finding { path: format!("cargo {}", args[0]), line: 0, rule, message })
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn run(mut command: Command, args: &[&str]) -> Result<bool> {
    command.args(args);
    if args[0] == "metadata" {
        command.stdout(std::process::Stdio::null());
    }
    Ok(command.status().with_context(|| format!("cannot start cargo {}", args.join(" ")))?.success())
}
