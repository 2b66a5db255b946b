//! The proof of the tables: what they predict for every slot against what a running interpreter holds.

mod compare;
mod doors;
mod drift;
mod exceptions;
mod symbols;
mod tables;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub use compare::{Difference, LiveProof};
pub use doors::{DoorDifference, DoorsProof, doors};
pub use drift::{Door, Proof, explain_drift};
pub use exceptions::{Alone, Side};

use crate::facts::Facts;
use symbols::{Mapping, Symbols};

const LIVE: &str = include_str!("live.py");

/// Why an interpreter could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The interpreter did not start.
    #[error("{0}: cannot be started: {1}")]
    Start(String, String),
    /// The interpreter gave up.
    #[error("{0}: reading its types failed:\n{1}")]
    Run(String, String),
    /// What it printed is not understood.
    #[error("{0}: its answer is not understood: {1}")]
    Answer(String, String),
    /// A mapped file cannot be read.
    #[error("{0}: {1}")]
    File(String, String),
    /// The table of reviewed exceptions cannot be read.
    #[error("data/exceptions.toml: {0}")]
    Exceptions(String),
    /// The interpreter is of another series.
    #[error("{0} is CPython {1}, but the facts are those of {2}; give an interpreter of the same series")]
    Release(String, String, String),
}

#[derive(Debug, serde::Deserialize)]
struct Live {
    release: String,
    types: Vec<LiveType>,
    map: Vec<Mapping>,
    failed: BTreeMap<String, String>,
}

#[derive(Debug, serde::Deserialize)]
struct LiveType {
    address: u64,
    tp_name: String,
    flags: u64,
    slots: BTreeMap<String, u64>,
    methods: Vec<(String, u64, i64, String, LiveSignature)>,
    getset: Vec<(String, u64, u64)>,
    members: Vec<(String, i64, i64)>,
}

/// `__text_signature__`; false where the attribute is another object than the method.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
enum LiveSignature {
    Text(Option<String>),
    Other(#[allow(dead_code, reason = "only its presence counts")] bool),
}

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
