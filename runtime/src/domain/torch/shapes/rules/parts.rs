//! Parts of a tensor that lie in it at regular distances.
use super::views::unsqueezed;
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// `diagonal(self, offset, dim1, dim2)`.
pub fn diagonal<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() >= 2)?;
    let offset = call.int_or(1, 0)?;
    let (row, column) = (tensor.dim(call.int_or(2, 0)?)?, tensor.dim(call.int_or(3, 1)?)?);
    sure(row != column)?;
    let (rows, columns) = (&tensor.shape[row], &tensor.shape[column]);
    let length = match offset >= 0 {
        true => rows.least(&columns.plus(-offset)?)?,
        false => rows.plus(offset)?.least(columns)?,
    };
    let stride = tensor.strides[row].add(&tensor.strides[column])?;
    let mut left = tensor.clone();
    for dim in [row.max(column), row.min(column)] {
        left.shape.remove(dim);
        left.strides.remove(dim);
    }
    left.shape.push(length.greatest(&S::of(0))?);
    left.strides.push(stride);
    Ok(Given::View(left))
}

/// `diag(self, diagonal)` of a vector: the matrix with it.
pub fn diag<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() == 1)?;
    let offset = call.int_or(1, 0)?.checked_abs().ok_or(Unsure)?;
    let size = tensor.shape[0].plus(offset)?;
    Ok(Given::Fresh(Tensor::fresh(tensor.dtype, &[size.clone(), size], MemoryFormat::Contiguous)?))
}

/// `unfold(self, dimension, size, step)`: windows over a dimension.
pub fn unfold<S: Size>(call: &Call<S>) -> Answered<S> {
    let mut tensor = call.tensor(0)?.clone();
    sure(tensor.rank() > 0)?;
    let (dim, size, step) = (call.dim(1, &tensor)?, call.size(2)?, call.int(3)?);
    sure(step > 0 && !size.is_negative()? && size.at_most(&tensor.shape[dim])?)?;
    let stride = tensor.strides[dim].clone();
    tensor.shape[dim] = tensor.shape[dim].sub(&size)?.floor_div(&S::of(step))?.plus(1)?;
    tensor.strides[dim] = stride.times(step)?;
    tensor.shape.push(size);
    tensor.strides.push(stride);
    Ok(Given::View(tensor))
}

/// `tensor_split(self, sections, dim)`: so many parts, the first of which may be longer by one.
pub fn tensor_split<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    let (count, dim) = (call.int(1)?, tensor.dim(call.int_or(2, 0)?)?);
    sure(count > 0)?;
    let part = |place: i64| {
        let mut part = tensor.clone();
        part.shape[dim] = tensor.shape[dim].plus(count - 1 - place)?.floor_div(&S::of(count))?;
        Ok(part)
    };
    Ok(Given::Views((0..count).map(part).collect::<Result<_, _>>()?))
}

/// `as_strided(self, size, stride)` within a tensor that fills its memory.
pub fn as_strided<S: Size>(call: &Call<S>) -> Answered<S> {
    let (tensor, shape, strides) = (call.tensor(0)?, call.sizes(1)?, call.sizes(2)?);
    sure(!call.has(3) && shape.len() == strides.len() && tensor.is_contiguous(MemoryFormat::Contiguous)?)?;
    let mut reach = S::of(1);
    for (size, stride) in shape.iter().zip(&strides) {
        sure(S::of(0).less(size)? && !stride.is_negative()?)?;
        reach = reach.add(&size.plus(-1)?.mul(stride)?)?;
    }
    sure(reach.at_most(&tensor.numel()?)?)?;
    Ok(Given::View(Tensor { shape, strides, ..tensor.clone() }))
}

/// `atleast_1d`, `atleast_2d`: of a tensor with dimensions.
pub fn at_least<S: Size>(call: &Call<S>, rank: usize) -> Answered<S> {
    let tensor = call.tensor(0)?;
    sure(tensor.rank() > 0)?;
    match tensor.rank() >= rank {
        true => Ok(Given::Itself),
        false => Ok(Given::View(unsqueezed(tensor, 0)?)),
    }
}

/// `meshgrid(tensors, indexing)`: each repeated along the dimensions of the others.
pub fn meshgrid<S: Size>(call: &Call<S>) -> Answered<S> {
    let tensors = call.tensor_list(0)?;
    let is_all = tensors.len() == call.tensors.len() && tensors.len() > 1;
    sure(is_all && tensors.iter().zip(&call.tensors).all(|(one, own)| std::ptr::eq(*one, own)))?;
    let swaps = match call.argument(1) {
        Argument::Text(way) if way == "ij" => false,
        Argument::Text(way) if way == "xy" => true,
        _ => return Err(Unsure),
    };
    for tensor in &tensors {
        sure(tensor.rank() == 1 && tensor.dtype == tensors[0].dtype && S::of(1).less(&tensor.shape[0])?)?;
    }
    let spread = |(place, tensor): (usize, &&Tensor<S>)| {
        let mut grid = (*tensor).clone();
        grid.shape = tensors.iter().map(|tensor| tensor.shape[0].clone()).collect();
        grid.strides = tensors.iter().map(|_| S::of(0)).collect();
        grid.strides[place] = tensor.strides[0].clone();
        if swaps {
            grid.shape.swap(0, 1);
            grid.strides.swap(0, 1);
        }
        grid
    };
    Ok(Given::Each(tensors.iter().enumerate().map(spread).collect()))
}
