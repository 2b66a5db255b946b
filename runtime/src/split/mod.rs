//! Splitting a code object at any instruction: it runs natively there, then the frame is transferred to a continuation.
//!
//! In: code, an instruction, the state before it. Out: code that returns a *frame packet* `(continuation, mark, survivors, *arguments)`
//! after the instruction, and the continuations (resume functions). The receiver of a packet calls the continuation: the frame is
//! replaced, so that a break in a loop costs no stack. A generator keeps its frame, and delegates to a generator that continues it.
//! NULLs, unbound variables and the handled exception are packed by bytecode alone. Survivors are frame objects that outlive their frames.
//! It must not know values, graphs or guards.
mod async_generator;
mod block;
mod constants;
mod continuation;
mod delegate;
mod frame_packet;
mod helpers;
pub(crate) mod interrupts;
mod metadata;
mod packet_layout;
mod refusal;
mod release;
mod rest;
mod resume_function;
mod split_code;
mod stored;
mod transfer;

pub use constants::TransferConstants;
pub use continuation::{Continuation, Exit, Key, Split};
pub use frame_packet::{FramePacket, PacketPart, frame_packet};
pub(crate) use metadata::{ResumeMetadata, metadata_in, root_of};
pub use refusal::Refusal;
pub(crate) use split_code::split_any;
pub use split_code::{split, transfer_at_start};
pub use stored::{frame_digest, root_code};
