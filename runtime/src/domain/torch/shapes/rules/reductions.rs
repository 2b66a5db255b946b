//! Reductions over dimensions, and operations along one.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::result::{Answered, Container, Given, fresh};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, all_equal, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Sizes, Tensor};
use smallvec::SmallVec;

/// The type of a reduction's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `int64` of whole numbers.
    Wide,
    /// That of the operand, which has fractions.
    Float,
    /// That of the operand.
    Same,
    /// `bool`; of `uint8` `uint8`.
    Bool,
}

impl Sum {
    fn of(self, given: Dtype, asked: Option<Dtype>) -> Known<Dtype> {
        match (self, asked) {
            (Self::Wide, Some(asked)) => Ok(asked),
            (Self::Wide, None) => Ok(if given.is_whole() { Dtype::I64 } else { given }),
            (Self::Float, asked) => {
                let dtype = asked.unwrap_or(given);
                sure(dtype.is_float())?;
                Ok(dtype)
            }
            (Self::Same, None) => Ok(given),
            (Self::Bool, None) => Ok(if given == Dtype::U8 { Dtype::U8 } else { Dtype::Bool }),
            (Self::Same | Self::Bool, Some(_)) => Err(Unsure),
        }
    }
}

/// The dimensions that are reduced: all where none is named.
fn reduced<S: Size>(call: &Call<S>, place: usize, tensor: &Tensor<S>) -> Known<SmallVec<[usize; 5]>> {
    if !call.has(place) {
        return Ok((0..tensor.rank()).collect());
    }
    let dims = call.dims(place, tensor)?;
    let none = matches!(call.argument(place), Argument::Tuple(_) | Argument::List(_)) && dims.is_empty();
    Ok(if none { (0..tensor.rank()).collect() } else { dims })
}

/// The shape that is left.
fn left<S: Size>(tensor: &Tensor<S>, dims: &[usize], keepdim: bool) -> Sizes<S> {
    let mut shape = Sizes::new();
    for (dim, size) in tensor.shape.iter().enumerate() {
        match dims.contains(&dim) {
            true if keepdim => shape.push(S::of(1)),
            true => {}
            false => shape.push(size.clone()),
        }
    }
    shape
}

/// `(self, dim, keepdim, *, dtype)`.
pub fn reduce<S: Size>(call: &Call<S>, sum: Sum) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let dims = reduced(call, 1, tensor)?;
    let dtype = sum.of(tensor.dtype, call.dtype(3)?)?;
    fresh(dtype, &left(tensor, &dims, call.flag(2)?))
}

/// `(self, dim, keepdim)` of what has no result for no elements.
pub fn reduce_some<S: Size>(call: &Call<S>, sum: Sum) -> Answered<S> {
    let tensor = call.tensor(0)?;
    for dim in reduced(call, 1, tensor)? {
        sure(tensor.rank() == 0 || !tensor.shape[dim].is(0)?)?;
    }
    reduce(call, sum)
}

/// `prod`: over one dimension, or all.
pub fn prod<S: Size>(call: &Call<S>) -> Answered<S> {
    sure(!matches!(call.argument(1), Argument::Tuple(_) | Argument::List(_) | Argument::None))?;
    reduce(call, Sum::Wide)
}

/// `argmax`, `argmin`: `(self, dim, keepdim)`.
pub fn arg<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(!matches!(call.argument(1), Argument::Tuple(_) | Argument::List(_)) && tensor.dtype != Dtype::Bool)?;
    let dims = reduced(call, 1, tensor)?;
    for dim in &dims {
        sure(tensor.rank() == 0 || !tensor.shape[*dim].is(0)?)?;
    }
    sure(!call.flag(2)? || call.has(1))?;
    fresh(Dtype::I64, &left(tensor, &dims, call.flag(2)?))
}

/// `max`, `min`: of all elements, along a dimension with indices, or of two tensors.
pub fn extreme<S: Size>(call: &Call<S>, class: &'static str) -> Answered<S> {
    let tensor = call.tensor(0)?;
    if let Argument::Tensor(_) = call.argument(1) {
        sure(!call.has(2))?;
        return super::pointwise::binary(call, super::pointwise::To::Same);
    }
    sure(!tensor.is_empty()?)?;
    match call.argument(1) {
        Argument::Missing => fresh(tensor.dtype, &[]),
        _ => along(call, class),
    }
}

