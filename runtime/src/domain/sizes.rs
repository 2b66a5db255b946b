//! What programs say of sizes.

/// What a program says of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeMark {
    /// It is symbolic from the first trace on.
    Symbolic {
        /// What it is at least.
        least: Option<i64>,
        /// What it is at most.
        most: Option<i64>,
    },
    /// It is never symbolic.
    Constant,
}

impl SizeMark {
    /// Whether the mark lets a size be symbolic that is this now.
    #[must_use]
    pub fn admits(self, size: i64) -> bool {
        match self {
            Self::Symbolic { least, most } => {
                least.is_none_or(|least| least <= size) && most.is_none_or(|most| size <= most)
            }
            Self::Constant => false,
        }
    }
}
