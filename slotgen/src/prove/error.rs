//! Why an interpreter could not be compared.

/// Why an interpreter could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The interpreter did not start.
    #[error("{0}: cannot be started: {1}")]
    Start(String, String),
    /// The interpreter gave up.
    #[error("{0}: reading its types failed:\n{1}")]
    Run(String, String),
    /// What it printed is not understood.
    #[error("{0}: its answer is not understood: {1}")]
    Answer(String, String),
    /// A mapped file cannot be read.
    #[error("{0}: {1}")]
    File(String, String),
    /// The table of reviewed exceptions cannot be read.
    #[error("data/exceptions.toml: {0}")]
    Exceptions(String),
    /// The interpreter is of another series.
    #[error("{0} is CPython {1}, but the facts are those of {2}; give an interpreter of the same series")]
    Release(String, String, String),
}
