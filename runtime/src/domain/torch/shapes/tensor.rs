//! What rules know of a tensor, and its layout in memory.
use super::dtype::{Dtype, Rank};
use super::size::{Known, Size, Unsure, all_equal, product, sure};
use smallvec::SmallVec;

/// A shape, or strides.
pub type Sizes<S> = SmallVec<[S; 5]>;

/// The metadata of a strided tensor.
#[derive(Clone, Debug)]
pub struct Tensor<S> {
    /// Type of its elements.
    pub dtype: Dtype,
    /// Length of each dimension.
    pub shape: Sizes<S>,
    /// Elements from one index of a dimension to the next.
    pub strides: Sizes<S>,
    /// Whether gradients are asked of it.
    pub requires_grad: bool,
}

/// How dimensions lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFormat {
    /// `torch.contiguous_format`.
    Contiguous,
    /// `torch.channels_last`.
    ChannelsLast,
    /// `torch.channels_last_3d`.
    ChannelsLast3d,
    /// `torch.preserve_format`.
    Preserve,
}

impl MemoryFormat {
    /// Dimensions from the innermost outwards; `None` where the format has no tensors of this rank.
    fn order(self, rank: usize) -> Option<SmallVec<[usize; 5]>> {
        match (self, rank) {
            (Self::Contiguous | Self::Preserve, rank) => Some((0..rank).rev().collect()),
            (Self::ChannelsLast, 4) => Some(SmallVec::from_slice(&[1, 3, 2, 0])),
            (Self::ChannelsLast3d, 5) => Some(SmallVec::from_slice(&[1, 4, 3, 2, 0])),
            _ => None,
        }
    }

    /// The strides of a fresh tensor.
    pub fn strides<S: Size>(self, shape: &[S]) -> Known<Sizes<S>> {
        let order = self.order(shape.len()).ok_or(Unsure)?;
        let mut strides: Sizes<S> = shape.iter().map(|_| S::of(1)).collect();
        let mut next = S::of(1);
        let outermost = order.last().copied();
        for dim in order {
            strides[dim] = next.clone();
            // Nothing follows from how long it is.
            if Some(dim) == outermost {
                break;
            }
            // Only the plain format counts an empty dimension as one.
            let is_plain = matches!(self, Self::Contiguous | Self::Preserve);
            let length = if is_plain { shape[dim].greatest(&S::of(1))? } else { shape[dim].clone() };
            next = next.mul(&length)?;
        }
        Ok(strides)
    }
}

impl<S: Size> Tensor<S> {
    /// A fresh tensor.
    pub fn fresh(dtype: Dtype, shape: &[S], format: MemoryFormat) -> Known<Self> {
        Self::strided(dtype, shape, format.strides(shape)?)
    }

    /// A fresh tensor with these strides.
    pub fn strided(dtype: Dtype, shape: &[S], strides: Sizes<S>) -> Known<Self> {
        for size in shape {
            sure(!size.is_negative()?)?;
        }
        Ok(Self { dtype, shape: shape.iter().cloned().collect(), strides, requires_grad: false })
    }

    /// The same with another type of elements, in fresh memory.
    #[must_use]
    pub fn typed(mut self, dtype: Dtype) -> Self {
        self.dtype = dtype;
        self
    }

    /// The same with other sizes.
    pub fn map<T>(&self, size: impl Fn(&S) -> T) -> Tensor<T> {
        Tensor {
            dtype: self.dtype,
            shape: self.shape.iter().map(&size).collect(),
            strides: self.strides.iter().map(&size).collect(),
            requires_grad: self.requires_grad,
        }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// How it counts in a promotion.
    pub fn promotion_rank(&self) -> Rank {
        if self.shape.is_empty() { Rank::Zero } else { Rank::Dimensions }
    }

    /// The number of elements.
    pub fn numel(&self) -> Known<S> {
        product(&self.shape)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> Known<bool> {
        for size in &self.shape {
            if size.is(0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `Tensor.is_contiguous`.
    pub fn is_contiguous(&self, format: MemoryFormat) -> Known<bool> {
        let Some(order) = format.order(self.rank()) else { return Ok(false) };
        if format == MemoryFormat::Contiguous && self.is_empty()? {
            return Ok(true);
        }
        let mut expected = S::of(1);
        for dim in order {
            if !self.shape[dim].is(1)? {
                if !self.strides[dim].equals(&expected)? {
                    return Ok(false);
                }
                expected = expected.mul(&self.shape[dim])?;
            }
        }
        Ok(true)
    }

    /// Whether the elements fill a piece of memory, each in its own place.
    pub fn is_dense(&self) -> Known<bool> {
        if self.is_contiguous(MemoryFormat::Contiguous)? {
            return Ok(true);
        }
        let mut dims: SmallVec<[usize; 5]> = SmallVec::new();
        for dim in 0..self.rank() {
            if self.shape[dim].less(&S::of(2))? {
                continue;
            }
            let mut place = dims.len();
            while place > 0 && self.strides[dim].less(&self.strides[dims[place - 1]])? {
                place -= 1;
            }
            dims.insert(place, dim);
        }
        let mut expected = S::of(1);
        for dim in dims {
            if !self.strides[dim].equals(&expected)? {
                return Ok(false);
            }
            expected = expected.mul(&self.shape[dim])?;
        }
        Ok(true)
    }

    /// Whether some elements surely lie in one place: such a tensor is not changed in place.
    pub fn overlaps_itself(&self) -> Known<bool> {
        for (size, stride) in self.shape.iter().zip(&self.strides) {
            if stride.is(0)? && S::of(1).less(size)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The format that operations on images give results in.
    pub fn suggested_format(&self) -> Known<MemoryFormat> {
        let format = match self.rank() {
            4 => MemoryFormat::ChannelsLast,
            5 => MemoryFormat::ChannelsLast3d,
            _ => return Ok(MemoryFormat::Contiguous),
        };
        Ok(if self.is_strided_as(format)? { format } else { MemoryFormat::Contiguous })
    }

    /// Whether the strides grow in the order of a format that has the channels last.
    fn is_strided_as(&self, format: MemoryFormat) -> Known<bool> {
        let Some(order) = format.order(self.rank()) else { return Ok(false) };
        if self.strides[1].is(0)? {
            return Ok(false);
        }
        let mut least = S::of(0);
        for dim in order {
            let (size, stride) = (&self.shape[dim], &self.strides[dim]);
            if size.is(0)? || stride.less(&least)? || dim == 0 && least.equals(&self.strides[1])? {
                return Ok(false);
            }
            least = stride.clone();
            if S::of(1).less(size)? {
                least = least.mul(size)?;
            }
        }
        Ok(true)
    }

    /// The dimension that an index of one names.
    pub fn dim(&self, index: i64) -> Known<usize> {
        wrap(index, self.rank())
    }

    /// Whether both have the same shape.
    pub fn is_shaped_as(&self, other: &Self) -> Known<bool> {
        all_equal(&self.shape, &other.shape)
    }
}

/// The dimension that an index of one names, which may count from the end; a tensor without dimensions has one to name.
pub fn wrap(index: i64, rank: usize) -> Known<usize> {
    let count = rank.max(1) as i64;
    sure((-count..count).contains(&index))?;
    Ok(index.rem_euclid(count) as usize)
}
