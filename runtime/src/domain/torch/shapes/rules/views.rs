//! Views of a tensor.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::iterator::broadcast;
use crate::domain::torch::shapes::result::{Answered, Container, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, product, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Sizes, Tensor, wrap};

fn view<S: Size>(tensor: &Tensor<S>, shape: Sizes<S>, strides: Sizes<S>) -> Tensor<S> {
    Tensor { shape, strides, ..tensor.clone() }
}

/// A shape whose one length of -1 is worked out.
pub fn inferred<S: Size>(shape: &[S], numel: &S) -> Known<Sizes<S>> {
    let mut shape: Sizes<S> = shape.iter().cloned().collect();
    let mut open = None;
    for (dim, size) in shape.iter().enumerate() {
        if size.is_negative()? {
            sure(size.is(-1)? && open.is_none())?;
            open = Some(dim);
        }
    }
    let Some(dim) = open else {
        sure(product(&shape)?.equals(numel)?)?;
        return Ok(shape);
    };
    shape[dim] = S::of(1);
    let rest = product(&shape)?;
    sure(!rest.is(0)?)?;
    shape[dim] = numel.floor_div(&rest)?;
    sure(shape[dim].mul(&rest)?.equals(numel)?)?;
    Ok(shape)
}

/// The strides under which the elements have another shape; `None` where no strides give that.
fn strides_for<S: Size>(tensor: &Tensor<S>, shape: &[S]) -> Known<Option<Sizes<S>>> {
    let numel = tensor.numel()?;
    if tensor.is_empty()? {
        // An empty tensor keeps its strides where it keeps its shape.
        let same = super::super::size::all_equal(&tensor.shape, shape)?;
        return Ok(Some(if same { tensor.strides.clone() } else { MemoryFormat::Contiguous.strides(shape)? }));
    }
    let mut strides: Sizes<S> = shape.iter().map(|_| S::of(1)).collect();
    let (Some(last), false) = (tensor.strides.last(), numel.is(0)?) else { return Ok(Some(strides)) };
    let (mut base, mut there, mut here) = (last.clone(), S::of(1), S::of(1));
    let mut open = shape.len();
    for dim in (0..tensor.rank()).rev() {
        there = there.mul(&tensor.shape[dim])?;
        let ends = match dim {
            0 => true,
            _ => !tensor.shape[dim - 1].is(1)? && !tensor.strides[dim - 1].equals(&there.mul(&base)?)?,
        };
        if !ends {
            continue;
        }
        while open > 0 && (here.less(&there)? || shape[open - 1].is(1)?) {
            strides[open - 1] = here.mul(&base)?;
            here = here.mul(&shape[open - 1])?;
            open -= 1;
        }
        if !here.equals(&there)? {
            return Ok(None);
        }
        if dim > 0 {
            (base, there, here) = (tensor.strides[dim - 1].clone(), S::of(1), S::of(1));
        }
    }
    Ok((open == 0).then_some(strides))
}

/// The elements in another shape: a view where strides allow one.
pub fn shaped<S: Size>(tensor: &Tensor<S>, shape: Sizes<S>) -> Answered<S> {
    match strides_for(tensor, &shape)? {
        Some(strides) => Ok(Given::View(view(tensor, shape, strides))),
        None => Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &shape, MemoryFormat::Contiguous)?)),
    }
}

/// `reshape`: a view where strides allow one.
pub fn reshape<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    shaped(tensor, inferred(&call.sizes(1)?, &tensor.numel()?)?)
}

/// `view`.
pub fn as_shape<S: Size>(call: &Call<S>) -> Answered<S> {
    match reshape(call)? {
        Given::Fresh(_) => Err(Unsure),
        given => Ok(given),
    }
}

