//! `x[…]`, and operations that take tensors of indices.
use super::views::{checked_index, unsqueezed, without};
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::iterator::{broadcast, copied, dense_strides, expanded};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Sizes, Tensor};

/// A view, and the tensors that index dimensions of it.
struct Indexed<S> {
    view: Tensor<S>,
    tensors: Vec<Option<Tensor<S>>>,
}

/// `x[index]`.
pub fn getitem<S: Size>(call: &Call<S>) -> Answered<S> {
    let indexed = indexed(call)?;
    match indexed.tensors.iter().all(Option::is_none) {
        true => Ok(Given::View(indexed.view)),
        false => Ok(Given::Fresh(gathered(&indexed)?)),
    }
}

/// `x[index] = value`, which changes `x`.
pub fn setitem<S: Size>(call: &Call<S>) -> Answered<S> {
    let indexed = indexed(call)?;
    let place = match indexed.tensors.iter().all(Option::is_none) {
        true => indexed.view,
        false => gathered(&indexed)?,
    };
    if call.number(2).is_ok() {
        sure(call.number(2)?.stores_in(place.dtype))?;
        return Ok(Given::Changed);
    }
    let value = call.tensor(2)?;
    sure(value.rank() <= place.rank() || indexed.tensors.iter().all(Option::is_none))?;
    if !indexed.tensors.iter().all(Option::is_none) {
        sure(value.dtype == place.dtype)?;
    }
    // Leading dimensions of length 1 are dropped.
    let extra = value.rank().saturating_sub(place.rank());
    for size in &value.shape[..extra] {
        sure(size.is(1)?)?;
    }
    expanded(
        &Tensor { shape: value.shape[extra..].into(), strides: value.strides[extra..].into(), ..value.clone() },
        &place.shape,
    )?;
    let common = broadcast([&place.shape[..], &value.shape[extra..]])?;
    sure(super::super::size::all_equal(&common, &place.shape)?)?;
    Ok(Given::Changed)
}

fn indexed<S: Size>(call: &Call<S>) -> Known<Indexed<S>> {
    let tensor = call.tensor(0)?;
    let single = std::slice::from_ref(call.argument(1));
    let items = match call.argument(1) {
        Argument::Tuple(items) => &items[..],
        _ => single,
    };
    let takes = |item: &&Argument<S>| !matches!(item, Argument::None | Argument::Ellipsis);
    let taken = items.iter().filter(takes).count();
    sure(taken <= tensor.rank())?;
    sure(items.iter().filter(|item| matches!(item, Argument::Ellipsis)).count() <= 1)?;
    let mut found = Indexed { view: tensor.clone(), tensors: Vec::new() };
    let mut dim = 0;
    for item in items {
        match item {
            Argument::Int(index) => {
                checked_index(index, &found.view.shape[dim])?;
                found.view = without(&found.view, dim);
                continue;
            }
            Argument::Slice(bounds) => slice(&mut found.view, dim, bounds)?,
            Argument::None => found.view = unsqueezed(&found.view, dim)?,
            Argument::Ellipsis => {
                dim += tensor.rank() - taken;
                continue;
            }
            Argument::Tensor(_) => {
                let index = call.tensor_of(item)?;
                // One without dimensions is taken for a number, a mask for the places that it holds.
                sure(matches!(index.dtype, Dtype::I64 | Dtype::I32) && index.rank() > 0)?;
                found.tensors.resize(dim, None);
                found.tensors.push(Some(index.clone()));
            }
            Argument::List(items) => {
                found.tensors.resize(dim, None);
                found.tensors.push(Some(listed(items)?));
            }
            _ => return Err(Unsure),
        }
        dim += 1;
    }
    Ok(found)
}

