//! Translates C function bodies into Rust that is generic over the vocabulary `CApi`.

mod assign;
mod assigned;
mod buffers;
mod calls;
mod capi;
mod code;
mod contracts;
mod coverage;
pub(crate) mod ctype;
mod driver;
mod eval;
mod guards;
mod integers;
pub(crate) mod ir;
mod layout;
pub(crate) mod lower;
mod lower_expr;
mod lower_struct;
mod macros;
mod operators;
mod parsing;
mod paths;
mod places;
mod print;
mod render;
mod render_ask;
mod render_calls;
mod render_dispatch;
mod render_members;
mod rendered;
mod shape;
#[cfg(test)]
mod tests;
mod value;
mod value_join;
mod vocabulary;
mod world;

pub use capi::capi;
pub use coverage::{Share, shares};
pub use driver::{Left, Translated, Translation, translate};
pub use render::{Output, release, rendered};
pub use rendered::{Arm, Dispatcher, Function, Head, Rendered, Unit};
pub use vocabulary::{Elsewhere, Method, Vocabulary};

/// The C files whose functions are translated.
pub const UNITS: &[&str] = &[
    "Objects/abstract.c",
    "Objects/boolobject.c",
    "Objects/bytearrayobject.c",
    "Objects/bytesobject.c",
    "Objects/call.c",
    "Objects/cellobject.c",
    "Objects/classobject.c",
    "Objects/complexobject.c",
    "Objects/descrobject.c",
    "Objects/dictobject.c",
    "Objects/enumobject.c",
    "Objects/floatobject.c",
    "Objects/funcobject.c",
    "Objects/genericaliasobject.c",
    "Objects/iterobject.c",
    "Objects/listobject.c",
    "Objects/longobject.c",
    "Objects/methodobject.c",
    "Objects/moduleobject.c",
    "Objects/namespaceobject.c",
    "Objects/object.c",
    "Objects/rangeobject.c",
    "Objects/setobject.c",
    "Objects/sliceobject.c",
    "Objects/structseq.c",
    "Objects/tupleobject.c",
    "Objects/typeobject.c",
    "Objects/unicodeobject.c",
    "Objects/unionobject.c",
    "Objects/weakrefobject.c",
];
