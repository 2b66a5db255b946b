//! Lowers C function bodies and declarations to a small tree.
//!
//! In: C text that tree-sitter reads. Out: functions as `ir` trees, `Declarations`, the layout of structs.
//! Nodes of the parser do not leave this room; it knows nothing of Rust, of slots, or of what its readers look for.

mod ctype;
mod declarations;
mod expression;
mod headers;
mod ir;
mod layout;
mod macros;
mod references;
mod statements;
mod structs;
mod text;
mod usage;

pub use ctype::{CType, Known, integer, is_place, is_pointer, suite_field};
pub(crate) use declarations::Declarations;
pub(crate) use headers::declarations;
pub use ir::{Expr, Function, Kind, Param, Signature, Stmt, statements};
pub(crate) use macros::{casts, function_macros, rich_comparison, substitute};
pub(crate) use text::{Text, parse};
pub(crate) use usage::{handed_on, in_expr, in_stmt, indexed, is_parser};
