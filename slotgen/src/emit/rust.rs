//! C integer expressions as Rust text over `i32`.

use crate::facts::Expression;

/// Operators that bind an operand tightly enough to need no parentheses around a word.
fn operand(expression: &Expression) -> String {
    match expression {
        Expression::Integer(value) if *value >= 0 => value.to_string(),
        Expression::Name(name) => name.clone(),
        other => format!("({})", integer(other)),
    }
}

/// The expression as a Rust expression of an integer type.
pub(super) fn integer(expression: &Expression) -> String {
    match expression {
        Expression::Integer(value) => value.to_string(),
        Expression::Name(name) => name.clone(),
        Expression::Unary("-", inner) => format!("-{}", operand(inner)),
        Expression::Unary("~", inner) => format!("!{}", operand(inner)),
        Expression::Binary(operator, left, right) if !is_test(operator) => {
            format!("{} {operator} {}", operand(left), operand(right))
        }
        Expression::Conditional(condition, yes, no) => {
            format!("if {} {{ {} }} else {{ {} }}", test(condition), integer(yes), integer(no))
        }
        other => format!("i32::from({})", test(other)),
    }
}

/// The expression as a Rust expression of type `bool`.
fn test(expression: &Expression) -> String {
    match expression {
        Expression::Unary("!", inner) => format!("!({})", test(inner)),
        Expression::Binary(operator @ ("&&" | "||"), left, right) => {
            format!("({}) {operator} ({})", test(left), test(right))
        }
        Expression::Binary(operator, left, right) if is_test(operator) => {
            format!("{} {operator} {}", operand(left), operand(right))
        }
        other => format!("{} != 0", operand(other)),
    }
}

fn is_test(operator: &str) -> bool {
    matches!(operator, "&&" | "||" | "==" | "!=" | "<" | ">" | "<=" | ">=")
}

#[cfg(test)]
mod tests {
    #[test]
    fn c_truth_becomes_bool() {
        let rust = |text: &str| super::integer(&text.parse().unwrap());
        assert_eq!(rust("2 + (oparg-1)"), "2 + (oparg - 1)");
        assert_eq!(rust("2 + ((oparg == 3) ? 1 : 0)"), "2 + (if oparg == 3 { 1 } else { 0 })");
        assert_eq!(rust("(oparg & 1) ? 1 : 0"), "if (oparg & 1) != 0 { 1 } else { 0 }");
        assert_eq!(rust("oparg > 2"), "i32::from(oparg > 2)");
    }
}
