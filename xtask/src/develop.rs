//! `develop`: builds the runtime for an interpreter and installs it into its environment.
use crate::obtain::{Interpreter, interpreter};
use crate::profiled;
use crate::ui::Advise;
use crate::wheel::{self, Profile};
use anyhow::{Result, anyhow};
use clap::Args;
use std::path::PathBuf;

/// Builds the runtime and installs the Python package `slotrt` into a virtual environment
///
/// Afterwards `import slotrt` works there. Run it again after a change to the runtime.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  python3.13 -m venv ENV\n  \
    cargo xtask develop --python ENV/bin/python               the usual build\n  \
    cargo xtask develop --python ENV/bin/python --debug       builds faster; debug assertions\n  \
    cargo xtask develop --python ENV/bin/python --profiled    builds for ten minutes; traces faster")]
pub struct Options {
    /// The interpreter of the environment that gets `slotrt`
    #[arg(long, value_name = "PATH")]
    python: PathBuf,
    /// Compile without optimisation and with debug assertions: builds faster, runs slower
    #[arg(long, conflicts_with = "profiled")]
    debug: bool,
    /// Compile twice, the second time optimised by a profile of random programs: takes over ten minutes, needs llvm-profdata
    #[arg(long)]
    profiled: bool,
    /// Install even if the interpreter is no virtual environment
    #[arg(long)]
    outside_venv: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let python = interpreter::named(&options.python)?;
    refuse_system(&python, options.outside_venv)?;
    match (options.debug, options.profiled) {
        (_, true) => profiled::install(&python),
        (true, false) => install(&python, Profile::Dev),
        (false, false) => install(&python, Profile::Release),
    }
}

/// Builds and installs, asking nothing.
pub fn install(python: &Interpreter, profile: Profile) -> Result<()> {
    wheel::put(python, &wheel::compile(python, profile)?)
}

/// Says no where packages belong to somebody else.
fn refuse_system(python: &Interpreter, allowed: bool) -> Result<()> {
    let path = python.executable.display();
    if python.virtual_environment || (allowed && !python.externally_managed) {
        return Ok(());
    }
    let what = if python.externally_managed { "is managed by the distribution" } else { "is no virtual environment" };
    Err(anyhow!("{path} {what}")).advise(format!(
        "make an environment first: `{path} -m venv ENV`, then `cargo xtask develop --python ENV/bin/python`{}",
        if python.externally_managed { "" } else { "; or pass `--outside-venv`" }
    ))
}
