//! Expands macros in a stretch of tokens, as the C standard says, with every loop bounded.

use super::expander::{ARGUMENT_LIMIT, Expander, Mode, NESTING_LIMIT};
use super::macros::{Macro, Shape};
use super::rules::Rule;
use super::substitute::Arguments;
use super::token::{Kind, PAINTED, Token};
use std::sync::Arc;

/// The replacement of a macro, being scanned.
struct Frame<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
}

/// The tokens still to be scanned: replacements over the input.
struct Stream<'i, 'a> {
    frames: Vec<Frame<'a>>,
    input: &'i [Token<'a>],
    next: usize,
}

impl<'a> Stream<'_, 'a> {
    /// Drops finished replacements.
    fn settle(&mut self, active: &mut Vec<&str>) {
        while self.frames.last().is_some_and(|frame| frame.next >= frame.tokens.len()) {
            self.frames.pop();
            active.pop();
        }
    }

    fn take(&mut self, active: &mut Vec<&str>) -> Option<Token<'a>> {
        self.settle(active);
        let (tokens, next) = match self.frames.last_mut() {
            Some(frame) => (frame.tokens.as_slice(), &mut frame.next),
            None => (self.input, &mut self.next),
        };
        let token = tokens.get(*next).copied();
        *next += usize::from(token.is_some());
        token
    }

    fn peek(&self) -> Option<&Token<'a>> {
        let framed = self.frames.iter().rev().find_map(|frame| frame.tokens.get(frame.next));
        framed.or_else(|| self.input.get(self.next))
    }
}

