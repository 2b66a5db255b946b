//! Initialisers as plain trees: what a table's cell holds, casts and parentheses looked through.

use tree_sitter::Node;

use super::syntax::{Syntax, children};
use crate::facts::integer;

/// What stands in an initialiser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// `{ … }`.
    List(Vec<Entry>),
    /// `0` or `NULL`.
    Null,
    /// A name, or the address of one.
    Name(String),
    /// A string literal, its parts joined and escapes resolved.
    Text(String),
    /// An integer other than 0.
    Integer(i64),
    /// `__builtin_offsetof(sizeof(T), member)`.
    Offset(String, String),
    /// Anything else, as it stands.
    Other(String),
}

/// An element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// `.field` or `[index]`, without its punctuation.
    pub designator: Option<String>,
    pub value: Value,
    /// Byte offset in the preprocessed text.
    pub at: usize,
}

impl Value {
    pub(super) fn name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn list(&self) -> &[Entry] {
        if let Self::List(entries) = self { entries } else { &[] }
    }
}

/// Macros of `Include/` that only cast their last argument.
const CASTS: &[&str] =
    &["_PyCFunction_CAST", "_Py_CAST", "_Py_FuncPtrCast", "_PyObject_CAST", "_PyType_CAST", "Py_DEPRECATED_CAST"];

/// The value of an expression or initialiser list.
pub(super) fn value(syntax: &Syntax<'_>, node: Node<'_>) -> Value {
    let mut node = node;
    loop {
        match node.kind() {
            "initializer_list" => return list(syntax, node),
            "compound_literal_expression" => match node.child_by_field_name("value") {
                Some(inner) => node = inner,
                None => return other(syntax, node),
            },
            "cast_expression" => match node.child_by_field_name("value") {
                Some(inner) => node = inner,
                None => return other(syntax, node),
            },
            "parenthesized_expression" => match children(node).last() {
                Some(inner) => node = inner,
                None => return other(syntax, node),
            },
            "pointer_expression" if syntax.field(node, "operator") == "&" || syntax.text(node).starts_with('&') => {
                match node.child_by_field_name("argument") {
                    Some(inner) => node = inner,
                    None => return other(syntax, node),
                }
            }
            // `(reprfunc)&f` reads as a conjunction of a parenthesised name and `f`.
            "binary_expression"
                if syntax.field(node, "operator") == "&" && syntax.field(node, "left").starts_with('(') =>
            {
                match node.child_by_field_name("right") {
                    Some(inner) if inner.kind() == "identifier" => node = inner,
                    _ => return other(syntax, node),
                }
            }
            "call_expression" => match called(syntax, node) {
                Called::Value(found) => return found,
                Called::Inner(inner) => node = inner,
            },
            "identifier" if syntax.text(node) == "NULL" => return Value::Null,
            "null" => return Value::Null,
            "identifier" => return Value::Name(syntax.text(node).to_owned()),
            "string_literal" | "concatenated_string" => return string(syntax, node),
            "number_literal" => {
                return match integer(syntax.text(node)) {
                    Some(0) => Value::Null,
                    Some(number) => Value::Integer(number),
                    None => other(syntax, node),
                };
            }
            _ => return other(syntax, node),
        }
    }
}

enum Called<'n> {
    Value(Value),
    Inner(Node<'n>),
}

/// A call in an initialiser is a kept macro: a cast, an offset, or something opaque.
fn called<'n>(syntax: &Syntax<'_>, node: Node<'n>) -> Called<'n> {
    let (Some(function), Some(arguments)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return Called::Value(other(syntax, node));
    };
    let arguments: Vec<_> = children(arguments).collect();
    let name = syntax.text(function);
    match (name, arguments.as_slice()) {
        ("__builtin_offsetof", [ty, member]) => {
            let ty = syntax.text(*ty).trim_start_matches("sizeof").trim().trim_start_matches('(').trim_end_matches(')');
            Called::Value(Value::Offset(ty.trim().to_owned(), squeezed(syntax.text(*member))))
        }
        (_, [.., last]) if CASTS.contains(&name) => Called::Inner(*last),
        // `(PyCFunction)(f)` reads as a call of a parenthesised name.
        (_, [only]) if function.kind() == "parenthesized_expression" => Called::Inner(*only),
        _ => Called::Value(other(syntax, node)),
    }
}

fn list(syntax: &Syntax<'_>, node: Node<'_>) -> Value {
    let entries = children(node).map(|child| {
        let at = child.start_byte();
        if child.kind() != "initializer_pair" {
            return Entry { designator: None, value: value(syntax, child), at };
        }
        let designator = child.child_by_field_name("designator").and_then(|designator| children(designator).next());
        let held = child.child_by_field_name("value").map_or(Value::Null, |held| value(syntax, held));
        Entry { designator: designator.map(|name| syntax.text(name).to_owned()), value: held, at }
    });
    Value::List(entries.collect())
}

/// A text with its white space reduced to single spaces.
pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn other(syntax: &Syntax<'_>, node: Node<'_>) -> Value {
    Value::Other(squeezed(syntax.text(node)))
}

/// Joins the parts of a string; a macro among them (such as `PRIu64`) makes the whole opaque.
fn string(syntax: &Syntax<'_>, node: Node<'_>) -> Value {
    let parts: Vec<_> = if node.kind() == "string_literal" { vec![node] } else { children(node).collect() };
    let mut text = String::new();
    for part in parts {
        if part.kind() != "string_literal" {
            return other(syntax, node);
        }
        unescape(syntax.text(part), &mut text);
    }
    Value::Text(text)
}

/// Appends the characters of one literal; bytes above 127 become the character of the same number.
pub(super) fn unescape(literal: &str, text: &mut String) {
    let inner = literal.find('"').map_or("", |start| &literal[start + 1..]);
    let mut characters = inner.strip_suffix('"').unwrap_or(inner).chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('x') => {
                let mut number = 0u32;
                while let Some(digit) = characters.peek().and_then(|c| c.to_digit(16)) {
                    number = (number << 4 | digit) & 0xff;
                    characters.next();
                }
                text.extend(char::from_u32(number));
            }
            Some(digit @ '0'..='7') => {
                let mut number = digit.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(next) = characters.peek().and_then(|c| c.to_digit(8)) else { break };
                    number = (number << 3 | next) & 0xff;
                    characters.next();
                }
                text.extend(char::from_u32(number));
            }
            Some('\n') | None => {}
            Some(escaped) => text.push(escaped),
        }
    }
}
