//! The PyTorch environment: 5 GB, so it stands outside the clone, and all clones share it.
use super::{Interpreter, venv};
use crate::ui::Advise;
use anyhow::{Result, anyhow};
use std::path::PathBuf;

/// What the PyTorch tests import.
const PACKAGES: &[&str] = &["torch", "numpy"];

/// What the models need beside these.
const MODELS: &[&str] = &["transformers", "torchvision", "timm"];

/// The environment for this interpreter, made if missing.
pub fn ensure(base: &Interpreter) -> Result<Interpreter> {
    venv::ensure_at(&directory(base)?, base, PACKAGES)
}

/// The same with the libraries whose models are tested.
pub fn ensure_models(base: &Interpreter) -> Result<Interpreter> {
    let python = ensure(base)?;
    venv::add(&directory(base)?, &python, MODELS)?;
    Ok(python)
}

/// The Python of an environment that was made before, and the folder of its `torch`; nothing is installed for this.
pub fn installed() -> Result<(PathBuf, PathBuf)> {
    for release in crate::testing::SUPPORTED.iter().rev() {
        let Ok(base) = super::interpreter::find(release, None) else { continue };
        let root = directory(&base)?;
        let (python, torch) = (root.join("bin/python"), root.join(format!("lib/python{release}/site-packages/torch")));
        if python.exists() && torch.is_dir() {
            return Ok((python, torch));
        }
    }
    Err(anyhow!("there is no PyTorch environment")).advise("`cargo xtask test --torch` makes one")
}

/// `$XDG_CACHE_HOME/slotrt/torch-3.13.0`.
fn directory(base: &Interpreter) -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    let cache = cache
        .ok_or_else(|| anyhow!("there is no cache directory for the PyTorch environment"))
        .advise("set XDG_CACHE_HOME to a directory with 6 GB of room")?;
    Ok(cache.join("slotrt").join(format!("torch-{}", base.full_version())))
}
