//! Types of Rust as far as translated functions have them.

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ty {
    /// Nothing is known of it, or it does not matter.
    Unknown,
    /// No value: the expression does not end.
    Never,
    /// `()`.
    Unit,
    /// `bool`.
    Bool,
    /// An integer type by name.
    Int(String),
    /// An integer literal that fits every integer type.
    AnyInt,
    /// `f64`.
    Double,
    /// A float literal.
    AnyDouble,
    /// `str`.
    Str,
    /// Another type by its last name: `Object`, `Function`, `Error`, `String`, …
    Named(String),
    /// `Option<T>`.
    Option(Box<Ty>),
    /// `Result<T, C::Error>`.
    Result(Box<Ty>),
    /// `Vec<T>`.
    Vec(Box<Ty>),
    /// `[T]` or `[T; N]`.
    Slice(Box<Ty>),
    /// `&T`.
    Ref(Box<Ty>),
    /// `&mut T`.
    Mut(Box<Ty>),
    /// `(A, B)`.
    Tuple(Vec<Ty>),
}

const INTEGERS: [&str; 12] = ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

impl Ty {
    /// A type as it is written.
    pub(crate) fn written(text: &str) -> Self {
        syn::parse_str::<syn::Type>(text).map_or(Self::Unknown, |ty| Self::of(&ty))
    }

    pub(super) fn of(ty: &syn::Type) -> Self {
        let boxed = |ty: &syn::Type| Box::new(Self::of(ty));
        match ty {
            syn::Type::Reference(inner) if inner.mutability.is_some() => Self::Mut(boxed(&inner.elem)),
            syn::Type::Reference(inner) => Self::Ref(boxed(&inner.elem)),
            syn::Type::Slice(inner) => Self::Slice(boxed(&inner.elem)),
            syn::Type::Array(inner) => Self::Slice(boxed(&inner.elem)),
            syn::Type::Paren(inner) => Self::of(&inner.elem),
            syn::Type::Tuple(inner) if inner.elems.is_empty() => Self::Unit,
            syn::Type::Tuple(inner) => Self::Tuple(inner.elems.iter().map(Self::of).collect()),
            syn::Type::Path(path) => path.path.segments.last().map_or(Self::Unknown, Self::segment),
            _ => Self::Unknown,
        }
    }

    fn segment(last: &syn::PathSegment) -> Self {
        let inner = || match &last.arguments {
            syn::PathArguments::AngleBracketed(all) => {
                let first = all.args.iter().find_map(|one| match one {
                    syn::GenericArgument::Type(ty) => Some(Self::of(ty)),
                    _ => None,
                });
                Box::new(first.unwrap_or(Self::Unknown))
            }
            _ => Box::new(Self::Unknown),
        };
        match last.ident.to_string().as_str() {
            "bool" => Self::Bool,
            "f64" => Self::Double,
            "str" => Self::Str,
            "Option" => Self::Option(inner()),
            "Result" => Self::Result(inner()),
            "Vec" => Self::Vec(inner()),
            "_" => Self::Unknown,
            name if INTEGERS.contains(&name) => Self::Int(name.to_owned()),
            name => Self::Named(name.to_owned()),
        }
    }

    pub(super) fn named(name: &str) -> Self {
        Self::Named(name.to_owned())
    }

    /// Whether something of it is not known.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Unknown | Self::Never)
    }

    /// Without references.
    pub(super) fn bare(&self) -> &Self {
        match self {
            Self::Ref(inner) | Self::Mut(inner) => inner.bare(),
            other => other,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::AnyInt | Self::Double | Self::AnyDouble)
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => write!(f, "_"),
            Self::Never => write!(f, "!"),
            Self::Unit => write!(f, "()"),
            Self::Bool => write!(f, "bool"),
            Self::Int(name) | Self::Named(name) => write!(f, "{name}"),
            Self::AnyInt => write!(f, "integer"),
            Self::Double => write!(f, "f64"),
            Self::AnyDouble => write!(f, "float"),
            Self::Str => write!(f, "str"),
            Self::Option(inner) => write!(f, "Option<{inner}>"),
            Self::Result(inner) => write!(f, "Result<{inner}>"),
            Self::Vec(inner) => write!(f, "Vec<{inner}>"),
            Self::Slice(inner) => write!(f, "[{inner}]"),
            Self::Ref(inner) => write!(f, "&{inner}"),
            Self::Mut(inner) => write!(f, "&mut {inner}"),
            Self::Tuple(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "({})", all.join(", "))
            }
        }
    }
}
