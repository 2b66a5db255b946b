//! Integer types of C, and constants of them.

use super::kinds::Val;

/// The integer type of a value; `const` for a constant that every one holds.
pub(crate) fn int_type(value: &Val) -> Option<&'static str> {
    match value {
        Val::Int(_, int, _) => Some(int),
        Val::Const(number, _) => Some(if i32::try_from(*number).is_ok() {
            "const"
        } else if *number > i128::from(i64::MAX) {
            "u64"
        } else {
            "i64"
        }),
        Val::Bool(_) => Some("i32"),
        _ => None,
    }
}

fn rank(int: &str) -> u8 {
    match int {
        "const" => 0,
        "i8" | "u8" | "i16" | "u16" | "i32" => 1,
        "u32" => 2,
        "i64" | "isize" => 3,
        _ => 4,
    }
}

/// The type that C computes in.
pub(crate) fn wider(a: &'static str, b: &'static str) -> &'static str {
    let int = if rank(a) >= rank(b) { a } else { b };
    match int {
        "i8" | "u8" | "i16" | "u16" | "const" => "i32",
        int => int,
    }
}

/// Whether the value is known not to be negative.
pub(crate) fn positive(value: &Val) -> bool {
    match value {
        Val::Int(_, _, positive) => *positive,
        Val::Const(number, _) => *number >= 0,
        Val::Bool(_) => true,
        _ => false,
    }
}

/// An operator on constants.
pub(crate) fn fold(operator: &str, a: i128, b: i128) -> Option<i128> {
    Some(match operator {
        "+" => a.checked_add(b)?,
        "-" => a.checked_sub(b)?,
        "*" => a.checked_mul(b)?,
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
        ">>" => a.checked_shr(u32::try_from(b).ok()?)?,
        "==" => i128::from(a == b),
        "!=" => i128::from(a != b),
        "<" => i128::from(a < b),
        ">" => i128::from(a > b),
        "<=" => i128::from(a <= b),
        ">=" => i128::from(a >= b),
        _ => return None,
    })
}

/// A constant as an integer type holds it.
pub(crate) fn wrap(number: i128, int: &str) -> i128 {
    match int {
        "u32" => i128::from(number as u32),
        "u64" | "usize" => i128::from(number as u64),
        "u8" => i128::from(number as u8),
        "u16" => i128::from(number as u16),
        "i32" => i128::from(number as i32),
        "i64" | "isize" => i128::from(number as i64),
        _ => number,
    }
}
