//! Evaluates the expression of an `#if`.

use super::token::{Kind, Token};

const DEPTH_LIMIT: usize = 100;

/// The value of an expression whose macros are expanded; `defined` asks the caller, other identifiers are 0.
pub(super) fn evaluate(tokens: &[Token], is_defined: &mut dyn FnMut(&str) -> bool) -> Result<i128, String> {
    let mut parser = Parser { tokens, at: 0, depth: 0, is_defined };
    let value = parser.ternary()?;
    match parser.peek() {
        "" => Ok(value),
        extra => Err(format!("`{extra}` is not expected here")),
    }
}

struct Parser<'p, 'a> {
    tokens: &'p [Token<'a>],
    at: usize,
    depth: usize,
    is_defined: &'p mut dyn FnMut(&str) -> bool,
}

impl Parser<'_, '_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        if self.accept(text) { Ok(()) } else { Err(format!("`{text}` is missing")) }
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT { Err("the expression nests too deep".to_owned()) } else { Ok(()) }
    }

    fn ternary(&mut self) -> Result<i128, String> {
        self.deeper()?;
        let condition = self.binary(0)?;
        let value = if self.accept("?") {
            let yes = self.ternary()?;
            self.expect(":")?;
            let no = self.ternary()?;
            if condition != 0 { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, lowest: u8) -> Result<i128, String> {
        let mut left = self.unary()?;
        loop {
            let operator = self.peek().to_owned();
            let strength = strength(&operator);
            if strength <= lowest {
                return Ok(left);
            }
            self.at += 1;
            let right = self.binary(strength)?;
            left = apply(&operator, left, right)?;
        }
    }

    fn unary(&mut self) -> Result<i128, String> {
        self.deeper()?;
        let Some(token) = self.tokens.get(self.at) else { return Err("an operand is missing".to_owned()) };
        self.at += 1;
        let value = match (token.kind, token.text) {
            (_, "!") => i128::from(self.unary()? == 0),
            (_, "-") => self.unary()?.wrapping_neg(),
            (_, "+") => self.unary()?,
            (_, "~") => !self.unary()?,
            (_, "(") => {
                let value = self.ternary()?;
                self.expect(")")?;
                value
            }
            (Kind::Ident, "defined") => self.defined()?,
            (Kind::Ident, _) => {
                self.skip_call()?;
                0
            }
            (Kind::Number, text) => number(text)?,
            (Kind::Char, text) => i128::from(text.as_bytes().get(1).copied().unwrap_or(0)),
            (_, text) => return Err(format!("`{text}` is no operand")),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn defined(&mut self) -> Result<i128, String> {
        let parenthesised = self.accept("(");
        let name = self.tokens.get(self.at).filter(|token| token.is_ident()).ok_or("`defined` needs a name")?;
        self.at += 1;
        let value = (self.is_defined)(name.text);
        if parenthesised {
            self.expect(")")?;
        }
        Ok(value.into())
    }

    /// Something like `__has_attribute(x)` with no such macro: its value is 0 as a whole.
    fn skip_call(&mut self) -> Result<(), String> {
        if self.peek() != "(" {
            return Ok(());
        }
        let mut depth = 0usize;
        loop {
            match self.peek() {
                "(" => depth += 1,
                ")" => depth -= 1,
                "" => return Err("`)` is missing".to_owned()),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

fn strength(operator: &str) -> u8 {
    match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => 0,
    }
}

fn apply(operator: &str, left: i128, right: i128) -> Result<i128, String> {
    let shift = u32::try_from(right.clamp(0, 127)).unwrap_or(0);
    Ok(match operator {
        "||" => (left != 0 || right != 0).into(),
        "&&" => (left != 0 && right != 0).into(),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => (left == right).into(),
        "!=" => (left != right).into(),
        "<" => (left < right).into(),
        ">" => (left > right).into(),
        "<=" => (left <= right).into(),
        ">=" => (left >= right).into(),
        "<<" => left.wrapping_shl(shift),
        ">>" => left.wrapping_shr(shift),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        // C does not evaluate the side of `&&` that does not count; a division there has any value.
        "/" => left.checked_div(right).unwrap_or(0),
        "%" => left.checked_rem(right).unwrap_or(0),
        _ => return Err(format!("`{operator}` is no operator of #if")),
    })
}

fn number(text: &str) -> Result<i128, String> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    let parsed = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => i128::from_str_radix(digits.get(2..).unwrap_or(""), 16),
        [b'0', b'b' | b'B', ..] => i128::from_str_radix(digits.get(2..).unwrap_or(""), 2),
        [b'0', _, ..] => i128::from_str_radix(digits.get(1..).unwrap_or(""), 8),
        _ => digits.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is no integer"))
}

#[cfg(test)]
mod tests {
    use super::super::lex::{Scope, lex};
    use super::*;

    fn value(text: &str) -> Result<i128, String> {
        evaluate(&lex(text, 0, Scope::All), &mut |name| name == "YES")
    }

    #[test]
    fn expressions() {
        assert_eq!(value("1 + 2 * 3 == 7 && !defined(NO)"), Ok(1));
        assert_eq!(value("0x030d0000 >= 0x03090000 ? 010 : 2"), Ok(8));
        assert_eq!(value("defined YES || unknown(1, (2)) > 3"), Ok(1));
        assert_eq!(value("18446744073709551615UL > 1"), Ok(1));
        assert_eq!(value("-1 < 0 && 8 - 2 - 1 == 5"), Ok(1));
    }

    #[test]
    fn nonsense_is_an_error() {
        for text in ["", "1 +", "(1", "1 2", "defined", "\"text\"", "1 = 2", "0x"] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"!".repeat(100_000)).is_err());
    }
}
