//! Cuts C text into preprocessing tokens without copying it.

use super::token::{Kind, LINE, SPACE, Token, VERBATIM};

/// Whether the lexer yields every token or only those of directives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All tokens.
    All,
    /// Only tokens of lines that begin with `#`.
    Directives,
}

/// The tokens of a text; `file` is the text's index in the tree.
pub(super) fn lex(text: &str, file: u32, scope: Scope) -> Vec<Token<'_>> {
    let room = if scope == Scope::All { text.len() / 5 } else { text.len() / 40 };
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, file, tokens: Vec::with_capacity(room) };
    lexer.run(scope);
    lexer.tokens
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    file: u32,
    tokens: Vec<Token<'t>>,
}

impl<'t> Lexer<'t> {
    fn run(&mut self, scope: Scope) {
        let mut flags = LINE;
        loop {
            flags |= self.blank();
            if self.at >= self.bytes.len() {
                return;
            }
            if scope == Scope::Directives && flags & LINE != 0 && !self.starts_directive() {
                self.skip_line();
                flags = LINE;
                continue;
            }
            let start = self.at;
            let kind = self.token();
            let text = self.text.get(start..self.at).unwrap_or("");
            self.tokens.push(Token { text, file: self.file, at: start as u32, via: 0, kind, flags: flags | VERBATIM });
            flags = 0;
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn starts_directive(&self) -> bool {
        self.peek(0) == b'#' || (self.peek(0) == b'%' && self.peek(1) == b':')
    }

    /// Skips white space, comments and spliced lines; says what was met.
    fn blank(&mut self) -> u8 {
        let mut flags = 0;
        loop {
            match self.peek(0) {
                b'\n' => flags |= LINE | SPACE,
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => flags |= SPACE,
                b'\\' if self.splice() > 0 => {
                    self.at += self.splice();
                    flags |= SPACE;
                    continue;
                }
                b'/' if self.peek(1) == b'*' => {
                    let Some(length) = find(self.bytes, self.at + 2, b"*/") else { return flags };
                    self.at = length + 2;
                    flags |= SPACE;
                    continue;
                }
                b'/' if self.peek(1) == b'/' => {
                    self.line_comment();
                    flags |= SPACE;
                    continue;
                }
                _ => return flags,
            }
            self.at += 1;
        }
    }

    /// Length of a backslash-newline here, or 0.
    fn splice(&self) -> usize {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'\\', b'\n', _) => 2,
            (b'\\', b'\r', b'\n') => 3,
            _ => 0,
        }
    }

    fn line_comment(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.at += self.splice().max(1);
        }
    }

    /// Skips the rest of a line of code, over literals, comments and spliced lines.
    fn skip_line(&mut self) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\n' => return,
                b'"' | b'\'' => {
                    self.quoted(self.peek(0));
                }
                b'/' if self.peek(1) == b'*' => match find(self.bytes, self.at + 2, b"*/") {
                    Some(end) => self.at = end + 2,
                    None => self.at = self.bytes.len(),
                },
                b'/' if self.peek(1) == b'/' => self.line_comment(),
                _ => self.at += self.splice().max(1),
            }
        }
    }

    fn token(&mut self) -> Kind {
        let first = self.peek(0);
        match first {
            b'L' | b'U' | b'u' if self.prefix() > 0 => {
                self.at += self.prefix();
                self.quoted(self.peek(0))
            }
            b'"' | b'\'' => self.quoted(first),
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'/' if self.peek(1) == b'*' => {
                self.at = self.bytes.len();
                Kind::Unterminated
            }
            _ if is_ident(first) => {
                while is_ident(self.peek(0)) {
                    self.at += 1;
                }
                Kind::Ident
            }
            _ => self.punctuator(),
        }
    }

    /// Length of an encoding prefix (`L`, `U`, `u`, `u8`) when a literal follows, or 0.
    fn prefix(&self) -> usize {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (_, b'"' | b'\'', _) => 1,
            (b'u', b'8', b'"' | b'\'') => 2,
            _ => 0,
        }
    }

    fn quoted(&mut self, quote: u8) -> Kind {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += self.splice().max(2),
                b'\n' => break,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return if quote == b'"' { Kind::Str } else { Kind::Char };
                    }
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        Kind::Unterminated
    }

    fn number(&mut self) -> Kind {
        loop {
            match self.peek(0) {
                b'e' | b'E' | b'p' | b'P' if matches!(self.peek(1), b'+' | b'-') => self.at += 2,
                byte if byte == b'.' || is_ident(byte) => self.at += 1,
                _ => return Kind::Number,
            }
        }
    }

    fn punctuator(&mut self) -> Kind {
        const LONG: [&str; 23] = [
            "...", "<<=", ">>=", "##", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=", "/=",
            "%=", "+=", "-=", "&=", "^=", "|=",
        ];
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        if !matches!(self.peek(1), b'.' | b'<' | b'>' | b'#' | b'+' | b'-' | b'=' | b'&' | b'|') {
            self.at += 1;
            let single = b"()[]{};,.:?~!#+-*/%<>=&|^".contains(&rest.first().copied().unwrap_or(0));
            return if single { Kind::Punct } else { Kind::Other };
        }
        let length = LONG.iter().find(|long| rest.starts_with(long.as_bytes())).map_or(1, |long| long.len());
        let single = length > 1 || b"()[]{};,.:?~!#+-*/%<>=&|^".contains(&rest.first().copied().unwrap_or(0));
        self.at += length;
        if single { Kind::Punct } else { Kind::Other }
    }
}

fn find(bytes: &[u8], from: usize, pattern: &[u8; 2]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(2).position(|window| window == pattern).map(|at| from + at)
}

/// Whether a byte may stand in an identifier (bytes of UTF-8 sequences may).
pub(super) fn is_ident(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, scope: Scope) -> Vec<&str> {
        lex(text, 0, scope).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn tokens_of_c() {
        assert_eq!(
            texts("a->b+=0x1p-3/*c*/L\"x\\\"y\" '\\''", Scope::All),
            ["a", "->", "b", "+=", "0x1p-3", "L\"x\\\"y\"", "'\\''"]
        );
    }

    #[test]
    fn comments_join_lines_of_directives() {
        let tokens = lex("#define A /* one\n two */ 1 \\\n 2\nB", 0, Scope::All);
        let starts: Vec<_> = tokens.iter().filter(|t| t.has(LINE)).map(|t| t.text).collect();
        assert_eq!(starts, ["#", "B"]);
    }

    #[test]
    fn directives_alone() {
        let text = "int a = '#'; // it's\n char *s = \"\\\n# no\";\n  # define X 1\n/* # no */ f();\n#undef X";
        assert_eq!(texts(text, Scope::Directives), ["#", "define", "X", "1", "#", "undef", "X"]);
    }

    #[test]
    fn unterminated_literals_are_marked() {
        for text in ["\"abc", "'a\n", "/* never", "\"\\", "\"\u{e9}\\\u{e9}"] {
            let tokens = lex(text, 0, Scope::All);
            assert_eq!(tokens.first().map(|t| t.kind), Some(Kind::Unterminated), "{text}");
        }
    }
}