/// The tensor that a list of integers becomes as an index.
fn listed<S: Size>(items: &[Argument<S>]) -> Known<Tensor<S>> {
    sure(!items.is_empty() && items.iter().all(|item| matches!(item, Argument::Int(_))))?;
    Tensor::fresh(Dtype::I64, &[S::of(items.len() as i64)], MemoryFormat::Contiguous)
}

/// Replaces a dimension by a part of it.
fn slice<S: Size>(view: &mut Tensor<S>, dim: usize, bounds: &[Argument<S>; 3]) -> Known<()> {
    let size = view.shape[dim].clone();
    let bound = |argument: &Argument<S>, default: S| match argument {
        Argument::None => Ok(default),
        Argument::Int(value) if value.is_negative()? => value.add(&size)?.greatest(&S::of(0))?.least(&size),
        Argument::Int(value) => value.least(&size),
        _ => Err(Unsure),
    };
    let step = match &bounds[2] {
        Argument::None => S::of(1),
        Argument::Int(step) => step.clone(),
        _ => return Err(Unsure),
    };
    sure(S::of(0).less(&step)?)?;
    let (start, end) = (bound(&bounds[0], S::of(0))?, bound(&bounds[1], size.clone())?);
    let length = end.sub(&start)?.greatest(&S::of(0))?;
    view.shape[dim] = if step.is(1)? { length } else { length.ceil_div(&step)? };
    view.strides[dim] = view.strides[dim].mul(&step)?;
    Ok(())
}

/// What tensors of indices pick.
fn gathered<S: Size>(indexed: &Indexed<S>) -> Known<Tensor<S>> {
    let mut tensors = indexed.tensors.clone();
    let mut source = indexed.view.clone();
    tensors.resize(source.rank(), None);
    let places: Vec<usize> = (0..tensors.len()).filter(|dim| tensors[*dim].is_some()).collect();
    let (Some(first), Some(last)) = (places.first().copied(), places.last().copied()) else { return Err(Unsure) };
    if last - first + 1 != places.len() {
        let rest = (0..tensors.len()).filter(|dim| tensors[*dim].is_none());
        let order: Vec<usize> = places.iter().copied().chain(rest).collect();
        source = super::views::permuted(&source, &order);
        tensors = order.iter().map(|dim| tensors[*dim].take()).collect();
    }
    let start = tensors.iter().position(Option::is_some).ok_or(Unsure)?;
    let indices: Vec<Tensor<S>> = tensors.into_iter().flatten().collect();
    let end = start + indices.len();
    let picked = broadcast(indices.iter().map(|index| &index.shape[..]))?;
    for size in &source.shape[start..end] {
        // No index is right in an empty dimension.
        sure(!size.is(0)?)?;
    }
    let around = |middle: &[S], before: &[S], after: &[S]| -> Sizes<S> {
        before.iter().chain(middle).chain(after).cloned().collect()
    };
    let zeros = |count: usize| -> Sizes<S> { (0..count).map(|_| S::of(0)).collect() };
    let shape = around(&picked, &source.shape[..start], &source.shape[end..]);
    let mut operands = vec![around(&zeros(picked.len()), &source.strides[..start], &source.strides[end..])];
    for index in &indices {
        let strides = expanded(index, &picked)?;
        operands.push(around(&strides, &zeros(start), &zeros(source.rank() - end)));
    }
    Tensor::strided(source.dtype, &shape, dense_strides(&shape, &operands)?)
}

fn is_index(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::I64 | Dtype::I32)
}

/// `index_select`.
pub fn index_select<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, index) = (call.tensor(0)?, call.tensor(2)?);
    let dim = call.dim(1, tensor)?;
    sure(is_index(index.dtype) && index.rank() == 1 && tensor.rank() > 0)?;
    sure(!tensor.shape[dim].is(0)?)?;
    let mut shape = tensor.shape.clone();
    shape[dim] = index.shape[0].clone();
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `gather`: as large as the index, which is nowhere larger than the tensor.
pub fn gather<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, index) = (call.tensor(0)?, call.tensor(2)?);
    let dim = call.dim(1, tensor)?;
    sure(index.dtype == Dtype::I64)?;
    within(index, tensor, Some(dim))?;
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &index.shape, MemoryFormat::Contiguous)?))
}

