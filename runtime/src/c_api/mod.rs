//! The C API: the functions of `slotrt.h`.
//!
//! In: pointers, handles and callbacks of a host in C or C++. Out: codes, texts of errors, and what the Python API gives, by which it is done.
//! Every function checks the process, the thread and the handle before it touches an object. `unsafe` may stand here, for pointers that come
//! from C. It must not know how a trace is made or code is emitted.
mod callback;
mod compiling;
mod entry;
mod error;
mod frames;
mod graph;
mod library;
mod lifecycle;
mod package;
mod report;
mod runtime;
mod statistics;
mod text;

pub use compiling::*;
pub use error::*;
pub use frames::*;
pub use graph::*;
pub use library::*;
pub use lifecycle::*;
pub use package::provide;
pub use report::*;
pub use runtime::slotrt_runtime;
pub use statistics::*;

/// The codes of both headers.
#[path = "../../../generated/tables/src/status.rs"]
#[allow(non_camel_case_types, unused_imports)]
mod status;
