//! The house rules that a machine can check, one file of rules, one of running them.
mod checkout;
mod commands;
mod markdown;
mod rules;
mod rust;

use anyhow::{Result, bail};

/// What `cargo xtask tidy` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask tidy           all rules, formatting and lints\n  cargo xtask tidy --quick   the rules that need no compiler\n  cargo xtask tidy --fix     lets rustfmt repair formatting first"
)]
pub struct Args {
    /// Leaves out what runs cargo (formatting, lints, lock file).
    #[arg(long)]
    quick: bool,
    /// Runs `cargo fmt` before checking.
    #[arg(long)]
    fix: bool,
}

/// A broken rule, at a place, with the way out.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the workspace root.
    pub path: String,
    /// One-based line; 0 for the file as a whole.
    pub line: usize,
    /// Name of the rule.
    pub rule: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

/// Checks everything, prints every finding, fails if there is one.
pub fn run(args: &Args) -> Result<()> {
    if args.fix {
        commands::format()?;
    }
    let files = checkout::files()?;
    let mut findings = rules::check(&files);
    if !args.quick {
        findings.extend(commands::check());
    }
    findings.sort();
    for finding in &findings {
        print(finding);
    }
    if !findings.is_empty() {
        bail!("{} broken rule(s) in {} files", findings.len(), files.len());
    }
    anstream::println!("tidy: {} files, nothing to mend", files.len());
    Ok(())
}

fn print(finding: &Finding) {
    let place = match finding.line {
        0 => finding.path.clone(),
        line => format!("{}:{line}", finding.path),
    };
    anstream::println!("\x1b[1m{place}\x1b[0m: \x1b[31m{}\x1b[0m: {}", finding.rule, finding.message);
}
