//! `fuzz`: runs random programs compiled and plain, and compares them; or runs the fuzz targets.
mod targets;

use crate::obtain::{Interpreter, compiled, interpreter, torch, venv};
use crate::testing::newest;
use crate::ui::table::table;
use crate::ui::{Advise, Step, note};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Workers that run at once.
const WORKERS: u64 = 2;

/// Runs random Python programs compiled and plain, and compares them
///
/// Each program is traced, called again from the cache, and called with other arguments. Result, exception, prints and side effects
/// must be those of plain Python. A program that differs is reduced and saved under target/fuzz. Run it after a change in the tracer.
///
/// With --torch, programs work on tensors: views, changes in place through aliases, indexing, modules, modes, gradients and a backward.
/// Contents, strides, versions, gradients, who shares memory with whom, modes and random state must be eager's as well.
///
/// With --outside, programs work on objects that were there before, of some sixty kinds: containers, iterators, functions, files, locks,
/// references and more. These, their classes and the module change between the calls, within them, and where the compiler does not see it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask fuzz                         a thousand programs\n  \
    cargo xtask fuzz --count 100000          a long run\n  \
    cargo xtask fuzz --start 4711 --count 1  one program again, by its seed\n  \
    cargo xtask fuzz --torch --count 2000    programs on tensors, in the PyTorch environment (5 GB, made once)\n  \
    cargo xtask fuzz --outside --count 5000  programs on objects from outside, which change\n  \
    cargo xtask fuzz --targets               slotgen's readers and code objects, ten minutes each\n  \
    cargo xtask fuzz --targets binary --seconds 60")]
pub struct Options {
    /// First seed
    #[arg(long, visible_alias = "seed", default_value_t = 0)]
    start: u64,
    /// How many programs
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Programs on PyTorch's tensors
    #[arg(long)]
    torch: bool,
    /// Programs on objects from outside the compiled function
    #[arg(long, conflicts_with = "torch")]
    outside: bool,
    /// Run the fuzz targets instead, or those named: preprocess, extract, binary (any bytes as C or as a library, by libFuzzer), codes
    /// (damaged code objects). Inputs that crash, hang or take too much memory stay in target/fuzz-targets
    #[arg(long, value_name = "NAMES", num_args = 0.., conflicts_with_all = ["start", "count", "torch", "outside", "python"])]
    targets: Option<Vec<String>>,
    /// With `--targets`: seconds for each
    #[arg(long, default_value_t = 600, requires = "targets")]
    seconds: u64,
    /// Run in this interpreter
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What `tests/fuzz/run.py` prints last.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Report {
    /// Programs that agree.
    pub same: u64,
    /// Programs that do not agree with themselves, or take too long.
    pub unstable: u64,
    /// Seeds that differ.
    pub different: Vec<u64>,
    /// Seeds at which the process died, and how.
    pub crashed: Vec<(u64, i32)>,
    /// Counters of the runtime.
    stats: BTreeMap<String, u64>,
}

/// What it prints after each batch.
#[derive(Deserialize)]
struct Progress {
    /// Programs so far.
    done: u64,
    /// Seeds of the batch that differ or crash, and which of the two.
    found: Vec<(u64, String)>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if let Some(names) = &options.targets {
        return targets::run(names, options.seconds, options.json);
    }
    let base = match &options.python {
        Some(path) => compiled::named(path)?,
        None => interpreter::find(newest(), None)?,
    };
    let (python, kind) = match options.torch {
        true => (torch::ensure(&base)?, Kind::Tensors),
        false if options.outside => (venv::ensure(&base)?, Kind::Outside),
        false => (venv::ensure(&base)?, Kind::Plain),
    };
    develop::install(&python, Profile::Release)?;
    let report = programs(&python, kind, options.start, options.count)?;
    if options.json {
        anstream::println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        show(&report);
    }
    let bad = report.different.len() + report.crashed.len();
    anstream::println!("{} passed, {bad} failed, {} skipped", report.same, report.unstable);
    if bad == 0 { Ok(()) } else { Err(anyhow!("{bad} of {} programs behave differently compiled", options.count)) }
        .advise(format!(
            "read the reduced programs in target/fuzz; `cargo xtask fuzz{}{} --start SEED --count 1` runs one again",
            if options.torch { " --torch" } else { "" },
            if options.outside { " --outside" } else { "" }
        ))
}

/// What programs are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Python, numpy among it.
    Plain,
    /// Objects from outside, which change.
    Outside,
    /// PyTorch's tensors.
    Tensors,
}

