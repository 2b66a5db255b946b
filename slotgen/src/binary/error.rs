//! Why a library could not be read.

use crate::diagnostics::Diagnostics;

/// Why a library could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// It is no ELF file, or a damaged one.
    #[error(
        "the library is malformed or truncated: {0}\n  help: name libpython3.X.so or libpython3.X.a of a CPython for Linux, x86-64"
    )]
    Malformed(String),
    /// It is for another system or processor.
    #[error(
        "the library is {found}, not ELF for x86-64\n  help: name libpython3.X.so or libpython3.X.a of a CPython for Linux, x86-64"
    )]
    Foreign {
        /// What it is.
        found: String,
    },
    /// It has no names for its static functions and tables.
    #[error(
        "the library has no symbols for its static tables\n  help: give the file of separate symbols (usr/lib/debug/.build-id), or the unstripped library or archive"
    )]
    Stripped,
    /// It has symbols, but no `slotdefs`.
    #[error(
        "the library has no table `slotdefs`\n  help: name libpython3.X.so or libpython3.X.a, not an extension module"
    )]
    NoSlotdefs,
    /// The headers do not say how the tables are laid out.
    #[error("the headers do not tell the layout of the types:\n{0}")]
    Headers(Diagnostics),
    /// A file cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// Its path.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// It is larger than any CPython.
    #[error("the library has more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

impl BinaryError {
    pub(super) fn malformed(error: object::Error) -> BinaryError {
        BinaryError::Malformed(error.to_string())
    }
}
