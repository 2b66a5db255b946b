//! A function of C as Rust, or why it is none.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::TokenStream;

use crate::lower::Function;
use crate::translate::world::Convention;

/// A function left out.
#[derive(Debug, Clone)]
pub struct Left {
    /// Its name.
    pub name: String,
    /// The C file whose function it is.
    pub unit: String,
    /// File of the construct.
    pub file: String,
    /// One-based line of the construct.
    pub line: u32,
    /// The construct.
    pub construct: String,
}

/// A translated function.
pub struct Translated {
    pub(crate) function: Rc<Function>,
    pub(crate) convention: Convention,
    pub(crate) body: TokenStream,
    pub(crate) params: Vec<String>,
    /// Functions that it calls.
    pub calls: BTreeSet<String>,
}

impl Translated {
    /// Its C name.
    pub fn name(&self) -> &str {
        &self.function.name
    }
    /// Its C file.
    pub fn file(&self) -> &str {
        &self.function.file
    }
    /// Whether it is `static` in C.
    pub fn is_static(&self) -> bool {
        self.function.is_static
    }
    /// The names of its parameters behind `c`.
    pub fn parameters(&self) -> &[String] {
        &self.params
    }
    /// The Rust of its body.
    pub fn body(&self) -> &TokenStream {
        &self.body
    }
}
