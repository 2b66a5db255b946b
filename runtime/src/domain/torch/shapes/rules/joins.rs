//! Tensors of several, and of repetitions of one.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::{Dtype, Rank, result_type};
use crate::domain::torch::shapes::iterator::{copied, together};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Sizes, Tensor, wrap};

fn common_type<S: Size>(tensors: &[&Tensor<S>]) -> Known<Dtype> {
    result_type(tensors.iter().map(|tensor| (tensor.dtype, tensor.promotion_rank())))
}

/// The format of all, or the plain one.
fn common_format<S: Size>(tensors: &[&Tensor<S>]) -> Known<MemoryFormat> {
    let mut format = None;
    for tensor in tensors {
        let own = tensor.suggested_format()?;
        if own == MemoryFormat::Contiguous || format.is_some_and(|format| format != own) {
            return Ok(MemoryFormat::Contiguous);
        }
        format = Some(own);
    }
    Ok(format.unwrap_or(MemoryFormat::Contiguous))
}

/// `cat(tensors, dim)`.
pub fn cat<S: Size>(call: &Call<S>) -> Answered<S> {
    Ok(Given::Fresh(joined(&call.tensor_list(0)?, call.int_or(1, 0)?)?))
}

fn joined<S: Size>(tensors: &[&Tensor<S>], dim: i64) -> Known<Tensor<S>> {
    sure(!tensors.is_empty())?;
    let mut joined = Vec::new();
    for tensor in tensors {
        sure(tensor.rank() > 0)?;
        // Empty vectors are left out, whatever the ranks of the others.
        if tensor.rank() > 1 || !tensor.shape[0].is(0)? {
            joined.push(*tensor);
        }
    }
    let Some((first, rest)) = joined.split_first() else { return Err(Unsure) };
    let dim = first.dim(dim)?;
    let mut shape = first.shape.clone();
    for tensor in rest {
        sure(tensor.rank() == first.rank())?;
        for (place, size) in tensor.shape.iter().enumerate() {
            if place == dim {
                shape[dim] = shape[dim].add(size)?;
            } else {
                sure(size.equals(&shape[place])?)?;
            }
        }
    }
    Tensor::fresh(common_type(tensors)?, &shape, common_format(tensors)?)
}

/// `hstack(tensors)`: side by side.
pub fn side_by_side<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensors = call.tensor_list(0)?;
    let rank = tensors.first().ok_or(Unsure)?.rank();
    Ok(Given::Fresh(joined(&tensors, i64::from(rank > 1))?))
}

/// `vstack(tensors)`: one below the other.
pub fn one_below_another<S: Size>(call: &Call<S>) -> Answered<S> {
    let row = |tensor: &&Tensor<S>| match tensor.rank() {
        0 => Err(Unsure),
        1 => super::views::unsqueezed(tensor, 0),
        _ => Ok((*tensor).clone()),
    };
    let rows = call.tensor_list(0)?.iter().map(row).collect::<Known<Vec<_>>>()?;
    Ok(Given::Fresh(joined(&rows.iter().collect::<Vec<_>>(), 0)?))
}

/// `diff(self, n, dim, prepend, append)`: of neighbours, once.
pub fn diff<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(call.int_or(1, 1)? == 1 && tensor.rank() > 0)?;
    let dim = call.int_or(2, -1)?;
    let mut parts = Vec::new();
    for place in [3, 0, 4] {
        parts.extend(call.optional_tensor(place)?);
    }
    for part in &parts {
        sure(part.dtype == tensor.dtype && part.rank() == tensor.rank() && !part.is_empty()?)?;
    }
    let mut part = if parts.len() == 1 { tensor.clone() } else { joined(&parts, dim)? };
    let dim = part.dim(dim)?;
    part.shape[dim] = part.shape[dim].plus(-1)?;
    Ok(Given::Fresh(together(&[&part, &part], tensor.dtype)?))
}

