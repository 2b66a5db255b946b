//! What the tracer models by hand, for audits.

/// Functions of `builtins` with a hand-written model, each with the C function that it stands for, and Python functions folded by name.
#[must_use]
pub fn models() -> Vec<(&'static str, &'static str)> {
    super::call::models()
}
