//! Tensors of random numbers, and of random choices.
use super::factories::options;
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::result::{Answered, Given, apart};
use crate::domain::torch::shapes::size::{Size, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// `randperm(n, *, dtype, device, requires_grad)`.
pub fn randperm<S: Size>(call: &Call<S>) -> Answered<S> {
    let (size, dtype) = (call.size(0)?, options(call, 1)?.unwrap_or(Dtype::I64));
    sure(dtype == Dtype::I64)?;
    apart(dtype, &[size])
}

/// `randint(low, high, size, *, dtype, device, requires_grad)`, where the least may be left out.
pub fn randint<S: Size>(call: &Call<S>) -> Answered<S> {
    let dtype = options(call, 3)?.unwrap_or(Dtype::I64);
    let [low, high, size] = match call.argument(1) {
        Argument::Tuple(_) | Argument::List(_) => [None, Some(0), Some(1)],
        _ => [Some(0), Some(1), Some(2)],
    };
    sure(dtype == Dtype::I64 && (low.is_some() || !call.has(2)))?;
    let bound = |place: Option<usize>| place.map_or_else(|| Ok(S::of(0)), |place| call.size(place));
    sure(bound(low)?.less(&bound(high)?)?)?;
    apart(dtype, &call.sizes(size.unwrap_or(2))?)
}

/// `bernoulli(self, p)`, where the tensor tells the chances.
pub fn bernoulli<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(!call.has(1) && tensor.dtype.is_float() && tensor.is_contiguous(MemoryFormat::Contiguous)?)?;
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &tensor.shape, MemoryFormat::Contiguous)?))
}
