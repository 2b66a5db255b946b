//! What the tracer models by hand, for audits.

/// Functions of `builtins` with a hand-written model, each with the C function that it stands for.
#[must_use]
pub fn models() -> &'static [(&'static str, &'static str)] {
    super::call::models()
}
