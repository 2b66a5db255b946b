//! The way from a tree to a rendered release.

use super::files::rendered;
use super::fitting::{told, translate};
use super::rendered::Rendered;
use crate::diagnostics::Diagnostics;
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use crate::translate::units::UNITS;
use crate::translate::world::{Elsewhere, Vocabulary};

/// Translates a release and renders it; what was left out comes as warnings.
pub fn release(tree: &Tree, configuration: &Configuration, elsewhere: Elsewhere) -> Result<Output, String> {
    let pre = Preprocessor::new(tree, configuration).map_err(|error| error.to_string())?;
    let mut diagnostics = Diagnostics::default();
    let units = UNITS;
    let translation = translate(tree, &pre, units, elsewhere, &mut diagnostics)?;
    diagnostics.extend(told(&translation));
    let (rendered, vocabulary) = rendered(&translation)?;
    Ok(Output { rendered, diagnostics, vocabulary })
}

/// What a translation gives to the driver.
pub struct Output {
    /// Functions and tables as text.
    pub rendered: Rendered,
    /// Findings about the sources.
    pub diagnostics: Diagnostics,
    /// What the release asks of its world.
    pub vocabulary: Vocabulary,
}
