//! Losses, and what else is made of a class or a half of each row.
use crate::domain::torch::shapes::arguments::Call;
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::iterator::{broadcast, result_strides, together};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Size, Unsure, all_equal, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// `cross_entropy_loss(input, target, weight, reduction, …)`, `nll_loss_nd`: one number, of classes that `target` names.
pub fn of_classes<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, target) = (call.tensor(0)?, call.tensor(1)?);
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && target.dtype == Dtype::I64 && input.rank() >= 2)?;
    sure(matches!(call.int(3)?, 1 | 2) && !input.is_empty()?)?;
    let (rows, rest) = (&input.shape[..1], &input.shape[2..]);
    sure(target.rank() + 1 == input.rank())?;
    sure(all_equal(rows, &target.shape[..1])? && all_equal(rest, &target.shape[1..])?)?;
    if let Some(weight) = call.optional_tensor(2)? {
        sure(weight.dtype == input.dtype && !weight.requires_grad)?;
        sure(weight.rank() == 1 && weight.shape[0].equals(&input.shape[1])?)?;
    }
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &[], MemoryFormat::Contiguous)?))
}

/// `one_hot(self, num_classes)`.
pub fn one_hot<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, classes) = (call.tensor(0)?, call.size(1)?);
    sure(tensor.dtype == Dtype::I64 && S::of(0).less(&classes)?)?;
    let mut shape = tensor.shape.clone();
    shape.push(classes);
    Ok(Given::Fresh(Tensor::fresh(Dtype::I64, &shape, MemoryFormat::Contiguous)?))
}

/// `glu(self, dim)`: one half of a dimension, by the other.
pub fn glu<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(matches!(tensor.dtype, Dtype::F32 | Dtype::F64) && tensor.rank() > 0 && !tensor.is_empty()?)?;
    sure(tensor.is_contiguous(MemoryFormat::Contiguous)?)?;
    let dim = tensor.dim(call.int_or(1, -1)?)?;
    let half = tensor.shape[dim].floor_div(&S::of(2))?;
    sure(half.times(2)?.equals(&tensor.shape[dim])?)?;
    // Halves have the strides of the whole.
    let mut part = tensor.clone();
    part.shape[dim] = half;
    Ok(Given::Fresh(together(&[&part, &part], tensor.dtype)?))
}

/// `mse_loss(self, target, reduction)` and others of the difference of two tensors: one number, or one for each element.
pub fn of_differences<S: Size>(call: &Call<S>) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    sure(matches!(one.dtype, Dtype::F32 | Dtype::F64) && one.dtype == other.dtype)?;
    // Others are refused.
    sure(call.arguments.len() < 4 || !call.has(3) || call.float(3)? > 0.0)?;
    let shape = broadcast([&one.shape[..], &other.shape[..]])?;
    match call.int(2)? {
        0 => Ok(Given::Fresh(Tensor::strided(one.dtype, &shape, result_strides(&[one, other], &shape)?)?)),
        1 | 2 => Ok(Given::Fresh(Tensor::fresh(one.dtype, &[], MemoryFormat::Contiguous)?)),
        _ => Err(Unsure),
    }
}

/// `binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)` and the like, of tensors with one shape: the reduction
/// stands at this place.
pub fn of_chances<S: Size>(call: &Call<S>, reduction: usize) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    sure(matches!(one.dtype, Dtype::F32 | Dtype::F64) && one.dtype == other.dtype && one.is_shaped_as(other)?)?;
    sure((2..reduction).all(|place| !call.has(place)) && !one.is_empty()?)?;
    let contiguous = MemoryFormat::Contiguous;
    sure(one.is_contiguous(contiguous)? && other.is_contiguous(contiguous)?)?;
    match call.int(reduction)? {
        0 => Ok(Given::Fresh(Tensor::fresh(one.dtype, &one.shape, contiguous)?)),
        1 | 2 => Ok(Given::Fresh(Tensor::fresh(one.dtype, &[], contiguous)?)),
        _ => Err(Unsure),
    }
}

/// `kl_div(self, target, reduction, *, log_target)`.
pub fn kl_div<S: Size>(call: &Call<S>) -> Answered<S> {
    call.flag(3)?;
    of_chances(call, 2)
}

/// `cosine_similarity(x1, x2, dim, eps)`.
pub fn cosine_similarity<S: Size>(call: &Call<S>) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    sure(matches!(one.dtype, Dtype::F32 | Dtype::F64) && one.dtype == other.dtype && one.is_shaped_as(other)?)?;
    let contiguous = MemoryFormat::Contiguous;
    sure(one.is_contiguous(contiguous)? && other.is_contiguous(contiguous)? && one.rank() > 0 && !one.is_empty()?)?;
    call.optional_number(3)?;
    let dim = one.dim(call.int_or(2, 1)?)?;
    let mut shape = one.shape.clone();
    shape.remove(dim);
    Ok(Given::Fresh(Tensor::fresh(one.dtype, &shape, contiguous)?))
}
