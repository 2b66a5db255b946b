//! Puts arguments in the place of parameters: `#`, `##` and plain uses.

use super::expander::Expander;
use super::lex::{Scope, lex};
use super::macros::Macro;
use super::token::{Kind, LINE, SPACE, Token, VERBATIM};

/// The arguments of one macro call.
pub(super) struct Arguments<'m, 'a> {
    made: &'m Macro<'a>,
    raw: Vec<Vec<Token<'a>>>,
    expanded: Vec<Option<Vec<Token<'a>>>>,
    invocation: Token<'a>,
    via: u32,
    out: Vec<Token<'a>>,
    /// The left operand of a following `##` is an empty argument.
    left_is_empty: bool,
}

impl<'m, 'a> Arguments<'m, 'a> {
    pub fn new(made: &'m Macro<'a>, raw: Vec<Vec<Token<'a>>>, invocation: Token<'a>, via: u32) -> Self {
        let expanded = vec![None; raw.len()];
        Arguments { made, raw, expanded, invocation, via, out: Vec::new(), left_is_empty: false }
    }

    /// The macro's body with the arguments in place.
    pub fn substitute(mut self, expander: &mut Expander<'_, 'a, '_>) -> Vec<Token<'a>> {
        let made = self.made;
        let mut i = 0;
        while let Some(&token) = made.body.get(i) {
            let next_use = made.uses.get(i + 1).copied().flatten();
            if token.is("#") && token.kind == Kind::Punct && made.parameters.is_some() && next_use.is_some() {
                self.stringize(token, next_use, expander);
                i += 2;
            } else if token.is("##") && i > 0 && i + 1 < made.body.len() {
                self.paste(i + 1, expander);
                i += 2;
            } else {
                let before_paste = made.body.get(i + 1).is_some_and(|next| next.is("##"));
                self.plain(i, token, before_paste, expander);
                i += 1;
            }
            if self.out.len() > expander.shop.budget {
                break;
            }
        }
        self.finish()
    }

    fn finish(mut self) -> Vec<Token<'a>> {
        if let Some(first) = self.out.first_mut() {
            first.flags = (first.flags & !(SPACE | LINE)) | (self.invocation.flags & (SPACE | LINE));
        }
        for token in &mut self.out {
            if token.via == 0 {
                token.via = self.via;
            }
        }
        self.out
    }

    /// A token of the body: it stands where the macro was invoked.
    fn own(&self, token: Token<'a>) -> Token<'a> {
        Token { file: self.invocation.file, at: self.invocation.at, via: self.via, ..token }
    }

    fn argument(&self, index: u16) -> &[Token<'a>] {
        self.raw.get(usize::from(index)).map_or(&[], Vec::as_slice)
    }

    fn plain(&mut self, i: usize, token: Token<'a>, before_paste: bool, expander: &mut Expander<'_, 'a, '_>) {
        self.left_is_empty = false;
        let Some(index) = self.made.uses.get(i).copied().flatten() else {
            self.out.push(self.own(token));
            return;
        };
        let start = self.out.len();
        if before_paste {
            let argument = self.raw.get(usize::from(index)).map_or(&[][..], Vec::as_slice);
            self.left_is_empty = argument.is_empty();
            self.out.extend_from_slice(argument);
        } else {
            self.append_expanded(index, expander);
        }
        if let Some(first) = self.out.get_mut(start) {
            first.flags = (first.flags & !SPACE) | (token.flags & SPACE);
        }
    }

    fn append_expanded(&mut self, index: u16, expander: &mut Expander<'_, 'a, '_>) {
        let index = usize::from(index);
        let (Some(raw), Some(slot)) = (self.raw.get(index), self.expanded.get_mut(index)) else { return };
        let expanded = slot.get_or_insert_with(|| expander.expand_argument(raw));
        self.out.extend_from_slice(expanded);
    }

    fn stringize(&mut self, hash: Token<'a>, parameter: Option<u16>, expander: &mut Expander<'_, 'a, '_>) {
        let mut text = String::from("\"");
        for (i, token) in self.argument(parameter.unwrap_or(0)).iter().enumerate() {
            if i > 0 && (token.has(SPACE) || token.has(LINE)) {
                text.push(' ');
            }
            let quoted = matches!(token.kind, Kind::Str | Kind::Char);
            for c in token.text.chars() {
                if quoted && (c == '"' || c == '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        expander.shop.spend(text.len() / 16, &self.invocation);
        let text = expander.shop.arena.alloc_str(&text);
        self.out.push(Token { text, kind: Kind::Str, ..self.own(hash) });
        self.left_is_empty = false;
    }

    fn paste(&mut self, right_at: usize, expander: &mut Expander<'_, 'a, '_>) {
        let parameter = self.made.uses.get(right_at).copied().flatten();
        let rest = parameter
            .filter(|&p| self.made.variadic && usize::from(p) + 1 == self.made.parameters.as_ref().map_or(0, Vec::len));
        if let (Some(rest), Some(true)) = (rest, self.out.last().map(|left| left.is(","))) {
            // GNU: the comma goes when the rest is empty, and nothing is pasted otherwise.
            if self.argument(rest).is_empty() {
                self.out.pop();
            } else {
                self.append_expanded(rest, expander);
            }
            return;
        }
        let right = match (parameter, self.made.body.get(right_at)) {
            (Some(index), _) => self.argument(index).to_vec(),
            (None, Some(&token)) => vec![self.own(token)],
            (None, None) => Vec::new(),
        };
        let Some((&first, others)) = right.split_first() else { return };
        let left = if self.left_is_empty { None } else { self.out.pop() };
        let joined = left.map_or(first, |left| self.join(left, first, expander));
        self.out.push(joined);
        self.out.extend_from_slice(others);
        self.left_is_empty = false;
    }

    fn join(&self, left: Token<'a>, right: Token<'a>, expander: &mut Expander<'_, 'a, '_>) -> Token<'a> {
        let mut text =
            bumpalo::collections::String::with_capacity_in(left.text.len() + right.text.len(), expander.shop.arena);
        text.push_str(left.text);
        text.push_str(right.text);
        let text = text.into_bump_str();
        expander.shop.spend(text.len() / 16, &self.invocation);
        let kind = match lex(text, 0, Scope::All).as_slice() {
            [one] => one.kind,
            _ => Kind::Other,
        };
        // A name made of an argument is found at the argument.
        let place = if left.has(VERBATIM) { left } else { right };
        Token { text, kind, flags: left.flags & !VERBATIM, file: place.file, at: place.at, via: self.via }
    }
}