/// `view_as`, `reshape_as`: the shape of another tensor.
pub fn like<S: Size>(call: &Call<S>, is_view: bool) -> Answered<S> {
    let (tensor, other) = (call.tensor(0)?, call.tensor(1)?);
    match shaped(tensor, inferred(&other.shape, &tensor.numel()?)?)? {
        Given::Fresh(_) if is_view => Err(Unsure),
        given => Ok(given),
    }
}

/// `flatten`.
pub fn flatten<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let (start, end) = (wrap(call.int_or(1, 0)?, tensor.rank())?, wrap(call.int_or(2, -1)?, tensor.rank())?);
    sure(start <= end)?;
    if tensor.rank() == 0 {
        return shaped(tensor, std::iter::once(S::of(1)).collect());
    }
    if start == end {
        return Ok(Given::Itself);
    }
    let mut shape: Sizes<S> = tensor.shape[..start].iter().cloned().collect();
    shape.push(product(&tensor.shape[start..=end])?);
    shape.extend(tensor.shape[end + 1..].iter().cloned());
    shaped(tensor, shape)
}

/// `ravel`: the tensor itself where it is a vector in one piece.
pub fn ravel<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.is_contiguous(MemoryFormat::Contiguous)?)?;
    shaped(tensor, std::iter::once(tensor.numel()?).collect())
}

/// `unflatten`.
pub fn unflatten<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    let dim = call.dim(1, tensor)?;
    sure(matches!(call.argument(2), Argument::Tuple(_) | Argument::List(_)))?;
    let parts = call.sizes(2)?;
    sure(!parts.is_empty())?;
    let parts = inferred(&parts, &tensor.shape[dim])?;
    let (before, after) = (&tensor.shape[..dim], &tensor.shape[dim + 1..]);
    let shape: Sizes<S> = before.iter().chain(&parts).chain(after).cloned().collect();
    match shaped(tensor, shape)? {
        Given::Fresh(_) => Err(Unsure),
        given => Ok(given),
    }
}

/// The dimensions in another order.
pub fn permuted<S: Size>(tensor: &Tensor<S>, order: &[usize]) -> Tensor<S> {
    let pick = |sizes: &Sizes<S>| order.iter().filter_map(|dim| sizes.get(*dim).cloned()).collect();
    view(tensor, pick(&tensor.shape), pick(&tensor.strides))
}

/// `permute`.
pub fn permute<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let order = call.dims(1, tensor)?;
    sure(order.len() == tensor.rank())?;
    Ok(Given::View(permuted(tensor, &order)))
}

/// `transpose`.
pub fn transpose<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    swapped(tensor, call.dim(1, tensor)?, call.dim(2, tensor)?)
}

fn swapped<S: Size>(tensor: &Tensor<S>, one: usize, other: usize) -> Answered<S> {
    let mut order: Vec<usize> = (0..tensor.rank()).collect();
    if !order.is_empty() {
        order.swap(one, other);
    }
    Ok(Given::View(permuted(tensor, &order)))
}

/// `t`, and `T` of matrices.
pub fn t<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() == 2)?;
    swapped(tensor, 0, 1)
}

/// `mT`.
pub fn matrix_t<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() >= 2)?;
    swapped(tensor, tensor.rank() - 2, tensor.rank() - 1)
}

/// `movedim` of one dimension, or of several.
pub fn movedim<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let (from, to) = (call.dims(1, tensor)?, call.dims(2, tensor)?);
    sure(from.len() == to.len() && tensor.rank() > 0)?;
    let mut rest = (0..tensor.rank()).filter(|dim| !from.contains(dim));
    let order: Option<Vec<usize>> = (0..tensor.rank())
        .map(|place| to.iter().position(|to| *to == place).map_or_else(|| rest.next(), |index| Some(from[index])))
        .collect();
    Ok(Given::View(permuted(tensor, &order.ok_or(Unsure)?)))
}

/// `expand`.
pub fn expand<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(!call.has(2))?;
    expanded_to(tensor, &call.sizes(1)?)
}

