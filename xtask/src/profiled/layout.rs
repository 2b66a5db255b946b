//! The second half of laying out: a linked library whose code is moved so that what runs together lies together (LLVM's BOLT).
use super::train;
use crate::obtain::Interpreter;
use crate::run;
use crate::ui::Step;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is done about the order of functions and blocks. Functions that are alike are not folded: the runtime compares addresses.
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
pub struct Mover(PathBuf);

impl Mover {
    /// The one of this LLVM, or any: it reads the library as the linker left it.
    pub fn find(llvm: &str) -> Option<Self> {
        let candidates = [format!("llvm-bolt-{llvm}"), "llvm-bolt".to_owned()];
        let runs = |candidate: &String| run::output(Command::new(candidate).arg("--version")).is_ok();
        let found = candidates.into_iter().find(runs);
        found.filter(|_| cfg!(target_os = "linux")).map(|found| Self(found.into()))
    }

    /// Counts what runs in the library, and moves its code accordingly; `library` must have kept its relocations.
    pub fn lay_out(&self, python: &Interpreter, library: &Path, room: &Path) -> Result<PathBuf> {
        let step = Step::start("Preparing to move code: llvm-bolt");
        let (counting, counts, moved) =
            (room.join("moving-counts.so"), room.join("moving.fdata"), room.join("moved.so"));
        if counts.exists() {
            std::fs::remove_file(&counts)?;
        }
        let mut instrument = self.on(library, &counting);
        instrument.arg("-instrument").arg(format!("-instrumentation-file={}", counts.display()));
        run::output(&mut instrument)?;
        step.done("");
        train(python, &counting)?;
        let step = Step::start("Moving together what runs together: llvm-bolt");
        let mut command = self.on(library, &moved);
        command.arg(format!("-data={}", counts.display())).args(LAYOUT);
        run::output(&mut command).context("llvm-bolt could not lay the library out")?;
        step.done(crate::place::shown(&moved));
        Ok(moved)
    }

    fn on(&self, library: &Path, to: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(library).arg("-o").arg(to);
        command
    }
}
