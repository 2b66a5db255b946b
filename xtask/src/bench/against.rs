//! `bench --torch`: tracing and cached calls, beside TorchDynamo's on the same programs.
use super::picture;
use crate::place;
use crate::ui::Advise;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::fs;

/// What was measured in one run.
#[derive(Debug, Deserialize, Serialize)]
pub struct Report {
    python: String,
    torch: String,
    slotrt: String,
    quick: bool,
    rows: Vec<Row>,
}

/// One program.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    name: String,
    kind: Kind,
    /// Which library it needs that is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// Nanoseconds of a plain call.
    #[serde(default)]
    eager: f64,
    #[serde(default)]
    slotrt: Times,
    #[serde(default)]
    fx: Times,
    #[serde(default)]
    dynamo: Times,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Program,
    Model,
}

/// Nanoseconds: of tracing, of a cached call, of that over the plain call, and of a cached call whose graph does nothing.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
struct Times {
    trace: f64,
    call: f64,
    over: f64,
    #[serde(default)]
    guards: f64,
}

/// What `--check` holds: ratios to TorchDynamo, never times.
struct Bounds {
    /// How many times faster tracing is at least.
    trace: f64,
    /// The same where a backend gets a `GraphModule`.
    fx: f64,
    /// What a cached call costs over the plain one at most, as a part of what TorchDynamo costs.
    over: f64,
    /// What guards and all else around the graph cost at most, as a part of what TorchDynamo's cost.
    guards: f64,
}

impl Kind {
    const fn bounds(self) -> Bounds {
        match self {
            Self::Program => Bounds { trace: 10.0, fx: 4.0, over: 1.0, guards: 0.5 },
            Self::Model => Bounds { trace: 5.0, fx: 3.0, over: 4.0, guards: 1.0 },
        }
    }
}

/// Noise of a cached call that counts as nothing, in nanoseconds.
const NOISE: f64 = 2_000.0;

const BEGIN: &str = "<!-- cargo xtask bench --torch --write: begin -->";
const PICTURE: &str = "![How many times faster than TorchDynamo slotrt traces](pictures/bench-torch.svg)";
const END: &str = "<!-- end -->";

impl Row {
    /// How many times faster than TorchDynamo it is traced: as it is, and for a backend.
    fn factors(&self) -> Option<[f64; 2]> {
        let faster = |times: Times| self.dynamo.trace / times.trace.max(1.0);
        self.missing.is_none().then(|| [faster(self.slotrt), faster(self.fx)])
    }

    /// What of it is worse than the bounds.
    fn faults(&self) -> Vec<String> {
        let Some([plain, fx]) = self.factors() else { return Vec::new() };
        let bounds = self.kind.bounds();
        let mut faults = Vec::new();
        if plain < bounds.trace {
            faults.push(format!("{}: traced {plain:.1} times faster, at least {} wanted", self.name, bounds.trace));
        }
        if fx < bounds.fx {
            faults.push(format!(
                "{}: traced for a backend {fx:.1} times faster, at least {} wanted",
                self.name, bounds.fx
            ));
        }
        if self.slotrt.over > self.dynamo.over.max(0.0) * bounds.over + NOISE {
            let [ours, theirs] = [self.slotrt.over, self.dynamo.over].map(micro);
            faults.push(format!("{}: a cached call costs {ours}, TorchDynamo's {theirs}", self.name));
        }
        if self.slotrt.guards > self.dynamo.guards * bounds.guards {
            let [ours, theirs] = [self.slotrt.guards, self.dynamo.guards].map(micro);
            faults.push(format!("{}: a cached call without its graph takes {ours}, TorchDynamo's {theirs}", self.name));
        }
        faults
    }

    fn cells(&self) -> Vec<String> {
        let Some([plain, fx]) = self.factors() else {
            let why = self.missing.clone().unwrap_or_default();
            return [self.name.clone(), why].into_iter().chain(std::iter::repeat_n(String::new(), 8)).collect();
        };
        let milli = |times: Times| format!("{:.2}", times.trace / 1e6);
        let [ours, theirs] = [self.slotrt, self.dynamo].map(|times| micro(times.over));
        let [guards, their_guards] = [self.slotrt, self.dynamo].map(|times| micro(times.guards));
        vec![
            self.name.clone(),
            milli(self.slotrt),
            milli(self.fx),
            milli(self.dynamo),
            format!("{plain:.1}"),
            format!("{fx:.1}"),
            guards,
            their_guards,
            ours,
            theirs,
        ]
    }
}

