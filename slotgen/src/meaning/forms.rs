//! Texts and branches in the one form that they have.

use quote::ToTokens;
use syn::Lit;

use super::normal::Step;

/// Texts longer than this are told by their digest.
const LONGEST: usize = 1500;

/// A branch whose condition is no negation.
pub(super) fn branch(condition: String, yes: Vec<Step>, no: Vec<Step>) -> Step {
    match condition.strip_prefix('!') {
        Some(positive) => Step::Branch { condition: positive.to_owned(), yes: no, no: yes },
        None => Step::Branch { condition, yes, no },
    }
}

pub(super) fn not(text: &str) -> String {
    text.strip_prefix('!').map_or_else(|| format!("!{text}"), str::to_owned)
}

/// Equality has no sides.
pub(super) fn equal(one: String, other: String) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    format!("({first} == {second})")
}

pub(super) fn literal(lit: &Lit) -> String {
    match lit {
        Lit::Int(number) => number.base10_digits().to_owned(),
        Lit::Float(number) => number.base10_digits().to_owned(),
        other => other.to_token_stream().to_string(),
    }
}

pub(super) fn shortened(text: String) -> String {
    if text.len() <= LONGEST { text } else { format!("#{}", super::digest::short(&text)) }
}
