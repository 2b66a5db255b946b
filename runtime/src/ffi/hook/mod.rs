//! The evaluation hook (PEP 523), and interception of frames while C code runs for a trace.
//!
//! In: a frame handler, or an interceptor. Out: for each fresh frame what that decides: run, replace, call, or a result.
//! It must not know why a handler decides as it does.
mod argument_transfer;
mod chain;
mod empty;
mod evaluation;
mod handler;
mod interception;
mod result;

pub use empty::set_empty;
pub use evaluation::{check, forget, install, is_installed, uninstall};
pub use handler::{Action, FrameHandler};
pub use interception::{Interceptor, intercept};
