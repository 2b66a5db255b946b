//! Python tests: each file below `tests/python` in a process of its own, on each interpreter.
use super::tally::Tally;
use crate::obtain::{Interpreter, torch, venv};
use crate::ui::{Advise, Step, step};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result, anyhow};
use rayon::prelude::*;
use serde::Deserialize;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Which files, and how they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All but those of PyTorch.
    Plain,
    /// The same, with CPython's own checks of memory and of forgotten errors.
    Strict,
    /// Those of [`TORCH`].
    Torch,
}

/// The folder of the tests that need PyTorch, and so an environment of their own.
const TORCH: &str = "domain/torch/";

/// A file that takes longer is named where no bar shows what runs.
const LONG: Duration = Duration::from_secs(60);

impl Kind {
    /// Whether this layer runs the file at `path`, a path from `tests/python`.
    fn takes(self, path: &str) -> bool {
        path.starts_with(TORCH) == (self == Kind::Torch)
    }

    fn title(self, python: &Interpreter) -> String {
        let version = python.full_version();
        match self {
            Kind::Plain => format!("Python tests, CPython {version}"),
            Kind::Strict => format!("Python tests with a debugging allocator, CPython {version}"),
            Kind::Torch => format!("PyTorch tests, CPython {version}"),
        }
    }
}

/// What the runners print last.
#[derive(Deserialize)]
pub struct Counts {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<(String, String)>,
}

/// The same with every name behind `prefix`.
pub fn tally(counts: Counts, prefix: &str) -> Tally {
    let full = |name: String| format!("{prefix}{name}");
    let failed = counts.failed.into_iter().map(full).collect();
    let skipped = counts.skipped.into_iter().map(|(name, why)| (full(name), why)).collect();
    Tally { passed: counts.passed, failed, skipped }
}

/// Runs all files on all interpreters.
pub fn run(interpreters: &[Interpreter], filter: Option<&str>, kind: Kind) -> Result<Tally> {
    run_files_of(interpreters, &files(kind, filter)?, kind)
}

/// Runs the files whose path from `tests/python` contains one of the words.
pub fn run_part(python: Interpreter, words: &[&str]) -> Result<Tally> {
    let mut files = files(Kind::Plain, None)?;
    files.retain(|file| words.iter().any(|word| file.to_string_lossy().contains(word)));
    run_files_of(&[python], &files, Kind::Plain)
}

fn run_files_of(interpreters: &[Interpreter], files: &[PathBuf], kind: Kind) -> Result<Tally> {
    let mut tally = Tally::default();
    for base in interpreters {
        let python = if kind == Kind::Torch { torch::ensure(base)? } else { venv::ensure(base)? };
        develop::install(&python, Profile::Release)?;
        tally.add(run_files(&python, files, kind)?);
    }
    Ok(tally)
}

/// Every Python test file, those that need PyTorch, too.
pub fn all_files() -> Result<Vec<PathBuf>> {
    Ok([files(Kind::Plain, None)?, files(Kind::Torch, None)?].concat())
}

/// The test files whose path from `tests/python` contains the filter, by path.
fn files(kind: Kind, filter: Option<&str>) -> Result<Vec<PathBuf>> {
    let root = place::root().join("tests").join("python");
    let mut files = below(&root)?;
    files.retain(|file| {
        let path = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().into_owned();
        kind.takes(&path) && filter.is_none_or(|filter| path.contains(filter))
    });
    files.sort();
    if files.is_empty() {
        let wanted = filter.map(|filter| format!(" whose path contains `{filter}`")).unwrap_or_default();
        return Err(anyhow!("{} holds no test file{wanted}", place::shown(&root)))
            .advise("name a part of a path: a folder such as `guard`, or a file such as `test_hook`");
    }
    Ok(files)
}

/// Every `test_*.py` in a folder and in the folders below it.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{} is missing", place::shown(folder)))?;
    let mut files = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(below(&path)?);
        } else if is_test(&path) {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_test(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("test_") && name.ends_with(".py")
}

/// Runs as many files at once as there are processors, each in a process of its own; the counts come in the order of the files.
fn run_files(python: &Interpreter, files: &[PathBuf], kind: Kind) -> Result<Tally> {
    let step = Step::items(kind.title(python), files.len() as u64);
    let counted: Result<Vec<Tally>> =
        files.par_iter().with_max_len(1).map(|file| run_file(python, file, kind, &step)).collect();
    let mut tally = Tally::default();
    counted?.into_iter().for_each(|counts| tally.add(counts));
    if tally.failed.is_empty() {
        step.done(tally.summary())
    } else {
        step.failed(tally.summary())
    };
    Ok(tally)
}

fn run_file(python: &Interpreter, file: &Path, kind: Kind, step: &Step) -> Result<Tally> {
    let name = place::shown(file);
    step.at(&name);
    let started = Instant::now();
    let output = finished(command(python, file, kind)).with_context(|| format!("{name} could not be run"))?;
    if started.elapsed() > LONG {
        step.note(format!("{name}: {:.0} s", started.elapsed().as_secs_f64()));
    }
    let counts = counts(&output, &name);
    if !counts.failed.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        step::suspended(|| said.lines().for_each(|line| anstream::eprintln!("    {line}")));
    }
    step.advance(1);
    Ok(counts)
}

/// Runs the command to its end. What it prints goes to files, not to pipes: a process that it left behind would hold a pipe open.
fn finished(mut command: Command) -> Result<Output> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let status = command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).status()?;
    Ok(Output { status, stdout: read(&mut stdout)?, stderr: read(&mut stderr)? })
}

fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn command(python: &Interpreter, file: &Path, kind: Kind) -> Command {
    let mut command = Command::new(&python.executable);
    command.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONFAULTHANDLER", "1");
    // Each processor has a file of its own: threads that wait for one another would only hold up the others.
    command.env("OMP_NUM_THREADS", "1");
    if kind == Kind::Strict {
        command.args(["-X", "dev"]).env("PYTHONMALLOC", "debug").env("SLOTRT_TEST_STRICT", "1");
    }
    command.arg(place::root().join("tests").join("python").join("run.py")).arg(file);
    command
}

/// Counts from the runner's last line; a process that died before it is a failure.
fn counts(output: &Output, name: &str) -> Tally {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let last = stdout.lines().last().unwrap_or_default();
    match serde_json::from_str::<Counts>(last) {
        Ok(counts) => {
            let mut tally = tally(counts, &format!("{name} "));
            if !output.status.success() && tally.failed.is_empty() {
                tally.failed.push(format!("{name} (ended with {} after its tests)", output.status));
            }
            tally
        }
        Err(_) => Tally::failure(format!("{name} (died: {})", output.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn the_tests_of_pytorch_are_a_layer_of_their_own() {
        let layers = |path| [Kind::Plain, Kind::Strict, Kind::Torch].map(|kind| kind.takes(path));
        assert_eq!(layers("domain/torch/test_graphs.py"), [false, false, true]);
        assert_eq!(layers("domain/numpy/test_arrays.py"), [true, true, false]);
    }
}
