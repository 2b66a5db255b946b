//! `audit`: counts what is covered and names what is missing.
mod models;
mod opcodes;
mod slots;
mod tiers;
mod translation;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Counts what is covered and names what is missing
///
/// Four reports: C functions translated, instructions traced, C functions by tier, slots by type. The counts
/// come from the sources of slotgen and the runtime, not from a list kept by hand. docs/reports.md explains the columns.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask audit translation             C functions with a Rust body\n  \
    cargo xtask audit opcodes --release 3.13  instructions that the tracer knows\n  \
    cargo xtask audit tiers --verbose         what the tracer does with each C function\n  \
    cargo xtask audit slots                   slots by type, beside TorchDynamo's")]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Counts the C functions translated to Rust, and what prevents the rest
    ///
    /// Use it after a change in slotgen/src/translate, or to see what a new release adds.
    #[command(after_help = "Examples:\n  cargo xtask audit translation\n  \
        cargo xtask audit translation --release 3.13 --verbose    name each function")]
    Translation(translation::Options),
    /// Lists the bytecode instructions that the tracer does not trace
    ///
    /// By release, each with the reason. Use it to see what the tracer needs for a new release.
    #[command(after_help = "Examples:\n  cargo xtask audit opcodes\n  cargo xtask audit opcodes --release 3.13 --json")]
    Opcodes(opcodes::Options),
    /// Counts the C functions by what the tracer does with a call of them
    ///
    /// A second table lists everything written by hand, by file. Use it to find functions that break a graph, and to keep hand-written code in sight. Tiers come from the generated
    /// effects and from the tables of the runtime.
    #[command(after_help = "Examples:\n  cargo xtask audit tiers\n  cargo xtask audit tiers --release 3.11 --verbose")]
    Tiers(tiers::Options),
    /// Counts the slots of each C type by how the tracer handles them
    ///
    /// Absent in C, translated, native on proxies, written by hand, or not modelled. The last column counts the slots for which
    /// TorchDynamo has a body, read from an installed PyTorch.
    #[command(
        after_help = "Examples:\n  cargo xtask audit slots\n  cargo xtask audit slots --verbose    name each slot\n  \
        cargo xtask audit slots --torch ~/venv/lib/python3.13/site-packages/torch"
    )]
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
