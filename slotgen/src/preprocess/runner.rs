//! Runs the directives of one unit and of what it includes, and collects its code.

use super::condition::evaluate;
use super::expander::{Expander, Mode, PROBLEM_LIMIT, Problem, Workshop};
use super::lex::Scope;
use super::macros::Table;
use super::map::SourceMap;
use super::print::print;
use super::program::{Item, Program};
use super::shared::{PYTHON_H, Preprocessor, diagnostic};
use super::token::{Kind, Token};
use super::{MacroDefinition, Unit};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use bumpalo::Bump;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// `#include` inside `#include`: deeper than any CPython goes.
pub(super) const INCLUDE_DEPTH: usize = 60;
/// Files that one unit may read; CPython's largest read about 400.
pub(super) const INCLUDE_COUNT: usize = 5000;
/// Tokens of code that one unit may have, all inclusions taken together.
const CODE_LIMIT: usize = 2_500_000;
/// Bytes of files that one unit may read, each inclusion counted.
pub(super) const READ_LIMIT: usize = 128 << 20;
/// Tokens of an unfinished macro call that are read again at the next directive.
const CARRY_TOKENS: usize = 50_000;
/// How often a macro call may go on over a directive.
const CARRY_LIMIT: usize = 100;

/// One open `#if`.
struct Condition {
    /// Its code is read now.
    active: bool,
    /// A branch was taken, or the whole `#if` stands in code that is not read.
    done: bool,
    /// `#else` was met.
    closed: bool,
    at: u32,
}

/// Whether a file's code is kept or only its macros.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Code,
    Macros,
}

/// One unit being preprocessed.
pub(super) struct Runner<'a, 't> {
    pub(super) shared: &'a Preprocessor<'t>,
    pub table: Table<'a, 't>,
    pub(super) shop: Workshop<'a>,
    /// Code that is read but not yet expanded.
    pub(super) pending: Vec<Token<'a>>,
    /// Code that is done.
    pub(super) out: Vec<Token<'a>>,
    pub once: FxHashSet<u32>,
    /// Names that conditions asked for, when somebody wants to know.
    pub consulted: Option<FxHashSet<String>>,
    /// A header whose own code is wanted, wherever the unit comes to it.
    pub(super) target: Option<u32>,
    pub(super) reached: bool,
    pub(super) included: usize,
    pub(super) read: usize,
    pub(super) bytes: usize,
    pub(super) carried: usize,
    pub(super) warnings: Vec<Problem>,
}

impl<'a, 't> Runner<'a, 't> {
    pub fn new(shared: &'a Preprocessor<'t>, arena: &'a Bump) -> Runner<'a, 't> {
        Runner {
            shared,
            table: Table::new(&shared.configured),
            shop: Workshop::new(arena),
            pending: Vec::new(),
            out: Vec::new(),
            once: FxHashSet::default(),
            consulted: None,
            target: None,
            reached: false,
            included: 0,
            read: 0,
            bytes: 0,
            carried: 0,
            warnings: Vec::new(),
        }
    }

    /// Preprocesses a `.c` file, or the own code of a header.
    pub fn unit(mut self, index: u32) -> Result<Unit, Diagnostics> {
        let api = self.shared.tree.files().get(index as usize).is_some_and(|file| file.is_api());
        if api {
            // A header is read where `Python.h` includes it, or else after `Python.h`.
            self.target = Some(index);
            if let Some(python_h) = self.shared.tree.index(PYTHON_H) {
                self.file(python_h as u32, Keep::Macros, 0);
            }
        }
        if !self.reached {
            self.file(index, Keep::Code, 0);
        }
        self.flush(true);
        self.finish(index)
    }

    /// Reads a header for its macros, remembering what it asked for.
    pub fn headers_only(&mut self, index: u32) {
        self.consulted = Some(FxHashSet::default());
        self.file(index, Keep::Macros, 0);
    }

