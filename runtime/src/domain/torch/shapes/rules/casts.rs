//! Copies, and other types of elements.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::iterator::{copied, together};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// The tensor itself where it is of the type and in the format; a copy otherwise.
pub fn cast<S: Size>(tensor: &Tensor<S>, dtype: Dtype, format: MemoryFormat, copy: bool) -> Answered<S> {
    let stays = !copy && dtype == tensor.dtype;
    let lies_so = stays && (format == MemoryFormat::Preserve || tensor.suggested_format()? == format);
    if lies_so {
        return Ok(Given::Itself);
    }
    Ok(Given::Copy(copied(tensor, dtype, format)?))
}

/// `x.float()` and the like.
pub fn to_dtype<S: Size>(call: &Call<S>, dtype: Dtype) -> Answered<S> {
    cast(call.tensor(0)?, dtype, call.format_or(1, MemoryFormat::Preserve)?, false)
}

/// `Tensor.to`, in all its forms: the first of its arguments says which.
pub fn to<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let (mut dtype, mut rest) = (None, 2);
    match call.argument(1) {
        Argument::Dtype(given) => dtype = Some(*given),
        Argument::Tensor(_) => dtype = Some(call.tensor(1)?.dtype),
        Argument::Device => {
            if let Argument::Dtype(given) = call.argument(2) {
                (dtype, rest) = (Some(*given), 3);
            }
        }
        Argument::Missing => {}
        _ => return Err(Unsure),
    }
    let flag = |place: usize, keyword: usize| match (call.argument(place), call.argument(keyword)) {
        (Argument::Missing, _) => call.flag(keyword),
        (_, Argument::Missing) => call.flag(place),
        _ => Err(Unsure),
    };
    flag(rest, 5)?;
    let copy = flag(rest + 1, 6)?;
    for place in rest + 2..5 {
        sure(!call.has(place))?;
    }
    if call.has(7) {
        sure(dtype.is_none())?;
        dtype = call.dtype(7)?;
    }
    sure(call.is_here(8))?;
    cast(tensor, dtype.unwrap_or(tensor.dtype), call.format_or(9, MemoryFormat::Preserve)?, copy)
}

/// `type_as`.
pub fn type_as<S: Size>(call: &Call<S>) -> Answered<S> {
    cast(call.tensor(0)?, call.tensor(1)?.dtype, MemoryFormat::Preserve, false)
}

/// `contiguous`.
pub fn contiguous<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, format) = (call.tensor(0)?, call.format_or(1, MemoryFormat::Contiguous)?);
    sure(format != MemoryFormat::Preserve)?;
    if tensor.is_contiguous(format)? {
        return Ok(Given::Itself);
    }
    Ok(Given::Fresh(copied(tensor, tensor.dtype, format)?))
}

/// `clone`.
pub fn clone<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    Ok(Given::Fresh(copied(tensor, tensor.dtype, call.format_or(1, MemoryFormat::Preserve)?)?))
}

/// `detach`: a view through which no gradients flow.
pub fn detach<S: Size>(call: &Call<S>) -> Answered<S> {
    Ok(Given::Detached(call.tensor(0)?.clone()))
}

/// `feature_dropout`, `alpha_dropout`: the tensor itself where they are not in force.
pub fn other_dropout<S: Size>(call: &Call<S>) -> Answered<S> {
    match dropout(call)? {
        Given::Itself => Ok(Given::Itself),
        _ => Err(Unsure),
    }
}

/// `dropout`: a copy where it is in force.
pub fn dropout<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let probability = call.float(1)?;
    sure((0.0..=1.0).contains(&probability))?;
    if probability == 0.0 || !call.flag_or(2, true)? || tensor.is_empty()? {
        return Ok(Given::Itself);
    }
    sure(tensor.dtype.is_float())?;
    Ok(Given::Fresh(together(&[tensor], tensor.dtype)?))
}

/// `nan_to_num(self, nan, posinf, neginf)`.
pub fn nan_to_num<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    for place in 1..4 {
        call.optional_number(place)?;
    }
    sure(tensor.dtype.is_float())?;
    Ok(Given::Fresh(copied(tensor, tensor.dtype, MemoryFormat::Preserve)?))
}

/// `positive`: the tensor itself.
pub fn positive<S: Size>(call: &Call<S>) -> Answered<S> {
    sure(call.tensor(0)?.dtype != Dtype::Bool)?;
    Ok(Given::Itself)
}

/// `cpu`: all tensors are there.
pub fn cpu<S: Size>(call: &Call<S>) -> Answered<S> {
    call.tensor(0)?;
    Ok(Given::Itself)
}

/// `type(dtype)`.
pub fn to_type<S: Size>(call: &Call<S>) -> Answered<S> {
    cast(call.tensor(0)?, call.dtype(1)?.ok_or(Unsure)?, MemoryFormat::Preserve, false)
}
