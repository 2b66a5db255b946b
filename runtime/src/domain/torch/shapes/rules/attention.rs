//! Attention.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::{Dtype, same};
use crate::domain::torch::shapes::iterator::{broadcast, copied};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, all_equal, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// `scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa)`.
pub fn attention<S: Size>(call: &Call<S>) -> Answered<S> {
    let (query, key, value) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let dtype = same([query.dtype, key.dtype, value.dtype])?;
    if query.rank() == 3 {
        return without_heads(call, query, key, value);
    }
    sure(dtype.is_float() && [query, key, value].iter().all(|tensor| tensor.rank() == 4))?;
    sure(query.shape[0].equals(&key.shape[0])? && query.shape[3].equals(&key.shape[3])?)?;
    sure(all_equal(&key.shape, &value.shape)?)?;
    for tensor in [query, key, value] {
        sure(!tensor.is_empty()? && tensor.strides[3].is(1)?)?;
    }
    mask(call, query, key)?;
    call.optional_number(6)?;
    match call.argument(4) {
        Argument::Missing => one_pass(call, query, key),
        _ if call.float(4)? == 0.0 => one_pass(call, query, key),
        _ => in_steps(call, query, key),
    }
}

/// `_transformer_encoder_layer_fwd(src, embed_dim, num_heads, …, mask, mask_type)`: norms and products of the layer make what it gives.
pub fn encoder_layer<S: Size>(call: &Call<S>) -> Answered<S> {
    let source = call.tensor(0)?;
    sure(source.rank() == 3 && source.dtype.is_float() && !call.has(18) && !source.is_empty()?)?;
    sure(source.is_contiguous(MemoryFormat::Contiguous)? && source.shape[2].equals(&call.size(1)?)?)?;
    Ok(Given::Fresh(Tensor::fresh(source.dtype, &source.shape, MemoryFormat::Contiguous)?))
}

/// The kernel that never holds all scores: its result lies as the query does.
fn one_pass<S: Size>(call: &Call<S>, query: &Tensor<S>, key: &Tensor<S>) -> Answered<S> {
    let (heads, of) = (&query.shape[1], &key.shape[1]);
    let grouped = call.flag(7)? && of.mul(&heads.floor_div(of)?)?.equals(heads)?;
    sure(call.modes.flash_attention && (heads.equals(of)? || of.is(1)? || grouped))?;
    Ok(Given::Fresh(copied(query, query.dtype, MemoryFormat::Preserve)?))
}

/// Products and a `softmax` of stacks of matrices.
fn without_heads<S: Size>(call: &Call<S>, query: &Tensor<S>, key: &Tensor<S>, value: &Tensor<S>) -> Answered<S> {
    sure(matches!(query.dtype, Dtype::F32 | Dtype::F64) && !call.has(3) && !call.flag(7)?)?;
    sure(matches!(call.argument(4), Argument::Missing) || call.float(4)? == 0.0)?;
    call.flag(5)?;
    call.optional_number(6)?;
    for tensor in [query, key, value] {
        sure(tensor.rank() == 3 && !tensor.is_empty()? && tensor.shape[0].equals(&query.shape[0])?)?;
    }
    sure(query.shape[2].equals(&key.shape[2])? && key.shape[1].equals(&value.shape[1])?)?;
    let shape = [query.shape[0].clone(), query.shape[1].clone(), value.shape[2].clone()];
    Ok(Given::Fresh(Tensor::fresh(query.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// Products and a `softmax`, where some scores are left out.
fn in_steps<S: Size>(call: &Call<S>, query: &Tensor<S>, key: &Tensor<S>) -> Answered<S> {
    sure(matches!(query.dtype, Dtype::F32 | Dtype::F64) && !call.flag(7)? && query.shape[1].equals(&key.shape[1])?)?;
    Ok(Given::Fresh(Tensor::fresh(query.dtype, &query.shape, MemoryFormat::Contiguous)?))
}

/// A mask fits the scores, and no gradients are asked of it.
fn mask<S: Size>(call: &Call<S>, query: &Tensor<S>, key: &Tensor<S>) -> Known<()> {
    let causal = call.flag(5)?;
    let Some(mask) = call.optional_tensor(3)? else { return Ok(()) };
    sure(!causal && !mask.requires_grad && (mask.dtype == Dtype::Bool || mask.dtype == query.dtype))?;
    sure(mask.rank() == 4 || mask.rank() == 2)?;
    let scores = [query.shape[0].clone(), query.shape[1].clone(), query.shape[2].clone(), key.shape[2].clone()];
    sure(all_equal(&broadcast([&mask.shape[..], &scores[..]])?, &scores)?)
}
