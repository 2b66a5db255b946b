//! Types of numbers, and how PyTorch promotes them.
use super::size::{Known, Unsure, sure};

/// The type of a tensor's elements. Others, complex ones among them, have no rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dtype {
    /// `torch.bool`.
    Bool,
    /// `torch.uint8`.
    U8,
    /// `torch.int8`.
    I8,
    /// `torch.int16`.
    I16,
    /// `torch.int32`.
    I32,
    /// `torch.int64`.
    I64,
    /// `torch.float16`.
    F16,
    /// `torch.bfloat16`.
    BF16,
    /// `torch.float32`.
    F32,
    /// `torch.float64`.
    F64,
}

use Dtype::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};

impl Dtype {
    /// All, with their names in `torch`.
    pub const ALL: [(Self, &'static str); 10] = [
        (Bool, "bool"),
        (U8, "uint8"),
        (I8, "int8"),
        (I16, "int16"),
        (I32, "int32"),
        (I64, "int64"),
        (F16, "float16"),
        (BF16, "bfloat16"),
        (F32, "float32"),
        (F64, "float64"),
    ];

    /// `float32`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(dtype, _)| *dtype == self).map_or("", |(_, name)| name)
    }

    /// Whether its numbers have fractions: such tensors have gradients.
    #[must_use]
    pub fn is_float(self) -> bool {
        self >= F16
    }

    /// Whether it is a type of whole numbers, `bool` among them.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self < F16
    }

    /// 0 for `bool`, 1 for whole numbers, 2 for those with fractions: a result of one kind is not stored in a lower one.
    #[must_use]
    pub fn category(self) -> u8 {
        match self {
            Bool => 0,
            U8 | I8 | I16 | I32 | I64 => 1,
            F16 | BF16 | F32 | F64 => 2,
        }
    }

    /// Whether operations in place may store numbers of this type in one of the other.
    #[must_use]
    pub fn stores_in(self, other: Self) -> bool {
        self.category() <= other.category()
    }

    /// `torch.promote_types`.
    #[must_use]
    pub fn promote(self, other: Self) -> Self {
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match (low, high) {
            (U8, I8) => I16,
            (F16, BF16) => F32,
            _ => high,
        }
    }
}

/// What takes part in a promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// A tensor that has dimensions.
    Dimensions,
    /// A tensor without.
    Zero,
    /// A Python number.
    Number,
}

/// The type that operands have in common: a tensor with dimensions decides, unless one without, or a number, is of a higher category.
pub fn result_type(operands: impl Iterator<Item = (Dtype, Rank)>) -> Known<Dtype> {
    let mut found: [Option<Dtype>; 3] = [None; 3];
    for (dtype, rank) in operands {
        let place = match rank {
            Rank::Dimensions => &mut found[0],
            Rank::Zero => &mut found[1],
            Rank::Number => &mut found[2],
        };
        *place = Some(place.map_or(dtype, |known| known.promote(dtype)));
    }
    let [dimensions, zero, number] = found;
    combine(dimensions, combine(zero, number)).ok_or(Unsure)
}

fn combine(higher: Option<Dtype>, lower: Option<Dtype>) -> Option<Dtype> {
    match (higher, lower) {
        (Some(high), Some(_)) if high.is_float() => Some(high),
        (Some(high), Some(low)) if high == Bool || low.is_float() => Some(high.promote(low)),
        (Some(high), _) => Some(high),
        (None, low) => low,
    }
}

/// `Unsure` unless all are one type.
pub fn same(dtypes: impl IntoIterator<Item = Dtype>) -> Known<Dtype> {
    let mut dtypes = dtypes.into_iter();
    let first = dtypes.next().ok_or(Unsure)?;
    sure(dtypes.all(|dtype| dtype == first))?;
    Ok(first)
}
