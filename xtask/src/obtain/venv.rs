//! Python environments under `target/venv`, made once and reused.
use super::{Interpreter, interpreter};
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::process::Command;

/// Written last into an environment; without it the environment is unfinished and made anew.
const MARK: &str = ".slotrt-complete";

/// What the demo and the tests import.
const PACKAGES: &[&str] = &["numpy"];

/// An environment for this interpreter with numpy; the returned interpreter is the one inside.
pub fn ensure(base: &Interpreter) -> Result<Interpreter> {
    let directory = place::target().join("venv").join(base.full_version());
    ensure_at(&directory, base, PACKAGES)
}

/// The same at any place and with any packages.
pub fn ensure_at(directory: &Path, base: &Interpreter, packages: &[&str]) -> Result<Interpreter> {
    let python = directory.join("bin").join("python");
    let wanted = format!("{} {}\n", base.executable.display(), packages.join(" "));
    let finished = || {
        let is_made = std::fs::read_to_string(directory.join(MARK)).is_ok_and(|made| made == wanted);
        let found = is_made.then(|| Interpreter::probe(&python).ok()).flatten();
        found.filter(|found| found.version == base.version)
    };
    if let Some(found) = finished() {
        return Ok(found);
    }
    alone(directory, || {
        if let Some(found) = finished() {
            return Ok(found);
        }
        make(directory, base, packages, &python)?;
        std::fs::write(directory.join(MARK), &wanted)?;
        interpreter::named(&python)
    })
}

/// Installs more packages into an environment, once.
pub fn add(directory: &Path, python: &Interpreter, packages: &[&str]) -> Result<()> {
    let mark = directory.join(format!("{MARK}-{}", packages.join("-")));
    if mark.exists() {
        return Ok(());
    }
    alone(directory, || {
        if mark.exists() {
            return Ok(());
        }
        let step = Step::start(format!("pip install {} in {}", packages.join(" "), place::shown(directory)));
        install(&python.executable, packages)?;
        std::fs::write(&mark, "")?;
        step.done("");
        Ok(())
    })
}

/// Does so while no other process does the same in the environment, which clones may share: a lock on a file beside it says so.
fn alone<T>(directory: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut path = directory.as_os_str().to_owned();
    path.push(".lock");
    directory.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let file = File::create(&path).with_context(|| format!("{} cannot be written", Path::new(&path).display()))?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let step = Step::start(format!("Another process makes {}", place::shown(directory)));
        file.lock()?;
        step.done("done");
    }
    work()
}

fn make(directory: &Path, base: &Interpreter, packages: &[&str], python: &Path) -> Result<()> {
    let step = Step::start(format!("Python environment in {}", place::shown(directory)));
    if directory.exists() {
        std::fs::remove_dir_all(directory).with_context(|| format!("{} cannot be removed", directory.display()))?;
    }
    step.at("python -m venv");
    run::output(Command::new(&base.executable).args(["-m", "venv"]).arg(directory))
        .advise("the interpreter lacks `venv` or `ensurepip`; name another with `--python PATH`")?;
    step.at(format!("pip install {}", packages.join(" ")));
    install(python, packages)?;
    step.done(format!("CPython {}, {}", base.full_version(), packages.join(", ")));
    Ok(())
}

fn install(python: &Path, packages: &[&str]) -> Result<()> {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]).args(packages);
    run::output(&mut pip)
        .advise("pip could not install the packages: check the network, or PIP_INDEX_URL if you use a mirror")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::alone;
    use anyhow::Result;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    #[test]
    fn one_works_at_a_time() -> Result<()> {
        let room = tempfile::tempdir()?;
        let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            alone(&room.path().join("venv").join("3.13.0"), || {
                most.fetch_max(working.fetch_add(1, SeqCst) + 1, SeqCst);
                std::thread::sleep(Duration::from_millis(20));
                working.fetch_sub(1, SeqCst);
                Ok(())
            })
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("panicked")))
        })?;
        assert_eq!(most.into_inner(), 1);
        Ok(())
    }
}
