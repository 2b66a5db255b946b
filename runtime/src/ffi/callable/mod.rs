//! `CompiledFunction`: a callable whose C-level vectorcall asks a Rust dispatcher which function to run.
//!
//! In: a Python function and a dispatcher. Out: an object that behaves like the function, and runs continuations until none follows.
//! It must not know what the dispatcher checks or compiles.
mod argument_binder;
mod call;
mod callers;
mod compiled_function;
mod dispatch;
mod frame_packet;
mod heap_type;
mod native_call;
mod slots;
mod suspended_frame;

pub use call::{active, as_compiled, follow, is_compiled, is_packet, new, wrapped};
pub use callers::{caller, keyword_caller, referent};
pub use dispatch::{Choice, Dispatch};
pub use frame_packet::mark;
pub use native_call::{called_natively, is_running as runs_natively, native_call, natively};
pub use slots::{class, with_dispatch};
pub use suspended_frame::{is_suspended, suspended};
