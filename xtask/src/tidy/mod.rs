//! The house rules that a machine can check, one file of rules, one of running them.
mod checkout;
mod circles;
mod commands;
mod finding;
mod house;
mod markdown;
mod rules;
mod rust;

use anyhow::{Result, bail};
use finding::Finding;

/// What `cargo xtask tidy` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask tidy           all rules, formatting and lints\n  cargo xtask tidy --quick   the rules that need no compiler\n  cargo xtask tidy --fix     lets rustfmt repair formatting first\n  cargo xtask tidy --circles runtime/src/trace   the arrows that form circles there"
)]
pub struct Args {
    /// Leaves out what runs cargo (formatting, lints, lock file).
    #[arg(long)]
    quick: bool,
    /// Runs `cargo fmt` before checking.
    #[arg(long)]
    fix: bool,
    /// Lists every arrow between files that takes part in a circle, in this folder or in all; checks nothing else.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1)]
    circles: Option<Option<String>>,
}

/// Checks everything, prints every finding, fails if there is one.
pub fn run(args: &Args) -> Result<()> {
    if args.fix {
        commands::format()?;
    }
    let files = checkout::files()?;
    if let Some(folder) = &args.circles {
        anstream::print!("{}", circles::list(&files, folder.as_deref()));
        return Ok(());
    }
    let mut findings = rules::check(&files);
    findings.extend(house::check(&files));
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
