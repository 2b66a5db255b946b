//! Translates C function bodies into Rust that is generic over the vocabulary `CApi`.

mod assigned;
mod calls;
mod code;
mod contracts;
pub(crate) mod ctype;
mod driver;
mod eval;
mod guards;
pub(crate) mod ir;
pub(crate) mod lower;
mod lower_expr;
mod operators;
mod paths;
mod print;
mod render;
mod shape;
mod value;
mod value_join;
mod world;

pub use driver::{Left, Translated, Translation, translate};
pub use render::{Output, capi, files, release_files};

/// The C files whose functions are translated.
pub const UNITS: &[&str] =
    &["Objects/abstract.c", "Objects/boolobject.c", "Objects/dictobject.c", "Objects/object.c", "Objects/typeobject.c"];