    fn finish(mut self, index: u32) -> Result<Unit, Diagnostics> {
        let files = self.shared.tree.files();
        for token in self.out.iter().filter(|token| token.kind == Kind::Unterminated) {
            let message = "a literal or comment does not end".to_owned();
            self.shop.problem(
                "preprocess/unterminated",
                token,
                message,
                "close it, or look for a stray quote before it",
            );
        }
        let told = |problems: Vec<Problem>, severity| {
            let tell = |p: Problem| {
                let file = files.get(p.file as usize).map(|file| &**file);
                Diagnostic { help: p.help.to_owned(), ..diagnostic(file, severity, p.code, p.at, p.message) }
            };
            Diagnostics(problems.into_iter().take(PROBLEM_LIMIT).map(tell).collect())
        };
        let errors = told(std::mem::take(&mut self.shop.problems), Severity::Error);
        let warnings = told(std::mem::take(&mut self.warnings), Severity::Warning);
        if errors.has_errors() {
            return Err(errors);
        }
        let (text, segments, bodies) = print(&self.out, files);
        let macros = self.shop.vias.iter().map(|&name| name.to_owned()).collect();
        Ok(Unit {
            path: files.get(index as usize).map_or(String::new(), |file| file.path().to_owned()),
            text,
            bodies,
            map: SourceMap { files: Arc::clone(files), macros, segments },
            macros: self.definitions(index),
            warnings,
        })
    }

    fn definitions(&self, index: u32) -> Vec<MacroDefinition> {
        let own = self.table.changes().values().flatten().filter(|made| made.local || made.file == index);
        let mut macros: Vec<_> = own.map(|made| self.shared.definition(made)).collect();
        macros.sort_by(|a, b| a.name.cmp(&b.name));
        macros
    }

    pub(super) fn error(&mut self, file: u32, at: u32, code: &'static str, message: String, help: &'static str) {
        self.shop.push(Problem { code, file, at, message, help });
    }

    pub(super) fn warn(&mut self, problem: Problem) {
        if self.warnings.len() < PROBLEM_LIMIT {
            self.warnings.push(problem);
        }
    }

    /// Runs one file.
    pub(super) fn file(&mut self, index: u32, keep: Keep, depth: usize) {
        let shared = self.shared;
        let keep = if self.target == Some(index) && !self.reached { Keep::Code } else { keep };
        self.reached |= self.target == Some(index);
        if keep == Keep::Macros {
            if let Some(program) = shared.directives(index) {
                self.program(program, index, keep, depth);
            }
        } else if let Some(file) = shared.tree.files().get(index as usize) {
            let program = Program::read(file, index, Scope::All);
            self.program(&program, index, keep, depth);
        }
    }

    fn program(&mut self, program: &Program<'t>, index: u32, keep: Keep, depth: usize) {
        let mut conditions: Vec<Condition> = Vec::new();
        for (at, item) in &program.items {
            let active = conditions.last().is_none_or(|condition| condition.active);
            match item {
                Item::If(range) => {
                    let value = active && self.condition(program.slice(range), index, *at);
                    conditions.push(Condition { active: value, done: value || !active, closed: false, at: *at });
                }
                Item::Ifdef { name, wanted } => {
                    let value = active && self.is_defined(name) == *wanted;
                    conditions.push(Condition { active: value, done: value || !active, closed: false, at: *at });
                }
                Item::Elif(_) | Item::Else => self.branch(&mut conditions, program, item, index, *at),
                Item::Endif if conditions.pop().is_some() => {}
                Item::Endif => self.unbalanced(index, *at, "#endif without #if"),
                _ if active => self.act(program, item, index, *at, keep, depth),
                _ => {}
            }
        }
        for open in conditions {
            self.unbalanced(index, open.at, "#if without #endif");
        }
    }

    fn unbalanced(&mut self, file: u32, at: u32, message: &str) {
        self.error(
            file,
            at,
            "preprocess/unbalanced-if",
            message.to_owned(),
            "the file is truncated, or edited by hand",
        );
    }

