//! The macros of the API: a list with digests, and the numbers of those that stand in flags.

use std::collections::BTreeMap;

use super::digest::digest;
use crate::facts::{Macro, integer};
use crate::preprocess::{MacroDefinition, Preprocessor};

/// Beginnings of the names that stand in flags of types, methods and members, and in the types of members.
const PREFIXES: [&str; 7] = ["METH_", "Py_TPFLAGS_", "_Py_TPFLAGS_", "Py_T_", "_Py_T_", "T_", "PyWrapperFlag_"];
/// Flags of members without a common beginning.
const MEMBER_FLAGS: [&str; 9] = [
    "Py_READONLY",
    "Py_AUDIT_READ",
    "_Py_WRITE_RESTRICTED",
    "Py_RELATIVE_OFFSET",
    "READONLY",
    "READ_RESTRICTED",
    "PY_WRITE_RESTRICTED",
    "RESTRICTED",
    "PY_AUDIT_READ",
];

/// Every macro of the API, by name.
pub(crate) fn macros(preprocessor: &Preprocessor<'_>) -> Vec<Macro> {
    let made = |made: MacroDefinition| Macro {
        digest: digest(&made.body),
        name: made.name,
        file: made.file,
        line: made.line,
        parameters: made.parameters,
    };
    preprocessor.api_macros().into_iter().map(made).collect()
}

/// The numbers behind the names of flags.
pub(crate) fn constants(preprocessor: &Preprocessor<'_>) -> BTreeMap<String, i64> {
    let macros = all(preprocessor);
    let is_flag = |name: &str| PREFIXES.iter().any(|start| name.starts_with(start)) || MEMBER_FLAGS.contains(&name);
    let flags = macros.iter().filter(|made| made.parameters.is_none() && is_flag(&made.name));
    flags.filter_map(|made| Some((made.name.clone(), value(&made.body, &macros)?))).collect()
}

/// The API's macros and those of `structmember.h`, which `Python.h` does not bring, by name.
pub(crate) fn all(preprocessor: &Preprocessor<'_>) -> Vec<MacroDefinition> {
    let mut macros = preprocessor.api_macros();
    let members = preprocessor.unit("Include/structmember.h").map(|unit| unit.macros);
    macros.extend(members.unwrap_or_default());
    macros.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
    macros.dedup_by(|b, a| a.name == b.name);
    macros
}

/// The value of a body such as `(1UL << 10)`, `0x0001`, another's name or call, or names joined by operators.
pub(crate) fn value(body: &str, macros: &[MacroDefinition]) -> Option<i64> {
    within(body, macros, 0)
}

fn within(body: &str, macros: &[MacroDefinition], depth: u32) -> Option<i64> {
    if depth > 8 {
        return None;
    }
    if let Some(number) = integer(body.trim()) {
        return Some(number);
    }
    if let Some(expanded) = call(body, macros) {
        return within(&expanded, macros, depth + 1);
    }
    let expression: crate::facts::Expression = body.parse().ok()?;
    expression.evaluate(&|name| {
        let found = macros.binary_search_by(|made| made.name.as_str().cmp(name)).ok()?;
        within(&macros.get(found).filter(|made| made.parameters.is_none())?.body, macros, depth + 1)
    })
}

/// The body of the macro that a whole text such as `_Py_SLOT_COMPAT_VALUE(1, 88)` calls, with its arguments in place.
fn call(text: &str, macros: &[MacroDefinition]) -> Option<String> {
    let (name, rest) = text.trim().split_once('(')?;
    let arguments = rest.strip_suffix(')').filter(|inner| !inner.contains(['(', ')']))?;
    let found = macros.binary_search_by(|made| made.name.as_str().cmp(name.trim_end())).ok()?;
    let made = macros.get(found)?;
    let parameters = made.parameters.as_ref()?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    if parameters.len() != arguments.len() {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut expanded = String::new();
    let mut rest = made.body.as_str();
    while !rest.is_empty() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let end = if word > 0 { word } else { rest.find(is_word).unwrap_or(rest.len()) };
        let (piece, after) = rest.split_at(end);
        let argument = parameters.iter().position(|parameter| parameter == piece).and_then(|at| arguments.get(at));
        expanded.push_str(argument.copied().unwrap_or(piece));
        rest = after;
    }
    Some(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_values() {
        let made = |name: &str, parameters: Option<&[&str]>, body: &str| MacroDefinition {
            name: name.to_owned(),
            file: "Include/x.h".to_owned(),
            line: 1,
            parameters: parameters.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            body: body.to_owned(),
        };
        let macros = [
            made("A", None, "(1UL << 10)"),
            made("B", None, "(A | 0x2)"),
            made("C", None, "COMPAT(1, 88)"),
            made("COMPAT", Some(&["OLD", "NEW"]), "NEW"),
            made("LOOP", None, "LOOP"),
        ];
        let of = |body: &str| value(body, &macros);
        assert_eq!([of("B"), of("C"), of("C | 1")], [Some(1026), Some(88), Some(89)]);
        assert_eq!([of("LOOP"), of("COMPAT(1)"), of("COMPAT(1, 2"), of("sizeof(long)")], [None; 4]);
    }
}
