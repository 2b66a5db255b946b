//! Preprocessing tokens: a text, and the place it came from.

/// What a token is, as far as a preprocessor must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Identifier or keyword.
    Ident,
    /// Preprocessing number.
    Number,
    /// String literal, with its prefix.
    Str,
    /// Character constant, with its prefix.
    Char,
    /// Operator or punctuator.
    Punct,
    /// A byte that starts no token of C.
    Other,
    /// A literal or comment that does not end.
    Unterminated,
}

/// White space stands before the token.
pub(super) const SPACE: u8 = 1;
/// The token is the first of its logical line.
pub(super) const LINE: u8 = 2;
/// The identifier was met inside its own expansion and is never expanded again.
pub(super) const PAINTED: u8 = 4;
/// `text` stands verbatim at `at` in `file`.
pub(super) const VERBATIM: u8 = 8;
/// A semicolon that a rule puts, and that goes again when the source has one.
pub(super) const AUTO: u8 = 16;

/// A preprocessing token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    /// Spelling.
    pub text: &'a str,
    /// Index of the file in the tree.
    pub file: u32,
    /// Byte offset in that file: where it stands, or where the macro that made it was invoked.
    pub at: u32,
    /// The macro it came through, as an index into the unit's list from 1; 0 for none.
    pub via: u32,
    pub kind: Kind,
    pub flags: u8,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn is_ident(&self) -> bool {
        self.kind == Kind::Ident
    }
}
