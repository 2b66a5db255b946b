//! Normalisation.
use crate::domain::torch::shapes::arguments::Call;
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, all_equal, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// The tensors at these places, where they are given, have this type and this one length.
fn per_channel<S: Size>(call: &Call<S>, places: &[usize], dtype: Dtype, channels: &S) -> Known<()> {
    for place in places {
        if let Some(tensor) = call.optional_tensor(*place)? {
            sure(tensor.dtype == dtype && tensor.rank() == 1 && tensor.shape[0].equals(channels)?)?;
        }
    }
    Ok(())
}

/// `batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)`.
pub fn batch_norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let input = call.tensor(0)?;
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && input.rank() >= 2 && !input.is_empty()?)?;
    per_channel(call, &[1, 2, 3, 4], input.dtype, &input.shape[1])?;
    let training = call.flag(5)?;
    sure(training || call.has(3) && call.has(4))?;
    sure(call.has(3) == call.has(4))?;
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &input.shape, input.suggested_format()?)?))
}

/// `layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)`.
pub fn layer_norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, last) = (call.tensor(0)?, call.sizes(1)?);
    sure(input.dtype.is_float() && !last.is_empty() && last.len() <= input.rank() && !input.is_empty()?)?;
    sure(all_equal(&input.shape[input.rank() - last.len()..], &last)?)?;
    for place in [2, 3] {
        if let Some(tensor) = call.optional_tensor(place)? {
            sure(tensor.dtype == input.dtype && all_equal(&tensor.shape, &last)?)?;
        }
    }
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &input.shape, MemoryFormat::Contiguous)?))
}

/// `rms_norm(input, normalized_shape, weight, eps)`.
pub fn rms_norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, last) = (call.tensor(0)?, call.sizes(1)?);
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && !last.is_empty() && last.len() <= input.rank())?;
    sure(all_equal(&input.shape[input.rank() - last.len()..], &last)? && !input.is_empty()?)?;
    sure(input.is_contiguous(MemoryFormat::Contiguous)?)?;
    if let Some(weight) = call.optional_tensor(2)? {
        sure(weight.dtype == input.dtype && all_equal(&weight.shape, &last)?)?;
        sure(weight.is_contiguous(MemoryFormat::Contiguous)?)?;
    }
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &input.shape, MemoryFormat::Contiguous)?))
}

/// `group_norm(input, num_groups, weight, bias, eps, cudnn_enabled)`.
pub fn group_norm<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, groups) = (call.tensor(0)?, call.size(1)?);
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && input.rank() >= 2 && !input.is_empty()?)?;
    let channels = &input.shape[1];
    sure(S::of(0).less(&groups)? && channels.floor_div(&groups)?.mul(&groups)?.equals(channels)?)?;
    per_channel(call, &[2, 3], input.dtype, channels)?;
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &input.shape, input.suggested_format()?)?))
}
