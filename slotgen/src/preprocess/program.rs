//! A file as a list of directives and stretches of code, ready to be run.

use super::lex::{Scope, lex};
use super::macros::{BadDefine, Macro};
use super::token::{LINE, Token};
use crate::source::SourceFile;
use std::ops::Range;
use std::sync::Arc;

/// One directive, or the code between two.
#[derive(Debug)]
pub(super) enum Item<'t> {
    Code(Range<u32>),
    Define(Arc<Macro<'t>>),
    BadDefine,
    Undef(&'t str),
    If(Range<u32>),
    Ifdef {
        name: &'t str,
        wanted: bool,
    },
    Elif(Range<u32>),
    Else,
    Endif,
    Include(Range<u32>),
    Error(Range<u32>),
    PragmaOnce,
    /// `#pragma`, `#line`, the empty directive.
    Nothing,
    Unknown(&'t str),
}

/// The items of a file, each with the offset at which it begins.
#[derive(Debug)]
pub(super) struct Program<'t> {
    pub tokens: Vec<Token<'t>>,
    pub items: Vec<(u32, Item<'t>)>,
}

impl<'t> Program<'t> {
    pub fn read(file: &'t SourceFile, index: u32, scope: Scope) -> Program<'t> {
        let local = !file.has_api_macros();
        let tokens = lex(file.text(), index, scope);
        let mut items = Vec::new();
        let mut i = 0;
        while let Some(token) = tokens.get(i) {
            let start = i;
            let directive = is_directive(token);
            i += 1;
            while tokens.get(i).is_some_and(|next| if directive { !next.has(LINE) } else { !is_directive(next) }) {
                i += 1;
            }
            let item = if directive {
                read_directive(&tokens, start as u32 + 1..i as u32, local)
            } else {
                Item::Code(start as u32..i as u32)
            };
            items.push((token.at, item));
        }
        Program { tokens, items }
    }

    pub fn slice(&self, range: &Range<u32>) -> &[Token<'t>] {
        self.tokens.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}

fn is_directive(token: &Token) -> bool {
    token.has(LINE) && token.is("#")
}

fn read_directive<'t>(tokens: &[Token<'t>], range: Range<u32>, local: bool) -> Item<'t> {
    let words = tokens.get(range.start as usize..range.end as usize).unwrap_or(&[]);
    let Some(first) = words.first() else { return Item::Nothing };
    let rest = range.start + 1..range.end;
    let operand = words.get(1).filter(|token| token.is_ident()).map_or("", |token| token.text);
    match first.text {
        "define" => match Macro::parse(words.get(1..).unwrap_or(&[]), local) {
            Ok(made) => Item::Define(Arc::new(made)),
            Err(BadDefine) => Item::BadDefine,
        },
        "undef" => Item::Undef(operand),
        "if" => Item::If(rest),
        "ifdef" => Item::Ifdef { name: operand, wanted: true },
        "ifndef" => Item::Ifdef { name: operand, wanted: false },
        "elif" => Item::Elif(rest),
        "else" => Item::Else,
        "endif" => Item::Endif,
        "include" | "include_next" | "import" => Item::Include(rest),
        "error" => Item::Error(rest),
        "pragma" if operand == "once" => Item::PragmaOnce,
        "pragma" | "line" | "warning" | "ident" => Item::Nothing,
        name => Item::Unknown(name),
    }
}