/// `expand_as`.
pub fn expand_as<S: Size>(call: &Call<S>) -> Answered<S> {
    expanded_to(call.tensor(0)?, &call.tensor(1)?.shape.clone())
}

/// `broadcast_to`.
pub fn broadcast_to<S: Size>(call: &Call<S>) -> Answered<S> {
    expanded_to(call.tensor(0)?, &call.sizes(1)?)
}

/// `broadcast_tensors(tensors)`: each in the shape that all have in common.
pub fn broadcast_tensors<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensors = call.tensor_list(0)?;
    sure(
        tensors.len() == call.tensors.len()
            && tensors.iter().zip(&call.tensors).all(|(one, own)| std::ptr::eq(*one, own)),
    )?;
    let shape = broadcast(tensors.iter().map(|tensor| &tensor.shape[..]))?;
    let spread = |tensor: &&Tensor<S>| match expanded_to(tensor, &shape)? {
        Given::View(view) => Ok(view),
        _ => Err(Unsure),
    };
    tensors.iter().map(spread).collect::<Known<_>>().map(Given::Each)
}

/// A view that repeats dimensions of length 1, and new ones.
pub fn expanded_to<S: Size>(tensor: &Tensor<S>, sizes: &[S]) -> Answered<S> {
    sure(sizes.len() >= tensor.rank())?;
    let offset = sizes.len() - tensor.rank();
    if tensor.rank() == 0 {
        for size in sizes {
            sure(!size.is_negative()?)?;
        }
        let strides = sizes.iter().map(|_| S::of(0)).collect();
        return Ok(Given::View(view(tensor, sizes.iter().cloned().collect(), strides)));
    }
    let (mut shape, mut strides) = (Sizes::new(), Sizes::new());
    for (place, size) in sizes.iter().enumerate() {
        let own = place.checked_sub(offset).map(|dim| (&tensor.shape[dim], &tensor.strides[dim]));
        let stays = size.is_negative()?;
        let (length, stride) = match own {
            Some((length, stride)) if stays || length.equals(size)? => {
                sure(!stays || size.is(-1)?)?;
                (length.clone(), stride.clone())
            }
            Some((length, _)) => {
                sure(length.is(1)?)?;
                (size.clone(), S::of(0))
            }
            None => {
                sure(!stays)?;
                (size.clone(), S::of(0))
            }
        };
        shape.push(length);
        strides.push(stride);
    }
    // A dimension that is new lies where the next one would end.
    for place in (0..offset).rev() {
        let next = (shape.get(place + 1), strides.get(place + 1));
        let length: &S = &shape[place];
        if length.is(1)? {
            strides[place] = match next {
                (Some(length), Some(stride)) => stride.mul(length)?,
                _ => S::of(1),
            };
        }
    }
    Ok(Given::View(view(tensor, shape, strides)))
}

/// `unsqueeze`.
pub fn unsqueeze<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    Ok(Given::View(unsqueezed(tensor, wrap(call.int(1)?, tensor.rank() + 1)?)?))
}

/// With one more dimension of length 1.
pub fn unsqueezed<S: Size>(tensor: &Tensor<S>, dim: usize) -> Known<Tensor<S>> {
    let (mut shape, mut strides) = (tensor.shape.clone(), tensor.strides.clone());
    let stride = match (shape.get(dim), strides.get(dim)) {
        (Some(size), Some(stride)) => size.mul(stride)?,
        _ => S::of(1),
    };
    shape.insert(dim, S::of(1));
    strides.insert(dim, stride);
    Ok(view(tensor, shape, strides))
}

/// `squeeze`, of all dimensions or of those that are named.
pub fn squeeze<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let named = if call.has(1) { Some(call.dims(1, tensor)?) } else { None };
    let (mut shape, mut strides) = (Sizes::new(), Sizes::new());
    for (dim, (size, stride)) in tensor.shape.iter().zip(&tensor.strides).enumerate() {
        let is_named = named.as_ref().is_none_or(|named| named.contains(&dim));
        if !is_named || !size.is(1)? {
            shape.push(size.clone());
            strides.push(stride.clone());
        }
    }
    Ok(Given::View(view(tensor, shape, strides)))
}

