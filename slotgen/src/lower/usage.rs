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
            match &inner.kind {
                Kind::Name(name) => {
                    into.insert(format!("*{name}"));
                }
                // `*pointer++ = …`
                _ => in_expr(inner, into),
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

/// The function that a variable is handed on to, and as which argument.
pub fn handed_on(body: &[Stmt], name: &str) -> Option<(String, usize)> {
    let mut calls = Vec::new();
    body.iter().for_each(|stmt| calls_in(stmt, &mut calls));
    calls.into_iter().find_map(|(callee, args)| {
        let index = args.iter().position(|arg| matches!(&arg.kind, Kind::Name(given) if given == name))?;
        Some((callee, index))
    })
}

fn calls_in(stmt: &Stmt, into: &mut Vec<(String, Vec<Expr>)>) {
    match stmt {
        Stmt::Expr(expr) | Stmt::Return(Some(expr), _) | Stmt::Declare { init: Some(expr), .. } => call_of(expr, into),
        Stmt::If(condition, yes, no) => {
            call_of(condition, into);
            calls_in(yes, into);
            no.iter().for_each(|no| calls_in(no, into));
        }
        Stmt::While { body, .. } | Stmt::DoWhile(body, _) => calls_in(body, into),
        Stmt::Switch(_, list) | Stmt::Block(list) => list.iter().for_each(|stmt| calls_in(stmt, into)),
        _ => {}
    }
}

fn call_of(expr: &Expr, into: &mut Vec<(String, Vec<Expr>)>) {
    match &expr.kind {
        Kind::Call(callee, args) => {
            if let Kind::Name(name) = &callee.kind {
                into.push((name.clone(), args.clone()));
            }
            args.iter().for_each(|arg| call_of(arg, into));
        }
        Kind::Assign(_, inner) | Kind::Not(inner) | Kind::Cast(_, _, inner) => call_of(inner, into),
        Kind::Binary(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) => {
            call_of(a, into);
            call_of(b, into);
        }
        _ => {}
    }
}

/// The struct that tells a parser of arguments their names; in Rust, the function's name and those of the arguments.
pub(crate) fn is_parser(structure: &str) -> bool {
    structure.trim_start_matches("struct ").trim_end_matches('*') == "_PyArg_Parser"
}
