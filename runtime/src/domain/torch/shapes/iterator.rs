//! What PyTorch's iterator over elements gives: the shape that operands have in common, and how a result lies in memory.
use super::dtype::Dtype;
use super::size::{Known, Size, all_equal, sure};
use super::tensor::{MemoryFormat, Sizes, Tensor};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// The shape that all have in common.
pub fn broadcast<'a, S: Size>(shapes: impl IntoIterator<Item = &'a [S]>) -> Known<Sizes<S>> {
    let mut common: Sizes<S> = Sizes::new();
    for shape in shapes {
        while common.len() < shape.len() {
            common.insert(0, S::of(1));
        }
        let offset = common.len() - shape.len();
        for (known, size) in common[offset..].iter_mut().zip(shape) {
            if known.equals(size)? || size.is(1)? {
                continue;
            }
            sure(known.is(1)?)?;
            *known = size.clone();
        }
    }
    Ok(common)
}

/// The strides of an operand in the common shape: 0 where it is repeated.
pub fn expanded<S: Size>(operand: &Tensor<S>, shape: &[S]) -> Known<Sizes<S>> {
    sure(operand.rank() <= shape.len())?;
    let offset = shape.len() - operand.rank();
    let mut strides: Sizes<S> = shape.iter().take(offset).map(|_| S::of(0)).collect();
    for (dim, stride) in operand.strides.iter().enumerate() {
        let repeated = operand.shape[dim].is(1)? && !shape[offset + dim].is(1)?;
        strides.push(if repeated { S::of(0) } else { stride.clone() });
    }
    Ok(strides)
}

/// The strides of a fresh result of operands that are worked on element by element.
pub fn result_strides<S: Size>(operands: &[&Tensor<S>], shape: &[S]) -> Known<Sizes<S>> {
    if let Some(strides) = common_strides(operands)? {
        return Ok(strides);
    }
    let strides = operands.iter().map(|operand| expanded(operand, shape)).collect::<Known<SmallVec<[_; 3]>>>()?;
    let strides: SmallVec<[&[S]; 3]> = strides.iter().map(|strides| &strides[..]).collect();
    dense_strides(shape, &strides)
}

/// The strides where all operands lie in memory alike.
fn common_strides<S: Size>(operands: &[&Tensor<S>]) -> Known<Option<Sizes<S>>> {
    let Some((first, rest)) = operands.split_first() else { return Ok(None) };
    for operand in rest {
        if !operand.is_shaped_as(first)? {
            return Ok(None);
        }
    }
    for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
        if all(operands, |operand| operand.is_contiguous(format))? {
            return format.strides(&first.shape).map(Some);
        }
    }
    let alike = all(operands, Tensor::is_dense)? && all(rest, |operand| all_equal(&operand.strides, &first.strides))?;
    Ok(alike.then(|| first.strides.clone()))
}

fn all<S: Size>(operands: &[&Tensor<S>], holds: impl Fn(&Tensor<S>) -> Known<bool>) -> Known<bool> {
    for operand in operands {
        if !holds(operand)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl<S: Size> Tensor<S> {
    /// The strides of a fresh tensor with this one's shape.
    pub fn strides_like(&self, format: MemoryFormat) -> Known<Sizes<S>> {
        match format {
            MemoryFormat::Preserve if self.is_dense()? => Ok(self.strides.clone()),
            MemoryFormat::Preserve => dense_strides(&self.shape, &[&self.strides]),
            _ => format.strides(&self.shape),
        }
    }
}

/// The strides without gaps that keep the order in which the dimensions of the operands lie.
pub fn dense_strides<S: Size, T: AsRef<[S]>>(shape: &[S], operands: &[T]) -> Known<Sizes<S>> {
    let mut order: SmallVec<[usize; 5]> = (0..shape.len()).rev().collect();
    for start in 1..order.len() {
        let mut moved = start;
        for place in (0..start).rev() {
            match lie(shape, operands, order[place], order[moved])? {
                Ordering::Greater => {
                    order.swap(place, moved);
                    moved = place;
                }
                Ordering::Less => break,
                Ordering::Equal => {}
            }
        }
    }
    if order.iter().rev().copied().eq(0..shape.len()) {
        return MemoryFormat::Contiguous.strides(shape);
    }
    let mut strides: Sizes<S> = shape.iter().map(|_| S::of(1)).collect();
    let mut next = S::of(1);
    for dim in order {
        strides[dim] = next.clone();
        next = next.mul(&shape[dim])?;
    }
    Ok(strides)
}

/// Which of two dimensions lies further in; `Equal` where no operand tells.
fn lie<S: Size, T: AsRef<[S]>>(shape: &[S], operands: &[T], one: usize, other: usize) -> Known<Ordering> {
    for strides in operands {
        let (first, second) = (&strides.as_ref()[one], &strides.as_ref()[other]);
        if first.is(0)? || second.is(0)? {
            continue;
        }
        if first.less(second)? {
            return Ok(Ordering::Less);
        }
        if second.less(first)? || shape[other].less(&shape[one])? {
            return Ok(Ordering::Greater);
        }
    }
    Ok(Ordering::Equal)
}

/// A fresh tensor of what the operands give together.
pub fn together<S: Size>(operands: &[&Tensor<S>], dtype: Dtype) -> Known<Tensor<S>> {
    let shape = broadcast(operands.iter().map(|operand| &operand.shape[..]))?;
    let strides = result_strides(operands, &shape)?;
    Tensor::strided(dtype, &shape, strides)
}

/// A copy in a format.
pub fn copied<S: Size>(tensor: &Tensor<S>, dtype: Dtype, format: MemoryFormat) -> Known<Tensor<S>> {
    Tensor::strided(dtype, &tensor.shape, tensor.strides_like(format)?)
}
