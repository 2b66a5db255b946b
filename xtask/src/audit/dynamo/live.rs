//! `--import`: asks a live PyTorch which slots each class fills, and compares with the facts.
use super::audited::{Audited, at};
use crate::audit::findings::{Finding, Severity};
use crate::place;
use crate::run as process;
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `live.py` prints.
#[derive(Debug, Deserialize)]
struct Live {
    version: String,
    slots: BTreeSet<String>,
    types: BTreeMap<String, BTreeSet<String>>,
}

/// How the answers compare.
#[derive(Clone, Debug, Serialize)]
pub struct Answers {
    /// The interpreter's version.
    pub version: String,
    /// Slots that `get_type_slots` knows.
    pub slots: usize,
    /// Classes of C that both know.
    pub types: usize,
    /// `dict.nb_or` and who says that the slot is filled: `CPython` or `TorchDynamo`.
    pub differences: Vec<(String, &'static str)>,
}

/// Asks and compares.
pub fn compare(torch: &Path, audited: &Audited<'_>, findings: &mut Vec<Finding>) -> Result<Answers> {
    Ok(judge(ask(torch)?, audited, findings))
}

/// Has the interpreter of an installed PyTorch answer.
fn ask(torch: &Path) -> Result<Live> {
    let python = python_of(torch)?;
    let mut command = Command::new(&python);
    command.arg("-B").arg(place::root().join("xtask/src/audit/dynamo/live.py")).env_remove("PYTHONPATH");
    let output = process::output(&mut command).context("PyTorch does not answer")?;
    serde_json::from_str(output.lines().last().unwrap_or_default()).context("PyTorch's answer is not as expected")
}

/// Compares the answers with the facts.
fn judge(live: Live, audited: &Audited<'_>, findings: &mut Vec<Finding>) -> Answers {
    let mut differences = Vec::new();
    let mut types = 0;
    for (name, filled) in &live.types {
        let Some(ty) = audited.type_named(name) else { continue };
        types += 1;
        for slot in &live.slots {
            let (ours, theirs) = (ty.slots.contains_key(slot), filled.contains(slot));
            if ours != theirs {
                differences.push((format!("{name}.{slot}"), if ours { "CPython" } else { "TorchDynamo" }));
            }
        }
    }
    for (id, who) in &differences {
        let message = format!(
            "Only {who} says that {id} is filled (CPython {}, PyTorch in {}).",
            audited.facts.release, live.version
        );
        let advice = "Compare get_type_slots with the type's initialiser: `cargo xtask facts --json` has it.";
        let mut finding = audited.finding("type-slots-differ", Severity::Error, message, advice, at("", 0));
        finding.subject.clone_from(id);
        let filled = id.rsplit_once('.').and_then(|(ty, slot)| {
            let ty = audited.type_named(ty)?;
            Some((ty.slots.get(slot)?.function.as_str(), ty.unit()))
        });
        findings.push(match filled {
            Some((function, file)) => audited.about(finding, id, function, file),
            None => finding,
        });
    }
    Answers { version: live.version, slots: live.slots.len(), types, differences }
}

/// The interpreter that a folder `torch` is installed for.
fn python_of(torch: &Path) -> Result<PathBuf> {
    let candidates = torch.ancestors().take(6).map(|folder| folder.join("bin/python"));
    candidates
        .into_iter()
        .find(|path| path.exists())
        .ok_or_else(|| anyhow!("no interpreter is found above {}", torch.display()))
        .advise(
            "`--import` needs an installed PyTorch: pass the folder `.../site-packages/torch` of a virtual environment",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a PyTorch would say that knows one slot too many of `dict`, and one too few of `range`.
    #[test]
    fn slots_that_only_one_side_knows_are_findings() {
        let facts: slotgen::facts::Facts = slotgen::committed(&place::root().join("generated"), "3.13").unwrap();
        let (audited, mut findings) = (Audited::new(&facts, "torch/_dynamo".into()), Vec::new());
        let said = serde_json::json!({
            "version": "3.13.0",
            "slots": ["nb_or", "nb_power", "sq_length"],
            "types": {"dict": ["nb_or", "nb_power"], "range": [], "tuple": ["sq_length"], "module.Unknown": ["nb_or"]},
        });
        let answers = judge(serde_json::from_value(said).unwrap(), &audited, &mut findings);
        assert_eq!((answers.slots, answers.types), (3, 3));
        let differ = [("dict.nb_power".to_owned(), "TorchDynamo"), ("range.sq_length".to_owned(), "CPython")];
        assert_eq!(answers.differences, differ);
        let told: Vec<_> =
            findings.iter().map(|found| (found.subject.as_str(), found.function.as_deref(), found.severity)).collect();
        assert_eq!(
            told,
            [("dict.nb_power", None, Severity::Error), ("range.sq_length", Some("range_length"), Severity::Error)]
        );
    }

    #[test]
    fn without_an_interpreter_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = ask(&folder.path().join("lib/python3.13/site-packages/torch")).unwrap_err();
        assert!(format!("{error:#}").contains("no interpreter is found above"), "{error:#}");
    }
}
