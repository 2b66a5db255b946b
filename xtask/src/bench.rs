//! `bench`: measures the runtime and slotgen, beside the bounds that the project allows itself.
mod against;
mod picture;

use crate::obtain::{Interpreter, interpreter, sources, torch, venv};
use crate::testing::{SUPPORTED, newest};
use crate::ui::table::table;
use crate::ui::{self, Advise, Step, paint};
use crate::wheel::Profile;
use crate::{develop, place, profiled, run as program};
use against::Report;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::Command;

/// Measures the runtime: import, tracing, cached calls, guards, the evaluation hook
///
/// Each row is the quickest of many short rounds, beside the bound that the project allows. Run it before and after a change that
/// touches a hot path. docs/performance.md keeps the results.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cargo xtask bench              the profiled build (takes over ten minutes to make)\n  \
    cargo xtask bench --plain      the build of `cargo build --release`\n  \
    cargo xtask bench --slotgen    slotgen's benchmarks, too\n  \
    cargo xtask bench --check      exit status 1 if a value is over its bound\n  \
    cargo xtask bench --guards     the table of guards in docs/guards.md (needs the PyTorch environment)\n  \
    cargo xtask bench --torch      tracing and cached calls beside TorchDynamo's; --quick for a rough look\n  \
    cargo xtask bench --torch --check --json   for machines: fails where a ratio to TorchDynamo is worse than its bound"
)]
pub struct Options {
    /// Run slotgen's benchmarks too
    #[arg(long)]
    slotgen: bool,
    /// Count guards and traces of the programs, beside TorchDynamo's on the same calls; nothing is measured
    #[arg(long, conflicts_with_all = ["slotgen", "check", "json"])]
    guards: bool,
    /// Trace and call programs and models of PyTorch, beside TorchDynamo on the same ones: CPU time, in turns, medians
    #[arg(long, conflicts_with_all = ["slotgen", "guards"])]
    torch: bool,
    /// Fewer rounds: a rough look in a minute or two
    #[arg(long, requires = "torch")]
    quick: bool,
    /// Put table and picture into docs/performance.md
    #[arg(long, requires = "torch")]
    write: bool,
    /// Measure nothing: show, check or write what `python tests/bench/against_dynamo.py` has printed
    #[arg(long, requires = "torch", value_name = "FILE", conflicts_with = "quick")]
    from: Option<PathBuf>,
    /// Fail if a value is over its bound; with `--torch`, if a ratio to TorchDynamo is worse than its bound
    #[arg(long)]
    check: bool,
    /// Measure the build of `develop --profiled`, and fail if it cannot be made; the default falls back to the plain build
    #[arg(long, conflicts_with = "plain")]
    profiled: bool,
    /// Measure the build of `cargo build --release`
    #[arg(long)]
    plain: bool,
    /// Run in this interpreter
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    json: bool,
}

/// One measurement.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    name: String,
    value: Option<f64>,
    unit: String,
    bound: Option<f64>,
}

impl Row {
    fn exceeds(&self) -> bool {
        matches!((self.value, self.bound), (Some(value), Some(bound)) if value > bound)
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let base = match &options.python {
        Some(path) => interpreter::named(path)?,
        None => interpreter::find(newest(), None)?,
    };
    if options.torch {
        return torch(options, &base);
    }
    if options.guards {
        return guards(options, &torch::ensure(&base)?);
    }
    let python = venv::ensure(&base)?;
    let build = install(options, &python)?;
    let mut rows = Vec::new();
    // Where functions are not traced there is the hook to measure, no more.
    if SUPPORTED.contains(&python.series()) {
        rows = serde_json::from_str::<Vec<Row>>(&script(&python, "runtime.py")?).context("no rows were printed")?;
    }
    rows.extend(hook(&python)?);
    if options.json {
        anstream::println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        let what = format!("CPython {}, {build}", python.full_version());
        anstream::println!("{what}\n{}", table(&["what", "value", "bound"], &cells(&rows)));
    }
    if options.slotgen {
        slotgen()?;
    }
    let over = rows.iter().filter(|row| row.exceeds()).count();
    if options.check && over > 0 {
        return Err(anyhow!("{over} values are over their bound")).advise(
            "run it again on an idle machine before you believe it; docs/performance.md has the values to expect",
        );
    }
    Ok(())
}

/// Builds the library to measure, and names the build.
fn install(options: &Options, python: &Interpreter) -> Result<&'static str> {
    const PLAIN: &str = "plain build";
    if options.plain {
        return develop::install(python, Profile::Release).map(|()| PLAIN);
    }
    match profiled::check() {
        Err(error) if !options.profiled => {
            let why = error.root_cause();
            ui::note(format!("{why}: measuring the plain build instead, which traces slower"));
            develop::install(python, Profile::Release).map(|()| PLAIN)
        }
        _ => profiled::install(python).map(|()| "profiled build"),
    }
}

fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let number =
        |value: f64, unit: &str| if unit == "x" { format!("{value:.2} x") } else { format!("{value:.1} {unit}") };
    let row = |row: &Row| {
        let value = row.value.map_or("nothing to measure".to_owned(), |value| number(value, &row.unit));
        let bound = row.bound.map_or(String::new(), |bound| number(bound, &row.unit));
        let bound = if row.exceeds() { paint::red(bound) } else { bound };
        vec![row.name.clone(), value, bound]
    };
    rows.iter().map(row).collect()
}

/// `--torch`.
fn torch(options: &Options, base: &Interpreter) -> Result<()> {
    let printed = match &options.from {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?,
        None => {
            let python = torch::ensure_models(base)?;
            install(options, &python)?;
            with(&python, "against_dynamo.py", if options.quick { &["--quick"] } else { &[] })?
        }
    };
    let report = Report::parse(&printed)?;
    if options.json {
        anstream::println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        anstream::println!("{}\n{}", report.what(), table(&against::HEADERS, &report.cells()));
    }
    if options.write {
        report.write()?;
    }
    if options.check { report.check() } else { Ok(()) }
}

/// Prints the table of `tests/bench/guards.py`.
fn guards(options: &Options, python: &Interpreter) -> Result<()> {
    install(options, python)?;
    anstream::print!("{}", printed(python, "guards.py")?);
    Ok(())
}

/// The last line that a script of `tests/bench` prints.
fn script(python: &Interpreter, name: &str) -> Result<String> {
    Ok(printed(python, name)?.lines().last().unwrap_or_default().to_owned())
}

/// What such a script prints.
fn printed(python: &Interpreter, name: &str) -> Result<String> {
    with(python, name, &[])
}

/// The same with more arguments.
fn with(python: &Interpreter, name: &str, arguments: &[&str]) -> Result<String> {
    let step = Step::start(format!("Measuring: tests/bench/{name}"));
    let mut command = Command::new(&python.executable);
    command.arg(place::root().join("tests").join("bench").join(name)).arg("--json").args(arguments);
    let printed = program::output(command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH"))?;
    step.done("");
    Ok(printed)
}

/// The hook that only observes, against an empty one; and what a hook that is not installed leaves behind.
fn hook(python: &Interpreter) -> Result<[Row; 2]> {
    let report: serde_json::Value = serde_json::from_str(&script(python, "hook_cost.py")?)?;
    let row = |name: &str, value: &str, bound| Row {
        name: name.to_owned(),
        value: report[value].as_f64(),
        unit: "x".to_owned(),
        bound: Some(bound),
    };
    Ok([
        row("observing hook over an empty one, per Python-to-Python call", "ratio", 1.2),
        row("hook taken out again over a process without slotrt, per Python-to-Python call", "nothing", 1.1),
    ])
}

/// slotgen's own benchmarks, as cargo prints them; they hold their bounds themselves.
fn slotgen() -> Result<()> {
    sources::obtain("3.13", None)?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(place::root()).args(["bench", "--quiet", "--package", "slotgen", "--benches"]);
    let status = command.status().context("cargo bench could not be started")?;
    if status.success() { Ok(()) } else { bail!("cargo bench ended with {status}") }
}
