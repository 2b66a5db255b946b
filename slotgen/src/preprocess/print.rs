//! Writes tokens as text that a C parser reads, and the source map beside it.

use super::map::Segment;
use super::token::{AUTO, Kind, LINE, SPACE, Token, VERBATIM};
use crate::source::SourceFile;
use std::ops::Range;
use std::sync::Arc;

/// The text of the tokens, where each stretch came from, and where function bodies stand.
pub(super) fn print(tokens: &[Token], files: &[Arc<SourceFile>]) -> (String, Vec<Segment>, Vec<Range<u32>>) {
    let length: usize = tokens.iter().map(|token| token.text.len() + 2).sum();
    let mut printer = Printer { text: String::with_capacity(length), segments: Vec::new(), files };
    let mut before: Option<&Token> = None;
    let mut bodies = Bodies::default();
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        i += 1;
        if token.has(AUTO) && tokens.get(i).is_some_and(|next| next.is(";")) {
            continue;
        }
        printer.gap(before, token);
        bodies.see(before, token, printer.text.len());
        printer.token(token);
        if token.is("{") && before.is_some_and(|before| before.is("=")) {
            i += table_of_numbers(tokens.get(i..).unwrap_or(&[]));
        }
        before = Some(token);
    }
    printer.text.push('\n');
    (printer.text, printer.segments, bodies.found)
}

/// Initialisers with more tokens than this are left out when they hold nothing but numbers.
const TABLE_LIMIT: usize = 1000;

/// How many tokens to leave out after an opening brace: all of a long table of numbers, which says nothing about types or functions.
fn table_of_numbers(tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match (token.kind, token.text) {
            (Kind::Number | Kind::Char, _) | (_, "," | "-" | "+" | "(" | ")" | "<<" | "|") => {}
            (_, "{") => depth += 1,
            (_, "}") if depth > 0 => depth -= 1,
            (_, "}") => return if i >= TABLE_LIMIT { i } else { 0 },
            _ => return 0,
        }
    }
    0
}

/// Finds the bodies of functions: braces after a parenthesis, outside all others.
#[derive(Default)]
struct Bodies {
    braces: usize,
    parentheses: usize,
    start: Option<u32>,
    found: Vec<Range<u32>>,
}

impl Bodies {
    /// `at` is where the token will stand.
    fn see(&mut self, before: Option<&Token>, token: &Token, at: usize) {
        if token.kind != Kind::Punct {
            return;
        }
        match token.text {
            "(" => self.parentheses += 1,
            ")" => self.parentheses = self.parentheses.saturating_sub(1),
            "{" => {
                if self.braces == 0 && self.parentheses == 0 && before.is_some_and(|before| before.is(")")) {
                    self.start = Some(at as u32 + 1);
                }
                self.braces += 1;
            }
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                if self.braces == 0
                    && let Some(start) = self.start.take()
                {
                    self.found.push(start..at as u32);
                }
            }
            _ => {}
        }
    }
}

struct Printer<'p> {
    text: String,
    segments: Vec<Segment>,
    files: &'p [Arc<SourceFile>],
}

impl Printer<'_> {
    /// White space between two tokens: the source's own where they are neighbours there.
    fn gap(&mut self, before: Option<&Token>, token: &Token) {
        let Some(before) = before else { return };
        match self.source_gap(before, token) {
            Some(gap) => self.text.push_str(gap),
            None if token.has(LINE) => self.text.push('\n'),
            None if token.has(SPACE) || would_join(before, token) => self.text.push(' '),
            None => {}
        }
    }

    fn source_gap(&self, before: &Token, token: &Token) -> Option<&'static str> {
        if !(before.has(VERBATIM) && token.has(VERBATIM)) || before.file != token.file {
            return None;
        }
        let file = self.files.get(token.file as usize)?;
        let gap = file.text().get(before.at as usize + before.text.len()..token.at as usize)?;
        blank(gap)
    }

    fn token(&mut self, token: &Token) {
        let out = self.text.len() as u32;
        let verbatim = token.has(VERBATIM);
        let segment = Segment { out, file: token.file, at: token.at, via: token.via, verbatim };
        if !self.segments.last().is_some_and(|last| continues(last, &segment)) {
            self.segments.push(segment);
        }
        self.text.push_str(token.text);
    }
}

/// The same white space from a fixed store, if it is short and nothing else.
fn blank(gap: &str) -> Option<&'static str> {
    const SPACES: &str = "                                                                ";
    const LINES: &str = "\n                                                                ";
    match gap.as_bytes() {
        [] => Some(""),
        [b'\n', rest @ ..] if rest.iter().all(|&b| b == b' ') => LINES.get(..gap.len()),
        all if all.iter().all(|&b| b == b' ') => SPACES.get(..gap.len()),
        _ => None,
    }
}

fn continues(last: &Segment, next: &Segment) -> bool {
    if (last.file, last.via, last.verbatim) != (next.file, next.via, next.verbatim) {
        return false;
    }
    if last.verbatim { next.out - last.out == next.at.wrapping_sub(last.at) } else { last.at == next.at }
}

/// Whether two tokens written side by side would be read as one.
fn would_join(before: &Token, token: &Token) -> bool {
    let word = |kind| matches!(kind, Kind::Ident | Kind::Number | Kind::Str | Kind::Char);
    if word(before.kind) && word(token.kind) {
        return true;
    }
    let (last, first) = (before.text.bytes().last(), token.text.bytes().next());
    matches!(
        (last, first),
        (Some(b'+'), Some(b'+' | b'='))
            | (Some(b'-'), Some(b'-' | b'=' | b'>'))
            | (Some(b'&'), Some(b'&' | b'='))
            | (Some(b'|'), Some(b'|' | b'='))
            | (Some(b'<'), Some(b'<' | b'='))
            | (Some(b'>'), Some(b'>' | b'='))
            | (Some(b'=' | b'!' | b'*' | b'/' | b'%' | b'^'), Some(b'='))
            | (Some(b'/'), Some(b'/' | b'*'))
            | (Some(b'#'), Some(b'#'))
            | (Some(b'.'), Some(b'.' | b'0'..=b'9'))
    )
}
