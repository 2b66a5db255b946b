//! JSON in which every row of a table is one line, so that a difference between releases reads well.

use serde_json::Value;

/// Writes a document: fields of objects and rows of tables a line each, the rows themselves compact.
pub(super) fn rows(document: &Value) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    write(document, 0, &mut text)?;
    text.push('\n');
    Ok(text)
}

fn write(value: &Value, depth: usize, text: &mut String) -> Result<(), serde_json::Error> {
    match value {
        Value::Object(fields) => {
            for (i, (name, field)) in fields.iter().enumerate() {
                line(text, if i == 0 { "{" } else { "," }, depth + 1);
                text.push_str(&serde_json::to_string(name)?);
                text.push_str(": ");
                write(field, depth + 1, text)?;
            }
            line(text, if fields.is_empty() { "{" } else { "" }, depth);
            text.push('}');
        }
        Value::Array(elements) if elements.iter().any(Value::is_object) => {
            for (i, element) in elements.iter().enumerate() {
                line(text, if i == 0 { "[" } else { "," }, depth + 1);
                text.push_str(&serde_json::to_string(element)?);
            }
            line(text, "", depth);
            text.push(']');
        }
        other => text.push_str(&serde_json::to_string(other)?),
    }
    Ok(())
}

fn line(text: &mut String, before: &str, depth: usize) {
    text.push_str(before);
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}
