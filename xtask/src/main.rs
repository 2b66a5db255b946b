//! The project's front door.
mod tidy;

use clap::Parser;

/// Reads CPython's C sources, generates the Rust, builds and shows the runtime.
#[derive(Parser)]
enum Command {
    /// Checks the house rules.
    Tidy(tidy::Args),
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Tidy(args) => tidy::run(&args),
    }
}
