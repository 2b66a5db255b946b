//! Scripts of the tests that tell what they find, a line of JSON a row.
use crate::obtain::Interpreter;
use crate::place;
use crate::ui::Step;
use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// `tests/FOLDER/run.py`; its tables are in `target/FOLDER`.
pub struct Script {
    folder: &'static str,
    /// Takes the script's options.
    pub command: Command,
}

impl Script {
    /// The script in this folder of the tests, run by an environment with slotrt.
    pub fn new(python: &Interpreter, folder: &'static str) -> Result<Self> {
        let mut command = Command::new(&python.executable);
        command.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::piped());
        command.arg(place::root().join("tests").join(folder).join("run.py"));
        let results = place::target().join(folder);
        std::fs::create_dir_all(&results).with_context(|| place::shown(&results))?;
        Ok(Self { folder, command })
    }

    /// Where its tables are.
    pub fn results(&self) -> PathBuf {
        place::target().join(self.folder)
    }

    /// All rows, each named while the script works, and what is wrong where it ended early.
    pub fn rows<Row: DeserializeOwned>(
        &mut self,
        step: &Step,
        name: impl Fn(&Row) -> &str,
    ) -> Result<(Vec<Row>, Option<String>)> {
        let folder = self.folder;
        let mut child = self.command.spawn().with_context(|| format!("the {folder} could not be started"))?;
        let mut rows = Vec::new();
        for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
            // What a library prints is no report.
            let Ok(row) = serde_json::from_str::<Row>(&line?) else { continue };
            step.at(name(&row));
            rows.push(row);
        }
        let status = child.wait()?;
        let early = (!status.success()).then(|| format!("{folder} (ended with {status} before all were run)"));
        Ok((rows, early))
    }

    /// Writes the rows as JSON, and a page for people.
    pub fn write<Row: Serialize>(&self, rows: &[Row], page: &str) -> Result<()> {
        let put = |ending: &str, text: &str| {
            let path = self.results().join(format!("{}.{ending}", self.folder));
            std::fs::write(&path, text).with_context(|| place::shown(&path))
        };
        put("json", &serde_json::to_string_pretty(rows)?)?;
        put("md", page)
    }
}

/// A text for a cell of a table.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
