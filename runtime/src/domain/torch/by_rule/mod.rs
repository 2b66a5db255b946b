//! Operations that a rule of shapes knows: their operands as the rules see them, and what the rules say as an answer to the tracer.
//!
//! In: a call of an operation. Out: the node with its example, or that no rule is sure.
//! It must not know the tracer.
pub(super) mod answers;
pub(super) mod relaid;
pub(super) mod ruled;