/// Without a dimension.
pub fn without<S: Size>(tensor: &Tensor<S>, dim: usize) -> Tensor<S> {
    let mut left = tensor.clone();
    left.shape.remove(dim);
    left.strides.remove(dim);
    left
}

/// The place that an index names, in a dimension of this length.
pub fn checked_index<S: Size>(index: &S, size: &S) -> Known<()> {
    sure(index.less(size)? && !index.add(size)?.is_negative()?)
}

/// `select`.
pub fn select<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    let dim = call.dim(1, tensor)?;
    checked_index(&call.size(2)?, &tensor.shape[dim])?;
    Ok(Given::View(without(tensor, dim)))
}

/// `narrow`.
pub fn narrow<S: Size>(call: &Call<S>) -> Answered<S> {
    let mut tensor = call.tensor(0)?.clone();
    sure(tensor.rank() > 0)?;
    let (dim, start, length) = (call.dim(1, &tensor)?, call.size(2)?, call.size(3)?);
    let size = tensor.shape[dim].clone();
    sure(!length.is_negative()?)?;
    let start = if start.is_negative()? { start.add(&size)? } else { start };
    sure(!start.is_negative()? && start.add(&length)?.at_most(&size)?)?;
    tensor.shape[dim] = length;
    Ok(Given::View(tensor))
}

/// `unbind`.
pub fn unbind<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    let dim = tensor.dim(call.int_or(1, 0)?)?;
    let count = tensor.shape[dim].number()?;
    sure(count > 0)?;
    Ok(Given::Views((0..count).map(|_| without(tensor, dim)).collect()))
}

/// Parts of these lengths.
fn parts<S: Size>(tensor: &Tensor<S>, dim: usize, lengths: &[S]) -> Answered<S> {
    let part = |length: &S| {
        let mut part = tensor.clone();
        part.shape[dim] = length.clone();
        part
    };
    sure(!lengths.is_empty())?;
    Ok(Given::Views(lengths.iter().map(part).collect()))
}

/// Parts of one length, the last of which may be shorter.
fn equal_parts<S: Size>(tensor: &Tensor<S>, dim: usize, length: &S) -> Answered<S> {
    let size = &tensor.shape[dim];
    sure(S::of(0).less(length)? && S::of(0).less(size)?)?;
    let count = size.ceil_div(length)?.number()?;
    let last = size.sub(&length.times(count - 1)?)?;
    let lengths: Vec<S> = (1..count).map(|_| length.clone()).chain([last]).collect();
    parts(tensor, dim, &lengths)
}

/// `split`: one length, or all of them.
pub fn split<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    let dim = tensor.dim(call.int_or(2, 0)?)?;
    if let Ok(length) = call.size(1) {
        return equal_parts(tensor, dim, &length);
    }
    let lengths = call.sizes(1)?;
    let mut sum = S::of(0);
    for length in &lengths {
        sure(!length.is_negative()?)?;
        sum = sum.add(length)?;
    }
    sure(sum.equals(&tensor.shape[dim])?)?;
    parts(tensor, dim, &lengths)
}

/// `chunk`.
pub fn chunk<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    let (count, dim) = (call.int(1)?, tensor.dim(call.int_or(2, 0)?)?);
    sure(count > 0)?;
    equal_parts(tensor, dim, &tensor.shape[dim].ceil_div(&S::of(count))?)
}

/// Results in an object of a class of `torch.return_types`.
pub fn named<S: Size>(name: &'static str, items: Vec<Tensor<S>>) -> Given<S> {
    Given::Several(Container::Named(name), items)
}
