//! `prove semantics --against dynamo`: operations compiled by TorchDynamo, compared with the interpreter.
use crate::obtain::torch;
use crate::place;
use crate::ui::table::table;
use crate::ui::{Advise, Step, paint, step};
use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::json;
use slotgen::facts::Facts;
use std::collections::BTreeMap;
use std::process::Command;

/// Verdicts, best first.
const VERDICTS: [&str; 6] =
    ["agreement", "break", "wrong message", "wrong exception type", "wrong value", "internal error"];

/// How many differences of one verdict a report shows.
const SHOWN: usize = 10;

/// What to compare.
pub struct Asked<'a> {
    /// Cases in all.
    pub limit: u32,
    /// Processes at a time.
    pub jobs: Option<u32>,
    /// Part of the operations' text.
    pub only: &'a str,
    /// Whether to print JSON.
    pub as_json: bool,
}

/// One case.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    case: serde_json::Value,
    operation: String,
    #[serde(rename = "type")]
    ty: String,
    verdict: String,
    plain: Vec<String>,
    found: Vec<String>,
    reproducer: String,
    /// The C function that does the work.
    #[serde(default)]
    function: Option<String>,
}

/// What the script prints.
#[derive(Debug, Deserialize)]
struct Run {
    torch: String,
    python: String,
    known: u64,
    seconds: f64,
    rows: Vec<Row>,
}

/// Runs the cases that were not run before, and reports all.
pub fn run(asked: &Asked<'_>) -> Result<()> {
    let (python, _) = torch::installed()?;
    let script = place::root().join("tests/semantics/against_dynamo.py");
    let version = crate::obtain::Interpreter::probe(&python).map(|found| found.full_version()).unwrap_or_default();
    let folder = place::target().join("prove").join(format!("dynamo-{version}"));
    let step = Step::start("TorchDynamo against the interpreter");
    let mut command = Command::new(&python);
    command.arg("-B").arg(&script).arg("--into").arg(&folder).arg("--limit").arg(asked.limit.to_string());
    command.arg("--only").arg(asked.only).env("OMP_NUM_THREADS", "1").env_remove("PYTHONPATH");
    if let Some(jobs) = asked.jobs {
        command.arg("--jobs").arg(jobs.max(1).to_string());
    }
    let mut run: Run = crate::run::report(&mut command, "the script", |line| step.at(line))?;
    step.done(format!("{} cases, {} of them from before, in {} s", run.rows.len(), run.known, run.seconds));
    if run.rows.is_empty() {
        return Err(anyhow!("no operation contains `{}`", asked.only)).advise("name a part of one: `|`, `len(`, `in`");
    }
    let series = crate::obtain::releases::series_of(&run.python);
    if let Ok(facts) = slotgen::committed(&place::root().join("generated"), &series) {
        run.rows.iter_mut().for_each(|row| row.function = function(&facts, row));
    }
    if asked.as_json {
        let counts: BTreeMap<&str, usize> =
            VERDICTS.iter().map(|verdict| (*verdict, count(&run.rows, verdict))).collect();
        anstream::println!(
            "{}",
            json!({"schema": "slotrt-against-1", "torch": run.torch, "python": run.python, "counts": counts, "rows": run.rows})
        );
    } else {
        step::suspended(|| show(&run));
    }
    Ok(())
}

