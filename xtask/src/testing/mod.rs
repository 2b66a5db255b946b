//! `test`: runs every test, layer by layer, and ends with a line of counts.
mod changed;
mod cpython;
mod dashboard;
mod described;
mod effects;
mod generated;
mod layer;
mod link;
mod models;
mod operators;
mod python;
mod releases;
mod rust;
mod script;
mod tables;
mod tally;
mod transparency;
mod unpacked;
mod uses;

pub use cpython::module;
pub use python::all_files as test_files;
pub use releases::{DECODED, HOOKED, LIVE, SUPPORTED, bodies, newest};

use crate::obtain::{Interpreter, compiled, interpreter};
use crate::ui::{Advise, paint};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use layer::Layer;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tally::Tally;

/// Runs the tests and counts them
///
/// Without options it runs every layer but unpacked, link, link-torch and torch. `--only` runs some layers, FILTER some files. The Python layers build the
/// runtime and run on each supported interpreter found (pyenv, PATH); one that is missing counts as skipped.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask test                        everything but PyTorch\n  \
    cargo xtask test --only rust            one layer\n  \
    cargo xtask test --only python hook     Python test files whose path contains `hook`\n  \
    cargo xtask test --only python --python 3.14   all Python tests on a release that is not installed\n  \
    cargo xtask test --torch                the PyTorch layer alone\n  \
    cargo xtask test --torch --ops          PyTorch's own operators, compiled: target/operators/operators.md\n  \
    cargo xtask test --torch --ops conv     those whose names contain `conv`\n  \
    cargo xtask test --torch --uses         uses of PyTorch beside TorchDynamo: target/uses/uses.md\n  \
    cargo xtask test --cpython              CPython's tests, compiled\n  \
    cargo xtask test --cpython dict set     the same for some files of Lib/test\n  \
    cargo xtask test --cpython dict --report target/cpython-tests\n                                            a dashboard of it\n  \
    cargo xtask test --models timm BERT     models of one library, and one more\n  \
    cargo xtask test --transparency         CPython's tests under the evaluation hook")]
pub struct Options {
    /// Only Rust tests whose name, or Python test files whose path, contains this
    filter: Option<String>,
    /// Run only these layers
    #[arg(long, value_delimiter = ',', value_name = "LAYER")]
    only: Vec<Layer>,
    /// Run the PyTorch layer alone, in an environment of its own (5 GB, made once)
    #[arg(long)]
    torch: bool,
    /// With `--torch`: run PyTorch's own operators (`op_db`) instead, compiled and plain; one that is right but not one graph counts as
    /// skipped. What the same build has run already is kept in target/operators, and not run again
    #[arg(long, value_name = "NAMES", num_args = 0.., requires = "torch")]
    ops: Option<Vec<String>>,
    /// With `--ops`: take all samples of PyTorch's tests, not a part
    #[arg(long, requires = "ops")]
    all_samples: bool,
    /// With `--torch`: run the uses of PyTorch that the tests have instead, here and with TorchDynamo, and compare graphs, breaks and what
    /// the program does; NAMES are parts of names of files. One with more breaks than TorchDynamo counts as skipped
    #[arg(long, value_name = "NAMES", num_args = 0.., requires = "torch", conflicts_with = "ops")]
    uses: Option<Vec<String>>,
    /// Run CPython's own tests instead, each body compiled with no graph break allowed, and compare; a break counts as skipped
    #[arg(long, value_name = "FILES", num_args = 0..)]
    cpython: Option<Vec<String>>,
    /// With `--cpython`: add the run to the dashboard (HTML and JSON) in this folder, beside other releases and the run before
    #[arg(long, value_name = "DIR", requires = "cpython")]
    report: Option<PathBuf>,
    /// Run models of transformers, torchvision and timm instead; one that is right but not one graph counts as skipped
    #[arg(long, value_name = "NAMES", num_args = 0..)]
    models: Option<Vec<String>>,
    /// With `--models`: compare gradients, too
    #[arg(long, requires = "models")]
    gradients: bool,
    /// With `--models`: call a few models with other sizes at each of 39 calls; two traces are to serve them all
    #[arg(long, requires = "models", conflicts_with = "gradients")]
    sizes: bool,
    /// Run CPython's own tests instead, with and without the evaluation hook, and compare
    #[arg(long, value_name = "FILES", num_args = 0..)]
    transparency: Option<Vec<String>>,
    /// Run on this interpreter only: a path, or a series (3.14), of which Debian's is unpacked where none is installed
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    fn layers(&self) -> Vec<Layer> {
        match (self.torch, self.only.is_empty()) {
            (true, _) => vec![Layer::Torch],
            (false, true) => Layer::STANDARD.to_vec(),
            (false, false) => self.only.clone(),
        }
    }