/// Whether a tensor is nowhere larger than another, but for one dimension.
fn within<S: Size>(index: &Tensor<S>, tensor: &Tensor<S>, except: Option<usize>) -> Known<()> {
    sure(index.rank() == tensor.rank() && index.rank() > 0)?;
    for dim in 0..index.rank() {
        sure(Some(dim) == except || index.shape[dim].at_most(&tensor.shape[dim])?)?;
    }
    Ok(())
}

/// `scatter`: a copy that is changed.
pub fn scatter<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, index) = (call.tensor(0)?, call.tensor(2)?);
    let dim = call.dim(1, tensor)?;
    sure(index.dtype == Dtype::I64 && !tensor.overlaps_itself()?)?;
    within(index, tensor, Some(dim))?;
    match call.argument(3) {
        Argument::Tensor(_) => {
            let source = call.tensor(3)?;
            sure(source.dtype == tensor.dtype)?;
            within(index, source, None)?;
        }
        _ => sure(call.number(3)?.stores_in(tensor.dtype))?,
    }
    Ok(Given::Fresh(copied(tensor, tensor.dtype, MemoryFormat::Contiguous)?))
}

/// `scatter_add`: the source is a tensor.
pub fn scatter_add<S: Size>(call: &Call<S>) -> Answered<S> {
    call.tensor(3)?;
    scatter(call)
}

/// `embedding(weight, indices)`.
pub fn embedding<S: Size>(call: &Call<S>) -> Answered<S> {
    let (weight, indices) = (call.tensor(0)?, call.tensor(1)?);
    sure(weight.rank() == 2 && is_index(indices.dtype))?;
    sure(!call.flag(3)? && !call.flag(4)?)?;
    call.any_int(2)?;
    let mut shape = indices.shape.clone();
    shape.push(weight.shape[1].clone());
    Ok(Given::Fresh(Tensor::fresh(weight.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `index_add(self, dim, index, source, *, alpha)`: a copy that is changed.
pub fn index_add<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, index, source) = (call.tensor(0)?, call.tensor(2)?, call.tensor(3)?);
    let dim = call.dim(1, tensor)?;
    sure(is_index(index.dtype) && index.rank() == 1 && tensor.rank() > 0 && tensor.rank() == source.rank())?;
    sure(tensor.dtype == source.dtype && !tensor.overlaps_itself()? && !tensor.is_empty()?)?;
    if call.has(4) {
        sure(call.number(4)?.stores_in(tensor.dtype))?;
    }
    for (place, size) in source.shape.iter().enumerate() {
        sure(size.equals(if place == dim { &index.shape[0] } else { &tensor.shape[place] })?)?;
    }
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &tensor.shape, MemoryFormat::Contiguous)?))
}

/// `searchsorted(sorted_sequence, self)`, `bucketize(self, boundaries)`: places in one sequence.
pub fn places<S: Size>(call: &Call<S>, sequence: usize) -> Answered<S> {
    let (sequence, tensor) = (call.tensor(sequence)?, call.tensor(1 - sequence)?);
    sure(sequence.rank() == 1 && tensor.rank() > 0 && sequence.dtype == tensor.dtype)?;
    sure(tensor.is_contiguous(MemoryFormat::Contiguous)? && sequence.is_contiguous(MemoryFormat::Contiguous)?)?;
    sure(!tensor.is_empty()? && !sequence.is_empty()? && tensor.dtype != Dtype::Bool)?;
    sure((2..5).all(|place| !call.has(place)))?;
    Ok(Given::Apart(Tensor::fresh(Dtype::I64, &tensor.shape, MemoryFormat::Contiguous)?))
}
