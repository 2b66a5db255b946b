//! `effects`: shows the effects of a C function, with the chains of calls that prove them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::{Value, json};
use slotgen::diagnostics::Diagnostics;
use slotgen::effects::{Analysis, FunctionEffects, Link, Tally, analyse, publish, row};
use slotgen::preprocess::{Configuration, Preprocessor};
use slotgen::source::Tree;

use crate::obtain::sources;
use crate::ui::table::table;
use crate::ui::{Advise, Step};

/// Causes of *unknown* that a report lists.
const CAUSES: usize = 30;

/// Shows what a C function reads, changes and may run
///
/// Each effect comes with the chain of calls that proves it. Use it to learn why the tracer may or may not run a C function during a trace. The answer comes from the function's body and from
/// everything it calls. Without a name, counts the verdicts of all functions of Objects/, the builtins and the modules.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask effects list_append         one function, with evidence\n  \
    cargo xtask effects math_gcd --json\n  cargo xtask effects                     counts of all verdicts\n  \
    cargo xtask effects --ends unknown      where the analysis loses track, most frequent first")]
pub struct Options {
    /// Name of the C function; without it, counts
    name: Option<String>,
    /// Print every function, and the functions of modules by their Python names, as JSON
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// CPython release
    #[arg(long, default_value = "3.13")]
    release: String,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    /// Count where the call chains of this effect end: `python`, `io`, `reads global`, `writes global`, `unknown`, …
    #[arg(long, value_name = "EFFECT", conflicts_with_all = ["name", "all"])]
    ends: Option<String>,
}

struct Read {
    tree: Tree,
    analysis: Analysis,
}

fn read(release: &str, given: Option<&Path>) -> Result<Read> {
    let sources = sources::obtain(release, given)?;
    let step = Step::start(format!("Following the calls of CPython {}", sources.version));
    let tree = Tree::open(&sources.path).with_context(|| sources.path.display().to_string())?;
    let facts = slotgen::facts_of(&tree).map_err(|found| anyhow!("{found}"))?;
    let configuration = Configuration::named("release", tree.release())?;
    let preprocessor = Preprocessor::new(&tree, &configuration).map_err(|found| anyhow!("{found}"))?;
    let analysis = analyse(&tree, &preprocessor, &facts, &mut Diagnostics::default())?;
    step.done(format!("{} functions", analysis.known.len()));
    Ok(Read { tree, analysis })
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Read { tree, analysis } = read(&options.release, options.source.as_deref())?;
    let release = tree.release().to_string();
    if options.all {
        let report = json!({"release": release, "functions": publish(&analysis), "modules": analysis.modules});
        anstream::println!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    if let Some(effect) = &options.ends {
        return ends(&analysis, effect, options.json);
    }
    let Some(name) = &options.name else {
        return counts(&analysis, &release, options.json);
    };
    let found = analysis.find(name);
    if found.is_empty() {
        return Err(anyhow!("CPython {release} has no function `{name}` with a body"))
            .advise("spell it as in C; functions without a body are rows of slotgen/data/effects.toml");
    }
    let rows: Vec<_> = found.iter().map(|id| described(&analysis, *id)).collect();
    if options.json {
        let rows: Vec<Value> = rows.iter().map(|(row, chains)| json!({"effects": row, "evidence": chains})).collect();
        anstream::println!("{:#}", json!({"release": release, "functions": rows}));
        return Ok(());
    }
    rows.iter().for_each(|(row, chains)| show(row, chains));
    Ok(())
}

type Chains = Vec<(String, Vec<Link>)>;

fn described(analysis: &Analysis, id: usize) -> (FunctionEffects, Chains) {
    let (name, file) = (analysis.program.name(id), analysis.program.path(id));
    let effects = analysis.known(id).map(|known| row(name, file, &known.summary)).unwrap_or_default();
    (effects, analysis.chains(id))
}

fn show(row: &FunctionEffects, chains: &Chains) {
    anstream::println!("{} ({}): {}", row.name, row.file, row.verdict);
    let lists = [("", &row.flags), ("reads", &row.reads), ("mutates", &row.mutates), ("sets", &row.sets)];
    for (word, list) in lists.iter().chain(&[("releases", &row.releases)]).filter(|(_, list)| !list.is_empty()) {
        anstream::println!("  {}", format!("{word} {}", list.join(", ")).trim());
    }
    for (slot, of) in &row.slots {
        anstream::println!("  calls {slot} of {}", of.join(", "));
    }
    for (effect, chain) in chains {
        anstream::println!("\n{effect}:");
        for link in chain {
            let place = if link.line == 0 { link.file.clone() } else { format!("{}:{}", link.file, link.line) };
            anstream::println!("  {} ({place}): {}", link.function, link.text);
        }
    }
}

fn counts(analysis: &Analysis, release: &str, as_json: bool) -> Result<()> {
    let Tally { verdicts, flags, functions } = analysis.tally();
    let mut causes: Vec<(usize, String)> =
        analysis.published_causes().into_iter().map(|(why, count)| (count, why)).collect();
    causes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    if as_json {
        let causes: Vec<Value> = causes.iter().map(|(count, why)| json!({"functions": count, "cause": why})).collect();
        let report = json!({"release": release, "functions": functions, "verdicts": verdicts, "flags": flags, "unknown": causes});
        anstream::println!("{report:#}");
        return Ok(());
    }
    let rows = |counts: &std::collections::BTreeMap<String, usize>| -> Vec<Vec<String>> {
        counts.iter().map(|(word, count)| vec![count.to_string(), word.clone()]).collect()
    };
    anstream::println!(
        "CPython {release}: {functions} functions\n{}",
        table(&["functions", "verdict"], &rows(&verdicts))
    );
    anstream::println!("\n{}", table(&["functions", "may"], &rows(&flags)));
    let causes: Vec<Vec<String>> =
        causes.into_iter().take(CAUSES).map(|(count, why)| vec![count.to_string(), why]).collect();
    anstream::println!("\n{}", table(&["functions", "unknown because of"], &causes));
    Ok(())
}

fn ends(analysis: &Analysis, effect: &str, as_json: bool) -> Result<()> {
    let mut found: Vec<(usize, String)> =
        analysis.ends(effect).into_iter().map(|(place, count)| (count, place)).collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    if as_json {
        let rows: Vec<Value> = found.iter().map(|(count, place)| json!({"functions": count, "end": place})).collect();
        anstream::println!("{:#}", json!({"effect": effect, "ends": rows}));
        return Ok(());
    }
    let rows: Vec<Vec<String>> =
        found.into_iter().take(CAUSES * 2).map(|(count, place)| vec![count.to_string(), place]).collect();
    anstream::println!("{}", table(&["functions", "chain ends at"], &rows));
    Ok(())
}
