//! Functions of PyTorch's that are no plain operations: they run natively, are gone through as a whole, call functions of the program, or
//! transform them.
pub(super) mod compilers;
pub(super) mod higher_order;
pub(super) mod natives;
pub(super) mod rehearsals;
pub(super) mod transforms;
pub(super) mod wholes;
