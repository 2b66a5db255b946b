//! How often code asks for a slot, an instruction or a name, counted by `usage.py` in an interpreter of the release.
use crate::obtain::{interpreter, torch};
use crate::place;
use crate::ui::Step;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use slotgen::facts::Facts;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

/// The script that counts.
const SCRIPT: &str = "xtask/src/audit/usage.py";

/// Counts of places in code objects.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Usage {
    /// Code objects read, by what they are of.
    pub counted: BTreeMap<String, u64>,
    /// Instructions by name.
    pub operations: BTreeMap<String, u64>,
    /// Instructions and calls of builtins that ask for a special method.
    pub methods: BTreeMap<String, u64>,
    /// Names looked up in objects.
    pub attributes: BTreeMap<String, u64>,
    /// Names of globals and builtins looked up.
    pub globals: BTreeMap<String, u64>,
}

/// The counts of a release; kept under `target/audit`, because counting takes a while.
pub fn of(facts: &Facts, series: &str) -> Result<Usage> {
    let python = interpreter::find(series, None)?;
    let mut folders = BTreeMap::from([("the standard library".to_owned(), python.standard_library.clone())]);
    if let Ok((_, folder)) = torch::installed() {
        folders.insert("PyTorch".to_owned(), folder);
    }
    let methods: BTreeSet<&str> = facts.slotdefs.iter().map(|row| row.name.as_str()).collect();
    let request = json!({"methods": methods, "folders": folders}).to_string();
    let script = place::root().join(SCRIPT);
    let text = std::fs::read(&script).with_context(|| SCRIPT)?;
    let key = Sha256::new().chain_update(&request).chain_update(&text).chain_update(python.full_version()).finalize();
    let key: String = key.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let kept = place::target().join("audit").join(format!("usage-{key}.json"));
    if let Some(usage) = std::fs::read_to_string(&kept).ok().and_then(|text| serde_json::from_str(&text).ok()) {
        return Ok(usage);
    }
    let step = Step::start(format!("Counting what code of CPython {} uses", python.full_version()));
    let mut command = Command::new(&python.executable);
    command.args(["-I", "-B", "-W", "ignore"]).arg(&script);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("the script that counts could not be started")?;
    child.stdin.take().context("the script has no input")?.write_all(request.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("{SCRIPT} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    let usage: Usage = serde_json::from_slice(&output.stdout).context("the script printed no counts")?;
    std::fs::create_dir_all(place::target().join("audit"))?;
    std::fs::write(&kept, &output.stdout)?;
    step.done(format!("{} code objects", usage.counted.values().sum::<u64>()));
    Ok(usage)
}

impl Usage {
    /// Places that ask for a special method, by operation, builtin or name.
    pub fn special(&self, method: &str) -> u64 {
        self.methods.get(method).copied().unwrap_or(0) + self.attribute(method)
    }

    /// Places that look up a name of a type or module: no more than name the type or its module, unless it is a builtin.
    pub fn name_of(&self, owner: &str, name: &str) -> u64 {
        let named = |word: &str| self.attribute(word) + self.globals.get(word).copied().unwrap_or(0);
        match owner.rsplit_once('.') {
            Some((module, ty)) => self.attribute(name).min(named(ty).max(named(module.trim_start_matches('_')))),
            None if owner.starts_with('_') => self.attribute(name).min(named(owner.trim_start_matches('_'))),
            None => self.attribute(name),
        }
    }

    /// Places that look up a name in an object.
    pub fn attribute(&self, name: &str) -> u64 {
        self.attributes.get(name).copied().unwrap_or(0)
    }
}
