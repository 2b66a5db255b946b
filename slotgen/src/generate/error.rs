//! Why nothing was generated.

use crate::diagnostics::{Diagnostics, Severity};
use crate::effects::LeafError;
use crate::emit;
use crate::preprocess::ConfigurationError;
use crate::source::SourceError;

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The tree is of another release.
    #[error("the sources are CPython {found}, but {wanted} was asked for; give the sources of a {wanted} release")]
    Release {
        /// The series asked for.
        wanted: String,
        /// The release found.
        found: String,
    },
    /// Rust is made of releases together, and the sources of one are not there.
    #[error("Rust is made of CPython {} together, and the sources of {missing} are missing", wanted.join(", "))]
    Missing {
        /// The series that Rust is made of.
        wanted: Vec<String>,
        /// The one without sources.
        missing: String,
    },
    /// The sources were not understood.
    #[error("{} of the sources of CPython {release} not understood:\n{text}", places(diagnostics))]
    Sources {
        /// The release.
        release: String,
        /// All findings.
        diagnostics: Diagnostics,
        /// The findings with the lines they are about.
        text: String,
    },
    /// The headers could not be read.
    #[error(transparent)]
    Unreadable(#[from] SourceError),
    /// A committed facts file cannot be read.
    #[error("{path}: {reason}; restore it from version control")]
    Facts {
        /// The file, relative to `generated/`.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The build configuration does not exist for this release.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The reviewed table of effects is wrong.
    #[error(transparent)]
    Effects(#[from] LeafError),
    /// A template failed.
    #[error(transparent)]
    Render(#[from] emit::RenderError),
    /// Releases disagree.
    #[error(transparent)]
    Table(#[from] emit::TableError),
    /// Function bodies could not be translated at all.
    #[error("translation: {0}")]
    Translation(String),
    /// `generated/` could not be read or replaced.
    #[error(transparent)]
    Write(#[from] emit::WriteError),
}

fn places(diagnostics: &Diagnostics) -> String {
    match diagnostics.iter().filter(|found| found.severity == Severity::Error).count() {
        1 => "1 place".to_owned(),
        count => format!("{count} places"),
    }
}
