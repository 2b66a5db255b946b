//! `audit` without a subcommand: the whole audit in one report.
use super::coverage::{self, Coverage, SCHEMA, baseline, render};
use super::dossier as archive;
use super::dynamo::{self, Audit};
use super::findings::{self, Finding, Severity};
use super::page::{self, Page};
use crate::place;
use crate::testing::{SUPPORTED, newest};
use crate::ui::{Advise, nearest};
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Plain text
    Text,
    /// Markdown, for a review
    Md,
    /// JSON, for programs; `--baseline` reads it
    Json,
    /// SARIF 2.1.0, for code review
    Sarif,
    /// One HTML file with everything: releases to compare, C functions with their Rust, TorchDynamo
    Html,
}

/// What to report.
#[derive(Args, Debug)]
pub struct ReportOptions {
    /// CPython series; may be given more than once
    #[arg(long = "release", value_name = "3.X")]
    releases: Vec<String>,
    /// How to write the report
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Fail where a row is covered worse than in this earlier report (`--format json`)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Fail if there is a finding of this severity or a worse one
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<Severity>,
    /// List every row that breaks the graph, and every finding
    #[arg(long)]
    all: bool,
    /// Audit TorchDynamo instead: the folder of an installed torch, or a checkout; its Python is parsed, never imported
    #[arg(long, value_name = "PATH", conflicts_with = "baseline")]
    dynamo: Option<PathBuf>,
    /// With `--dynamo`: ask the installed torch, too, whether `get_type_slots` says what C says
    #[arg(long, requires = "dynamo")]
    import: bool,
}

/// Runs the command.
pub fn run(options: &ReportOptions) -> Result<()> {
    let series = wanted(options)?;
    if options.format == Format::Html {
        return page(options, &series);
    }
    if let Some(path) = &options.dynamo {
        return of_dynamo(options, path, &series);
    }
    let before = options.baseline.as_deref().map(baseline::read).transpose()?;
    let releases: Vec<Coverage> = series.iter().map(|series| coverage::collect(series)).collect::<Result<_>>()?;
    let falls = before.as_deref().map(|before| baseline::falls(before, &releases)).unwrap_or_default();
    let mut found = coverage::fallen(&falls);
    found.extend(releases.iter().flat_map(coverage::findings));
    anstream::println!("{}", written(options, &releases, &found).trim_end());
    if !falls.is_empty() {
        let rows: Vec<String> = falls.iter().map(|fall| format!("  {}", fall.text())).collect();
        bail!("{} rows are covered worse than in the baseline:\n{}", falls.len(), rows.join("\n"));
    }
    fail_on(options.fail_on, &found)
}

/// The series that the user asked for; one that is not known is named, and the others go on.
fn wanted(options: &ReportOptions) -> Result<Vec<String>> {
    let known = known()?;
    let default = if options.format == Format::Html { SUPPORTED.clone() } else { vec![newest().to_owned()] };
    let asked = if options.releases.is_empty() { &default } else { &options.releases };
    let mut found = Vec::new();
    for release in asked {
        match known.iter().find(|series| *series == release || release.starts_with(&format!("{series}."))) {
            Some(series) => found.push(series.clone()),
            None => {
                let near = nearest::advice(release, known.iter().map(String::as_str), "");
                crate::ui::note(format!(
                    "there are no facts of CPython {release}; known: {}. {near}",
                    known.join(", ")
                ));
            }
        }
    }
    if found.is_empty() {
        return Err(anyhow!("there is no release to audit")).advise(format!("known releases: {}", known.join(", ")));
    }
    Ok(found)
}

/// Everything as one HTML file.
fn page(options: &ReportOptions, series: &[String]) -> Result<()> {
    let releases: Vec<Coverage> = series.iter().map(|series| coverage::collect(series)).collect::<Result<_>>()?;
    let newest = series.last().map_or("", String::as_str);
    let audits = match &options.dynamo {
        Some(path) => vec![dynamo::audit(path, newest, options.import)?],
        None => Vec::new(),
    };
    let archive = archive::newest(series).unwrap_or_else(|error| {
        crate::ui::note(format!("the page has no C functions: {error:#}"));
        None
    });
    anstream::println!("{}", page::render(&Page::new(&releases, archive.as_ref(), &audits))?);
    let found: Vec<Finding> = audits.into_iter().flat_map(|audit| audit.findings).collect();
    fail_on(options.fail_on, &found)
}

/// Audits TorchDynamo.
fn of_dynamo(options: &ReportOptions, path: &Path, series: &[String]) -> Result<()> {
    let audits: Vec<Audit> =
        series.iter().map(|series| dynamo::audit(path, series, options.import)).collect::<Result<_>>()?;
    let found: Vec<Finding> = audits.iter().flat_map(|audit| audit.findings.clone()).collect();
    let each = |one: &dyn Fn(&Audit) -> String| audits.iter().map(one).collect::<Vec<_>>().join("\n\n");
    let text = match options.format {
        Format::Text => each(&|audit| dynamo::text(audit, options.all)),
        Format::Md => each(&|audit| dynamo::markdown(audit, options.all)),
        Format::Json => json!({"schema": SCHEMA, "dynamo": audits}).to_string(),
        Format::Sarif => format!("{:#}", findings::sarif(&found, "TORCH")),
        Format::Html => String::new(),
    };
    anstream::println!("{}", text.trim_end());
    fail_on(options.fail_on, &found)
}

/// An error if there is a finding that is bad enough.
pub fn fail_on(limit: Option<Severity>, found: &[Finding]) -> Result<()> {
    match limit {
        Some(limit) if found.iter().any(|finding| finding.severity >= limit) => {
            Err(anyhow!("{}", findings::counts(found))).advise(format!("`--fail-on {}` was asked for", limit.word()))
        }
        _ => Ok(()),
    }
}

/// The series whose facts are committed, oldest first.
pub fn known() -> Result<Vec<String>> {
    let entries = std::fs::read_dir(place::root().join("generated/facts"))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut known: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    known.sort_by_key(|series| series.split('.').filter_map(|part| part.parse::<u32>().ok()).collect::<Vec<_>>());
    Ok(known)
}

fn written(options: &ReportOptions, releases: &[Coverage], found: &[Finding]) -> String {
    let each = |one: &dyn Fn(&Coverage) -> String| releases.iter().map(one).collect::<Vec<_>>().join("\n\n");
    match options.format {
        Format::Text => each(&|coverage| render::text(coverage, options.all)),
        Format::Md => format!("# Coverage\n\n{}", each(&|coverage| render::markdown(coverage, options.all))),
        Format::Json => published(releases).to_string(),
        Format::Sarif => format!("{:#}", findings::sarif(found, "CPYTHON")),
        Format::Html => String::new(),
    }
}

/// The JSON that other programs read.
pub fn published(releases: &[Coverage]) -> Value {
    json!({"schema": SCHEMA, "releases": releases})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_tell_the_releases() {
        let known = known().unwrap();
        assert!(known.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(known.first().map(String::as_str), Some("3.9"));
        assert!(known.contains(&"3.13".to_owned()));
    }

    #[test]
    fn only_bad_findings_fail() {
        assert!(fail_on(Some(Severity::Note), &[]).is_ok());
        let coverage = coverage::collect_with("3.13", crate::audit::usage::Usage::default()).unwrap();
        let found = coverage::findings(&coverage);
        assert!(fail_on(None, &found).is_ok() && fail_on(Some(Severity::Warning), &found).is_ok());
        assert_eq!(fail_on(Some(Severity::Note), &found).is_err(), !found.is_empty());
    }
}