    /// Options of the script that runs models.
    fn of_models(&self) -> Vec<&'static str> {
        [(self.gradients, "--gradients"), (self.sizes, "--sizes")]
            .into_iter()
            .filter(|(given, _)| *given)
            .map(|(_, option)| option)
            .collect()
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let (interpreters, mut tally) = interpreters(options)?;
    let last = || {
        let found = interpreters.last().ok_or_else(|| anyhow!("no CPython that slotrt supports was found"));
        found.advise("install one (`pyenv install 3.13`) or name one with `--python PATH`")
    };
    if let Some(files) = &options.cpython {
        return cpython::run(last()?, files, options.report.as_deref(), options.json);
    }
    if let Some(names) = &options.ops {
        return close(&operators::run(last()?, names, options.all_samples)?, options.json);
    }
    if let Some(names) = &options.uses {
        return close(&uses::run(last()?, names)?, options.json);
    }
    if let Some(names) = &options.models {
        return close(&models::run(last()?, names, &options.of_models())?, options.json);
    }
    if let Some(files) = &options.transparency {
        return close(&transparency::run(last()?, files, "observe,reassemble")?, options.json);
    }
    let mut times = Vec::new();
    for layer in options.layers() {
        let started = Instant::now();
        let result = layer.run(&interpreters, options.filter.as_deref());
        tally.add(result.unwrap_or_else(|error| {
            crate::ui::advice::report(&error);
            Tally::failure(format!("layer {}", layer.name()))
        }));
        times.push(format!("{} {:.0} s", layer.name(), started.elapsed().as_secs_f64()));
    }
    if !options.json {
        anstream::println!("{}", times.join(", "));
    }
    close(&tally, options.json)
}

/// Prints the counts; failures are an error.
fn close(tally: &Tally, as_json: bool) -> Result<()> {
    report(tally, as_json);
    if tally.failed.is_empty() { Ok(()) } else { bail!("{} failed: {}", tally.failed.len(), tally.failed.join(", ")) }
}

/// The interpreters to test on; a release that has none is counted as skipped.
fn interpreters(options: &Options) -> Result<(Vec<Interpreter>, Tally)> {
    let mut tally = Tally::default();
    if let Some(path) = &options.python {
        return Ok((vec![compiled::named(path)?], tally));
    }
    let mut found = Vec::new();
    for series in HOOKED.iter() {
        match interpreter::find(series, None) {
            Ok(python) => found.push(python),
            // The layer for these says what it could not run.
            Err(_) if unpacked::serves(series) => {}
            Err(error) => tally.skip(format!("CPython {series}"), format!("{:#}", error.root_cause())),
        }
    }
    Ok((found, tally))
}

fn report(tally: &Tally, as_json: bool) {
    if as_json {
        let skipped: Vec<_> = tally.skipped.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect();
        let report = json!({ "passed": tally.passed, "failed": tally.failed, "skipped": skipped });
        anstream::println!("{report:#}");
        return;
    }
    for ((name, why), times) in tally.skipped_once() {
        let often = if times == 1 { String::new() } else { format!(" ({times} times)") };
        anstream::println!("{} {name}: {why}{often}", paint::yellow("skipped"));
    }
    for name in &tally.failed {
        anstream::println!("{} {name}", paint::red("failed"));
    }
    let (failed, skipped) = (tally.failed.len(), tally.skipped.len());
    anstream::println!("{} passed, {failed} failed, {skipped} skipped", tally.passed);
}
