//! The state of an expansion: which macros are expanded, what is being replaced, and what may still be spent.

use super::macros::Table;
use super::rules::Rules;
use super::token::Token;
use bumpalo::Bump;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

type FxIndexSet<T> = IndexSet<T, FxBuildHasher>;

/// Macros inside macros inside macros: deeper than this is no C that a person wrote.
pub(super) const NESTING_LIMIT: usize = 200;
/// Macro calls inside arguments of macro calls.
pub(super) const ARGUMENT_LIMIT: usize = 60;
/// Tokens that all expansions of a unit may read and produce; long tokens count more than once.
pub(super) const TOKEN_BUDGET: usize = 8_000_000;
/// Findings after which a unit reports no more.
pub(super) const PROBLEM_LIMIT: usize = 200;

/// Which macros are expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// In code: local macros, and those of `Include/` for which there is a rule.
    Code,
    /// In `#if` and `#include`: all, and `defined` is left alone.
    Directive,
}

/// Something wrong, at a place of a file of the tree.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub code: &'static str,
    pub file: u32,
    pub at: u32,
    pub message: String,
    pub help: &'static str,
}

/// What expansions of one unit share: text storage, macro names, what may still be spent, what went wrong.
pub(super) struct Workshop<'a> {
    pub arena: &'a Bump,
    /// Names of macros that code came through; `Token::via` counts from 1.
    pub vias: FxIndexSet<&'a str>,
    pub budget: usize,
    pub problems: Vec<Problem>,
}

impl<'a> Workshop<'a> {
    pub fn new(arena: &'a Bump) -> Workshop<'a> {
        Workshop { arena, vias: FxIndexSet::default(), budget: TOKEN_BUDGET, problems: Vec::new() }
    }

    pub fn problem(&mut self, code: &'static str, token: &Token, message: String, help: &'static str) {
        self.push(Problem { code, file: token.file, at: token.at, message, help });
    }

    /// Notes a problem, unless there are enough.
    pub fn push(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEM_LIMIT {
            self.problems.push(problem);
        }
    }

    /// Takes from the budget; false (and one problem) when it is spent.
    pub fn spend(&mut self, amount: usize, token: &Token) -> bool {
        // Never to 0 without a word: nothing is expanded at 0.
        let enough = self.budget > amount;
        if !enough && self.budget > 0 {
            let message = format!(
                "macro expansion of this file makes more than {TOKEN_BUDGET} tokens; `{}` and all after it is left alone",
                token.text
            );
            self.problem("preprocess/expansion-too-large", token, message, "look for a macro that doubles itself");
        }
        self.budget = if enough { self.budget - amount } else { 0 };
        enough
    }

    pub(super) fn via(&mut self, name: &'a str) -> u32 {
        self.vias.insert_full(name).0 as u32 + 1
    }
}

/// An expansion in progress.
pub(super) struct Expander<'x, 'a, 't> {
    pub table: &'x Table<'a, 't>,
    pub rules: &'x Rules<'t>,
    pub shop: &'x mut Workshop<'a>,
    pub mode: Mode,
    /// Macros whose replacement is being scanned.
    pub(super) active: Vec<&'t str>,
    pub(super) depth: usize,
}

impl<'x, 'a, 't: 'a> Expander<'x, 'a, 't> {
    pub fn new(table: &'x Table<'a, 't>, rules: &'x Rules<'t>, shop: &'x mut Workshop<'a>, mode: Mode) -> Self {
        Expander { table, rules, shop, mode, active: Vec::new(), depth: 0 }
    }
}
