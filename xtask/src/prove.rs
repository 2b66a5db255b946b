//! `prove`: compares what was generated and claimed with compiled libraries and running interpreters.
mod against;
mod breaks;
mod codes;
pub mod compiles;
pub mod effects;
mod parse;
mod semantics;
pub mod tables;

pub use codes::damaged;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Compares what slotgen and the runtime claim with real CPython builds
///
/// Each subcommand proves one claim, and ends with exit status 1 if something differs. `tables`, `parse` and `compiles` are for slotgen;
/// `semantics`, `effects`, `codes` and `breaks` are for the runtime.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask prove parse             after a change in the preprocessor\n  \
    cargo xtask prove tables 3.13       after a change in the extraction or the model\n  \
    cargo xtask prove compiles 3.13     after a change in the translation\n  \
    cargo xtask prove semantics         after a change in the translation\n  \
    cargo xtask prove effects           after a change in the effects\n  \
    cargo xtask prove codes 3.13        after a change in runtime/src/bytecode\n  \
    cargo xtask prove breaks            after a change in the frame transfer")]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Compares slots, methods, getters and members with real CPython builds
    ///
    /// Every C type is compared: sources, compiled library, running process. Releases with pinned C sources are read from these and from the compiled libraries at hand (an installed CPython with a shared
    /// library; Debian's, unpacked). The other releases are read from their libraries alone. Each result is compared with the process
    /// of each interpreter. A difference needs a fix, or a row with its reason in slotgen/data/exceptions.toml.
    #[command(after_help = "Examples:\n  cargo xtask prove tables                       3.8 to 3.15\n  \
        cargo xtask prove tables 3.13 3.15 --verbose\n  \
        cargo xtask prove tables 3.13 --python ~/cpython/python    one interpreter of your own")]
    Tables(tables::Options),
    /// Parses every C file of Objects, Python and Modules
    ///
    /// tree-sitter-c must report no ERROR and no MISSING node. Every build configuration is tried (release, debug, free-threaded). Each place that is not understood is shown with file, line,
    /// column and text; docs/adding-a-release.md says what to do about it.
    #[command(after_help = "Examples:\n  cargo xtask prove parse            every release with pinned sources\n  \
        cargo xtask prove parse 3.13.15")]
    Parse(parse::Options),
    /// Compiles the Rust that a tree alone gives
    ///
    /// Whatever the tree is: a function whose Rust would not compile must have been left out before. The gaps of the release and the
    /// functions that were left out so are told.
    #[command(after_help = "Examples:\n  cargo xtask prove compiles 3.13\n  \
        cargo xtask prove compiles 3.15 --source ~/cpython --json")]
    Compiles(compiles::Options),
    /// Breaks functions at every instruction, and compares with unbroken runs
    ///
    /// Without options it breaks the functions of random programs; `--library` and `--cpython` break what the standard library and CPython's
    /// tests call. A (function, instruction) pair is *tried* when a call runs code that is split there, and *reached* when the frame is
    /// transferred there. Results, exceptions with the lines of all traceback entries, prints, `f_lineno` of running frames and the
    /// arguments afterwards must be equal; a test of CPython that passes unbroken must pass. Only damaged code objects may be
    /// refused. docs/breaks.md explains the report.
    #[command(after_help = "Examples:\n  cargo xtask prove breaks                  a hundred random programs\n  \
        cargo xtask prove breaks --library        calls into the standard library\n  \
        cargo xtask prove breaks --cpython dict   one file of CPython's tests\n  \
        cargo xtask prove breaks --all --count 400 --into breaks.json --seconds 280\n                                            \
        the long run, in slices: repeat it until nothing is left")]
    Breaks(breaks::Options),
    /// Decodes and assembles every code object of the standard library
    ///
    /// The assembled code must equal the original; stack sizes, stack effects and instructions must be those of the interpreter's
    /// compiler and of `dis`. With `--damaged N` it damages N code objects at random instead: each must be refused with an error that
    /// names an offset, or assemble; none may crash.
    #[command(after_help = "Examples:\n  cargo xtask prove codes                       3.11 to 3.15\n  \
        cargo xtask prove codes 3.12 3.15\n  cargo xtask prove codes 3.13 --damaged 100000")]
    Codes(codes::Options),
    /// Runs C functions, and checks that each does only what its effects claim
    ///
    /// Arguments and the state of the process (environment, locale, time zone, modules, random state, contexts, warnings, limits, …)
    /// are compared before and after. Python methods that run and objects that end are noted. Each call is made again in another state of
    /// the process, where it must give the same. What the C functions in slots do is not held against a claim that names these slots.
    #[command(after_help = "Examples:\n  cargo xtask prove effects                    3.11, 3.12 and 3.13\n  \
        cargo xtask prove effects --release 3.13 --functions list_append,math_gcd --limit 2000")]
    Effects(effects::Options),
    /// Calls the translated functions, and compares with the interpreter's own
    ///
    /// Every public function and every function in a slot is called with hundreds of values. Compared are the result or the exception with its message, the
    /// order of user methods called, and the arguments afterwards. Functions run in processes bounded in memory; one that crashes, hangs or
    /// runs out of memory differs. `--against dynamo` compares operations compiled by TorchDynamo with the interpreter: agreement, wrong value, wrong
    /// exception type, wrong message, internal error or break, by operation and C function, each with a one-line reproducer.
    #[command(
        after_help = "Examples:\n  cargo xtask prove semantics                             3.11, 3.12 and 3.13\n  \
        cargo xtask prove semantics --release 3.13 --part 1/4 --debug\n  \
        cargo xtask prove semantics --functions PyNumber_Or,dict_or --limit 100000\n  \
        cargo xtask prove semantics --against dynamo            10,000 operations; stopped, it goes on where it was\n  \
        cargo xtask prove semantics --against dynamo --operations '|' --limit 500"
    )]
    Semantics(semantics::Options),
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::Tables(options) => tables::run(options),
        What::Parse(options) => parse::run(options),
        What::Compiles(options) => compiles::run(options),
        What::Breaks(options) => breaks::run(options),
        What::Codes(options) => codes::run(options),
        What::Effects(options) => effects::run(options),
        What::Semantics(options) => semantics::run(options),
    }
}
