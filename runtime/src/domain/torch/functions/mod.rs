//! Functions of PyTorch's that are no plain operations: they run natively, are gone through as a whole, call functions of the program,
//! transform them, walk gradients, or say what a class is.
pub(super) mod after;
pub(super) mod allowed;
pub(super) mod backward;
pub(super) mod compilers;
pub(super) mod context_modes;
pub(super) mod device_modes;
pub(super) mod devices;
pub(super) mod enums;
pub(super) mod gradients;
pub(super) mod higher_order;
pub(super) mod kinds;
pub(super) mod leaves;
pub(super) mod module_calls;
pub(super) mod natives;
pub(super) mod outputs;
mod overloads;
pub(super) mod random_state;
pub(super) mod rehearsals;
mod replaced;
mod replay;
pub(super) mod settings;
pub(super) mod training;
pub(super) mod transforms;
pub(super) mod type_names;
mod warnings;
pub(super) mod wholes;
