//! What the units of a tree share, as data: macros of the configuration and of `Python.h`, directives of headers.

use super::lex::Scope;
use super::macros::{Layer, Macro};
use super::program::Program;
use super::rules::Rules;
use super::unit::MacroDefinition;
use crate::diagnostics::{Diagnostic, Severity};
use crate::source::{SourceFile, Tree};
use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// The path of the header that nearly every unit begins with.
pub(super) const PYTHON_H: &str = "Include/Python.h";

/// Preprocesses the files of one tree under one configuration; made once, shared by threads.
pub struct Preprocessor<'t> {
    pub(super) tree: &'t Tree,
    pub(super) rules: Rules<'t>,
    /// The configuration's definitions.
    pub(super) configured: Layer<'t>,
    /// The headers' directives, read when first included.
    pub(super) programs: Vec<OnceLock<Program<'t>>>,
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
}

/// A diagnostic at a place of a file.
pub(super) fn diagnostic(
    file: Option<&SourceFile>,
    severity: Severity,
    code: &'static str,
    at: u32,
    message: String,
) -> Diagnostic {
    let (line, column) = file.map_or((0, 0), |file| file.position(at));
    let file = file.map_or(String::new(), |file| file.path().to_owned());
    Diagnostic { severity, code, file, line, column, message, help: String::new() }
}
