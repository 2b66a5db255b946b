//! What becomes of macros that are no calls in C's grammar: a table kept as data, one reason a row.

use super::lex::{Scope, lex};
use super::macros::Macro;
use super::token::AUTO;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::{Arc, LazyLock};

/// What becomes of a macro of `Include/` (or of the system) in code.
#[derive(Debug, Clone)]
pub(super) enum Rule<'t> {
    /// It is expanded as it is defined.
    Expand,
    /// It is expanded as the rule defines it.
    Rewrite(Arc<Macro<'t>>),
}

/// The rules, by the name of the macro.
pub(super) type Rules<'t> = FxHashMap<&'t str, Rule<'t>>;

/// One row of `data/rules.toml`; the first of the fields beside `reason` says what to do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Names to expand as they are defined.
    #[serde(default)]
    expand: Vec<String>,
    /// Names, or calls such as `Py_DEPRECATED(x)`, that vanish.
    #[serde(default)]
    erase: Vec<String>,
    /// Names, or calls, after which a semicolon is put.
    #[serde(default)]
    statement: Vec<String>,
    /// A definition in the form of `#define`.
    #[serde(default)]
    rewrite: Vec<String>,
    /// Why.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers; a test asserts that each row has one"))]
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Rows {
    rule: Vec<Row>,
}

const DATA: &str = include_str!("../../data/rules.toml");

static DEFINITIONS: LazyLock<Vec<(String, bool)>> = LazyLock::new(|| {
    // A test asserts that the embedded table parses and that each row has a reason.
    let rows = toml::from_str::<Rows>(DATA).map(|rows| rows.rule).unwrap_or_default();
    rows.into_iter().flat_map(definitions).collect()
});

/// The row as texts of `#define`; true for names that are only to be expanded.
fn definitions(row: Row) -> Vec<(String, bool)> {
    let name = |call: &str| call.split('(').next().unwrap_or("").to_owned();
    let statement = |call: &String| match call.split_once('(') {
        Some(_) => format!("{}(...) {0}(__VA_ARGS__);", name(call)),
        None => format!("{call} {call};"),
    };
    let mut all: Vec<_> = row.expand.into_iter().map(|name| (name, true)).collect();
    all.extend(row.erase.iter().map(|call| match call.split_once('(') {
        Some((name, _)) => (format!("{name}(...)"), false),
        None => (call.clone(), false),
    }));
    all.extend(row.statement.iter().map(|call| (statement(call), false)));
    all.extend(row.rewrite.into_iter().map(|text| (text, false)));
    all
}

static RULES: LazyLock<Rules<'static>> = LazyLock::new(|| {
    let mut rules = Rules::default();
    for (text, expand) in DEFINITIONS.iter() {
        if *expand {
            rules.insert(text, Rule::Expand);
        } else if let Ok(mut made) = Macro::parse(&lex(text, 0, Scope::All), false) {
            if let Some(end) = made.body.last_mut().filter(|token| token.is(";")) {
                end.flags |= AUTO;
            }
            rules.insert(made.name, Rule::Rewrite(Arc::new(made)));
        }
    }
    rules
});

/// The rules of `data/rules.toml`.
pub(super) fn rules() -> &'static Rules<'static> {
    &RULES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_table_is_sound() {
        let rows: Rows = toml::from_str(DATA).unwrap();
        assert!(!rows.rule.is_empty());
        for row in &rows.rule {
            assert!(row.reason.len() > 10, "{row:?}");
        }
        for (text, expand) in DEFINITIONS.iter() {
            assert!(*expand || Macro::parse(&lex(text, 0, Scope::All), false).is_ok(), "{text}");
        }
        assert_eq!(rules().len(), DEFINITIONS.len(), "a name has two rules");
    }
}
