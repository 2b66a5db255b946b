//! `prove`: what was read from C against what a running interpreter holds, and breaks against running on.
mod breaks;

use crate::obtain::{compiled, interpreter, releases};
use crate::ui::Step;
use crate::ui::table::table;
use crate::{facts, regen};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use slotgen::prove::LiveProof;
use std::path::PathBuf;

/// Proves what was generated, and what the runtime claims, against a running interpreter
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask prove tables           every release in generated/\n  \
    cargo xtask prove tables 3.13 --verbose\n  cargo xtask prove tables 3.13 --python ~/cpython/python --json\n  \
    cargo xtask prove breaks --count 200")]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Every slot of every C type: the function that the tables name is the one that the process holds
    #[command(after_help = "Examples:\n  cargo xtask prove tables\n  cargo xtask prove tables 3.13 --verbose")]
    Tables(Tables),
    /// Breaking at any instruction: every function of random programs, and of CPython's tests, at every reachable instruction
    #[command(after_help = "Examples:\n  cargo xtask prove breaks                  a hundred programs\n  \
        cargo xtask prove breaks --count 2000     the long run\n  \
        cargo xtask prove breaks --cpython        CPython's tests and the standard library functions that they call")]
    Breaks(breaks::Options),
}

#[derive(Args, Debug)]
struct Tables {
    /// Releases; without any, those that generated/ holds
    releases: Vec<String>,
    /// Run in this interpreter
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Name types that only one side knows, too
    #[arg(long)]
    verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let tables = match &options.what {
        What::Breaks(options) => return breaks::run(options),
        What::Tables(tables) => tables,
    };
    let releases = if tables.releases.is_empty() { regen::committed()? } else { tables.releases.clone() };
    let mut proofs = Vec::new();
    for release in &releases {
        proofs.push((release.clone(), one(release, tables)?));
    }
    if tables.json {
        let report: Vec<Value> = proofs.iter().map(|(release, proof)| as_json(release, proof)).collect();
        anstream::println!("{:#}", json!(report));
    } else {
        show(&proofs, tables.verbose);
    }
    let differences: usize = proofs.iter().map(|(_, proof)| proof.unexplained()).sum();
    if differences > 0 {
        bail!("{differences} slots hold another function than the tables say");
    }
    Ok(())
}

fn one(release: &str, options: &Tables) -> Result<LiveProof> {
    let facts = facts::from_sources(release, None)?;
    let series = releases::series_of(release);
    let python = match &options.python {
        Some(path) => interpreter::find(&series, Some(path))?.executable,
        None => compiled::find(&series)?.python,
    };
    let step = Step::start(format!("Reading slots in {}", python.display()));
    let proof = slotgen::prove::live(&facts, &python).with_context(|| python.display().to_string())?;
    step.done(format!("CPython {}, {} types", proof.release, proof.types));
    Ok(proof)
}

fn show(proofs: &[(String, LiveProof)], verbose: bool) {
    for (_, proof) in proofs {
        for difference in &proof.differences {
            let live = if difference.live.is_empty() { "nothing".to_owned() } else { difference.live.join(" | ") };
            let table = difference.table.as_deref().unwrap_or("nothing");
            let (file, name, slot) = (&difference.file, &difference.c_name, &difference.slot);
            anstream::println!(
                "{file}: {name}.{slot}: the tables say {table}, the process holds {live} ({})",
                difference.reason.as_deref().unwrap_or("unexplained")
            );
        }
        if verbose {
            proof.unknown.iter().for_each(|name| anstream::println!("only in the process: {name}"));
            proof.unseen.iter().for_each(|name| anstream::println!("only in the tables: {name}"));
        }
        proof.failed.iter().for_each(|(module, why)| anstream::println!("not importable: {module}: {why}"));
    }
    let row = |(release, proof): &(String, LiveProof)| {
        let numbers = [
            proof.types,
            proof.matched,
            proof.pairs,
            proof.own,
            proof.inherited,
            proof.differences.len(),
            proof.unexplained(),
        ];
        let mut cells = vec![release.clone(), proof.release.clone()];
        cells.extend(numbers.iter().map(ToString::to_string));
        cells
    };
    let headings =
        ["tables", "interpreter", "types", "compared", "pairs", "own", "inherited", "differences", "unexplained"];
    anstream::println!("{}", table(&headings, &proofs.iter().map(row).collect::<Vec<_>>()));
}

fn as_json(release: &str, proof: &LiveProof) -> Value {
    let differences: Vec<Value> = proof
        .differences
        .iter()
        .map(|difference| {
            json!({
                "file": difference.file, "type": difference.c_name, "slot": difference.slot,
                "table": difference.table, "live": difference.live, "reason": difference.reason,
            })
        })
        .collect();
    json!({
        "tables": release, "interpreter": proof.release, "types": proof.types, "compared": proof.matched,
        "pairs": proof.pairs, "own": proof.own, "inherited": proof.inherited, "differences": differences,
        "only_live": proof.unknown, "only_tables": proof.unseen, "not_importable": proof.failed,
    })
}
