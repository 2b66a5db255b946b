//! `audit`: what is covered and what is not, counted.
mod models;
mod opcodes;
mod slots;
mod tiers;
mod translation;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Counts what is covered and names what is not
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cargo xtask audit translation\n  cargo xtask audit translation --verbose --json\n  cargo xtask audit opcodes --release 3.13\n  cargo xtask audit tiers\n  cargo xtask audit slots"
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
    /// C functions by what the tracer does with them, from the effects and the tables; and everything that it does by hand
    #[command(after_help = "Examples:\n  cargo xtask audit tiers\n  cargo xtask audit tiers --release 3.11 --verbose")]
    Tiers(tiers::Options),
    /// Slots of each type of C: absent, translated, native on tokens, not modelled; and those with a body in TorchDynamo
    #[command(after_help = "Examples:\n  cargo xtask audit slots\n  cargo xtask audit slots --verbose\n  \
        cargo xtask audit slots --torch ~/venv/lib/python3.13/site-packages/torch")]
    Slots(slots::Options),
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::Translation(options) => translation::run(options),
        What::Opcodes(options) => opcodes::run(options),
        What::Tiers(options) => tiers::run(options),
        What::Slots(options) => slots::run(options),
    }
}
