//! What can be said of a function's text without parsing it: the names it calls and the strings it holds.

use super::value::unescape;
use std::collections::BTreeSet;

/// Words before `(` that call nothing.
const KEYWORDS: &[&str] = &["if", "for", "while", "switch", "return", "sizeof", "defined", "case", "else", "do"];

/// Names that stand before `(`, and strings with at least one letter, their parts joined and escapes resolved; both sorted.
pub(super) fn scan(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut strings) = (BTreeSet::new(), BTreeSet::new());
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'"' => {
                let mut whole = String::new();
                while bytes.get(i) == Some(&b'"') {
                    let end = (literal_end(bytes, i, b'"') + 1).min(bytes.len());
                    unescape(text.get(i..end).unwrap_or_default(), &mut whole);
                    i = end;
                    i += bytes[i..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                }
                if whole.contains(|c: char| c.is_ascii_alphabetic()) {
                    strings.insert(whole);
                }
            }
            b'\'' => i = literal_end(bytes, i, b'\'') + 1,
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let start = i;
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                    i += 1;
                }
                let next = bytes[i..].iter().find(|byte| !byte.is_ascii_whitespace());
                let word = text.get(start..i).unwrap_or_default();
                // Members are called through slots and tables, not by name.
                let is_member = start > 0 && matches!(bytes[start - 1], b'.' | b'>');
                if next == Some(&b'(') && !is_member && !KEYWORDS.contains(&word) {
                    calls.insert(word.to_owned());
                }
            }
            byte if byte.is_ascii_digit() => {
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                    i += 1;
                }
            }
            _ => i += 1,
        }
    }
    (calls.into_iter().collect(), strings.into_iter().collect())
}

/// The index of the quote that ends a literal, or of the text's end.
fn literal_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut i = start + 1;
    while i < bytes.len() && bytes[i] != quote {
        i += if bytes[i] == b'\\' { 2 } else { 1 };
    }
    i.min(bytes.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn calls_and_strings_of_a_body() {
        let (calls, strings) = super::scan(r#"{ if (f(x) && y->g(1)) return h ("a (b)", '(', "%d", T.k(2)); }"#);
        assert_eq!(calls, ["f", "h"]);
        assert_eq!(strings, ["%d", "a (b)"]);
        assert_eq!(super::scan("\"open").1, ["open"]);
        assert_eq!(
            super::scan(
                r#"f("one \"two\", "
            "three\n", "'", PART "four")"#
            )
            .1,
            ["four", "one \"two\", three\n"]
        );
    }
}
