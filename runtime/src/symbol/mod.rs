//! Symbolic numbers: expressions over inputs, their simplification, and conditions on them that are checked without Python.
//!
//! In: operations on integers and floats. Out: interned expressions, decided or open comparisons, formulas over `i64` and `f64`.
//! It must not know Python objects, sources or the tracer.
mod bounds;
mod division;
mod expression;
mod floats;
mod formula;
mod functions;
mod ids;
mod layout;
mod number;
mod operation;
mod operation_names;
mod power;
mod relation;
mod sizes;
mod split;
mod stored;
mod sum;

pub use expression::{Expressions, Kind};
pub use floats::SymbolicFloat;
pub use formula::Formula;
pub use functions::Function;
pub use ids::{ExpressionId, Symbol};
pub use layout::{Layout, Stride, SymbolicLayout, follow};
pub use number::{Comparison, Number};
pub use operation::Operation;
pub use relation::{Condition, Cut, Decision, Relation};
pub use sizes::{SizeArithmetic, SymbolicSize};
pub use split::Split;
