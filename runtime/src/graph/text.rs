//! Callables and values in words.
use pyo3::prelude::*;

/// How a target is written: `module.name` where it has them.
pub fn target(target: &Bound<'_, PyAny>) -> PyResult<String> {
    let of = |name: &str| target.getattr(name).ok().and_then(|value| value.extract::<String>().ok());
    match (of("__module__"), of("__qualname__").or_else(|| of("__name__"))) {
        (Some(module), Some(name)) => Ok(format!("{}.{name}", module.trim_start_matches('_'))),
        (None, Some(name)) => Ok(name),
        _ => Ok(target.str()?.to_string()),
    }
}

/// A value in at most forty characters.
pub fn short(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.repr()?.to_string();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(match line.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    })
}