/// The C function in the slot of the operator, or behind the builtin.
fn function(facts: &Facts, row: &Row) -> Option<String> {
    if let Some((name, _)) =
        row.operation.split_once('(').filter(|(name, _)| name.chars().all(|c| c.is_ascii_alphabetic()))
    {
        let found = facts.module_functions.iter().find(|found| found.module == "builtins" && found.name == name);
        let ty =
            || facts.types.iter().find(|ty| ty.tp_name == name)?.slots.get("tp_new").map(|slot| slot.function.clone());
        return found.map(|found| found.function.clone()).or_else(ty);
    }
    let symbol = row.operation.strip_prefix("a ").and_then(|rest| rest.strip_suffix(" b"));
    let forms = match symbol {
        Some("in" | "not in") => ["Return bool(key in self).".to_owned(), String::new()],
        Some("**") => ["Return pow(self, value, mod).".to_owned(), String::new()],
        Some(symbol) => [format!("Return self{symbol}value."), format!("Implement self{symbol}value.")],
        None if row.operation == "a[b]" => ["Return self[key].".to_owned(), String::new()],
        None => [row.operation.strip_suffix('a').map(|symbol| format!("{symbol}self"))?, String::new()],
    };
    let ty = facts.types.iter().find(|ty| ty.tp_name == row.ty)?;
    let written = |doc: &str| forms.iter().any(|form| doc.rsplit("\n--\n\n").next() == Some(form));
    let slots = facts.slotdefs.iter().filter(|def| written(&def.doc)).map(|def| &def.slot);
    slots.filter_map(|slot| ty.slots.get(slot)).map(|slot| slot.function.clone()).next()
}

fn count(rows: &[Row], verdict: &str) -> usize {
    rows.iter().filter(|row| row.verdict == verdict).count()
}

fn show(run: &Run) {
    let mut operations: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    run.rows.iter().for_each(|row| operations.entry(&row.operation).or_default().push(row));
    let line = |name: &str, rows: &[&Row]| {
        let counts = VERDICTS.map(|verdict| rows.iter().filter(|row| row.verdict == verdict).count().to_string());
        [name.to_owned(), rows.len().to_string()].into_iter().chain(counts).collect::<Vec<_>>()
    };
    let mut lines: Vec<Vec<String>> = operations.iter().map(|(name, rows)| line(name, rows)).collect();
    lines.push(line("all", &run.rows.iter().collect::<Vec<_>>()));
    let headings: Vec<&str> = ["operation", "cases"].into_iter().chain(VERDICTS).collect();
    anstream::println!("TorchDynamo of PyTorch {}, CPython {}\n{}", run.torch, run.python, table(&headings, &lines));
    for verdict in VERDICTS.into_iter().skip(2).rev() {
        let rows: Vec<&Row> = run.rows.iter().filter(|row| row.verdict == verdict).collect();
        if rows.is_empty() {
            continue;
        }
        anstream::println!("\n{}", paint::bold(format!("{verdict}: {}", rows.len())));
        let mut functions: BTreeMap<&str, usize> = BTreeMap::new();
        rows.iter().filter_map(|row| row.function.as_deref()).for_each(|name| *functions.entry(name).or_default() += 1);
        let mut functions: Vec<_> = functions.into_iter().collect();
        functions.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        let named: Vec<String> = functions.iter().take(12).map(|(name, count)| format!("{name} {count}")).collect();
        anstream::println!("  by C function: {}", named.join(", "));
        for row in rows.iter().take(SHOWN) {
            anstream::println!(
                "  {}: {} instead of {}\n    {}",
                row.operation,
                row.found.join(": "),
                row.plain.join(": "),
                row.reproducer
            );
        }
        if rows.len() > SHOWN {
            anstream::println!("  and {} more: `--json` has all", rows.len() - SHOWN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_lead_to_c_functions() {
        let facts = slotgen::committed(&place::root().join("generated"), "3.13").unwrap();
        let of = |operation: &str, ty: &str| {
            let row = json!({"case": 0, "operation": operation, "type": ty, "verdict": "", "plain": [], "found": [], "reproducer": ""});
            function(&facts, &serde_json::from_value(row).unwrap())
        };
        assert_eq!(of("a | b", "dict").as_deref(), Some("dict_or"));
        assert_eq!(of("a in b", "set").as_deref(), Some("_PySet_Contains"));
        assert_eq!(of("-a", "int").as_deref(), Some("long_neg"));
        assert_eq!(of("len(a)", "list").as_deref(), Some("builtin_len"));
        assert_eq!(of("a[b]", "list").as_deref(), Some("list_subscript"));
    }
}
