//! Which file-level variables are ever changed, and which functions a body names.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::lower::{Expr, Function, Kind, Stmt};

/// Adds the names of variables that the function assigns and does not declare.
pub(super) fn written(function: &Function, into: &mut FxHashSet<String>) {
    let mut own: BTreeSet<&str> = function.signature.params.iter().map(|param| param.name.as_str()).collect();
    let mut assigned = BTreeSet::new();
    statements(&function.body, &mut |node| match node {
        Node::Declared(name) => drop(own.insert(name)),
        Node::Expr(expr) => {
            if let Kind::Assign(target, _) | Kind::AssignOp(_, target, _) | Kind::Update(_, _, target) = &expr.kind
                && let Some(name) = root(target)
            {
                assigned.insert(name);
            }
        }
    });
    into.extend(assigned.difference(&own).map(|name| (*name).to_owned()));
}

/// Visits the targets and values of the function's assignments.
pub(super) fn assignments<'n>(function: &'n Function, visit: &mut dyn FnMut(&'n Expr, &'n Expr)) {
    statements(&function.body, &mut |node| {
        if let Node::Expr(Expr { kind: Kind::Assign(target, value), .. }) = node {
            visit(target, value);
        }
    });
}

/// Names that the function calls or passes on.
pub(super) fn names(function: &Function) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    statements(&function.body, &mut |node| {
        if let Node::Expr(Expr { kind: Kind::Name(name), .. }) = node {
            found.insert(name.clone());
        }
    });
    found
}

fn root(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        Kind::Name(name) => Some(name),
        Kind::Member(base, _) | Kind::Index(base, _) | Kind::Cast(_, _, base) => root(base),
        _ => None,
    }
}

enum Node<'n> {
    Declared(&'n str),
    Expr(&'n Expr),
}

fn statements<'n>(body: &'n [Stmt], visit: &mut dyn FnMut(Node<'n>)) {
    body.iter().for_each(|statement| one(statement, visit));
}

fn one<'n>(statement: &'n Stmt, visit: &mut dyn FnMut(Node<'n>)) {
    match statement {
        Stmt::Expr(expr) => walk(expr, visit),
        Stmt::Declare { name, init, .. } => {
            visit(Node::Declared(name));
            init.iter().for_each(|init| walk(init, visit));
        }
        Stmt::If(test, yes, no) => {
            walk(test, visit);
            one(yes, visit);
            no.iter().for_each(|no| one(no, visit));
        }
        Stmt::While { condition, step, body, .. } => {
            condition.iter().chain(step).for_each(|expr| walk(expr, visit));
            one(body, visit);
        }
        Stmt::DoWhile(body, test) => {
            one(body, visit);
            walk(test, visit);
        }
        Stmt::Switch(value, body) => {
            walk(value, visit);
            statements(body, visit);
        }
        Stmt::Block(body) => statements(body, visit),
        Stmt::Return(Some(value), _) | Stmt::Case(Some(value)) => walk(value, visit),
        Stmt::Return(None, _) | Stmt::Case(None) => {}
        Stmt::Static { .. } | Stmt::Label(_) | Stmt::Goto(..) | Stmt::Break | Stmt::Continue | Stmt::Unknown(..) => {}
    }
}

fn walk<'n>(expr: &'n Expr, visit: &mut dyn FnMut(Node<'n>)) {
    visit(Node::Expr(expr));
    match &expr.kind {
        Kind::Null | Kind::Name(_) | Kind::Int(_) | Kind::Str(_) | Kind::Float(_) | Kind::SizeOf(_) => {}
        Kind::Call(callee, args) => {
            walk(callee, visit);
            args.iter().for_each(|arg| walk(arg, visit));
        }
        Kind::List(items) => items.iter().for_each(|item| walk(item, visit)),
        Kind::Member(inner, _)
        | Kind::Deref(inner)
        | Kind::AddressOf(inner)
        | Kind::Unary(_, inner)
        | Kind::Not(inner)
        | Kind::Update(_, _, inner)
        | Kind::Cast(_, _, inner) => walk(inner, visit),
        Kind::Index(left, right)
        | Kind::Binary(_, left, right)
        | Kind::And(left, right)
        | Kind::Or(left, right)
        | Kind::Assign(left, right)
        | Kind::AssignOp(_, left, right)
        | Kind::Comma(left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        Kind::Conditional(test, yes, no) => [test, yes, no].into_iter().for_each(|part| walk(part, visit)),
    }
}
