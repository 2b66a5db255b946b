//! Ways through a body: those that meet again, exceptions that are looked at, and ends.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::{Expr, Pat};

use super::forms::{branch, not, shortened};
use super::names;
use super::normal::{Step, ends, value};
use super::read::{Reader, is_error};

impl Reader<'_> {
    /// `match call { Ok(x) => …, Err(e) if … => { handler } … }`, or a way by a number.
    pub(super) fn matched(&mut self, one: &syn::ExprMatch, steps: &mut Vec<Step>) -> String {
        let is_result = |pattern: &Pat| match pattern {
            Pat::TupleStruct(inner) => inner.path.is_ident("Ok") || inner.path.is_ident("Err"),
            Pat::Guard(_) => true,
            _ => false,
        };
        let held = self.expr(&one.expr, steps);
        if !one.arms.iter().any(|arm| is_result(&arm.pat)) {
            let variable = self.fresh();
            let mut gives = false;
            let mut arms = Vec::new();
            for arm in &one.arms {
                let mut way = Vec::new();
                if let Some(found) = self.block_expr(&arm.body, &mut way) {
                    gives = true;
                    way.push(Step::Set(variable, found));
                }
                arms.push((arm.pat.to_token_stream().to_string(), way));
            }
            steps.push(Step::Switch { value: held, arms });
            return if gives { value(variable) } else { String::new() };
        }
        let (mut fine, mut caught) = ((Vec::new(), None), (Vec::new(), None));
        for arm in &one.arms {
            self.scopes.push(BTreeMap::new());
            let is_ok = matches!(&arm.pat, Pat::TupleStruct(inner) if inner.path.is_ident("Ok"));
            if is_ok {
                self.pattern(&arm.pat, &held);
                let mut way = Vec::new();
                let found = self.block_expr(&arm.body, &mut way);
                fine = (way, found);
            } else if let Pat::Guard(guarded) = &arm.pat {
                self.pattern(&guarded.pat, "error");
                let mut way = Vec::new();
                let found = self.block_expr(&arm.body, &mut way);
                caught = (way, found);
            }
            self.scopes.pop();
        }
        let passes_on = |step: &Step| matches!(step, Step::Raise { exception, message } if exception == "error" && message.is_empty());
        if caught.0.len() == 1 && caught.0.iter().all(passes_on) {
            steps.extend(fine.0);
            return fine.1.unwrap_or_default();
        }
        if ends(&caught.0) {
            steps.push(Step::Caught(caught.0));
            steps.extend(fine.0);
            return fine.1.unwrap_or_default();
        }
        let variable = self.fresh();
        let (mut handler, mut way) = (caught.0, fine.0);
        handler.extend(caught.1.map(|found| Step::Set(variable, found)));
        let gives = fine.1.is_some();
        way.extend(fine.1.map(|found| Step::Set(variable, found)));
        steps.push(Step::Caught(handler));
        steps.push(Step::Branch { condition: "no error".to_owned(), yes: way, no: Vec::new() });
        if gives { value(variable) } else { String::new() }
    }

    pub(super) fn labelled(&mut self, block: &syn::ExprBlock, steps: &mut Vec<Step>) -> String {
        let Some(label) = &block.label else { return self.scoped(&block.block.stmts, steps).unwrap_or_default() };
        let variable = self.fresh();
        self.joins.push((label.name.to_string(), variable));
        let mut inner = Vec::new();
        if let Some(found) = self.scoped(&block.block.stmts, &mut inner) {
            inner.push(Step::Set(variable, found));
        }
        self.joins.pop();
        steps.push(Step::Loop(inner));
        value(variable)
    }

    pub(super) fn returned(&mut self, expr: Option<&Expr>, steps: &mut Vec<Step>) {
        let Some(expr) = expr else { return steps.push(Step::Return(String::new())) };
        let passed_on = match expr {
            Expr::Call(call) if is_error(call) => Some(self.all(call.args.iter(), steps).pop().unwrap_or_default()),
            _ => None,
        };
        let held = match &passed_on {
            Some(held) => held.clone(),
            None => self.expr(expr, steps),
        };
        match steps.last() {
            // A function that does no more than raise gives its exception.
            Some(Step::Call { result, function, arguments }) if names::raises(function) && value(*result) == held => {
                let mut arguments = arguments.clone().into_iter();
                let exception = arguments.next().unwrap_or_else(|| function.clone());
                let message = arguments.collect();
                steps.pop();
                steps.push(Step::Raise { exception, message });
            }
            _ if passed_on.is_some() => steps.push(Step::Raise { exception: held, message: Vec::new() }),
            _ if !ends(steps) => steps.push(Step::Return(held)),
            _ => {}
        }
    }

    /// The value of ways that meet again.
    pub(super) fn met(
        &mut self,
        ways: [(Vec<Step>, Option<String>); 2],
        condition: String,
        steps: &mut Vec<Step>,
    ) -> String {
        let [(mut yes, one), (mut no, other)] = ways;
        if let (Some(one), Some(other), true, true) = (&one, &other, yes.is_empty(), no.is_empty()) {
            return shortened(match (one.as_str(), other.as_str()) {
                ("1" | "true", "0" | "false") => condition,
                ("0" | "false", "1" | "true") => not(&condition),
                _ if one == other => one.clone(),
                _ => match condition.strip_prefix('!') {
                    Some(positive) => format!("({positive} ? {other} : {one})"),
                    None => format!("({condition} ? {one} : {other})"),
                },
            });
        }
        if one.is_none() && other.is_none() {
            steps.push(branch(condition, yes, no));
            return String::new();
        }
        // A value that only one way gives needs no variable.
        match (one, other) {
            (Some(one), None) if ends(&no) && yes.is_empty() => {
                steps.push(branch(condition, yes, no));
                one
            }
            (None, Some(other)) if ends(&yes) && no.is_empty() => {
                steps.push(branch(condition, yes, no));
                other
            }
            (one, other) => {
                let variable = self.fresh();
                yes.extend(one.map(|one| Step::Set(variable, one)));
                no.extend(other.map(|other| Step::Set(variable, other)));
                steps.push(branch(condition, yes, no));
                value(variable)
            }
        }
    }
}
