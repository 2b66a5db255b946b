//! Hand-written façade over what slotgen wrote.

#[rustfmt::skip]
pub mod capi;
pub mod opcodes;
#[rustfmt::skip]
pub mod slots;
pub mod tables;
#[rustfmt::skip]
pub mod v3_13;
