//! A release build with a profile: built with counters, run on random programs, built again with the counts.
mod layout;

use crate::obtain::Interpreter;
use crate::ui::{self, Advise, Step};
use crate::{place, run, wheel};
use anyhow::{Context, Result, anyhow};
use layout::Mover;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What rustc says of itself.
struct Compiler {
    host: String,
    llvm: String,
    libraries: PathBuf,
}

impl Compiler {
    fn ask() -> Result<Self> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let said = run::output(Command::new(&rustc).current_dir(place::root()).arg("-vV"))?;
        let field = |name: &str| {
            let value = said.lines().find_map(|line| line.strip_prefix(name));
            value.map(|value| value.trim().to_owned()).with_context(|| format!("`rustc -vV` says no `{name}`"))
        };
        let libraries =
            run::output(Command::new(&rustc).current_dir(place::root()).args(["--print", "target-libdir"]))?;
        Ok(Self { host: field("host:")?, llvm: field("LLVM version:")?, libraries: libraries.trim().into() })
    }

    /// The number of LLVM's release.
    fn llvm(&self) -> &str {
        self.llvm.split('.').next().unwrap_or_default()
    }

    /// The `llvm-profdata` that reads what this compiler's programs write: rustup's, which is added where there is none, or the system's of the
    /// same version.
    fn merger(&self) -> Result<PathBuf> {
        if let Some(found) = self.find_merger() {
            return Ok(found);
        }
        let step = Step::start("Adding llvm-tools to the toolchain: rustup");
        let mut rustup = Command::new("rustup");
        match run::output(rustup.current_dir(place::root()).args(["component", "add", "llvm-tools"])) {
            Ok(_) => step.done(""),
            Err(error) => step.failed(error.root_cause()),
        };
        let llvm = self.llvm();
        self.find_merger()
            .ok_or_else(|| anyhow!("no llvm-profdata of LLVM {llvm} was found, the version that this rustc uses"))
            .advise(format!(
                "run `rustup component add llvm-tools`, or install the distribution's package `llvm-{llvm}`"
            ))
    }

    fn find_merger(&self) -> Option<PathBuf> {
        let llvm = self.llvm();
        let own = self.libraries.with_file_name("bin").join("llvm-profdata");
        let mut candidates = [own, format!("llvm-profdata-{llvm}").into(), "llvm-profdata".into()].into_iter();
        candidates.find(|candidate| {
            let said = run::output(Command::new(candidate).args(["merge", "--version"]));
            said.is_ok_and(|said| said.contains(&format!("LLVM version {llvm}.")))
        })
    }
}

/// Whether there is what such a build needs; the error says what to get.
pub fn check() -> Result<()> {
    Compiler::ask()?.merger().map(|_| ())
}

/// Builds and installs.
pub fn install(python: &Interpreter) -> Result<()> {
    wheel::put(python, &compile(python)?)
}

/// Compiles the runtime twice. Returns the shared library of the second build, with its code reordered if there is an `llvm-bolt`.
fn compile(python: &Interpreter) -> Result<PathBuf> {
    let compiler = Compiler::ask()?;
    let merger = compiler.merger()?;
    let mover = Mover::find(compiler.llvm());
    let room = place::python_target(&python.series()).join("profiled");
    let merged = recorded(python, &compiler, &merger, &room)?;
    let library = build(python, &compiler, &room.join("build"), &Counts::Used { by: &merged, moves: mover.is_ok() })?;
    match mover.and_then(|mover| mover.lay_out(python, &library, &room)) {
        Ok(moved) => Ok(moved),
        Err(error) => {
            ui::note(format!("{error:#}: its code is not reordered, and traces take about a fourteenth longer"));
            Ok(library)
        }
    }
}

/// Flags with which rustc uses a profile, which is recorded first; the code is not moved afterwards.
pub fn flags(python: &Interpreter) -> Result<Vec<String>> {
    let compiler = Compiler::ask()?;
    let merger = compiler.merger()?;
    let room = place::python_target(&python.series()).join("profiled");
    let merged = recorded(python, &compiler, &merger, &room)?;
    Ok(Counts::Used { by: &merged, moves: false }.flags(&compiler))
}

/// Builds with counters, runs what the profile is of, and merges the counts.
fn recorded(python: &Interpreter, compiler: &Compiler, merger: &Path, room: &Path) -> Result<PathBuf> {
    let counts = room.join("counts");
    if counts.exists() {
        std::fs::remove_dir_all(&counts)?;
    }
    let counting = build(python, compiler, &room.join("counting"), &Counts::Made(&counts))?;
    train(python, &counting)?;
    let merged = room.join("merged.profdata");
    run::output(Command::new(merger).args(["merge", "-o"]).args([&merged, &counts]))?;
    Ok(merged)
}

/// What a build does about counts of what ran.
enum Counts<'a> {
    /// It writes them into this folder.
    Made(&'a Path),
    /// It is laid out by those in this file; its code may be moved afterwards.
    Used { by: &'a Path, moves: bool },
}

impl Counts<'_> {
    /// For rustc; what never ran is laid away from what did, where the format of object files can say so and nobody does it later.
    fn flags(&self, compiler: &Compiler) -> Vec<String> {
        match self {
            Self::Made(folder) => vec![format!("-Cprofile-generate={}", folder.display())],
            Self::Used { by, moves } => {
                let split = compiler.host.contains("linux").then_some("-Cllvm-args=-enable-split-machine-functions");
                let split = if *moves { Some("-Clink-arg=-Wl,--emit-relocs") } else { split };
                [format!("-Cprofile-use={}", by.display())].into_iter().chain(split.map(str::to_owned)).collect()
            }
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Made(_) => "with counters",
            Self::Used { .. } => "with the profile",
        }
    }
}

/// One of the two builds, optimised as a whole: counts fit only a build that is optimised in the same way. With a target that is named,
/// cargo gives the flags to no build script.
fn build(python: &Interpreter, compiler: &Compiler, room: &Path, counts: &Counts<'_>) -> Result<PathBuf> {
    let step = Step::start(format!("Building the runtime for CPython {}, {}", python.full_version(), counts.words()));
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut flags: Vec<_> = given.split_whitespace().map(str::to_owned).collect();
    flags.extend(counts.flags(compiler));
    let mut command = wheel::build(python);
    command.env("CARGO_TARGET_DIR", room).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    command.env("CARGO_PROFILE_RELEASE_LTO", "fat").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    run::output(command.args(["--release", "--target", &compiler.host])).context("the runtime does not build")?;
    let library = room.join(&compiler.host).join("release").join("libslotrt.so");
    step.done(place::shown(&library));
    Ok(library)
}

/// Runs the programs whose profile is recorded.
fn train(python: &Interpreter, library: &Path) -> Result<()> {
    let step = Step::start("Recording a profile: tests/bench/training.py");
    let tree = wheel::tree(python, library)?;
    let mut command = Command::new(&python.executable);
    command.arg(place::root().join("tests").join("bench").join("training.py"));
    run::output(command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", tree))?;
    step.done("");
    Ok(())
}
