//! Which parameters a function expects to be NULL: those it tests, unless the test only refuses a caller's mistake.

use std::collections::BTreeSet;

use crate::lower::{Expr, Kind, Stmt};
use crate::translate::world::Contracts;

/// The names tested for NULL in a body.
pub fn tested(body: &[Stmt], contracts: &Contracts) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for stmt in body {
        in_stmt(stmt, contracts, &mut found);
    }
    found
}

fn in_stmt(stmt: &Stmt, contracts: &Contracts, found: &mut BTreeSet<String>) {
    match stmt {
        Stmt::If(condition, yes, no) => {
            if !is_guard(yes, contracts) {
                condition_names(condition, found);
            }
            in_stmt(yes, contracts, found);
            if let Some(no) = no {
                in_stmt(no, contracts, found);
            }
        }
        Stmt::While { condition, body, .. } => {
            if let Some(condition) = condition {
                condition_names(condition, found);
            }
            in_stmt(body, contracts, found);
        }
        Stmt::DoWhile(body, condition) => {
            condition_names(condition, found);
            in_stmt(body, contracts, found);
        }
        Stmt::Switch(_, body) | Stmt::Block(body) => body.iter().for_each(|stmt| in_stmt(stmt, contracts, found)),
        Stmt::Expr(value) if is_assertion(value, contracts) => {
            // `x == NULL || …` says that it may be NULL, `x != NULL` that it is not.
            if let Kind::Call(_, args) = &value.kind {
                args.iter().filter(|arg| matches!(arg.kind, Kind::Or(..))).for_each(|arg| condition_names(arg, found));
            }
        }
        Stmt::Return(Some(value), _) | Stmt::Expr(value) => ternaries(value, found),
        Stmt::Declare { init: Some(value), .. } => ternaries(value, found),
        _ => {}
    }
}

/// Whether a statement begins by refusing a caller's mistake.
fn is_guard(stmt: &Stmt, contracts: &Contracts) -> bool {
    let call = |expr: &Expr| match &expr.kind {
        Kind::Call(callee, _) => {
            matches!(&callee.kind, Kind::Name(name) if contracts.get(name).is_some_and(|row| row.guard))
        }
        _ => false,
    };
    match stmt {
        Stmt::Block(list) => list.first().is_some_and(|stmt| is_guard(stmt, contracts)),
        Stmt::Expr(expr) | Stmt::Return(Some(expr), _) => call(expr),
        _ => false,
    }
}

fn is_assertion(expr: &Expr, contracts: &Contracts) -> bool {
    let Kind::Call(callee, _) = &expr.kind else { return false };
    matches!(&callee.kind, Kind::Name(name) if name.to_ascii_lowercase().contains("assert") && contracts.meaning(name) == "nothing")
}

fn ternaries(expr: &Expr, found: &mut BTreeSet<String>) {
    match &expr.kind {
        Kind::Conditional(condition, a, b) => {
            condition_names(condition, found);
            ternaries(a, found);
            ternaries(b, found);
        }
        Kind::Assign(_, value) | Kind::Cast(_, _, value) => ternaries(value, found),
        Kind::And(..) | Kind::Or(..) | Kind::Not(_) => condition_names(expr, found),
        Kind::Binary(op, ..) if op == "==" || op == "!=" => condition_names(expr, found),
        Kind::Call(_, args) => args.iter().for_each(|arg| ternaries(arg, found)),
        _ => {}
    }
}

fn condition_names(expr: &Expr, found: &mut BTreeSet<String>) {
    match &expr.kind {
        Kind::Name(name) => {
            found.insert(name.clone());
        }
        Kind::Not(inner) | Kind::Cast(_, _, inner) => condition_names(inner, found),
        Kind::And(a, b) | Kind::Or(a, b) => {
            condition_names(a, found);
            condition_names(b, found);
        }
        Kind::Binary(op, a, b) if op == "==" || op == "!=" => {
            if matches!(b.kind, Kind::Null) {
                condition_names(a, found);
            }
            if matches!(a.kind, Kind::Null) {
                condition_names(b, found);
            }
        }
        _ => {}
    }
}
