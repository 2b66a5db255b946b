//! What operations on tensors give, worked out from the metadata of their operands: shapes, strides, types, views.
//!
//! In: a name and arguments. Out: the metadata of the result, or `Unsure`; then PyTorch is asked. Sizes are constants or symbols.
//! It must not know Python: errors have the words that PyTorch itself finds for them.
mod arguments;
mod dtype;
mod iterator;
mod result;
mod rules;
mod size;
mod table;
mod tensor;

pub use arguments::{Argument, Modes};
pub use dtype::Dtype;
pub use result::Container;
pub use rulebook::{Answer, Rulebook};
pub use size::Size;
pub use tensor::{MemoryFormat, Sizes, Tensor};
mod rulebook;
