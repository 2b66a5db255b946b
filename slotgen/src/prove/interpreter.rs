//! Runs an interpreter and compares what it says with the facts.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::answer::Live;
use super::symbols::Symbols;
use super::{LiveProof, ProveError, compare, exceptions};
use crate::facts::Facts;

const LIVE: &str = include_str!("live.py");

/// Runs `python` and compares every slot of every C type that it can import with `facts` (linked).
pub fn live(facts: &Facts, python: &Path) -> Result<LiveProof, ProveError> {
    let answer = ask(facts, python)?;
    let name = python.display().to_string();
    let live: Live =
        serde_json::from_slice(&answer).map_err(|error| ProveError::Answer(name.clone(), error.to_string()))?;
    let series = |release: &str| release.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    if series(&live.release) != series(&facts.release) {
        return Err(ProveError::Release(name, live.release, facts.release.clone()));
    }
    let symbols = Symbols::read(&live.map)?;
    let exceptions = exceptions::Exceptions::between(&facts.release, &live.release)?;
    let mut proof = compare::compare(facts, &live, &symbols);
    exceptions.explain(&mut proof.alone);
    for difference in &mut proof.differences {
        difference.reason = exceptions.reason(&difference.c_name, &difference.slot);
    }
    Ok(proof)
}

/// What the script needs to know: where slots stand, and where the fields are that it reads.
fn wanted(facts: &Facts) -> serde_json::Value {
    let slots: Vec<_> =
        facts.slots().iter().map(|slot| serde_json::json!([slot.name, slot.suite, slot.offset])).collect();
    let fields = facts.structure("PyTypeObject").map_or(&[][..], |layout| &layout.fields[..]);
    let offsets: BTreeMap<_, _> = fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
    serde_json::json!({ "slots": slots, "offsets": offsets })
}

fn ask(facts: &Facts, python: &Path) -> Result<Vec<u8>, ProveError> {
    let name = || python.display().to_string();
    let start = |error: std::io::Error| ProveError::Start(name(), error.to_string());
    let mut command = Command::new(python);
    command.args(["-X", "utf8", "-c", LIVE]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(start)?;
    if let Some(mut input) = child.stdin.take() {
        // A child that dies early closes the pipe; its own message below says why.
        let _ = input.write_all(wanted(facts).to_string().as_bytes());
    }
    let output = child.wait_with_output().map_err(start)?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(ProveError::Run(name(), String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}
