//! Obtains what the commands need and caches it: interpreters, environments, CPython sources.
pub mod apt;
pub mod archive;
pub mod compiled;
pub mod interpreter;
pub mod python_org;
pub mod releases;
pub mod sources;
pub mod torch;
pub mod venv;

pub use interpreter::Interpreter;
