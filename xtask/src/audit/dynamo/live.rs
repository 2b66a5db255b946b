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
    let python = python_of(torch)?;
    let mut command = Command::new(&python);
    command.arg("-B").arg(place::root().join("xtask/src/audit/dynamo/live.py")).env_remove("PYTHONPATH");
    let output = process::output(&mut command).context("PyTorch does not answer")?;
    let live: Live = serde_json::from_str(output.lines().last().unwrap_or_default())
        .context("PyTorch's answer is not as expected")?;
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
    Ok(Answers { version: live.version, slots: live.slots.len(), types, differences })
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
