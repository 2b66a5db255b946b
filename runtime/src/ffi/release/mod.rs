//! What differs between releases in CPython's memory and calls.
//!
//! In: the release that the crate is built for. Out: the same names for every release, each from that release's file.
//! It must not know what the rooms above do with frames.
#[cfg(not(Py_3_13))]
mod argument_transfer;
mod evaluator;
#[cfg(not(Py_3_13))]
mod pending;
mod reference;
mod unhooked;
#[cfg(not(Py_3_12))]
mod v3_11;
#[cfg(all(Py_3_12, not(Py_3_13)))]
mod v3_12;
#[cfg(all(Py_3_13, not(Py_3_14)))]
mod v3_13;
#[cfg(Py_3_14)]
mod v3_14;
#[cfg(Py_3_15)]
mod v3_15;

pub(super) use evaluator::{
    _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
pub use reference::Reference;
pub(super) use unhooked::call_unhooked;
#[cfg(not(Py_3_12))]
pub(crate) use v3_11::*;
#[cfg(all(Py_3_12, not(Py_3_13)))]
pub(crate) use v3_12::*;
#[cfg(all(Py_3_13, not(Py_3_14)))]
pub(crate) use v3_13::*;
#[cfg(all(Py_3_14, not(Py_3_15)))]
pub(crate) use v3_14::*;
#[cfg(Py_3_15)]
pub(crate) use v3_15::*;
