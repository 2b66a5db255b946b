//! `audit tests`: runs the Python tests, and keeps which generated functions each of them runs.
use super::{Reached, SCHEMA, Tests, place_of};
use crate::obtain::{Interpreter, archive, compiled, interpreter, venv};
use crate::place;
use crate::testing::{newest, test_files};
use crate::ui::{self, Advise, Step};
use crate::wheel::{self, Profile};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many tests of a function are named.
const NAMED: usize = 6;

#[derive(Args, Debug)]
pub struct Options {
    /// Run in this interpreter; with PyTorch in its environment, the tests that need it count, too
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Processes at a time
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Start no further test file after so many seconds: those that are left are named, and the next run goes on with them
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Build the runtime without optimisation
    #[arg(long)]
    debug: bool,
    /// Build nothing: the folder with the package `slotrt`, for the interpreter
    #[arg(long, value_name = "DIR", conflicts_with = "debug")]
    package: Option<PathBuf>,
}

/// What a test file records: the tests that ran each function, as `file name`.
type Record = BTreeMap<String, Vec<String>>;

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let python = match &options.python {
        Some(path) => compiled::named(path)?,
        None => venv::ensure(&interpreter::find(newest(), None)?)?,
    };
    let (package, library) = match &options.package {
        Some(package) => (package.clone(), package.join(format!("slotrt/_slotrt{}", python.extension_suffix))),
        None => {
            let library = wheel::compile(&python, if options.debug { Profile::Dev } else { Profile::Release })?;
            (wheel::tree(&python, &library)?, library)
        }
    };
    let room =
        room(&library).advise("`--package` wants a folder that can stand in PYTHONPATH, built for this interpreter")?;
    let end = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let records = records(&python, &package, &room, (options.jobs.max(1), end))?;
    let reached = summary(&python.full_version(), &records);
    let path = place_of();
    std::fs::write(&path, serde_json::to_string_pretty(&reached)? + "\n").with_context(|| place::shown(&path))?;
    let functions: usize = reached.functions.values().map(BTreeMap::len).sum();
    anstream::println!(
        "{} tests of {} files run {functions} generated functions: {}",
        reached.measured,
        reached.files.len(),
        place::shown(&path)
    );
    Ok(())
}

/// Where the records are kept: they are of one build.
fn room(library: &Path) -> Result<PathBuf> {
    let bytes = std::fs::read(library).with_context(|| place::shown(library))?;
    let room = place::target().join("audit").join(format!("reached-{}", &archive::digest(&bytes)[..16]));
    std::fs::create_dir_all(&room).with_context(|| place::shown(&room))?;
    Ok(room)
}

/// The record of each test file, by its path; a file that was run before with this build is not run again.
fn records(
    python: &Interpreter,
    package: &Path,
    room: &Path,
    (jobs, end): (usize, Option<Instant>),
) -> Result<BTreeMap<String, Record>> {
    let files = test_files()?;
    let step = Step::items("Tests and what they run", files.len() as u64);
    let (left, found) = (Mutex::new(files.into_iter()), Mutex::new(BTreeMap::new()));
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let worker = || -> Result<()> {
        while let Some(file) = next() {
            let name = place::shown(&file);
            step.at(&name);
            match record(python, package, room, &file, end) {
                Ok(record) => drop(found.lock().map(|mut found| found.insert(name, record))),
                Err(error) => ui::note(format!("{name} is not counted: {error:#}")),
            }
            step.advance(1);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker ended early"))?)
    })?;
    let found = found.into_inner().map_err(|_| anyhow!("the records are lost"))?;
    if found.is_empty() {
        return Err(anyhow!("no test file could be run")).advise("the notes above say why");
    }
    step.done(format!("{} files", found.len()));
    Ok(found)
}

fn record(python: &Interpreter, package: &Path, room: &Path, file: &Path, end: Option<Instant>) -> Result<Record> {
    let text = std::fs::read(file)?;
    let kept = room.join(format!("{}.json", &archive::digest(&text)[..16]));
    if !kept.exists() {
        if end.is_some_and(|end| Instant::now() > end) {
            return Err(anyhow!("the time is over"));
        }
        let fresh = kept.with_extension("new");
        let mut command = Command::new(&python.executable);
        command.args(["-W", "ignore"]).arg(place::root().join("tests/python/run.py")).arg(file);
        command.env("PYTHONPATH", package).env("SLOTRT_TEST_REACHED", &fresh).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("OMP_NUM_THREADS", "1").stdin(Stdio::null());
        let output = command.output().context("the runner could not be started")?;
        if !fresh.exists() {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            // A file that is skipped as a whole runs nothing.
            if !output.status.success() || !said.contains("\"skipped\": [[\"(file)\"") {
                let said = String::from_utf8_lossy(&output.stderr);
                return Err(anyhow!("{}: {}", output.status, said.lines().last().unwrap_or_default()));
            }
            std::fs::write(&fresh, "{}")?;
        }
        std::fs::rename(&fresh, &kept)?;
    }
    serde_json::from_str(&std::fs::read_to_string(&kept)?).with_context(|| place::shown(&kept))
}

/// The records by function: how many tests, and those that run the fewest functions.
fn summary(release: &str, records: &BTreeMap<String, Record>) -> Reached {
    let files: Vec<String> =
        records.iter().filter(|(_, record)| !record.is_empty()).map(|(name, _)| name.clone()).collect();
    let mut reach: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut tests: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        for (function, names) in records.get(file).into_iter().flatten() {
            for name in names {
                *reach.entry((at, name)).or_default() += 1;
                tests.entry(function).or_default().push((at, name));
            }
        }
    }
    let mut functions: BTreeMap<String, BTreeMap<String, Tests>> = BTreeMap::new();
    for (function, mut all) in tests {
        let Some((file, name)) = function.split_once(' ') else { continue };
        all.sort_by_key(|test| (reach.get(test).copied().unwrap_or(0), *test));
        all.dedup();
        let focussed = all.iter().take(NAMED).map(|(file, name)| (*file, (*name).to_owned())).collect();
        functions.entry(file.to_owned()).or_default().insert(name.to_owned(), Tests { count: all.len(), focussed });
    }
    Reached { schema: SCHEMA.to_owned(), release: release.to_owned(), measured: reach.len(), files, functions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_focussed_tests_come_first() {
        let record = |rows: &[(&str, &[&str])]| -> Record {
            rows.iter()
                .map(|(name, tests)| ((*name).to_owned(), tests.iter().map(|test| (*test).to_owned()).collect()))
                .collect()
        };
        let records = BTreeMap::from([
            ("a.py".to_owned(), record(&[("x.c f", &["T.wide", "T.narrow"]), ("x.c g", &["T.wide"])])),
            ("b.py".to_owned(), record(&[])),
        ]);
        let found = summary("3.13.0", &records);
        assert_eq!((found.measured, found.files.as_slice()), (2, ["a.py".to_owned()].as_slice()));
        let (count, names) = found.of(&("x.c".to_owned(), "f".to_owned()));
        assert_eq!((count, names), (2, vec!["a.py T.narrow".to_owned(), "a.py T.wide".to_owned()]));
    }
}
