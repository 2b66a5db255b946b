//! The rules that cargo checks: formatting, lints, the lock file.
use super::Finding;
use super::checkout::root;
use anyhow::{Context, Result, bail};
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
        &["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"],
        "mend what clippy names above",
    ),
];

/// Runs them all; what they print goes to the terminal.
pub fn check() -> Vec<Finding> {
    COMMANDS.iter().filter_map(|(rule, args, help)| finding(rule, args, help)).collect()
}

/// Lets rustfmt repair formatting.
pub fn format() -> Result<()> {
    if !cargo(&["fmt", "--all"])? {
        bail!("cargo fmt failed; what it printed stands above");
    }
    Ok(())
}

fn finding(rule: &'static str, args: &[&str], help: &str) -> Option<Finding> {
    let message = match cargo(args) {
        Ok(true) => return None,
        Ok(false) => help.to_owned(),
        Err(error) => format!("{error:#}"),
    };
    Some(Finding { path: format!("cargo {}", args[0]), line: 0, rule, message })
}

fn cargo(args: &[&str]) -> Result<bool> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    if args[0] == "metadata" {
        command.stdout(std::process::Stdio::null());
    }
    Ok(command.status().with_context(|| format!("cannot start cargo {}", args.join(" ")))?.success())
}
