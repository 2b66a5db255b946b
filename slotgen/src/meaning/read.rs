//! From a translated body to its normal form.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Block, Expr, Pat, Stmt};

use super::forms::{branch, literal, not, shortened};
use super::normal::{Meaning, PARAMETER, Step, ends, settled, value};

/// `Err(…)`.
pub(super) fn is_error(call: &syn::ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Err"))
}

/// Reads a body; `members` are the methods that read a member of a struct.
pub(super) fn meaning(body: &TokenStream, parameters: &[String], members: &BTreeSet<String>) -> Meaning {
    let Ok(block) = syn::parse2::<Block>(quote!({ #body })) else {
        return Meaning { steps: vec![Step::Return(body.to_string())] };
    };
    let named = parameters.iter().enumerate().map(|(index, name)| (name.clone(), format!("{PARAMETER}{index}")));
    let mut reader = Reader { scopes: vec![named.collect()], next: 0, members, joins: Vec::new() };
    let mut steps = Vec::new();
    if let Some(result) = reader.statements(&block.stmts, &mut steps) {
        steps.push(Step::Return(result));
    }
    Meaning { steps: settled(steps) }.numbered()
}

pub(super) struct Reader<'m> {
    pub(super) scopes: Vec<BTreeMap<String, String>>,
    next: u32,
    pub(super) members: &'m BTreeSet<String>,
    /// Labelled blocks whose value a variable takes.
    pub(super) joins: Vec<(String, u32)>,
}

impl Reader<'_> {
    pub(super) fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn bind(&mut self, name: String, to: String) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, to);
        }
    }

    fn known(&self, name: &str) -> Option<&String> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(super) fn scoped(&mut self, stmts: &[Stmt], steps: &mut Vec<Step>) -> Option<String> {
        self.scopes.push(BTreeMap::new());
        let found = self.statements(stmts, steps);
        self.scopes.pop();
        found
    }

    /// Statements up to the end of their block; gives the block's value, if it has one.
    fn statements(&mut self, stmts: &[Stmt], steps: &mut Vec<Step>) -> Option<String> {
        for (index, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[index + 1..];
            match stmt {
                Stmt::Local(local) => {
                    let Some(init) = &local.init else { continue };
                    if let Some((_, no)) = &init.diverge {
                        // `let Some(x) = e else { … };`
                        let held = self.expr(&init.expr, steps);
                        let mut other = Vec::new();
                        self.block_expr(no, &mut other);
                        self.pattern(&local.pat, &held);
                        let mut yes = Vec::new();
                        let result = self.statements(rest, &mut yes);
                        steps.push(branch(held, yes, other));
                        return result;
                    }
                    let held = self.expr(&init.expr, steps);
                    if ends(steps) {
                        return None;
                    }
                    match &local.pat {
                        Pat::Ident(name) if name.mutability.is_some() => {
                            let variable = self.fresh();
                            steps.push(Step::Set(variable, held));
                            self.bind(name.ident.to_string(), value(variable));
                        }
                        pattern => self.pattern(pattern, &held),
                    }
                }
                Stmt::Expr(Expr::If(one), _) if one.else_branch.is_none() => {
                    self.scopes.push(BTreeMap::new());
                    let condition = self.condition(&one.cond, steps);
                    let mut yes = Vec::new();
                    let result = self.statements(&one.then_branch.stmts, &mut yes);
                    self.scopes.pop();
                    if rest.is_empty() && result.is_some() {
                        return result;
                    }
                    if ends(&yes) {
                        let mut no = Vec::new();
                        let result = self.statements(rest, &mut no);
                        steps.push(branch(condition, yes, no));
                        return result;
                    }
                    steps.push(branch(condition, yes, Vec::new()));
                }
                Stmt::Expr(expr @ Expr::Call(call), None) if rest.is_empty() && is_error(call) => {
                    self.returned(Some(expr), steps);
                    return None;
                }
                Stmt::Expr(expr, semicolon) => {
                    let found = self.expr(expr, steps);
                    if ends(steps) {
                        return None;
                    }
                    if rest.is_empty() && semicolon.is_none() {
                        return (!found.is_empty()).then_some(found);
                    }
                }
                Stmt::Item(_) | Stmt::Macro(_) => {}
            }
        }
        None
    }

    pub(super) fn pattern(&mut self, pattern: &Pat, held: &str) {
        match pattern {
            Pat::Ident(name) => self.bind(name.ident.to_string(), held.to_owned()),
            Pat::TupleStruct(inner) => inner.elems.iter().for_each(|one| self.pattern(one, held)),
            Pat::Tuple(inner) => {
                for (index, one) in inner.elems.iter().enumerate() {
                    self.pattern(one, &format!("{held}.{index}"));
                }
            }
            Pat::Reference(inner) => self.pattern(&inner.pat, held),
            Pat::Paren(inner) => self.pattern(&inner.pat, held),
            _ => {}
        }
    }

    pub(super) fn block_expr(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> Option<String> {
        match expr {
            Expr::Block(block) if block.label.is_none() => self.scoped(&block.block.stmts, steps),
            other => {
                let found = self.expr(other, steps);
                (!found.is_empty() && !ends(steps)).then_some(found)
            }
        }
    }

    /// A condition; `let Some(x) = e` holds where `e` is something.
    fn condition(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> String {
        match expr {
            Expr::Let(one) => {
                let held = self.expr(&one.expr, steps);
                self.pattern(&one.pat, &held);
                held
            }
            Expr::Binary(both) if matches!(both.op, syn::BinOp::And(_)) => {
                let left = self.condition(&both.left, steps);
                let mut more = Vec::new();
                let right = self.condition(&both.right, &mut more);
                self.joined(left, more, right, true, steps)
            }
            other => self.expr(other, steps),
        }
    }

    /// `left && right` (or `||`), where the right side is looked at only if it matters.
    pub(super) fn joined(
        &mut self,
        left: String,
        more: Vec<Step>,
        right: String,
        and: bool,
        steps: &mut Vec<Step>,
    ) -> String {
        if more.is_empty() {
            return format!("({left} {} {right})", if and { "&&" } else { "||" });
        }
        let variable = self.fresh();
        let mut more = more;
        more.push(Step::Set(variable, right));
        let known = vec![Step::Set(variable, if and { "false" } else { "true" }.to_owned())];
        steps.push(if and { branch(left, more, known) } else { branch(left, known, more) });
        value(variable)
    }

    pub(super) fn expr(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> String {
        shortened(self.any(expr, steps))
    }

    fn any(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> String {
        match expr {
            Expr::Lit(one) => literal(&one.lit),
            Expr::Path(path) => self.path(path),
            Expr::Reference(inner) => self.expr(&inner.expr, steps),
            Expr::Paren(inner) => self.expr(&inner.expr, steps),
            Expr::Group(inner) => self.expr(&inner.expr, steps),
            Expr::Cast(inner) => self.expr(&inner.expr, steps),
            Expr::Try(inner) => self.expr(&inner.expr, steps),
            Expr::Unary(one) => {
                let inner = self.expr(&one.expr, steps);
                match one.op {
                    syn::UnOp::Not(_) => not(&inner),
                    syn::UnOp::Neg(_) => format!("-{inner}"),
                    _ => inner,
                }
            }
            Expr::Binary(both) => self.binary(both, steps),
            Expr::MethodCall(call) => self.method(call, steps),
            Expr::Call(call) => self.call(call, steps),
            Expr::If(one) => {
                self.scopes.push(BTreeMap::new());
                let condition = self.condition(&one.cond, steps);
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let left = self.scoped(&one.then_branch.stmts, &mut yes);
                self.scopes.pop();
                let right = one.else_branch.as_ref().and_then(|(_, other)| self.block_expr(other, &mut no));
                self.met([(yes, left), (no, right)], condition, steps)
            }
            Expr::Match(one) => self.matched(one, steps),
            Expr::Block(block) => self.labelled(block, steps),
            Expr::Loop(one) => {
                let variable = self.fresh();
                self.joins.push((one.label.as_ref().map_or(String::new(), |label| label.name.to_string()), variable));
                let mut inner = Vec::new();
                self.scoped(&one.body.stmts, &mut inner);
                self.joins.pop();
                steps.push(Step::Loop(inner));
                value(variable)
            }
            Expr::Return(one) => {
                self.returned(one.expr.as_deref(), steps);
                String::new()
            }
            Expr::Break(one) => {
                let held = one.expr.as_ref().map(|held| self.expr(held, steps));
                let label = one.label.as_ref().map_or(String::new(), ToString::to_string);
                let found =
                    self.joins.iter().rev().position(|(name, _)| label.is_empty() || *name == label).unwrap_or(0);
                let variable = self.joins.iter().rev().nth(found).map(|join| join.1);
                if let (Some(variable), Some(held)) = (variable, held.filter(|held| !held.is_empty())) {
                    steps.push(Step::Set(variable, held));
                }
                steps.push(Step::Leave(format!("out {found}")));
                String::new()
            }
            Expr::Continue(one) => {
                let label = one.label.as_ref().map_or(String::new(), ToString::to_string);
                let found =
                    self.joins.iter().rev().position(|(name, _)| label.is_empty() || *name == label).unwrap_or(0);
                steps.push(Step::Leave(format!("again {found}")));
                String::new()
            }
            Expr::Assign(one) => {
                let held = self.expr(&one.right, steps);
                let to = self.expr(&one.left, steps);
                match to.strip_prefix('\u{1}').and_then(|number| number.parse().ok()) {
                    Some(variable) => steps.push(Step::Set(variable, held)),
                    None => {
                        let result = self.fresh();
                        steps.push(Step::Call { result, function: "=".to_owned(), arguments: vec![to, held] });
                    }
                }
                String::new()
            }
            Expr::Tuple(all) => format!("({})", self.all(all.elems.iter(), steps).join(", ")),
            Expr::Array(all) => format!("[{}]", self.all(all.elems.iter(), steps).join(", ")),
            Expr::Index(one) => {
                let (base, index) = (self.expr(&one.expr, steps), self.expr(&one.index, steps));
                format!("{base}[{index}]")
            }
            Expr::Range(one) => {
                let mut end =
                    |side: &Option<Box<Expr>>| side.as_ref().map_or(String::new(), |side| self.expr(side, steps));
                let (from, to) = (end(&one.start), end(&one.end));
                format!("{from}..{to}")
            }
            Expr::Field(one) => format!("{}.{}", self.expr(&one.base, steps), one.member.to_token_stream()),
            other => self.spelled(&other.to_token_stream()),
        }
    }

    pub(super) fn all<'e>(&mut self, all: impl Iterator<Item = &'e Expr>, steps: &mut Vec<Step>) -> Vec<String> {
        all.map(|one| self.expr(one, steps)).collect()
    }

    /// Tokens as they stand, with values for names.
    pub(super) fn spelled(&self, tokens: &TokenStream) -> String {
        let words = tokens.clone().into_iter().map(|tree| match tree {
            proc_macro2::TokenTree::Group(group) => format!("({})", self.spelled(&group.stream())),
            proc_macro2::TokenTree::Ident(name) => {
                let name = name.to_string();
                self.known(&name).cloned().unwrap_or(name)
            }
            other => other.to_string(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn path(&self, path: &syn::ExprPath) -> String {
        let name = path.path.segments.last().map_or(String::new(), |last| last.ident.to_string());
        if path.path.segments.len() == 1
            && let Some(known) = self.known(&name)
        {
            return known.clone();
        }
        if name == "None" { "NULL".to_owned() } else { name }
    }
}
