//! `prove`: what was generated and claimed, against compiled libraries and running interpreters.
mod breaks;
mod codes;
pub mod effects;
mod parse;
mod semantics;
pub mod tables;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Proves what was generated, and what the runtime claims, against compiled libraries and running interpreters
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask prove tables           every release\n  \
    cargo xtask prove tables 3.13 --verbose\n  cargo xtask prove tables 3.13 --python ~/cpython/python --json\n  \
    cargo xtask prove parse\n  cargo xtask prove breaks --count 200\n  \
    cargo xtask prove codes            every code object of 3.11 to 3.15")]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Every slot, method, getter and member of every C type: sources = compiled library = running process
    ///
    /// Releases with C sources are read from them, and from the compiled libraries at hand (an installed CPython with a shared library,
    /// Debian's unpacked); the others from the libraries alone. Each is then compared with the process of each interpreter.
    #[command(after_help = "Examples:\n  cargo xtask prove tables\n  cargo xtask prove tables 3.13 3.15 --verbose")]
    Tables(tables::Options),
    /// Every file of Objects, Python and Modules under every configuration: tree-sitter-c reports no ERROR and no MISSING node
    #[command(after_help = "Examples:\n  cargo xtask prove parse\n  cargo xtask prove parse 3.13.15")]
    Parse(parse::Options),
    /// Breaking at any instruction: every function of random programs, of calls into the standard library, and of CPython's
    /// tests with the library functions that they call, at every reachable instruction
    ///
    /// A (function, instruction) pair is tried when a call of the function runs from code that was split there: up to and with that
    /// instruction it runs as it is, and a continuation takes over its frame. Results, exceptions with the lines of all traceback entries,
    /// prints, `f_lineno` of running frames and the arguments afterwards must be those of the same calls unsplit; CPython's tests must not
    /// fail where they pass unsplit. Functions are told apart by file, line, name and instructions. A code object is refused only when it
    /// is damaged: when its bytes do not decode or its stack does not fit together, no continuation can serve. Where control runs off for
    /// good (a return, an exception nobody catches), there is nothing to hand over; such pairs are tried, never reached.
    #[command(after_help = "Examples:\n  cargo xtask prove breaks                  a hundred programs\n  \
        cargo xtask prove breaks --library        calls into the standard library\n  \
        cargo xtask prove breaks --cpython dict   CPython's tests of a file\n  \
        cargo xtask prove breaks --all --count 400 --into breaks.json --seconds 280\n                                            \
        the long run, in slices: again until nothing is left")]
    Breaks(breaks::Options),
    /// Code objects: every one of the standard library, decoded and assembled, is itself again; stack sizes, stack effects
    /// and instructions are what the interpreter's compiler and `dis` say
    #[command(
        after_help = "Examples:\n  cargo xtask prove codes            3.11 to 3.15\n  cargo xtask prove codes 3.12 3.15\n  \
        cargo xtask prove codes 3.13 --damaged 100000"
    )]
    Codes(codes::Options),
    /// Effects: the C functions that Python code reaches are run, and none does what it is claimed not to do
    ///
    /// Arguments and the state of the process (environment, locale, time zone, modules, random state, contexts, warnings, limits, …) are
    /// compared before and after, Python methods that run and objects that die are noted, and each call is made again in another state of
    /// the process, where it must give the same. A claim that names slots is judged without what the C functions in those slots do.
    #[command(after_help = "Examples:\n  cargo xtask prove effects                    3.11, 3.12 and 3.13\n  \
        cargo xtask prove effects --release 3.13 --functions list_append,math_gcd --limit 2000")]
    Effects(effects::Options),
    /// Translated functions: every public one, and those in slots, called with hundreds of values, give what the interpreter's own give
    ///
    /// Result or exception with its message, the order of user methods called, and the arguments afterwards. A few functions at a time run in
    /// a process of their own, bounded in memory; one that crashes, hangs or runs out of memory is a difference too.
    #[command(after_help = "Examples:\n  cargo xtask prove semantics\n  \
        cargo xtask prove semantics --release 3.13 --part 1/4 --debug\n  \
        cargo xtask prove semantics --functions PyNumber_Or,dict_or --limit 100000\n  \
        cargo xtask prove semantics --json")]
    Semantics(semantics::Options),
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::Tables(options) => tables::run(options),
        What::Parse(options) => parse::run(options),
        What::Breaks(options) => breaks::run(options),
        What::Codes(options) => codes::run(options),
        What::Effects(options) => effects::run(options),
        What::Semantics(options) => semantics::run(options),
    }
}
