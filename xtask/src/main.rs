//! The command line: wires the rooms together and talks to people.
mod audit;
mod bench;
mod demo;
mod develop;
mod diff;
mod dist;
mod effects;
mod explain;
mod facts;
mod fetch;
mod fuzz;
mod obtain;
mod place;
mod profiled;
mod prove;
mod regen;
mod run;
mod testing;
mod tidy;
mod translate;
mod ui;
mod wheel;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Generates Rust from CPython's C sources, and builds, tests and shows the runtime that runs on it.
///
/// Everything fetched or built is kept under `target/`; deleting it is always safe. `cargo xtask COMMAND --help` explains a command.
#[derive(Parser, Debug)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    max_term_width = 110,
    after_help = "Start here:\n  cargo xtask demo    the whole way from C to a traced program\n  \
    cargo xtask test    every test\n\nBy purpose:\n  \
    see it work              demo, explain, translate, effects\n  \
    use it in Python         develop, bench\n  \
    ship it, link it         dist\n  \
    add a CPython release    fetch, facts, diff, regen, prove\n  \
    find what is missing     audit, explain\n  \
    change the code          test, tidy, fuzz, prove\n\nPages for each of these: docs/README.md"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Audit(audit::Options),
    Bench(bench::Options),
    Demo(demo::Options),
    Develop(develop::Options),
    Diff(diff::Options),
    Dist(dist::Options),
    Effects(effects::Options),
    Explain(explain::Options),
    Facts(facts::Options),
    Fetch(fetch::Options),
    Fuzz(fuzz::Options),
    Prove(prove::Options),
    Regen(regen::Options),
    Test(testing::Options),
    /// Checks the house rules: file sizes, `unsafe`, links, formatting, lints
    ///
    /// Run it before a commit. It lists every finding with file, line, rule and way out, and fails if there is one.
    Tidy(tidy::Args),
    Translate(translate::Options),
}

impl Command {
    fn run(&self) -> Result<()> {
        match self {
            Command::Audit(options) => audit::run(options),
            Command::Bench(options) => bench::run(options),
            Command::Demo(options) => demo::run(options),
            Command::Develop(options) => develop::run(options),
            Command::Diff(options) => diff::run(options),
            Command::Dist(options) => dist::run(options),
            Command::Effects(options) => effects::run(options),
            Command::Explain(options) => explain::run(options),
            Command::Facts(options) => facts::run(options),
            Command::Fetch(options) => fetch::run(options),
            Command::Fuzz(options) => fuzz::run(options),
            Command::Prove(options) => prove::run(options),
            Command::Regen(options) => regen::run(options),
            Command::Test(options) => testing::run(options),
            Command::Tidy(args) => tidy::run(args),
            Command::Translate(options) => translate::run(options),
        }
    }
}

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            ui::advice::report(&error);
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("cargo xtask {}", command.get_name())), "{}", command.get_name());
        }
    }
}