/// How reading the arguments of a macro call ended.
enum Call<'a> {
    Arguments(Vec<Vec<Token<'a>>>),
    /// No parenthesis follows: the name stands for itself.
    Absent,
    /// The input ended first; what was read is handed back.
    Unfinished(Vec<Token<'a>>),
}

impl<'x, 'a, 't: 'a> Expander<'x, 'a, 't> {
    /// Appends the expansion of `input` to `out`. Unless `last`, stops before a macro call that `input` does not finish; returns how many
    /// tokens of `input` are done.
    pub fn run(&mut self, input: &[Token<'a>], last: bool, out: &mut Vec<Token<'a>>) -> usize {
        let outer = self.active.len();
        let mut stream = Stream { frames: Vec::new(), input, next: 0 };
        let mut safe = (0, out.len());
        loop {
            stream.settle(&mut self.active);
            if stream.frames.is_empty() {
                safe = (stream.next, out.len());
            }
            let Some(mut token) = stream.take(&mut self.active) else { return input.len() };
            let Some(found) = self.find(&mut token) else {
                let is_defined = self.mode == Mode::Directive && token.is("defined");
                out.push(token);
                if is_defined {
                    self.copy_defined(&mut stream, out);
                }
                continue;
            };
            let arguments = match self.call(&found, &mut stream) {
                Call::Arguments(arguments) => arguments,
                Call::Absent if last || stream.peek().is_some() => {
                    out.push(token);
                    continue;
                }
                Call::Absent | Call::Unfinished(_) if !last => {
                    self.active.truncate(outer);
                    out.truncate(safe.1);
                    return safe.0;
                }
                Call::Absent => continue,
                Call::Unfinished(read) => {
                    let message = format!("the call of macro `{}` does not end", found.name);
                    self.shop.problem("preprocess/unfinished-call", &token, message, "close the parenthesis");
                    out.push(token);
                    out.extend(read);
                    continue;
                }
            };
            if let Some(tokens) = self.replacement(&found, &token, arguments) {
                self.active.push(found.name);
                stream.frames.push(Frame { tokens, next: 0 });
            } else {
                out.push(token);
            }
        }
    }

    /// The macro a token invokes, if it is to be expanded here.
    fn find(&self, token: &mut Token<'a>) -> Option<Arc<Macro<'t>>> {
        if token.kind != Kind::Ident || token.has(PAINTED) || self.shop.budget == 0 {
            return None;
        }
        let found = self.look_up(token.text)?;
        if self.active.contains(&found.name) {
            token.flags |= PAINTED;
            return None;
        }
        Some(found)
    }

    fn look_up(&self, name: &str) -> Option<Arc<Macro<'t>>> {
        if self.mode == Mode::Directive {
            return self.table.get(name).cloned();
        }
        if let Some(own) = self.table.own(name).filter(|own| own.local) {
            return Some(Arc::clone(own));
        }
        match self.rules.get(name) {
            Some(Rule::Expand) => self.table.get(name).cloned(),
            Some(Rule::Rewrite(made)) => Some(Arc::clone(made)),
            // What no rule knows, of a release never seen, must not break the code around it.
            None => self.table.get(name).and_then(|found| match found.shape {
                Shape::Whole => None,
                Shape::Bracket => Some(Arc::new(found.as_statement())),
                Shape::Fragment => Some(Arc::clone(found)),
            }),
        }
    }

    /// `defined X` and `defined(X)` keep their operand.
    fn copy_defined(&mut self, stream: &mut Stream<'_, 'a>, out: &mut Vec<Token<'a>>) {
        let open = stream.peek().is_some_and(|next| next.is("("));
        for _ in 0..if open { 3 } else { 1 } {
            out.extend(stream.take(&mut self.active));
        }
    }

    fn call(&mut self, found: &Macro, stream: &mut Stream<'_, 'a>) -> Call<'a> {
        if found.parameters.is_none() {
            return Call::Arguments(Vec::new());
        }
        if !stream.peek().is_some_and(|next| next.is("(")) {
            return Call::Absent;
        }
        let mut read = Vec::new();
        let (mut depth, mut cuts) = (0usize, Vec::new());
        loop {
            let Some(token) = stream.take(&mut self.active) else { return Call::Unfinished(read) };
            match token.text {
                "(" => depth += 1,
                ")" if depth == 1 => break,
                ")" => depth -= 1,
                "," if depth == 1 => cuts.push(read.len()),
                _ => {}
            }
            read.push(token);
        }
        Call::Arguments(split(&read, &cuts, found))
    }

    fn replacement(
        &mut self,
        found: &Arc<Macro<'t>>,
        token: &Token<'a>,
        arguments: Vec<Vec<Token<'a>>>,
    ) -> Option<Vec<Token<'a>>> {
        let wanted = found.parameters.as_ref().map_or(0, Vec::len);
        let fits = arguments.len() == wanted || (found.variadic && arguments.len() + 1 == wanted);
        if found.parameters.is_some() && !fits && !(wanted == 0 && arguments.iter().all(Vec::is_empty)) {
            let message = format!("macro `{}` takes {wanted} arguments, {} are given", found.name, arguments.len());
            self.shop.problem(
                "preprocess/argument-count",
                token,
                message,
                "compare the call with the macro's definition",
            );
            return None;
        }
        if self.active.len() >= NESTING_LIMIT || self.depth >= ARGUMENT_LIMIT {
            let message = format!(
                "macro `{}` nests deeper than {NESTING_LIMIT} expansions or {ARGUMENT_LIMIT} arguments",
                found.name
            );
            self.shop.problem("preprocess/nesting-too-deep", token, message, "the call is left alone");
            return None;
        }
        let read: usize = arguments.iter().map(Vec::len).sum();
        if !self.shop.spend(read + found.body.len() + 1, token) {
            return None;
        }
        let via = if token.via != 0 { token.via } else { self.shop.via(found.name) };
        let tokens = Arguments::new(found, arguments, *token, via).substitute(self);
        let made = tokens.iter().map(|made| 1 + made.text.len() / 32).sum();
        self.shop.spend(made, token).then_some(tokens)
    }

    /// Expands an argument on its own, before it is put in place.
    pub fn expand_argument(&mut self, argument: &[Token<'a>]) -> Vec<Token<'a>> {
        let mut out = Vec::with_capacity(argument.len());
        self.depth += 1;
        let outer = self.active.len();
        self.run(argument, true, &mut out);
        self.active.truncate(outer);
        self.depth -= 1;
        out
    }
}

/// Splits what stands after the opening parenthesis at the commas, the last parameter of a variadic macro taking the rest.
fn split<'a>(read: &[Token<'a>], cuts: &[usize], found: &Macro) -> Vec<Vec<Token<'a>>> {
    let wanted = found.parameters.as_ref().map_or(0, Vec::len);
    let used = if found.variadic { cuts.len().min(wanted.saturating_sub(1)) } else { cuts.len() };
    let mut arguments = Vec::with_capacity(used + 1);
    // The opening parenthesis is the first token read.
    let mut from = 1;
    for &cut in cuts.iter().take(used) {
        arguments.push(read.get(from..cut).unwrap_or(&[]).to_vec());
        from = cut + 1;
    }
    arguments.push(read.get(from..).unwrap_or(&[]).to_vec());
    arguments
}
