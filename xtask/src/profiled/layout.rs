//! The second half of a profiled build: LLVM's BOLT reorders the code of the linked library.
use super::train;
use crate::obtain::Interpreter;
use crate::obtain::apt::bolt::Bolt;
use crate::run;
use crate::ui::Step;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options for the order of functions and blocks. Equal functions are not folded: the runtime compares addresses.
const LAYOUT: [&str; 8] = [
    "-reorder-blocks=ext-tsp",
    "-reorder-functions=cdsort",
    "-split-functions",
    "-split-strategy=cdsplit",
    "-split-eh",
    "-plt=hot",
    "-peepholes=all",
    "-update-debug-sections",
];

/// An `llvm-bolt` that runs here.
pub struct Mover {
    program: PathBuf,
    /// The library with its counters, if it does not find that by itself.
    counting: Option<PathBuf>,
}

impl Mover {
    /// The machine's, of this LLVM or any (it reads the library as the linker left it); else Debian's, fetched.
    pub fn find(llvm: &str) -> Result<Self> {
        ensure!(cfg!(target_os = "linux"), "llvm-bolt reorders code on Linux only");
        let candidates = [format!("llvm-bolt-{llvm}"), "llvm-bolt".to_owned()];
        let runs = |candidate: &String| run::output(Command::new(candidate).arg("--version")).is_ok();
        if let Some(found) = candidates.into_iter().find(runs) {
            return Ok(Self { program: found.into(), counting: None });
        }
        Bolt::ensure(llvm).map(|bolt| Self { program: bolt.program, counting: Some(bolt.counting) })
    }

    /// Counts what runs in the library, and moves its code accordingly; `library` must have kept its relocations.
    pub fn lay_out(&self, python: &Interpreter, library: &Path, room: &Path) -> Result<PathBuf> {
        let step = Step::start("Adding counters: llvm-bolt");
        let (counting, counts, moved) =
            (room.join("moving-counts.so"), room.join("moving.fdata"), room.join("moved.so"));
        if counts.exists() {
            std::fs::remove_file(&counts)?;
        }
        let mut instrument = self.on(library, &counting);
        if let Some(counting) = &self.counting {
            instrument.arg(format!("-runtime-instrumentation-lib={}", counting.display()));
        }
        instrument.arg("-instrument").arg(format!("-instrumentation-file={}", counts.display()));
        run::output(&mut instrument)?;
        step.done("");
        train(python, &counting)?;
        let step = Step::start("Reordering code by the profile: llvm-bolt");
        let mut command = self.on(library, &moved);
        command.arg(format!("-data={}", counts.display())).args(LAYOUT);
        run::output(&mut command).context("llvm-bolt could not reorder the library's code")?;
        step.done(crate::place::shown(&moved));
        Ok(moved)
    }

    fn on(&self, library: &Path, to: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(library).arg("-o").arg(to);
        command
    }
}
