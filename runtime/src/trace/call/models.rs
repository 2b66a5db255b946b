//! What the tracer models by hand, for audits.
use super::{builtins, folded};
use crate::trace::process::settings;

/// Functions of C with a hand-written model, as module and name, and Python functions that are folded by name.
#[must_use]
pub fn models() -> Vec<(&'static str, &'static str)> {
    let folded = folded::FOLDED.iter().map(|(module, name, _)| (*module, *name));
    let set = settings::SETTINGS.iter().map(crate::trace::state::process::Setting::names);
    builtins::MODELLED.iter().copied().chain(folded).chain(set).collect()
}
