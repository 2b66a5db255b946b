//! Initialisers laid against the fields of their struct.

use super::value::{Entry, Value};

/// Pairs positional and designated entries with field names; entries beyond the last field go to `surplus`.
pub(super) fn by_field<'v>(
    entries: &'v [Entry],
    fields: &[&str],
    surplus: &mut Vec<&'v Entry>,
) -> Vec<(String, &'v Entry)> {
    let mut next = 0;
    let mut found = Vec::new();
    for entry in entries {
        if let Some(designator) = &entry.designator {
            match fields.iter().position(|field| field == designator) {
                Some(position) => next = position,
                None => {
                    surplus.push(entry);
                    continue;
                }
            }
        }
        match fields.get(next) {
            Some(field) => found.push(((*field).to_owned(), entry)),
            None => surplus.push(entry),
        }
        next += 1;
    }
    found
}

/// The names joined by `|` in a flags expression; parentheses do not count, 0 is no flag.
pub(super) fn flags(value: &Value) -> Vec<String> {
    let text = match value {
        Value::Name(name) => name.clone(),
        Value::Other(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        _ => return Vec::new(),
    };
    let words = text.split('|').map(|word| word.trim().trim_matches(['(', ')']).trim());
    words.filter(|word| !word.is_empty() && *word != "0").map(str::to_owned).collect()
}

/// The value as C text.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "0".to_owned(),
        Value::Name(name) => name.clone(),
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Offset(ty, member) => format!("offsetof({ty}, {member})"),
        Value::Other(text) => text.clone(),
        Value::List(_) => "{}".to_owned(),
    }
}
