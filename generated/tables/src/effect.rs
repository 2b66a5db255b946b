//! Evaluates the C expressions of stack effects, such as `1 + (oparg & 1)` or `jump ? 6 : 0`.

/// What the expressions speak of.
#[derive(Clone, Copy)]
pub struct Operands {
    pub oparg: i64,
    pub jump: i64,
}

/// The value; `None` if the text is no such expression or overflows.
pub fn evaluate(text: &[u8], operands: Operands) -> Option<i64> {
    let mut reader = Reader { rest: text, operands };
    let value = reader.conditional()?;
    reader.rest.trim_ascii().is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a [u8],
    operands: Operands,
}

/// Binary operators with their C precedence, longer spellings first.
const BINARY: &[(&[u8], u8)] = &[
    (b"==", 6),
    (b"!=", 6),
    (b"<<", 8),
    (b">>", 8),
    (b"<=", 7),
    (b">=", 7),
    (b"|", 3),
    (b"^", 4),
    (b"&", 5),
    (b"<", 7),
    (b">", 7),
    (b"+", 9),
    (b"-", 9),
    (b"*", 10),
];

impl Reader<'_> {
    fn eat(&mut self, token: &[u8]) -> bool {
        let rest = self.rest.trim_ascii_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn conditional(&mut self) -> Option<i64> {
        let test = self.binary(0)?;
        if !self.eat(b"?") {
            return Some(test);
        }
        let yes = self.conditional()?;
        let no = if self.eat(b":") { self.conditional()? } else { return None };
        Some(if test != 0 { yes } else { no })
    }

    fn binary(&mut self, least: u8) -> Option<i64> {
        let mut left = self.unary()?;
        loop {
            let rest = self.rest.trim_ascii_start();
            let found = BINARY.iter().find(|(token, _)| rest.starts_with(token));
            let Some((token, strength)) = found.filter(|(_, strength)| *strength > least) else { return Some(left) };
            self.eat(token);
            left = apply(token, left, self.binary(*strength)?)?;
        }
    }

    fn unary(&mut self) -> Option<i64> {
        if self.eat(b"-") {
            return self.unary()?.checked_neg();
        }
        if self.eat(b"(") {
            let value = self.conditional()?;
            return self.eat(b")").then_some(value);
        }
        let rest = self.rest.trim_ascii_start();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (word, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        match word {
            b"oparg" => Some(self.operands.oparg),
            b"jump" => Some(self.operands.jump),
            digits => core::str::from_utf8(digits).ok()?.parse().ok(),
        }
    }
}

fn apply(token: &[u8], left: i64, right: i64) -> Option<i64> {
    let shift = || u32::try_from(right).ok();
    match token {
        b"==" => Some(i64::from(left == right)),
        b"!=" => Some(i64::from(left != right)),
        b"<=" => Some(i64::from(left <= right)),
        b">=" => Some(i64::from(left >= right)),
        b"<" => Some(i64::from(left < right)),
        b">" => Some(i64::from(left > right)),
        b"<<" => left.checked_shl(shift()?),
        b">>" => left.checked_shr(shift()?),
        b"|" => Some(left | right),
        b"^" => Some(left ^ right),
        b"&" => Some(left & right),
        b"+" => left.checked_add(right),
        b"-" => left.checked_sub(right),
        b"*" => left.checked_mul(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_precedence_holds() {
        let value = |text: &str, oparg, jump| evaluate(text.as_bytes(), Operands { oparg, jump });
        assert_eq!(value("1 + (oparg & 1)", 3, 0), Some(2));
        assert_eq!(value("(jump > 0) ? -1 : 1", 0, 1), Some(-1));
        assert_eq!(value("jump ? (-1 + 6) : 0", 0, 1), Some(5));
        assert_eq!(value("(-oparg) - 1", 4, 0), Some(-5));
        assert_eq!(value("1 - 2 - 3", 0, 0), Some(-4));
        assert_eq!(value("((oparg & 4) == 4) ? -1 : 0", 5, 0), Some(-1));
        assert_eq!(value("(oparg & 255) + (oparg >> 8)", 0x0201, 0), Some(3));
        assert_eq!(value("oparg +", 1, 0), None);
        assert_eq!(value("unknown", 1, 0), None);
    }
}