/// Values and indices along a dimension: `(self, dim, keepdim)`.
pub fn along<S: Size>(call: &Call<S>, class: &'static str) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let dim = call.dim(1, tensor)?;
    sure(!tensor.is_empty()?)?;
    let shape = left(tensor, &[dim], call.flag(2)?);
    let values = Tensor::fresh(tensor.dtype, &shape, MemoryFormat::Contiguous)?;
    let indices = values.clone().typed(Dtype::I64);
    Ok(Given::Several(Container::Named(class), vec![values, indices]))
}

/// `var`, `std`: `(self, dim, unbiased, keepdim, *, correction)`.
pub fn spread<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.dtype.is_float())?;
    sure(!matches!(call.argument(1), Argument::Bool(_)))?;
    call.flag(2)?;
    call.optional_number(4)?;
    let dims = reduced(call, 1, tensor)?;
    fresh(tensor.dtype, &left(tensor, &dims, call.flag(3)?))
}

/// `norm(self, p, dim, keepdim)`.
pub fn norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.dtype.is_float() && !tensor.is_empty()?)?;
    call.optional_number(1)?;
    let dims = reduced(call, 2, tensor)?;
    fresh(tensor.dtype, &left(tensor, &dims, call.flag(3)?))
}

/// `linalg_vector_norm(self, ord, dim, keepdim, *, dtype)`.
pub fn vector_norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.dtype.is_float() && !tensor.is_empty()? && !call.has(4))?;
    call.optional_number(1)?;
    let dims = reduced(call, 2, tensor)?;
    fresh(tensor.dtype, &left(tensor, &dims, call.flag(3)?))
}

/// `linalg_norm(self, ord, dim, keepdim, *, dtype)` of vectors: of all elements where neither order nor dimensions are given.
pub fn any_norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let of_vectors = match call.argument(2) {
        Argument::Missing | Argument::None => !call.has(1) && !call.flag(3)?,
        Argument::Int(_) => true,
        Argument::Tuple(dims) | Argument::List(dims) => dims.len() == 1,
        _ => false,
    };
    sure(of_vectors)?;
    vector_norm(call)
}

/// `sort(self, dim, descending)`: values and indices, as large as the tensor.
pub fn sort<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0 && tensor.is_contiguous(MemoryFormat::Contiguous)? && !tensor.is_empty()?)?;
    tensor.dim(call.int_or(1, -1)?)?;
    call.flag(2)?;
    let values = Tensor::fresh(tensor.dtype, &tensor.shape, MemoryFormat::Contiguous)?;
    sure(all_equal(&tensor.strides, &values.strides)?)?;
    let indices = values.clone().typed(Dtype::I64);
    Ok(super::views::named("sort", vec![values, indices]))
}

/// `argsort(self, dim, descending)`.
pub fn argsort<S: Size>(call: &Call<S>) -> Answered<S> {
    match sort(call)? {
        Given::Several(_, mut items) => items.pop().map(Given::Fresh).ok_or(Unsure),
        _ => Err(Unsure),
    }
}

/// `median`: of all elements, or along a dimension with indices.
pub fn median<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.dtype != Dtype::Bool && !tensor.is_empty()?)?;
    if call.has(1) { along(call, "median") } else { fresh(tensor.dtype, &[]) }
}

/// `softmax`, `log_softmax`: `(self, dim, dtype)`.
pub fn softmax<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    call.dim(1, tensor)?;
    let dtype = call.dtype(2)?.unwrap_or(tensor.dtype);
    sure(dtype.is_float())?;
    fresh(dtype, &tensor.shape)
}

/// `cumsum`, `cumprod`: `(self, dim, *, dtype)`.
pub fn cumulate<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    call.dim(1, tensor)?;
    let dtype = Sum::Wide.of(tensor.dtype, call.dtype(2)?)?;
    let operand = tensor.clone().typed(dtype);
    fresh(dtype, &operand.shape)
}

/// `topk(self, k, dim, largest, sorted)`.
pub fn topk<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0 && tensor.dtype != Dtype::Bool)?;
    let (count, dim) = (call.size(1)?, tensor.dim(call.int_or(2, -1)?)?);
    sure(!count.is_negative()? && count.at_most(&tensor.shape[dim])?)?;
    call.flag(3)?;
    call.flag(4)?;
    let mut shape = tensor.shape.clone();
    shape[dim] = count;
    let values = Tensor::fresh(tensor.dtype, &shape, MemoryFormat::Contiguous)?;
    let indices = values.clone().typed(Dtype::I64);
    Ok(super::views::named("topk", vec![values, indices]))
}
