//! Predicts what every slot of every type holds once `PyType_Ready` has run, from the tables alone.
//!
//! In: facts. Out: the same facts with the slots that types inherit. It knows neither files nor Rust.

mod by_code;
mod link;
mod ready;

pub use link::{inherit, link};
