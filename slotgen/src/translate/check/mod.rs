//! Looks through rendered functions for what Rust's compiler would refuse: types that do not fit, and names that nobody defines.
//!
//! In: functions as Rust, with the heads of the functions and methods that they may call. Out: why a function cannot stand as it
//! is. It is stricter than nothing and never stricter than the compiler: what it does not know, it lets pass.

mod body;
mod calls;
mod fits;
mod heads;
mod kinds;
mod operators;
#[cfg(test)]
mod tests;

pub(crate) use body::Function;
pub(crate) use heads::Heads;