/// `stack(tensors, dim)`.
pub fn stack<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensors = call.tensor_list(0)?;
    sure(!tensors.is_empty())?;
    let first = tensors[0];
    let dim = wrap(call.int_or(1, 0)?, first.rank() + 1)?;
    for tensor in &tensors[1..] {
        sure(tensor.is_shaped_as(first)? && tensor.dtype == first.dtype)?;
    }
    let parts = tensors.iter().map(|tensor| super::views::unsqueezed(tensor, dim)).collect::<Known<Vec<_>>>()?;
    // It may be done as `cat` does it, which keeps where the channels are.
    for tensors in [&tensors, &parts.iter().collect()] {
        sure(common_format(tensors)? == MemoryFormat::Contiguous)?;
    }
    let mut shape = first.shape.clone();
    shape.insert(dim, S::of(tensors.len() as i64));
    Ok(Given::Fresh(Tensor::fresh(first.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `repeat`.
pub fn repeat<S: Size>(call: &Call<S>) -> Answered<S> {
    repeated(call.tensor(0)?, &call.sizes(1)?)
}

/// `tile`: the same, where the first dimensions may be left out.
pub fn tile<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, mut repeats) = (call.tensor(0)?, call.sizes(1)?);
    while repeats.len() < tensor.rank() {
        repeats.insert(0, S::of(1));
    }
    repeated(tensor, &repeats)
}

fn repeated<S: Size>(tensor: &Tensor<S>, repeats: &[S]) -> Answered<S> {
    sure(repeats.len() >= tensor.rank())?;
    let offset = repeats.len() - tensor.rank();
    let mut shape = Sizes::new();
    for (place, count) in repeats.iter().enumerate() {
        sure(!count.is_negative()?)?;
        let size = place.checked_sub(offset).map_or_else(|| S::of(1), |dim| tensor.shape[dim].clone());
        shape.push(size.mul(count)?);
    }
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `repeat_interleave(self, repeats, dim, *, output_size)`: each element so many times.
pub fn repeat_interleave<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, count) = (call.tensor(0)?, call.size(1)?);
    sure(!call.has(3) && tensor.rank() > 0 && !count.is_negative()? && !tensor.is_empty()?)?;
    // Without a dimension the elements are one row.
    let (dim, mut shape) = match call.has(2) {
        true => (call.dim(2, tensor)?, tensor.shape.clone()),
        false => (0, std::iter::once(tensor.numel()?).collect()),
    };
    shape[dim] = shape[dim].mul(&count)?;
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `flip`, `roll`: the elements in other places.
pub fn flip<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    call.dims(1, tensor)?;
    let copy = copied(tensor, tensor.dtype, MemoryFormat::Preserve)?;
    Ok(Given::Fresh(copy))
}

/// `roll(self, shifts, dims)`; without dimensions all elements are one row.
pub fn roll<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let shifts = call.sizes(1)?;
    let rows = if call.has(2) { call.dims(2, tensor)?.len().max(1) } else { 1 };
    sure(shifts.len() == rows && tensor.is_contiguous(MemoryFormat::Contiguous)?)?;
    sure(!tensor.is_empty()? && tensor.rank() > 0)?;
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &tensor.shape, MemoryFormat::Contiguous)?))
}

/// `tril`, `triu`: `(self, diagonal)`.
pub fn triangle<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() >= 2)?;
    call.any_int(1)?;
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &tensor.shape, MemoryFormat::Contiguous)?))
}

/// The type of nested numbers of Python, and how many there are at each depth.
pub fn nested<S: Size>(call: &Call<S>, argument: &Argument<S>) -> Known<(Option<Dtype>, Sizes<S>)> {
    let items = match argument {
        Argument::Tuple(items) | Argument::List(items) => items,
        Argument::Bool(_) => return Ok((Some(Dtype::Bool), Sizes::new())),
        Argument::Int(_) => return Ok((Some(Dtype::I64), Sizes::new())),
        Argument::Float(_) | Argument::OpenFloat(_) => return Ok((Some(call.modes.default_dtype), Sizes::new())),
        _ => return Err(Unsure),
    };
    let (mut dtype, mut inner): (Option<Dtype>, Option<Sizes<S>>) = (None, None);
    for item in items {
        let (own, shape) = nested(call, item)?;
        dtype = match (dtype, own) {
            (Some(known), Some(own)) => Some(result_type([(known, Rank::Number), (own, Rank::Number)].into_iter())?),
            (known, own) => known.or(own),
        };
        match &inner {
            Some(inner) => sure(super::super::size::all_equal(inner, &shape)?)?,
            None => inner = Some(shape),
        }
    }
    let mut shape = inner.unwrap_or_default();
    shape.insert(0, S::of(items.len() as i64));
    Ok((dtype, shape))
}

/// `column_stack(tensors)`: vectors are columns.
pub fn columns<S: Size>(call: &Call<S>) -> Answered<S> {
    let column = |tensor: &&Tensor<S>| match tensor.rank() {
        0 => Err(Unsure),
        1 => super::views::unsqueezed(tensor, 1),
        _ => Ok((*tensor).clone()),
    };
    let columns = call.tensor_list(0)?.iter().map(column).collect::<Known<Vec<_>>>()?;
    Ok(Given::Fresh(joined(&columns.iter().collect::<Vec<_>>(), 1)?))
}

/// `dstack(tensors)`: one behind the other.
pub fn one_behind_another<S: Size>(call: &Call<S>) -> Answered<S> {
    let sheet = |tensor: &&Tensor<S>| match tensor.rank() {
        0 => Err(Unsure),
        1 => super::views::unsqueezed(&super::views::unsqueezed(tensor, 0)?, 2),
        2 => super::views::unsqueezed(tensor, 2),
        _ => Ok((*tensor).clone()),
    };
    let sheets = call.tensor_list(0)?.iter().map(sheet).collect::<Known<Vec<_>>>()?;
    Ok(Given::Fresh(joined(&sheets.iter().collect::<Vec<_>>(), 2)?))
}
