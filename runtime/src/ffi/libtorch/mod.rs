//! What PyTorch's own functions of C and C++ tell of tensors and modes, in words: guards look at these at each call.
//!
//! In: tensors of an exact class, the running thread. Out: words to compare. Where a function is not there, there are no words: then PyTorch is
//! asked in Python. It must not know guards.
mod contents;
mod functions;
pub mod modes;
mod quiet;
mod tensor;

pub use contents::{address, all_integers, contents};
pub use modes::ModeWords;
pub use quiet::Quiet;
pub use tensor::{TensorPlaces, TensorWords, has_history_when_asked};
