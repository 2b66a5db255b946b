//! Layouts of releases that are known by the headers of an installation alone.

#[rustfmt::skip]
pub mod v3_11;
#[rustfmt::skip]
pub mod v3_12;
