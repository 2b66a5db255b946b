//! Tools from PyPI that packing and proving need, in an environment of their own.
use crate::obtain::{Interpreter, venv};
use crate::place;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// Pinned, so that two runs do the same.
const PACKAGES: &[&str] = &["maturin==1.16.0", "cmake==4.4.5", "ninja==1.13.0"];

/// The environment.
pub struct Tools(PathBuf);

impl Tools {
    /// Makes it, once.
    pub fn ensure(base: &Interpreter) -> Result<Self> {
        let directory = place::target().join("venv").join("dist");
        venv::ensure_at(&directory, base, PACKAGES)?;
        Ok(Self(directory.join("bin")))
    }

    /// A command of one of the tools.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join(name));
        let mut paths = vec![self.0.clone()];
        paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        if let Ok(joined) = std::env::join_paths(paths) {
            command.env("PATH", joined);
        }
        command
    }
}
