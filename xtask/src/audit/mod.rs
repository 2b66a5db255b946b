//! `audit`: counts what is covered and names what is missing.
pub mod coverage;
pub mod dossier;
mod dynamo;
mod findings;
pub mod history;
pub mod index;
mod models;
mod opcodes;
mod page;
mod reached;
mod report;
mod slots;
mod tiers;
mod translation;
pub mod usage;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Reports what is covered and names what is missing
///
/// Every slot of every C type, method, getter, row of slotdefs[], instruction and method of CApi, each with its C function, file, digest and
/// what the tracer does with it: translated, native on proxies, folded, modelled, break. What breaks the graph comes most used first: uses
/// are counted in the code objects of the standard library and of PyTorch. Nothing is typed by hand: rows come from the facts, states from
/// the generated modules and the runtime's tables. With `--baseline`, it fails where a row is covered worse than before. The subcommands
/// count one thing each. docs/audit.md explains the reports.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  cargo xtask audit                             what is covered of 3.13\n  \
    cargo xtask audit --release 3.11 --format md  another release, for a review\n  \
    cargo xtask audit --format json > before.json && cargo xtask audit --baseline before.json\n                                                \
    fail where coverage falls\n  \
    cargo xtask audit --format sarif              for code review\n  \
    cargo xtask audit --format html > audit.html  one page to look at, search and link to\n  \
    cargo xtask audit --dynamo ~/pytorch          TorchDynamo's copy of CPython: slots, tables, references\n  \
    cargo xtask audit --dynamo .../site-packages/torch --import --fail-on warning\n  \
    cargo xtask audit tiers --verbose             what the tracer does with each C function\n  \
    cargo xtask audit slots                       slots by type, beside TorchDynamo's"
)]
pub struct Options {
    #[command(flatten)]
    report: report::ReportOptions,
    #[command(subcommand)]
    what: Option<What>,
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
    /// Makes the history of C functions again: in which release the text, and in which the meaning of each changed
    ///
    /// Reads the pinned sources and those given, compares each release with the one before it by meaning, and writes xtask/history.json. The
    /// HTML page, `explain` and the audit of TorchDynamo's references read that. A release that is in the file and whose sources are not
    /// at hand keeps its steps.
    #[command(
        after_help = "Examples:\n  cargo xtask audit history --source ~/cpython-3.14.0 --source Python-3.15.0.tar.xz\n  \
        cargo xtask audit history --check --source ~/cpython-3.14.0    is the file what these sources give?"
    )]
    History(history::Options),
    /// Measures which tests run which generated functions
    ///
    /// Runs the Python tests, each file in a process of its own, and asks the runtime after each test which generated functions traces have
    /// entered. The result is xtask/reached.json, which the HTML page and `explain` read. What a test does in processes that it starts
    /// itself is not counted. Stopped, it goes on where it was.
    #[command(after_help = "Examples:\n  cargo xtask audit tests\n  \
        cargo xtask audit tests --debug --jobs 2\n  \
        cargo xtask audit tests --python ~/venv/bin/python    with PyTorch in it: the tests that need it, too")]
    Tests(reached::Options),
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    match &options.what {
        None => report::run(&options.report),
        Some(What::Translation(options)) => translation::run(options),
        Some(What::Opcodes(options)) => opcodes::run(options),
        Some(What::Tiers(options)) => tiers::run(options),
        Some(What::Slots(options)) => slots::run(options),
        Some(What::History(options)) => history::run(options),
        Some(What::Tests(options)) => reached::run(options),
    }
}
