//! Numbers, and how they compare: exactly, as Python compares integers with floats.

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer of 64 bits.
    Integer(i64),
    /// A float.
    Float(f64),
}

/// Integers up to this are floats, too.
const EXACT: u64 = 1 << 53;

impl Number {
    /// As a float, where that is the number itself.
    pub(super) fn exact(self) -> Option<f64> {
        match self {
            Self::Integer(value) => (value.unsigned_abs() <= EXACT).then_some(value as f64),
            Self::Float(value) => Some(value),
        }
    }

    /// As a float: the nearest one. CPython: `PyLong_AsDouble`.
    pub(super) fn nearest(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        match self {
            Self::Integer(value) => value == 0,
            Self::Float(value) => value == 0.0,
        }
    }
}

/// A comparison; in the order of CPython's `Py_LT` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// All, as CPython numbers them.
    pub const ALL: [Self; 6] =
        [Self::Less, Self::LessOrEqual, Self::Equal, Self::NotEqual, Self::Greater, Self::GreaterOrEqual];

    /// By the name in the module `operator`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        const NAMES: [&str; 6] = ["lt", "le", "eq", "ne", "gt", "ge"];
        NAMES.iter().position(|known| *known == name).and_then(|index| Self::ALL.get(index).copied())
    }

    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// What holds where this does not; of numbers that are no NaN.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// The same with the sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            equal => equal,
        }
    }

    /// Whether it holds of a number and itself, which is no NaN.
    #[must_use]
    pub fn holds_of_equals(self) -> bool {
        matches!(self, Self::LessOrEqual | Self::Equal | Self::GreaterOrEqual)
    }

    fn of<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    /// Whether it holds; `None` where a large integer meets a float.
    #[must_use]
    pub fn holds(self, left: Number, right: Number) -> Option<bool> {
        if let (Number::Integer(left), Number::Integer(right)) = (left, right) {
            return Some(self.of(&left, &right));
        }
        Some(self.of(&left.exact()?, &right.exact()?))
    }
}
