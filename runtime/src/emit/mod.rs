//! From a finished trace to code: the call of the graph, side effects, materialised values, and how the frame goes on.
//!
//! In: the code of a frame and the outcome of its trace. Out: a function that runs the frame, its guards, its graph.
//! It must not know the tracer: it reads one `Outcome`.
mod allocate;
mod assemble;
mod deoptimise;
mod eager;
mod emit_frame;
mod failure;
mod fill;
mod forks;
mod frame_end;
mod frame_packet;
mod frame_state;
mod function_like;
mod graph_call;
mod graph_io;
mod host;
mod liveness;
mod locks;
mod materialise;
mod native_stretch;
mod numbers;
mod prologue;
mod rebuild;
mod reraise;
mod side_effects;
mod sources;
mod undo;
mod writer;

pub use deoptimise::{WrongGuess, read_failure, write_failure};
pub use emit_frame::{EmittedCode, begin, emit, guard_of};
pub use failure::Failure;
pub use function_like::function_like;
pub use host::{CompiledGraph, Host};
pub use native_stretch::{emit_native_stretch, is_native_stretch};
pub use prologue::TracedFrame;
pub use rebuild::{GraphForBackend, GraphInput, Rebuild};
pub use undo::{read_save, write_save};
