//! What all units share: the configuration's macros, and those that `#include "Python.h"` brings, read once.

use super::lex::{Scope, lex};
use super::macros::{Layer, Macro};
use super::program::Program;
use super::rules::{Rules, rules};
use super::runner::{Runner, diagnostic};
use super::{Configuration, MacroDefinition, Unit};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::source::Tree;
use bumpalo::Bump;
use rustc_hash::FxHashSet;
use std::sync::{Arc, OnceLock};

/// The path of the header that nearly every unit begins with.
pub(super) const PYTHON_H: &str = "Include/Python.h";

/// Preprocesses the files of one tree under one configuration; made once, shared by threads.
pub struct Preprocessor<'t> {
    pub(super) tree: &'t Tree,
    pub(super) rules: &'static Rules<'static>,
    /// The configuration's definitions.
    pub(super) configured: Layer<'t>,
    /// The headers' directives, read when first included.
    programs: Vec<OnceLock<Program<'t>>>,
    /// What `Python.h` makes of the configured macros.
    pub(super) python_h: Option<Snapshot<'t>>,
}

/// The state after a header was read with nothing but the configuration defined.
pub(super) struct Snapshot<'t> {
    pub macros: Layer<'t>,
    /// Names whose definition the header asked for, or changed: a unit that defines one of them before reads the header itself.
    pub consulted: FxHashSet<String>,
    /// Files with `#pragma once` that were read.
    pub once: FxHashSet<u32>,
}

impl<'t> Preprocessor<'t> {
    /// Reads the configuration and `Python.h`.
    pub fn new(tree: &'t Tree, configuration: &'t Configuration) -> Result<Preprocessor<'t>, Diagnostics> {
        let programs = tree.files().iter().map(|_| OnceLock::new()).collect();
        let configured = configured(configuration)?;
        let mut made = Preprocessor { tree, rules: rules(), configured, programs, python_h: None };
        made.python_h = made.snapshot(PYTHON_H);
        Ok(made)
    }

    /// Preprocesses the file of that path: a `.c` file, or a header, whose own code is kept then.
    pub fn unit(&self, path: &str) -> Result<Unit, Diagnostics> {
        let Some(index) = self.tree.index(path) else {
            return Err(Diagnostics(vec![Diagnostic {
                severity: Severity::Error,
                code: "preprocess/no-such-file",
                file: path.to_owned(),
                line: 0,
                column: 0,
                message: "the tree has no such C file".to_owned(),
                help: "paths are relative to the root of the tree, such as Objects/abstract.c".to_owned(),
            }]));
        };
        let arena = Bump::new();
        Runner::new(self, &arena).unit(index as u32)
    }

    /// The definition that `Python.h` leaves for a name: a macro of the API.
    pub fn api_macro(&self, name: &str) -> Option<MacroDefinition> {
        let found = self.python_h.as_ref()?.macros.get(name)?;
        Some(self.definition(found))
    }

    /// All macros of the API that `Python.h` brings, sorted by name.
    pub fn api_macros(&self) -> Vec<MacroDefinition> {
        let macros = self.python_h.iter().flat_map(|snapshot| snapshot.macros.values());
        let files = self.tree.files().len();
        let mut found: Vec<_> =
            macros.filter(|made| (made.file as usize) < files).map(|made| self.definition(made)).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    pub(super) fn definition(&self, found: &Macro) -> MacroDefinition {
        let file = self.tree.files().get(found.file as usize);
        MacroDefinition {
            name: found.name.to_owned(),
            parameters: found.parameters.as_ref().map(|names| names.iter().map(|&name| name.to_owned()).collect()),
            body: found.body_text(),
            file: file.map_or(String::new(), |file| file.path().to_owned()),
            line: file.map_or(0, |file| file.position(found.at).0),
        }
    }

    /// The directives of a header.
    pub(super) fn directives(&self, index: u32) -> Option<&Program<'t>> {
        let file = self.tree.files().get(index as usize)?;
        let slot = self.programs.get(index as usize)?;
        Some(slot.get_or_init(|| Program::read(file, index, Scope::Directives)))
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
