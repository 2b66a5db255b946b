//! Which variables a piece of C may change.

use std::collections::BTreeSet;

use super::ir::{Expr, Kind, Stmt};

/// Adds the variables that a statement may change.
pub fn in_stmt(stmt: &Stmt, into: &mut BTreeSet<String>) {
    match stmt {
        Stmt::Expr(expr) => in_expr(expr, into),
        Stmt::Declare { name, init, .. } => {
            into.insert(name.clone());
            if let Some(init) = init {
                in_expr(init, into);
            }
        }
        Stmt::If(condition, yes, no) => {
            in_expr(condition, into);
            in_stmt(yes, into);
            if let Some(no) = no {
                in_stmt(no, into);
            }
        }
        Stmt::While { condition, step, body, .. } => {
            for expr in condition.iter().chain(step) {
                in_expr(expr, into);
            }
            in_stmt(body, into);
        }
        Stmt::DoWhile(body, condition) => {
            in_stmt(body, into);
            in_expr(condition, into);
        }
        Stmt::Switch(value, body) => {
            in_expr(value, into);
            body.iter().for_each(|stmt| in_stmt(stmt, into));
        }
        Stmt::Block(list) => list.iter().for_each(|stmt| in_stmt(stmt, into)),
        Stmt::Return(Some(value), _) => in_expr(value, into),
        _ => {}
    }
}

/// Adds the variables that an expression may change.
pub fn in_expr(expr: &Expr, into: &mut BTreeSet<String>) {
    match &expr.kind {
        Kind::Assign(left, right) | Kind::AssignOp(_, left, right) => {
            target(left, into);
            in_expr(right, into);
        }
        Kind::Update(_, _, operand) => target(operand, into),
        Kind::AddressOf(operand) => target(operand, into),
        Kind::Call(callee, args) => {
            if let Kind::Name(name) = &callee.kind
                && matches!(name.as_str(), "Py_SETREF" | "Py_XSETREF" | "Py_CLEAR")
            {
                args.first().into_iter().for_each(|arg| target(arg, into));
            }
            in_expr(callee, into);
            args.iter().for_each(|arg| in_expr(arg, into));
        }
        Kind::Member(a, _) | Kind::Deref(a) | Kind::Unary(_, a) | Kind::Not(a) | Kind::Cast(_, _, a) => {
            in_expr(a, into)
        }
        Kind::Index(a, b) | Kind::Binary(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) | Kind::Comma(a, b) => {
            in_expr(a, into);
            in_expr(b, into);
        }
        Kind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| in_expr(part, into)),
        Kind::List(items) => items.iter().for_each(|item| in_expr(item, into)),
        Kind::Null | Kind::Name(_) | Kind::Int(_) | Kind::Str(_) | Kind::Float(_) | Kind::SizeOf(_) => {}
    }
}

fn target(expr: &Expr, into: &mut BTreeSet<String>) {
    match &expr.kind {
        Kind::Name(name) => {
            into.insert(name.clone());
        }
        Kind::Deref(inner) => {
            if let Kind::Name(name) = &inner.kind {
                into.insert(format!("*{name}"));
            }
        }
        Kind::Index(base, index) => {
            target(base, into);
            in_expr(index, into);
        }
        _ => in_expr(expr, into),
    }
}

/// Whether a pointer is indexed somewhere.
pub fn indexed(body: &[Stmt], name: &str) -> bool {
    format!("{body:?}").contains(&format!("Index(Expr {{ kind: Name({name:?})"))
}
