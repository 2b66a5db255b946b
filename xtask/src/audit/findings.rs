//! Findings that a person or a program acts on, and how they are written as SARIF.
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How bad a finding is; worse ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing
    Note,
    /// Probably wrong for some program
    Warning,
    /// Wrong
    Error,
}

impl Severity {
    /// Its word, which is also SARIF's level.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule: `slotdef-missing`.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is the matter.
    pub message: String,
    /// What to do, in a sentence.
    pub advice: String,
    /// The file to open, relative to the root that is audited.
    pub path: String,
    /// The line in it; 0 where it has none.
    pub line: u32,
    /// The C function.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub function: Option<String>,
    /// Its file in CPython's sources, with its line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub c_place: Option<String>,
    /// The CPython release.
    pub release: String,
    /// The digest of the C function's text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// The row that it is about, such as `dict.nb_or`.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub subject: String,
}

/// SARIF 2.1.0: what code review shows beside the lines. `root` is the name of the folder that paths are relative to.
pub fn sarif(findings: &[Finding], root: &str) -> Value {
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    let rules: Vec<Value> =
        rules.iter().map(|rule| json!({"id": rule, "shortDescription": {"text": rule.replace('-', " ")}})).collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, root)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "slotrt-audit", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
            "columnKind": "unicodeCodePoints"
        }]
    })
}

fn result(finding: &Finding, root: &str) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(&finding.path), "uriBaseId": root}});
    if finding.line > 0 {
        place["region"] = json!({"startLine": finding.line});
    }
    let mut properties = BTreeMap::from([("release", finding.release.clone())]);
    let optional = [("function", &finding.function), ("cPlace", &finding.c_place), ("digest", &finding.digest)];
    properties.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    json!({
        "ruleId": finding.rule,
        "level": finding.severity.word(),
        "message": {"text": format!("{} {}", finding.message, finding.advice)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"slotrt/v1": format!("{}:{}:{}", finding.rule, finding.path, finding.subject)},
        "properties": properties
    })
}

/// A path as a relative URI.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// How many findings there are of each severity, worst first.
pub fn counts(findings: &[Finding]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let all = [Severity::Error, Severity::Warning, Severity::Note];
    all.map(|severity| format!("{} {}s", of(severity), severity.word())).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sarif_has_level_place_and_advice() {
        let finding = Finding {
            rule: "slotdef-missing".into(),
            severity: Severity::Error,
            message: "It is absent.".into(),
            advice: "Add it.".into(),
            path: "torch/_dynamo/a b.py".into(),
            line: 3,
            function: Some("slot_nb_or".into()),
            c_place: None,
            release: "3.13.5".into(),
            digest: None,
            subject: "__or__".into(),
        };
        let written = sarif(&[finding], "TORCH");
        let result = &written["runs"][0]["results"][0];
        assert_eq!(result["level"], "error");
        assert_eq!(result["message"]["text"], "It is absent. Add it.");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "torch/_dynamo/a%20b.py");
        assert_eq!(place["region"]["startLine"], 3);
        assert_eq!(result["properties"]["function"], "slot_nb_or");
    }
}
