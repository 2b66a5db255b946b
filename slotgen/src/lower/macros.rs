//! Puts arguments into the body of a macro.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ctype::CType;
use super::declarations::Declarations;
use super::ir::{Expr, Kind, Stmt};

/// The body of a macro with its parameters replaced; all of it counts as standing where the first argument stands.
pub(crate) fn substitute(body: &Expr, with: &BTreeMap<String, Expr>, known: &Declarations) -> Expr {
    let at = with.values().next().map_or(0, |expr| expr.at);
    Expr { kind: kind(&body.kind, with, known), at }
}

fn kind(body: &Kind, with: &BTreeMap<String, Expr>, known: &Declarations) -> Kind {
    let on = |expr: &Expr| Box::new(substitute(expr, with, known));
    let all = |list: &[Expr]| list.iter().map(|expr| substitute(expr, with, known)).collect();
    match body {
        Kind::Name(name) => with.get(name).map_or_else(|| body.clone(), |expr| expr.kind.clone()),
        Kind::Call(callee, args) => Kind::Call(on(callee), all(args)),
        Kind::Member(base, name) => Kind::Member(
            on(base),
            match with.get(name) {
                // A parameter may stand for a member, too.
                Some(Expr { kind: Kind::Name(given), .. }) => given.clone(),
                _ => name.clone(),
            },
        ),
        Kind::Index(base, index) => Kind::Index(on(base), on(index)),
        Kind::Deref(inner) => Kind::Deref(on(inner)),
        Kind::AddressOf(inner) => Kind::AddressOf(on(inner)),
        Kind::Unary(operator, inner) => Kind::Unary(operator.clone(), on(inner)),
        Kind::Not(inner) => Kind::Not(on(inner)),
        Kind::Binary(operator, a, b) => Kind::Binary(operator.clone(), on(a), on(b)),
        Kind::And(a, b) => Kind::And(on(a), on(b)),
        Kind::Or(a, b) => Kind::Or(on(a), on(b)),
        Kind::Assign(a, b) => Kind::Assign(on(a), on(b)),
        Kind::AssignOp(operator, a, b) => Kind::AssignOp(operator.clone(), on(a), on(b)),
        Kind::Update(by, before, inner) => Kind::Update(*by, *before, on(inner)),
        Kind::Conditional(a, b, c) => Kind::Conditional(on(a), on(b), on(c)),
        Kind::Cast(ctype, name, inner) => {
            // A parameter may stand for a type.
            match with.get(name) {
                Some(Expr { kind: Kind::Name(given), .. }) => {
                    let stars = match ctype {
                        CType::Opaque(text) => text.chars().filter(|c| *c == '*').count(),
                        _ => 0,
                    };
                    Kind::Cast(CType::of(given, stars, known), given.clone(), on(inner))
                }
                _ => Kind::Cast(ctype.clone(), name.clone(), on(inner)),
            }
        }
        Kind::Comma(a, b) => Kind::Comma(on(a), on(b)),
        Kind::List(items) => Kind::List(all(items)),
        Kind::SizeOf(text) => match with.get(text) {
            Some(Expr { kind: Kind::Name(given), .. }) => Kind::SizeOf(given.clone()),
            _ => body.clone(),
        },
        Kind::Null | Kind::Int(_) | Kind::Str(_) | Kind::Float(_) => body.clone(),
    }
}

/// The cases of `Py_RETURN_RICHCOMPARE` over `?val1` and `?val2`.
pub(crate) fn rich_comparison(at: usize) -> Vec<Stmt> {
    let name = |name: &str| Expr { kind: Kind::Name(name.to_owned()), at };
    let give = |value: &str| Rc::new(Stmt::Return(Some(name(value)), at));
    let mut out = Vec::new();
    for (op, operator) in
        [("Py_EQ", "=="), ("Py_NE", "!="), ("Py_LT", "<"), ("Py_GT", ">"), ("Py_LE", "<="), ("Py_GE", ">=")]
    {
        let test = Kind::Binary(operator.to_owned(), Box::new(name("?val1")), Box::new(name("?val2")));
        out.push(Stmt::Case(Some(name(op))));
        out.push(Stmt::If(Expr { kind: test, at }, give("Py_True"), Some(give("Py_False"))));
    }
    out.push(Stmt::Case(None));
    out.push(Stmt::Expr(Expr { kind: Kind::Call(Box::new(name("Py_UNREACHABLE")), Vec::new()), at }));
    out
}

/// The body of a macro with `_Py_CAST(type, x)` and its kin written as the casts that they are.
pub(crate) fn casts(body: &str) -> String {
    let mut text = body.to_owned();
    for name in ["_Py_STATIC_CAST(", "_Py_CAST("] {
        while let Some(at) = text.find(name) {
            let start = at + name.len();
            let (mut depth, mut comma, mut end) = (1, None, None);
            for (offset, c) in text[start..].char_indices() {
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    ',' if depth == 1 && comma.is_none() => comma = Some(start + offset),
                    _ => {}
                }
                if depth == 0 {
                    end = Some(start + offset);
                    break;
                }
            }
            let (Some(comma), Some(end)) = (comma, end) else { return text };
            let cast = format!("(({})({}))", text[start..comma].trim(), text[comma + 1..end].trim());
            text.replace_range(at..=end, &cast);
        }
    }
    text
}

/// Conditions of headers that do not hold in a release build on Linux.
const ABSENT: &[&str] = &[
    "Py_GIL_DISABLED",
    "Py_DEBUG",
    "Py_REF_DEBUG",
    "Py_TRACE_REFS",
    "Py_STATS",
    "MS_WINDOWS",
    "MS_WIN32",
    "__cplusplus",
    "Py_LIMITED_API",
    "_MSC_VER",
    "__EMSCRIPTEN__",
    "PY_CALL_TRAMPOLINE",
    "WITH_DTRACE",
    "Py_BUILD_CORE_MODULE",
];

/// The macros with parameters that a header defines in a release build: name, parameters, body.
pub(crate) fn function_macros(text: &str) -> Vec<(String, Vec<String>, String)> {
    let mut out = Vec::new();
    let mut taken: Vec<bool> = Vec::new();
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let word = directive.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let rest = directive[word.len()..].trim();
        let names = |text: &str| ABSENT.iter().any(|name| text.contains(name));
        match word {
            "ifdef" => taken.push(!names(rest)),
            "ifndef" => taken.push(true),
            "if" => taken.push(!names(rest) || rest.contains('!')),
            "else" | "elif" => {
                if let Some(last) = taken.last_mut() {
                    *last = word == "elif" || !*last;
                }
            }
            "endif" => {
                taken.pop();
            }
            "define" if taken.iter().all(|taken| *taken) => out.extend(definition(rest)),
            _ => {}
        }
    }
    out
}

fn definition(text: &str) -> Option<(String, Vec<String>, String)> {
    let open = text.find('(')?;
    let name = &text[..open];
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let close = open + text[open..].find(')')?;
    let params = text[open + 1..close].split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let body = text[close + 1..].split("/*").next().unwrap_or_default().trim().to_owned();
    Some((name.to_owned(), params.collect(), body))
}
