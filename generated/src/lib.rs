//! Hand-written façade over what slotgen wrote.

// Generated code mirrors C line by line and table by table; lints of style would make it a worse mirror.
#![allow(clippy::all)]

pub mod buffers;
pub mod calls;
#[rustfmt::skip]
pub mod capi;
pub mod effects;
pub mod layouts;
pub mod members;
pub mod opcodes;
#[rustfmt::skip]
pub mod slots;
pub mod tables;
#[rustfmt::skip]
pub mod v3_11;
#[rustfmt::skip]
pub mod v3_13;