/// Runs seeds from `start` in that environment.
pub fn programs(python: &Interpreter, kind: Kind, start: u64, count: u64) -> Result<Report> {
    let step = Step::items(format!("Random programs, CPython {}", python.full_version()), count);
    let share = count.div_ceil(WORKERS);
    let parts = (0..WORKERS).map(|worker| (start + worker * share, share.min(count.saturating_sub(worker * share))));
    let results: Vec<Result<Report>> = std::thread::scope(|scope| {
        let step = &step;
        let busy = parts.filter(|(_, count)| *count > 0);
        let workers: Vec<_> =
            busy.map(|(start, count)| scope.spawn(move || worker(python, kind, start, count, step))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("a worker ended early"))).collect()
    });
    let mut total = Report::default();
    for result in results {
        let part = result?;
        total.same += part.same;
        total.unstable += part.unstable;
        total.different.extend(part.different);
        total.crashed.extend(part.crashed);
        for (name, value) in part.stats {
            *total.stats.entry(name).or_default() += value;
        }
    }
    let bad = total.different.len() + total.crashed.len();
    let summary = format!("{} agree, {bad} differ, {} unstable", total.same, total.unstable);
    if bad == 0 {
        step.done(summary)
    } else {
        step.failed(summary)
    };
    Ok(total)
}

fn worker(python: &Interpreter, kind: Kind, start: u64, count: u64, step: &Step) -> Result<Report> {
    let mut command = Command::new(&python.executable);
    command.arg(place::root().join("tests").join("fuzz").join("run.py")).arg("--progress");
    command.args(["--start", &start.to_string(), "--count", &count.to_string()]);
    if kind == Kind::Tensors {
        // Both workers have one core each.
        command.arg("--torch").args(["--batch", "20"]).env("OMP_NUM_THREADS", "1");
    }
    if kind == Kind::Outside {
        command.arg("--outside");
    }
    command.arg("--save").arg(place::target().join("fuzz"));
    command.env("PYTHONHASHSEED", "0").env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("the fuzzer does not start")?;
    let stderr = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.map(|mut stream| stream.read_to_string(&mut text));
        text
    });
    let (mut done, mut report) = (0, None);
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(|lines| lines.lines()) {
        let line = line?;
        let value: serde_json::Value = serde_json::from_str(&line).with_context(|| format!("unexpected: {line}"))?;
        if value.get("done").is_none() {
            report = Some(serde_json::from_value(value)?);
            continue;
        }
        let said: Progress = serde_json::from_value(value)?;
        step.advance(said.done.saturating_sub(done));
        done = said.done;
        for (seed, what) in said.found {
            note(format!("the program of seed {seed} {what}"));
        }
    }
    let status = child.wait()?;
    let said = said.join().unwrap_or_default();
    report.with_context(|| format!("the fuzzer ended with {status}: {}", said.lines().last().unwrap_or_default()))
}

fn show(report: &Report) {
    for seed in &report.different {
        anstream::println!("differs: seed {seed}");
    }
    for (seed, status) in &report.crashed {
        anstream::println!("crashes: seed {seed}, status {status}");
    }
    let row = |(name, value): (&String, &u64)| vec![name.clone(), value.to_string()];
    anstream::println!("{}", table(&["counter", "total"], &report.stats.iter().map(row).collect::<Vec<_>>()));
}
