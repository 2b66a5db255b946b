//! `test --models`: compiles models of transformers, torchvision and timm, and compares them with themselves.
use super::tally::Tally;
use crate::obtain::{Interpreter, torch};
use crate::ui::Step;
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// One model, as the script reports it.
#[derive(Debug, Deserialize)]
struct Row {
    /// `huggingface/Llama`.
    model: String,
    /// `one graph`, `breaks`, `traced again`, `differs` or `fails`.
    outcome: String,
    /// What failed, or where the results differ.
    why: Option<String>,
    /// Frames compiled after each call.
    #[serde(default)]
    traced: Vec<u64>,
    #[serde(default)]
    graphs: u64,
    #[serde(default)]
    graph_breaks: u64,
    /// Operations whose results a rule of shapes describes, and those about which PyTorch is asked.
    #[serde(default)]
    metadata_by_rule: u64,
    #[serde(default)]
    metadata_asked: u64,
}

/// Runs the models of these names, of these libraries, or all, with options of the script.
pub fn run(base: &Interpreter, names: &[String], options: &[&str]) -> Result<Tally> {
    let python = torch::ensure_models(base)?;
    develop::install(&python, Profile::Release)?;
    let mut command = Command::new(&python.executable);
    command.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::piped()).stderr(Stdio::null());
    command.arg(place::root().join("tests").join("models").join("run.py")).args(names).args(options);
    let step = Step::start(format!("Models, CPython {}", base.full_version()));
    let mut child = command.spawn().context("the models could not be started")?;
    let mut tally = Tally::default();
    let (mut by_rule, mut asked) = (0, 0);
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        // What a library prints is no report.
        let Ok(row) = serde_json::from_str::<Row>(&line?) else { continue };
        step.at(&row.model);
        by_rule += row.metadata_by_rule;
        asked += row.metadata_asked;
        count(&mut tally, row);
    }
    let status = child.wait()?;
    if !status.success() {
        tally.failed.push(format!("models (ended with {status} before all were run)"));
    }
    let summary = format!("{}; results of {by_rule} operations by rule, of {asked} asked of PyTorch", tally.summary());
    if tally.failed.is_empty() {
        step.done(summary)
    } else {
        step.failed(summary)
    };
    Ok(tally)
}

/// One graph passes, a result that is right but not one graph counts as skipped.
fn count(tally: &mut Tally, row: Row) {
    let Row { model, outcome, why, traced, graphs, graph_breaks, .. } = row;
    match outcome.as_str() {
        "one graph" => tally.passed += 1,
        "breaks" => tally.skip(model, format!("right, with {graphs} graphs and {graph_breaks} breaks")),
        "traced again" => tally.skip(model, format!("right, but frames compiled after each call: {traced:?}")),
        _ => tally.failed.push(format!("{model} ({outcome}: {})", why.unwrap_or_default())),
    }
}
