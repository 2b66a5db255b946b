//! `audit`: what is covered and what is not, counted.
mod opcodes;
mod translation;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Counts what is covered and names what is not
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cargo xtask audit translation\n  cargo xtask audit translation --verbose --json\n  cargo xtask audit opcodes --release 3.13"
)]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// C functions translated to Rust, and the constructs that kept others out
    #[command(
        after_help = "Examples:\n  cargo xtask audit translation\n  cargo xtask audit translation --release 3.13 --verbose"
    )]
    Translation(translation::Options),
    /// Operations of each release's bytecode, and what the tracer does with them
    #[command(after_help = "Examples:\n  cargo xtask audit opcodes\n  cargo xtask audit opcodes --release 3.13 --json")]
    Opcodes(opcodes::Options),
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::Translation(options) => translation::run(options),
        What::Opcodes(options) => opcodes::run(options),
    }
}
