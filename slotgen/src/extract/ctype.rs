//! C types as a tree of their own, so that layouts and prototypes need no syntax nodes.

use std::fmt;

/// A C type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CType {
    /// A primitive, a typedef, or a tagged type such as `struct _ts`, without qualifiers.
    Named(String),
    /// The same with `const`.
    Const(Box<CType>),
    /// A pointer.
    Pointer(Box<CType>),
    /// An array and the text of its length.
    Array(Box<CType>, String),
    /// A function.
    Function(Box<CType>, Vec<Parameter>),
    /// A struct or union defined in place.
    Aggregate(Box<Aggregate>),
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub ty: CType,
    pub name: Option<String>,
}

/// A struct or union.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Aggregate {
    pub is_union: bool,
    pub fields: Vec<Field>,
}

/// A field; without a name if it is an anonymous struct or a padding bit-field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub name: Option<String>,
    pub ty: CType,
    /// Width of a bit-field.
    pub bits: Option<String>,
}

impl CType {
    pub(super) fn named(name: &str) -> Self {
        Self::Named(name.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Const(inner) => match inner.as_ref() {
                Self::Pointer(_) => write!(f, "{inner}const"),
                _ => write!(f, "const {inner}"),
            },
            Self::Pointer(inner) => match inner.as_ref() {
                Self::Pointer(_) => write!(f, "{inner}*"),
                Self::Function(returns, parameters) => {
                    write!(f, "{returns} (*)(")?;
                    list(f, parameters)?;
                    f.write_str(")")
                }
                _ => write!(f, "{inner} *"),
            },
            Self::Array(inner, length) => write!(f, "{inner}[{length}]"),
            Self::Function(returns, parameters) => {
                write!(f, "{returns} (")?;
                list(f, parameters)?;
                f.write_str(")")
            }
            Self::Aggregate(aggregate) => f.write_str(if aggregate.is_union { "union" } else { "struct" }),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, parameters: &[Parameter]) -> fmt::Result {
    for (i, parameter) in parameters.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{}", parameter.ty)?;
    }
    Ok(())
}
