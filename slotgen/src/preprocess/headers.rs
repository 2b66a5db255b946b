//! What all units share: the configuration's macros, and those that `#include "Python.h"` brings, read once.

use super::lex::{Scope, lex};
use super::macros::{Layer, Macro};
use super::rules::{Rule, Rules, rules};
use super::runner::Runner;
use super::shared::{PYTHON_H, Preprocessor, Snapshot, diagnostic};
use super::{Configuration, Unit};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::source::Tree;
use bumpalo::Bump;
use std::sync::{Arc, OnceLock};

impl<'t> Preprocessor<'t> {
    /// Reads the configuration and `Python.h`.
    pub fn new(tree: &'t Tree, configuration: &'t Configuration) -> Result<Preprocessor<'t>, Diagnostics> {
        let programs = tree.files().iter().map(|_| OnceLock::new()).collect();
        let configured = configured(configuration)?;
        let mut made = Preprocessor { tree, rules: rules_of(configuration), configured, programs, python_h: None };
        made.python_h = made.snapshot(PYTHON_H);
        Ok(made)
    }

    /// Preprocesses the file of that path, or the only one of its name: a `.c` file, or a header, whose own code is kept then.
    pub fn unit(&self, path: &str) -> Result<Unit, Diagnostics> {
        let Some(index) = self.tree.index(path).or_else(|| self.tree.only_file(path)) else {
            let name = path.rsplit('/').next().unwrap_or(path);
            let namesakes: Vec<&str> = self.tree.files().iter().map(|file| file.path()).collect();
            let namesakes: Vec<&str> =
                namesakes.into_iter().filter(|other| other.rsplit('/').next() == Some(name)).collect();
            let help = match namesakes.as_slice() {
                [] => "what it defines is left out; paths are relative to the root of the tree, such as Objects/abstract.c".to_owned(),
                several => format!("what it defines is left out; it may have moved to one of {}", several.join(", ")),
            };
            return Err(Diagnostics(vec![Diagnostic {
                severity: Severity::Gap,
                code: "preprocess/no-such-file",
                file: path.to_owned(),
                line: 0,
                column: 0,
                message: "the tree has no such C file".to_owned(),
                help,
            }]));
        };
        let arena = Bump::new();
        Runner::new(self, &arena).unit(index as u32)
    }

    fn snapshot(&self, path: &str) -> Option<Snapshot<'t>> {
        let index = self.tree.index(path)? as u32;
        let arena = Bump::new();
        let mut runner = Runner::new(self, &arena);
        runner.headers_only(index);
        let mut macros = self.configured.clone();
        for (&name, change) in runner.table.changes() {
            match change {
                Some(made) => macros.insert(name, Arc::clone(made)),
                None => macros.remove(name),
            };
        }
        Some(Snapshot { macros, consulted: runner.consulted.take().unwrap_or_default(), once: runner.once })
    }
}

/// The rules, and the macros that this configuration expands.
fn rules_of(configuration: &Configuration) -> Rules<'_> {
    let mut all: Rules<'_> = rules().iter().map(|(&name, rule)| (name, rule.clone())).collect();
    for name in configuration.expanded() {
        all.entry(name).or_insert(Rule::Expand);
    }
    all
}

fn configured(configuration: &Configuration) -> Result<Layer<'_>, Diagnostics> {
    let mut layer = Layer::default();
    for line in configuration.definitions().lines() {
        let tokens = lex(line, u32::MAX, Scope::All);
        match Macro::parse(tokens.get(2..).unwrap_or(&[]), false) {
            Ok(made) => {
                layer.insert(made.name, Arc::new(made));
            }
            Err(_) => {
                let message = format!("`{line}` defines no macro");
                let found = diagnostic(None, Severity::Error, "preprocess/bad-configuration", 0, message);
                let help = "mend the row of slotgen/data/configurations.toml".to_owned();
                return Err(Diagnostics(vec![Diagnostic { help, ..found }]));
            }
        }
    }
    Ok(layer)
}

/// Preprocesses one file; for many files of a tree make a [`Preprocessor`] once.
pub fn run(tree: &Tree, path: &str, configuration: &Configuration) -> Result<Unit, Diagnostics> {
    Preprocessor::new(tree, configuration)?.unit(path)
}
