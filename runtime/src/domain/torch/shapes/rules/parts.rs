//! Parts of a tensor that lie in it at regular distances.
use crate::domain::torch::shapes::arguments::Call;
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