fn micro(nanoseconds: f64) -> String {
    format!("{:.1} µs", nanoseconds / 1e3)
}

/// Names of the columns.
pub const HEADERS: [&str; 10] = [
    "program",
    "trace, ms",
    "with FX, ms",
    "TorchDynamo, ms",
    "times faster",
    "with FX",
    "cached call without its graph",
    "TorchDynamo's",
    "cached call over the plain one",
    "TorchDynamo's",
];

impl Report {
    /// From what the script has printed.
    pub fn parse(printed: &str) -> Result<Self> {
        let last = printed.lines().last().unwrap_or_default();
        serde_json::from_str(last)
            .context("these are no measurements of tests/bench/against_dynamo.py")
            .advise("give `--from` what `python tests/bench/against_dynamo.py` has printed")
    }

    /// What was measured, in a line.
    pub fn what(&self) -> String {
        let quick = if self.quick { ", quick and rough" } else { "" };
        format!("CPython {}, PyTorch {}, slotrt {}{quick}", self.python, self.torch, self.slotrt)
    }

    /// A row a program.
    pub fn cells(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(Row::cells).collect()
    }

    /// Fails where a ratio is worse than its bound.
    pub fn check(&self) -> Result<()> {
        let faults: Vec<String> = self.rows.iter().flat_map(Row::faults).collect();
        if faults.is_empty() {
            return Ok(());
        }
        Err(anyhow!("{} ratios are worse than their bounds:\n  {}", faults.len(), faults.join("\n  ")))
            .advise("run it again, without --quick; ratios depend on the machine little, but they do")
    }

    /// Puts table and picture into `docs`.
    pub fn write(&self) -> Result<()> {
        let docs = place::root().join("docs");
        fs::write(docs.join("pictures/bench-torch.svg"), picture::render(&self.bars()))
            .context("docs/pictures is not there")?;
        let path = docs.join("performance.md");
        let page = fs::read_to_string(&path)?;
        let place = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        let (before, after) =
            place.with_context(|| format!("docs/performance.md has no lines `{BEGIN}` and `{END}`"))?;
        let (what, table) = (self.what(), self.markdown());
        fs::write(&path, format!("{before}{BEGIN}\n\n{PICTURE}\n\n{what}.\n\n{table}\n{END}{after}"))?;
        Ok(())
    }

    /// What the picture shows: names, and how many times faster they are traced.
    fn bars(&self) -> Vec<(&str, [f64; 2])> {
        self.rows.iter().filter_map(|row| Some((&*row.name, row.factors()?))).collect()
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let headers = HEADERS.map(str::to_owned);
        let rule = ["---"; 10].map(str::to_owned);
        [line(&headers), line(&rule)].into_iter().chain(self.cells().iter().map(|cells| line(cells))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(slotrt: f64, over: f64) -> Report {
        let times =
            |trace: f64, over: f64| serde_json::json!({"trace": trace, "call": 1.0, "over": over, "guards": over});
        let row = serde_json::json!({
            "name": "<add>", "kind": "program", "eager": 1000.0,
            "slotrt": times(slotrt, over), "fx": times(1e6, over), "dynamo": times(10e6, 8000.0),
        });
        let missing = serde_json::json!({"name": "T5", "kind": "model", "missing": "No module named 'transformers'"});
        let all =
            serde_json::json!({"python": "3.13.0", "torch": "2", "slotrt": "0", "quick": true, "rows": [row, missing]});
        Report::parse(&format!("noise\n{all}")).unwrap()
    }

    #[test]
    fn ratios_are_held() {
        assert!(report(0.5e6, 4000.0).check().is_ok());
        let slow = format!("{:#}", report(2e6, 20_000.0).check().unwrap_err());
        assert!(slow.contains("traced 5.0 times faster") && slow.contains("costs 20.0 µs"), "{slow}");
        assert!(slow.contains("without its graph takes 20.0 µs"), "{slow}");
    }

    #[test]
    fn a_library_may_be_missing() {
        let report = report(0.5e6, 0.0);
        assert_eq!(report.cells()[1][1], "No module named 'transformers'");
        assert!(report.markdown().lines().all(|line| line.matches(" | ").count() == 9));
    }

    #[test]
    fn other_text_is_refused() {
        assert!(Report::parse("").is_err() && Report::parse("{}").is_err());
    }

    #[test]
    fn the_picture_is_well_formed() {
        let picture = picture::render(&report(0.5e6, 0.0).bars());
        assert!(picture.starts_with("<svg") && picture.contains("&lt;add&gt;") && picture.ends_with("</svg>\n"));
    }
}