    fn branch(&mut self, conditions: &mut [Condition], program: &Program<'t>, item: &Item<'t>, index: u32, at: u32) {
        let Some(condition) = conditions.last_mut().filter(|condition| !condition.closed) else {
            return self.unbalanced(index, at, "#else or #elif without #if");
        };
        let value = match item {
            _ if condition.done => false,
            Item::Elif(range) => self.condition(program.slice(range), index, at),
            _ => true,
        };
        condition.closed = matches!(item, Item::Else);
        condition.active = value;
        condition.done |= value;
    }

    /// Does what an active item says.
    fn act(&mut self, program: &Program<'t>, item: &Item<'t>, index: u32, at: u32, keep: Keep, depth: usize) {
        match item {
            Item::Code(range) if keep == Keep::Code => self.code(program.slice(range)),
            Item::Define(made) => {
                self.flush(false);
                self.consult(made.name);
                self.table.define(Arc::clone(made));
            }
            Item::Undef(name) => {
                self.flush(false);
                self.consult(name);
                self.table.undefine(name);
            }
            Item::Include(range) => self.include(program.slice(range), index, at, keep, depth),
            Item::PragmaOnce => {
                self.once.insert(index);
            }
            Item::BadDefine => self.error(
                index,
                at,
                "preprocess/bad-define",
                "#define defines no macro".to_owned(),
                "it needs a name, and names as parameters",
            ),
            Item::Unknown(name) => self.error(
                index,
                at,
                "preprocess/unknown-directive",
                format!("#{name} is no directive"),
                "check the spelling; the file may be damaged",
            ),
            Item::Error(range) => {
                let words: Vec<_> = program.slice(range).iter().map(|token| token.text).collect();
                let message = format!("#error {}", words.join(" "));
                let help = "the configuration's definitions lead here: see data/configurations.toml";
                self.warn(Problem { code: "preprocess/error-directive", file: index, at, message, help });
            }
            _ => {}
        }
    }

    fn code(&mut self, tokens: &[Token<'t>]) {
        self.read += tokens.len();
        if self.read <= CODE_LIMIT {
            self.pending.extend_from_slice(tokens);
        } else if let Some(first) = tokens.first().filter(|_| self.read - tokens.len() <= CODE_LIMIT) {
            let message = format!("the file and what it includes have more than {CODE_LIMIT} tokens");
            self.shop.problem("preprocess/too-much-code", first, message, "look for a file that includes itself");
        }
    }

    /// Expands what is read so far, before the macros change.
    pub(super) fn flush(&mut self, last: bool) {
        if self.pending.is_empty() {
            return;
        }
        let last = last || self.carried >= CARRY_LIMIT || (self.carried > 0 && self.pending.len() > CARRY_TOKENS);
        let mut expander = Expander::new(&self.table, &self.shared.rules, &mut self.shop, Mode::Code);
        let done = expander.run(&self.pending, last, &mut self.out);
        self.carried = if done < self.pending.len() { self.carried + 1 } else { 0 };
        self.pending.drain(..done);
    }

    fn consult(&mut self, name: &str) {
        if let Some(consulted) = &mut self.consulted
            && !consulted.contains(name)
        {
            consulted.insert(name.to_owned());
        }
    }

    fn is_defined(&mut self, name: &str) -> bool {
        self.consult(name);
        self.table.get(name).is_some()
    }

    pub(super) fn expand_directive(&mut self, tokens: &[Token<'a>]) -> Vec<Token<'a>> {
        let mut out = Vec::with_capacity(tokens.len());
        for token in tokens.iter().filter(|token| token.is_ident()) {
            self.consult(token.text);
        }
        Expander::new(&self.table, &self.shared.rules, &mut self.shop, Mode::Directive).run(tokens, true, &mut out);
        for token in out.iter().filter(|token| token.is_ident()) {
            self.consult(token.text);
        }
        out
    }

    fn condition(&mut self, tokens: &[Token<'t>], index: u32, at: u32) -> bool {
        let expanded = self.expand_directive(tokens);
        match evaluate(&expanded, &mut |name| self.table.get(name).is_some()) {
            Ok(value) => value != 0,
            Err(message) => {
                self.error(index, at, "preprocess/bad-condition", message, "the condition is taken to be false");
                false
            }
        }
    }
}
