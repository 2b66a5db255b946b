//! The rule about circles: the entries of a folder (its files, and each sub-folder as one) form none.
//!
//! In: the checkout's files. Out: a finding for each folder with a circle, or all arrows that take part in one.
//! The stages, in order: `load` follows `mod` lines, `read` collects what a module defines and mentions,
//! `resolve` finds the file that defines a mentioned name, `folders` looks for circles, `report` words them.
//! It knows Rust's names and files, nothing of this project but where its crates begin.
mod folders;
mod load;
mod modules;
mod read;
mod report;
mod resolve;
#[cfg(test)]
mod tests;

pub use report::{check, list};
