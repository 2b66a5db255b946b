//! `test --models`: compiles models of transformers, torchvision and timm, and compares them with themselves.
use super::script::Script;
use super::tally::Tally;
use crate::develop;
use crate::obtain::{Interpreter, torch};
use crate::ui::Step;
use crate::wheel::Profile;
use anyhow::Result;
use serde::Deserialize;
use std::process::Stdio;

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
    let mut script = Script::new(&python, "models")?;
    script.command.args(names).args(options).stderr(Stdio::null());
    let step = Step::start(format!("Models, CPython {}", base.full_version()));
    let (rows, early) = script.rows(&step, |row: &Row| &row.model)?;
    let mut tally = Tally::default();
    let by_rule: u64 = rows.iter().map(|row| row.metadata_by_rule).sum();
    let asked: u64 = rows.iter().map(|row| row.metadata_asked).sum();
    rows.into_iter().for_each(|row| count(&mut tally, row));
    tally.failed.extend(early);
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
