//! Macro definitions and the layered table that holds them.

use super::token::{AUTO, Kind, LINE, SPACE, Token, VERBATIM};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A macro as defined.
#[derive(Debug)]
pub(super) struct Macro<'t> {
    pub name: &'t str,
    /// `None` for an object-like macro.
    pub parameters: Option<Vec<&'t str>>,
    /// The last parameter takes all remaining arguments.
    pub variadic: bool,
    pub body: Vec<Token<'t>>,
    /// For each token of the body, the parameter it names.
    pub uses: Vec<Option<u16>>,
    /// Defined outside `Include/`, so that code that uses it is expanded.
    pub local: bool,
    /// What a name or a call in the place of the body is to C.
    pub shape: Shape,
    /// Where it is defined: index of the file in the tree, byte offset.
    pub file: u32,
    pub at: u32,
}

/// What stands for a macro that is kept as a name or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// An expression or a statement: the name or the call is C as well.
    Whole,
    /// A brace that another macro closes or opens: the name or the call is a statement, if a semicolon follows.
    Bracket,
    /// A part of a declaration, of an initialiser or of a statement: the name or the call is no C.
    Fragment,
}

/// A `#define` without a name, or with parameters that are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadDefine;

impl<'t> Macro<'t> {
    /// Reads what follows `#define`.
    pub fn parse(tokens: &[Token<'t>], local: bool) -> Result<Macro<'t>, BadDefine> {
        let name = tokens.first().filter(|token| token.is_ident()).ok_or(BadDefine)?;
        let mut rest = tokens.get(1..).unwrap_or(&[]);
        let mut variadic = false;
        let mut parameters = None;
        if rest.first().is_some_and(|token| token.is("(") && !token.has(SPACE)) {
            let (names, dots, after) = parse_parameters(rest)?;
            variadic = dots;
            parameters = Some(names);
            rest = after;
        }
        let body = rest.iter().map(|token| Token { flags: token.flags & !(LINE | VERBATIM), ..*token }).collect();
        let mut made = Macro {
            name: name.text,
            parameters,
            variadic,
            body,
            uses: Vec::new(),
            local,
            shape: Shape::Whole,
            file: name.file,
            at: name.at,
        };
        made.shape = shape(&made.body, made.parameters.is_some());
        made.find_uses();
        Ok(made)
    }

    /// The macro that leaves the name or the call, and puts a semicolon after it.
    pub fn as_statement(&self) -> Macro<'t> {
        let token = |text, kind, flags| Token { text, file: self.file, at: self.at, via: 0, kind, flags };
        let mut body = vec![token(self.name, Kind::Ident, 0)];
        if self.parameters.is_some() {
            body.extend([token("(", Kind::Punct, 0), token("__VA_ARGS__", Kind::Ident, 0), token(")", Kind::Punct, 0)]);
        }
        body.push(token(";", Kind::Punct, AUTO));
        let parameters = self.parameters.as_ref().map(|_| vec!["__VA_ARGS__"]);
        let variadic = parameters.is_some();
        let mut made = Macro { parameters, variadic, body, uses: Vec::new(), shape: Shape::Whole, ..*self };
        made.find_uses();
        made
    }

    fn find_uses(&mut self) {
        let Some(parameters) = &self.parameters else {
            self.uses = vec![None; self.body.len()];
            return;
        };
        let index = |token: &Token| {
            let found = parameters.iter().position(|p| token.is_ident() && token.is(p))?;
            u16::try_from(found).ok()
        };
        self.uses = self.body.iter().map(index).collect();
    }

    /// The body as text, tokens separated as in the source.
    pub fn body_text(&self) -> String {
        let mut text = String::new();
        for token in &self.body {
            if token.has(SPACE) && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(token.text);
        }
        text
    }
}

/// Fragments are: nothing (in the place of a call it may be a statement), an attribute, storage, braces around values, the head of a
/// loop, fields, something before or after a comma.
fn shape(body: &[Token<'_>], is_call: bool) -> Shape {
    let (Some(first), Some(last)) = (body.first(), body.last()) else {
        return if is_call { Shape::Whole } else { Shape::Fragment };
    };
    let (mut round, mut curly, mut ends) = (0i32, 0i32, 0);
    for token in body {
        match token.text {
            "(" => round += 1,
            ")" => round -= 1,
            "{" => curly += 1,
            "}" => curly -= 1,
            ";" if curly == 0 && round == 0 => ends += 1,
            _ => {}
        }
        if curly < 0 {
            return Shape::Bracket;
        }
    }
    let head = ["for", "while", "if", "switch"].contains(&first.text) && last.is(")");
    let opens = ["__attribute__", "__declspec", "_Alignas", "static", "extern", "typedef", ".", ","];
    let initialiser = first.is("{") && !body.iter().any(|token| token.is(";"));
    if curly != 0 {
        Shape::Bracket
    } else if round != 0
        || head
        || initialiser
        || opens.contains(&first.text)
        || last.is(",")
        || (ends > 0 && !first.is("do") && !first.is("{"))
    {
        Shape::Fragment
    } else {
        Shape::Whole
    }
}

/// More parameters than any macro has.
const PARAMETER_LIMIT: usize = 500;

type Parameters<'s, 't> = (Vec<&'t str>, bool, &'s [Token<'t>]);

fn parse_parameters<'s, 't>(tokens: &'s [Token<'t>]) -> Result<Parameters<'s, 't>, BadDefine> {
    let mut names = Vec::new();
    let mut variadic = false;
    let mut i = 1;
    loop {
        let token = tokens.get(i).ok_or(BadDefine)?;
        i += 1;
        match token.text {
            ")" => break,
            "," if !names.is_empty() => {}
            "..." => {
                variadic = true;
                // GNU's `args...` names the rest; standard C calls it __VA_ARGS__.
                let named = i >= 3 && tokens.get(i - 2).is_some_and(|before| before.is_ident());
                if !named {
                    names.push("__VA_ARGS__");
                }
            }
            name if token.is_ident() && !variadic && names.len() < PARAMETER_LIMIT => names.push(name),
            _ => return Err(BadDefine),
        }
    }
    Ok((names, variadic, tokens.get(i..).unwrap_or(&[])))
}

/// A layer of macros that many units share.
pub(super) type Layer<'t> = FxHashMap<&'t str, Arc<Macro<'t>>>;

/// The macros in force at a point of a unit: its own over those of a shared layer.
pub(super) struct Table<'a, 't> {
    base: &'a Layer<'t>,
    own: FxHashMap<&'t str, Option<Arc<Macro<'t>>>>,
}

impl<'a, 't> Table<'a, 't> {
    pub fn new(base: &'a Layer<'t>) -> Table<'a, 't> {
        Table { base, own: FxHashMap::default() }
    }

    /// Replaces the shared layer.
    pub fn rebase(&mut self, base: &'a Layer<'t>) {
        self.base = base;
    }

    pub fn define(&mut self, made: Arc<Macro<'t>>) {
        self.own.insert(made.name, Some(made));
    }

    pub fn undefine(&mut self, name: &'t str) {
        self.own.insert(name, None);
    }

    /// The macro of that name, wherever it is defined.
    pub fn get(&self, name: &str) -> Option<&Arc<Macro<'t>>> {
        match self.own.get(name) {
            Some(own) => own.as_ref(),
            None => self.base.get(name),
        }
    }

    /// The macro of that name when the unit (or a header it read itself) defines it.
    pub fn own(&self, name: &str) -> Option<&Arc<Macro<'t>>> {
        self.own.get(name).and_then(Option::as_ref)
    }

    /// What the unit has defined, or undefined (`None`), in no order.
    pub fn changes(&self) -> &FxHashMap<&'t str, Option<Arc<Macro<'t>>>> {
        &self.own
    }
}

#[cfg(test)]
mod tests {
    use super::super::lex::{Scope, lex};
    use super::*;

    #[test]
    fn what_a_macro_leaves_is_known_from_its_body() {
        let shape = |text| Macro::parse(&lex(text, 0, Scope::All), false).unwrap().shape;
        for whole in
            ["A (1 + 2)", "A(x) do { f(x); } while (0)", "A(x)", "A return x", "A(x) ((T *)(x))", "A f", "A { f(); }"]
        {
            assert_eq!(shape(whole), Shape::Whole, "{whole}");
        }
        for bracket in ["A(x) { f(x);", "A() }", "A() unlock(); }", "A { int s; {"] {
            assert_eq!(shape(bracket), Shape::Bracket, "{bracket}");
        }
        for fragment in [
            "A",
            "A __attribute__((hot))",
            "A(t) static t",
            "A {0, 0}",
            "A(x) .first = x,",
            "A(x) for (T *i = x; i; i = i->next)",
            "A int x; int y;",
            "A (",
        ] {
            assert_eq!(shape(fragment), Shape::Fragment, "{fragment}");
        }
    }
}
