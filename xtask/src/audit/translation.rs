//! `audit translation`: counts translated C functions, and the constructs that prevent the rest.
use crate::place;
use crate::translate::{self, Read};
use crate::ui::table::table;
use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use slotgen::translate::{Share, Translation, shares};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many constructs a report lists.
const CONSTRUCTS: usize = 30;

/// What to count.
#[derive(Args, Debug)]
pub struct Options {
    /// CPython release
    #[arg(long, default_value = "3.13")]
    release: String,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// Name every function
    #[arg(long)]
    verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Read { tree, translation } = translate::read(&options.release, options.source.as_deref())?;
    let facts = slotgen::committed(&place::root().join("generated"), &tree.release().series())?;
    let shares = shares(&translation, &facts).map_err(|found| anyhow!("{found}"))?;
    if options.json {
        anstream::println!("{:#}", as_json(&tree.release().to_string(), &translation, &shares));
        return Ok(());
    }
    anstream::println!("CPython {}\n{}", tree.release(), files(&translation));
    anstream::println!("\n{}", groups(&shares));
    anstream::println!("\n{}", table(&["functions", "kept out by"], &constructs(&translation)));
    if options.verbose {
        for (file, functions) in &translation.translated {
            let names: Vec<&str> = functions.iter().map(|function| function.name()).collect();
            anstream::println!("\n{file}: {}", names.join(", "));
        }
        for share in &shares {
            share.left.iter().for_each(|(name, why)| anstream::println!("{}: {name}: left: {why}", share.name));
            share.out.iter().for_each(|(name, why)| anstream::println!("{}: {name}: not counted: {why}", share.name));
        }
        for left in &translation.left {
            anstream::println!("{}:{}: {}: {}", left.file, left.line, left.name, left.construct);
        }
    }
    Ok(())
}

/// Translated and left functions per C file.
fn counts(translation: &Translation) -> BTreeMap<&str, (usize, usize)> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (file, functions) in &translation.translated {
        counts.entry(file).or_default().0 += functions.len();
    }
    for left in &translation.left {
        counts.entry(&left.unit).or_default().1 += 1;
    }
    counts
}

fn files(translation: &Translation) -> String {
    let row = |file: &str, (done, left): (usize, usize)| {
        let share = 100.0 * done as f64 / (done + left).max(1) as f64;
        vec![file.to_owned(), (done + left).to_string(), done.to_string(), left.to_string(), format!("{share:.1} %")]
    };
    let counts = counts(translation);
    let mut rows: Vec<_> = counts.iter().map(|(file, counts)| row(file, *counts)).collect();
    let total = counts.values().fold((0, 0), |(done, left), counts| (done + counts.0, left + counts.1));
    rows.push(row("all", total));
    table(&["file", "functions", "translated", "left", "share"], &rows)
}

/// The groups that are to be covered.
fn groups(shares: &[Share]) -> String {
    let rows: Vec<Vec<String>> = shares
        .iter()
        .map(|share| {
            let numbers = [share.total, share.translated, share.left.len()].map(|number| number.to_string());
            let mut row = vec![share.name.clone()];
            row.extend(numbers);
            row.push(format!("{:.1} %", share.percent()));
            row
        })
        .collect();
    table(&["group", "functions", "translated", "left", "share"], &rows)
}

/// The constructs that keep most functions out.
fn constructs(translation: &Translation) -> Vec<Vec<String>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for left in &translation.left {
        *counts.entry(&left.construct).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(construct, count)| (std::cmp::Reverse(*count), *construct));
    sorted.iter().take(CONSTRUCTS).map(|(construct, count)| vec![count.to_string(), (*construct).to_owned()]).collect()
}

fn as_json(release: &str, translation: &Translation, shares: &[Share]) -> serde_json::Value {
    let translated: BTreeMap<&String, Vec<&str>> = translation
        .translated
        .iter()
        .map(|(file, functions)| (file, functions.iter().map(|function| function.name()).collect()))
        .collect();
    let left: Vec<_> = translation
        .left
        .iter()
        .map(|left| json!({ "name": left.name, "unit": left.unit, "file": left.file, "line": left.line, "construct": left.construct }))
        .collect();
    json!({ "release": release, "translated": translated, "left": left, "groups": shares })
}
