//! Windows over images, and images from grids.
use super::images::Window;
use crate::domain::torch::shapes::arguments::Call;
use crate::domain::torch::shapes::dtype::{Dtype, same};
use crate::domain::torch::shapes::result::{Answered, fresh};
use crate::domain::torch::shapes::size::{Known, Size, sure};
use crate::domain::torch::shapes::tensor::MemoryFormat;

/// How often windows fit over both dimensions of images, whose kernel, dilation, padding and stride stand from a place on.
fn counts<S: Size>(call: &Call<S>, place: usize, lengths: &[S]) -> Known<[S; 2]> {
    let all = |offset: usize| call.sizes_for(place + offset, 2);
    let (size, dilation, padding, stride) = (all(0)?, all(1)?, all(2)?, all(3)?);
    let count = |dim: usize| {
        let [size, dilation, padding, stride] = [&size, &dilation, &padding, &stride].map(|sizes| sizes[dim].clone());
        Window { size, stride, padding, dilation }.count(&lengths[dim], false)
    };
    Ok([count(0)?, count(1)?])
}

/// `im2col(self, kernel_size, dilation, padding, stride)`: a column for each window.
pub fn columns<S: Size>(call: &Call<S>) -> Answered<S> {
    let input = call.tensor(0)?;
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && input.rank() == 4 && !input.is_empty()?)?;
    let [rows, columns] = counts(call, 1, &input.shape[2..])?;
    let kernel = call.sizes_for(1, 2)?;
    let height = input.shape[1].mul(&kernel[0])?.mul(&kernel[1])?;
    fresh(input.dtype, &[input.shape[0].clone(), height, rows.mul(&columns)?])
}

/// `col2im(self, output_size, kernel_size, dilation, padding, stride)`: the sum of what the columns hold.
pub fn from_columns<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, lengths) = (call.tensor(0)?, call.sizes_for(1, 2)?);
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && input.rank() == 3 && !input.is_empty()?)?;
    let [rows, columns] = counts(call, 2, &lengths)?;
    let kernel = call.sizes_for(2, 2)?;
    let area = kernel[0].mul(&kernel[1])?;
    let channels = input.shape[1].floor_div(&area)?;
    sure(channels.mul(&area)?.equals(&input.shape[1])? && rows.mul(&columns)?.equals(&input.shape[2])?)?;
    fresh(input.dtype, &[input.shape[0].clone(), channels, lengths[0].clone(), lengths[1].clone()])
}

/// `grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)`.
pub fn grid_sampler<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, grid) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = same([input.dtype, grid.dtype])?;
    sure(matches!(dtype, Dtype::F32 | Dtype::F64) && input.rank() == 4 && grid.rank() == 4)?;
    sure((0..=2).contains(&call.int(2)?) && (0..=2).contains(&call.int(3)?))?;
    call.flag(4)?;
    sure(input.is_contiguous(MemoryFormat::Contiguous)? && grid.is_contiguous(MemoryFormat::Contiguous)?)?;
    sure(grid.shape[3].is(2)? && input.shape[0].equals(&grid.shape[0])?)?;
    sure(!input.is_empty()? && !grid.is_empty()?)?;
    let [batch, channels] = [&input.shape[0], &input.shape[1]].map(S::clone);
    fresh(dtype, &[batch, channels, grid.shape[1].clone(), grid.shape[2].clone()])
}

/// `affine_grid_generator(theta, size, align_corners)` of images.
pub fn affine_grid<S: Size>(call: &Call<S>) -> Answered<S> {
    let (theta, size) = (call.tensor(0)?, call.sizes(1)?);
    call.flag(2)?;
    sure(matches!(theta.dtype, Dtype::F32 | Dtype::F64) && theta.rank() == 3 && size.len() == 4)?;
    sure(theta.shape[0].equals(&size[0])? && theta.shape[1].is(2)? && theta.shape[2].is(3)?)?;
    for length in &size {
        sure(S::of(0).less(length)?)?;
    }
    fresh(theta.dtype, &[size[0].clone(), size[2].clone(), size[3].clone(), S::of(2)])
}

/// `pixel_unshuffle(self, downscale_factor)`.
pub fn pixel_unshuffle<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, factor) = (call.tensor(0)?, call.size(1)?);
    sure(input.rank() == 4 && S::of(0).less(&factor)? && input.is_contiguous(MemoryFormat::Contiguous)?)?;
    sure(S::of(1).less(&factor)?)?;
    // The kernel gives what it gets.
    if input.is_empty()? {
        return fresh(input.dtype, &input.shape);
    }
    let mut shape = input.shape.clone();
    shape[1] = shape[1].mul(&factor)?.mul(&factor)?;
    for dim in [2, 3] {
        shape[dim] = input.shape[dim].floor_div(&factor)?;
        sure(shape[dim].mul(&factor)?.equals(&input.shape[dim])?)?;
    }
    fresh(input.dtype, &shape)
}
