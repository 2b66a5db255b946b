//! LLVM's BOLT from Debian, unpacked and never installed; it reorders the code of a linked library.
use super::{Suite, tree};
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// The suite that has the LLVM of current compilers.
const SUITE: &str = "sid";

/// An unpacked `llvm-bolt`.
pub struct Bolt {
    /// Starts it.
    pub program: PathBuf,
    /// The library with its counters, which it would look for beside the loader.
    pub counting: PathBuf,
}

impl Bolt {
    /// The one of an LLVM release, for example `22`; fetched if it is not there.
    pub fn ensure(llvm: &str) -> Result<Self> {
        let tree = place::target().join("debian-bolt").join(llvm);
        let found = Self {
            program: tree.join("llvm-bolt"),
            counting: tree.join(format!("usr/lib/llvm-{llvm}/lib/libbolt_rt_instr.a")),
        };
        if found.program.is_file() {
            return Ok(found);
        }
        let step = Step::start(format!("llvm-bolt {llvm} from Debian {SUITE}"));
        step.at("reading package lists");
        let unpacked = Suite::open(SUITE, "deb")
            .and_then(|suite| tree::unpack(&suite, &[format!("bolt-{llvm}")], &tree, &step))
            .and_then(|()| tree::launcher(&tree, &format!("usr/lib/llvm-{llvm}/bin/llvm-bolt"), "starting"))
            .and_then(|script| run::output(Command::new(&script).arg("--version")).map(|_| script))
            .with_context(|| format!("llvm-bolt {llvm} could not be unpacked from Debian {SUITE}"))
            .advise("this needs apt-get and a Debian mirror; or install the distribution's package")?;
        // The last step: a tree without this name is not whole.
        std::fs::rename(unpacked, &found.program)?;
        step.done(place::shown(&tree));
        Ok(found)
    }
}
