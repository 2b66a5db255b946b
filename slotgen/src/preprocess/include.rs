//! `#include`: which file is meant, and what it brings.

use super::expander::Problem;
use super::runner::{INCLUDE_COUNT, INCLUDE_DEPTH, Keep, READ_LIMIT, Runner};
use super::shared::PYTHON_H;
use super::token::{Kind, Token};

impl<'t> Runner<'_, 't> {
    pub(super) fn include(&mut self, operand: &[Token<'t>], index: u32, at: u32, keep: Keep, depth: usize) {
        let literal = operand.first().is_some_and(|token| token.kind == Kind::Str || token.is("<"));
        let computed = if literal { Vec::new() } else { self.expand_directive(operand) };
        let name = if literal { included_name(operand) } else { included_name(&computed) };
        let Some((name, quoted)) = name else {
            return self.error(
                index,
                at,
                "preprocess/bad-include",
                "#include names no file".to_owned(),
                "name it as \"file.h\" or <file.h>",
            );
        };
        let mut found = self.find(&name, quoted, index);
        if found.is_none() && quoted && name != "pyconfig.h" {
            found = self.instead(&name, index, at);
        }
        let Some(found) = found else {
            if quoted && name != "pyconfig.h" {
                let message = format!("{name} is not in the tree: its macros are unknown");
                let help = "conditions on them are false";
                self.warn(Problem { code: "preprocess/no-such-header", file: index, at, message, help });
            }
            return;
        };
        self.included += 1;
        self.bytes += self.shared.tree.files().get(found as usize).map_or(0, |file| file.text().len());
        if depth >= INCLUDE_DEPTH || self.included > INCLUDE_COUNT || self.bytes > READ_LIMIT {
            if self.included <= INCLUDE_COUNT + 1 {
                let message =
                    format!("#include nests deeper than {INCLUDE_DEPTH}, or reads more than {INCLUDE_COUNT} files");
                self.error(index, at, "preprocess/include-too-deep", message, "look for a file that includes itself");
            }
            return;
        }
        self.enter(found, keep, depth);
    }

    fn enter(&mut self, found: u32, keep: Keep, depth: usize) {
        if self.once.contains(&found) || self.take_snapshot(found) {
            return;
        }
        self.flush(false);
        let api = self.shared.tree.files().get(found as usize).is_some_and(|file| file.is_api());
        let keep = if api || self.target.is_some() { Keep::Macros } else { keep };
        self.file(found, keep, depth + 1);
    }

    /// Uses what is known of `Python.h` when nothing that it asks for differs.
    fn take_snapshot(&mut self, found: u32) -> bool {
        let shared = self.shared;
        let Some(snapshot) = &shared.python_h else { return false };
        let is_python_h = shared.tree.files().get(found as usize).is_some_and(|file| file.path() == PYTHON_H);
        let fits = is_python_h
            && self.target.is_none()
            && !self.table.changes().keys().any(|&name| snapshot.consulted.contains(name));
        if fits {
            self.table.rebase(&snapshot.macros);
            self.once.extend(&snapshot.once);
        }
        fits
    }

    /// What stands in for a header that is not where it is looked for: the only header of that name, or, where code begins
    /// with a header that is nowhere, `Python.h`.
    fn instead(&mut self, name: &str, index: u32, at: u32) -> Option<u32> {
        let tree = self.shared.tree;
        let code = tree.files().get(index as usize).is_some_and(|file| !file.is_api() && file.path().ends_with(".c"));
        // Extension modules bring headers of their own for other builds: those are for nobody else.
        let of_modules = |index: usize| tree.files().get(index).is_some_and(|file| file.path().starts_with("Modules/"));
        let moved = tree.only_file(name).filter(|found| !of_modules(*found) && !of_modules(index as usize));
        let found = moved.or_else(|| tree.index(PYTHON_H).filter(|_| code && self.included == 0))?;
        let path = tree.files().get(found).map_or("", |file| file.path());
        let message = format!("{name} is not where it is included from: {path} is read instead");
        let help = "if another file is meant, put it where the #include looks";
        self.warn(Problem { code: "preprocess/header-elsewhere", file: index, at, message, help });
        Some(found as u32)
    }

    /// The file that an `#include` names.
    fn find(&self, name: &str, quoted: bool, from: u32) -> Option<u32> {
        const API: [&str; 4] = ["Include", "Include/internal", "Include/internal/mimalloc", "Include/cpython"];
        const LOCAL: [&str; 9] = [
            "Objects",
            "Python",
            "Modules",
            "Parser",
            "Modules/_hacl/include",
            "Modules/_hacl",
            "Modules/expat",
            "Modules/_decimal/libmpdec",
            "",
        ];
        let tree = self.shared.tree;
        let here = tree.files().get(from as usize).map_or("", |file| file.path());
        let here = here.rsplit_once('/').map_or("", |(directory, _)| directory);
        let beside = quoted.then_some(here);
        let local = LOCAL.iter().copied().filter(|_| quoted);
        let path = |directory: &str| tree.index(&normal(directory, name)?);
        beside.into_iter().chain(API).chain(local).find_map(path).map(|found| found as u32)
    }
}

/// The path of a name seen from a directory, `..` resolved; `None` when it leaves the tree.
fn normal(directory: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The name between quotes (true) or angle brackets (false).
fn included_name(operand: &[Token]) -> Option<(String, bool)> {
    let first = operand.first()?;
    if first.kind == Kind::Str {
        return Some((first.text.trim_matches('"').to_owned(), true));
    }
    if !first.is("<") {
        return None;
    }
    let end = operand.iter().position(|token| token.is(">"))?;
    Some((operand.get(1..end)?.iter().map(|token| token.text).collect(), false))
}
