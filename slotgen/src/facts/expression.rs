//! C integer expressions such as `2 + (oparg & 1)`, kept as a tree and written as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An integer expression over names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A literal.
    Integer(i64),
    /// A variable, macro or enumerator.
    Name(String),
    /// An operator before its operand: `-`, `~`, `!`.
    Unary(&'static str, Box<Expression>),
    /// An operator between its operands.
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `test ? yes : no`.
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// Why a text is no integer expression of the supported form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a supported integer expression: `{text}` ({reason})")]
pub struct ExpressionError {
    text: String,
    reason: &'static str,
}

/// Binary operators with their C precedence, longer spellings first.
const BINARY: &[(&str, u8)] = &[
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<<", 8),
    (">>", 8),
    ("<=", 7),
    (">=", 7),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

/// Deepest nesting that is read; no real header comes near.
const MAX_DEPTH: u32 = 64;

impl Expression {
    /// The value, if every name has one and no operation overflows.
    pub fn evaluate(&self, name: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Name(text) => name(text),
            Self::Unary(operator, operand) => {
                let value = operand.evaluate(name)?;
                match *operator {
                    "-" => value.checked_neg(),
                    "~" => Some(!value),
                    _ => Some(i64::from(value == 0)),
                }
            }
            Self::Binary(operator, left, right) => apply(operator, left.evaluate(name)?, right.evaluate(name)?),
            Self::Conditional(test, yes, no) => {
                if test.evaluate(name)? != 0 {
                    yes.evaluate(name)
                } else {
                    no.evaluate(name)
                }
            }
        }
    }

    /// The same expression with every name replaced for which `value` has one.
    pub fn resolve(self, value: &dyn Fn(&str) -> Option<i64>) -> Self {
        let boxed = |inner: Box<Self>| Box::new(inner.resolve(value));
        match self {
            Self::Integer(number) => Self::Integer(number),
            Self::Name(name) => value(&name).map_or(Self::Name(name), Self::Integer),
            Self::Unary(operator, inner) => Self::Unary(operator, boxed(inner)),
            Self::Binary(operator, left, right) => Self::Binary(operator, boxed(left), boxed(right)),
            Self::Conditional(test, yes, no) => Self::Conditional(boxed(test), boxed(yes), boxed(no)),
        }
    }

    /// Whether `wanted` occurs.
    pub fn mentions(&self, wanted: &str) -> bool {
        match self {
            Self::Integer(_) => false,
            Self::Name(name) => name == wanted,
            Self::Unary(_, operand) => operand.mentions(wanted),
            Self::Binary(_, left, right) => left.mentions(wanted) || right.mentions(wanted),
            Self::Conditional(test, yes, no) => test.mentions(wanted) || yes.mentions(wanted) || no.mentions(wanted),
        }
    }

    fn is_atom(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Name(_))
    }
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let shift = || u32::try_from(right).ok();
    match operator {
        "||" => Some(i64::from(left != 0 || right != 0)),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<=" => Some(i64::from(left <= right)),
        ">=" => Some(i64::from(left >= right)),
        "<" => Some(i64::from(left < right)),
        ">" => Some(i64::from(left > right)),
        "<<" => left.checked_shl(shift()?),
        ">>" => left.checked_shr(shift()?),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    }
}

/// Writes an operand, in parentheses unless it is a single word.
fn operand(f: &mut fmt::Formatter<'_>, expression: &Expression) -> fmt::Result {
    if expression.is_atom() { write!(f, "{expression}") } else { write!(f, "({expression})") }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Name(name) => f.write_str(name),
            Self::Unary(operator, inner) => {
                f.write_str(operator)?;
                operand(f, inner)
            }
            Self::Binary(operator, left, right) => {
                operand(f, left)?;
                write!(f, " {operator} ")?;
                operand(f, right)
            }
            Self::Conditional(test, yes, no) => {
                operand(f, test)?;
                f.write_str(" ? ")?;
                operand(f, yes)?;
                f.write_str(" : ")?;
                operand(f, no)
            }
        }
    }
}

impl FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parser = Parser { rest: text.trim_start(), depth: 0 };
        let parsed = parser.conditional().and_then(|expression| {
            if parser.rest.is_empty() { Ok(expression) } else { Err("text follows the expression") }
        });
        parsed.map_err(|reason| ExpressionError { text: text.to_owned(), reason })
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn conditional(&mut self) -> Result<Expression, &'static str> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("nested too deeply");
        }
        let test = self.binary(1)?;
        let result = if self.eat("?") {
            let yes = self.conditional()?;
            if !self.eat(":") {
                return Err("`?` without `:`");
            }
            Expression::Conditional(Box::new(test), Box::new(yes), Box::new(self.conditional()?))
        } else {
            test
        };
        self.depth -= 1;
        Ok(result)
    }

    fn binary(&mut self, lowest: u8) -> Result<Expression, &'static str> {
        let mut left = self.unary()?;
        while let Some(&(operator, precedence)) = BINARY.iter().find(|(operator, _)| self.rest.starts_with(operator)) {
            if precedence < lowest {
                break;
            }
            self.eat(operator);
            left = Expression::Binary(operator, Box::new(left), Box::new(self.binary(precedence + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, &'static str> {
        for operator in ["-", "~", "!"] {
            if self.eat(operator) {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err("nested too deeply");
                }
                let inner = self.unary()?;
                self.depth -= 1;
                return Ok(match (operator, inner) {
                    ("-", Expression::Integer(value)) => Expression::Integer(value.wrapping_neg()),
                    (_, inner) => Expression::Unary(operator, Box::new(inner)),
                });
            }
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Expression, &'static str> {
        if self.eat("(") {
            let inner = self.conditional()?;
            return if self.eat(")") { Ok(inner) } else { Err("`(` without `)`") };
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let atom = match word.chars().next() {
            None => return Err("an operand is missing"),
            Some(c) if c.is_ascii_digit() => Expression::Integer(integer(word).ok_or("not an integer literal")?),
            Some(_) => Expression::Name(word.to_owned()),
        };
        self.rest = self.rest[end..].trim_start();
        Ok(atom)
    }
}

/// The value of a C integer literal, suffixes allowed.
pub fn integer(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return i64::from_str_radix(hexadecimal, 16).ok();
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return i64::from_str_radix(&digits[1..], 8).ok();
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, oparg: i64) -> i64 {
        let expression: Expression = text.parse().unwrap();
        let again: Expression = expression.to_string().parse().unwrap();
        assert_eq!(expression, again, "{expression}");
        expression.evaluate(&|name| (name == "oparg").then_some(oparg)).unwrap()
    }

    #[test]
    fn precedence_is_that_of_c() {
        assert_eq!(value("1 + oparg >> 1", 5), 3);
        assert_eq!(value("oparg & 1 == 1", 2), 0);
        assert_eq!(value("1 + (oparg >> 8) + (oparg & 0xFF)", 0x0203), 6);
        assert_eq!(value("2 + ((oparg == 3) ? 1 : 0)", 3), 3);
        assert_eq!(value("7 - 2 - 1", 0), 4);
        assert_eq!(value("-1", 0), -1);
        assert_eq!(value("010 + 1UL", 0), 9);
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        for text in ["", "1 +", "(1", "f(x)", "1 ? 2", "9z", "a b"] {
            assert!(text.parse::<Expression>().is_err(), "{text}");
        }
        assert!("(".repeat(10_000).parse::<Expression>().is_err());
        assert!("-".repeat(10_000).parse::<Expression>().is_err());
    }
}
