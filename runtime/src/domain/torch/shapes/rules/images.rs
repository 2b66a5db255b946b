//! Convolution, pooling, and what changes the size of images.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::{Dtype, same};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Sizes, Tensor};

/// How far a window that moves over a dimension comes.
pub struct Window<S> {
    /// Its length.
    pub size: S,
    /// How far it moves each time.
    pub stride: S,
    /// What is added at both ends.
    pub padding: S,
    /// How far apart are its elements.
    pub dilation: S,
}

impl<S: Size> Window<S> {
    /// How often it fits; `ceil`: also where a part of it lies outside.
    pub fn count(&self, length: &S, ceil: bool) -> Known<S> {
        sure(!self.padding.is_negative()?)?;
        for positive in [&self.size, &self.stride, &self.dilation] {
            sure(S::of(0).less(positive)?)?;
        }
        let padded = length.add(&self.padding.times(2)?)?;
        let reach = self.dilation.mul(&self.size.plus(-1)?)?.plus(1)?;
        let room = padded.sub(&reach)?;
        sure(!room.is_negative()?)?;
        if !ceil {
            return room.floor_div(&self.stride)?.plus(1);
        }
        let count = room.ceil_div(&self.stride)?.plus(1)?;
        // The last window begins within the image.
        let outside = length.add(&self.padding)?.at_most(&count.plus(-1)?.mul(&self.stride)?)?;
        if outside { count.plus(-1) } else { Ok(count) }
    }
}

/// `conv1d`, `conv2d`, `conv3d`: `(input, weight, bias, stride, padding, dilation, groups)`.
pub fn convolution<S: Size>(call: &Call<S>, dims: usize) -> Answered<S> {
    let (input, weight) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = same([input.dtype, weight.dtype])?;
    // Other types are computed in ways that lay their results otherwise.
    sure(dtype == Dtype::F32 || dtype == Dtype::F64)?;
    sure(input.rank() == dims + 2 && weight.rank() == dims + 2 && !input.is_empty()? && !weight.is_empty()?)?;
    let groups = S::of(call.int_or(6, 1)?);
    sure(S::of(0).less(&groups)?)?;
    sure(weight.shape[1].mul(&groups)?.equals(&input.shape[1])?)?;
    sure(weight.shape[0].floor_div(&groups)?.mul(&groups)?.equals(&weight.shape[0])?)?;
    bias(call, dtype, &weight.shape[0])?;
    let (stride, dilation) = (call.sizes_or(3, dims, 1)?, call.sizes_or(5, dims, 1)?);
    let padding = call.sizes_or(4, dims, 0)?;
    let mut shape: Sizes<S> = [input.shape[0].clone(), weight.shape[0].clone()].into_iter().collect();
    for dim in 0..dims {
        let [stride, padding, dilation] = [&stride, &padding, &dilation].map(|sizes| sizes[dim].clone());
        let window = Window { size: weight.shape[dim + 2].clone(), stride, padding, dilation };
        shape.push(window.count(&input.shape[dim + 2], false)?);
    }
    Ok(Given::Fresh(convolved(dtype, &shape, input, weight)?))
}

fn bias<S: Size>(call: &Call<S>, dtype: Dtype, channels: &S) -> Known<()> {
    match call.optional_tensor(2)? {
        Some(bias) => sure(bias.dtype == dtype && bias.rank() == 1 && bias.shape[0].equals(channels)?),
        None => Ok(()),
    }
}

/// `conv_transpose…`: `(input, weight, bias, stride, padding, output_padding, groups, dilation)`.
pub fn transposed_convolution<S: Size>(call: &Call<S>, dims: usize) -> Answered<S> {
    let (input, weight) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = same([input.dtype, weight.dtype])?;
    sure(dtype == Dtype::F32)?;
    sure(input.rank() == dims + 2 && weight.rank() == dims + 2 && !input.is_empty()? && !weight.is_empty()?)?;
    let groups = S::of(call.int_or(6, 1)?);
    sure(S::of(0).less(&groups)? && weight.shape[0].equals(&input.shape[1])?)?;
    sure(weight.shape[0].floor_div(&groups)?.mul(&groups)?.equals(&weight.shape[0])?)?;
    let channels = weight.shape[1].mul(&groups)?;
    bias(call, dtype, &channels)?;
    let (stride, padding) = (call.sizes_or(3, dims, 1)?, call.sizes_or(4, dims, 0)?);
    let (more, dilation) = (call.sizes_or(5, dims, 0)?, call.sizes_or(7, dims, 1)?);
    let mut shape: Sizes<S> = [input.shape[0].clone(), channels].into_iter().collect();
    for dim in 0..dims {
        for positive in [&stride[dim], &dilation[dim]] {
            sure(S::of(0).less(positive)?)?;
        }
        sure(!padding[dim].is_negative()? && !more[dim].is_negative()?)?;
        sure(more[dim].less(&stride[dim])? || more[dim].less(&dilation[dim])?)?;
        let reach = dilation[dim].mul(&weight.shape[dim + 2].plus(-1)?)?;
        let moved = input.shape[dim + 2].plus(-1)?.mul(&stride[dim])?;
        let length = moved.sub(&padding[dim].times(2)?)?.add(&reach)?.add(&more[dim])?.plus(1)?;
        sure(S::of(0).less(&length)?)?;
        shape.push(length);
    }
    Ok(Given::Fresh(convolved(dtype, &shape, input, weight)?))
}

/// The channels come last where they do in one of the operands.
fn convolved<S: Size>(dtype: Dtype, shape: &[S], input: &Tensor<S>, weight: &Tensor<S>) -> Known<Tensor<S>> {
    // Rows of pixels are copied first, where they do not lie as their sizes say.
    let is_row = input.rank() == 3;
    let is_copied = is_row && !input.is_contiguous(MemoryFormat::Contiguous)?;
    let format = match if is_copied { MemoryFormat::Contiguous } else { image_format(input)? } {
        MemoryFormat::Contiguous => image_format(weight)?,
        format => format,
    };
    // Those of another type are computed in several ways, some of which do not keep it.
    sure(dtype == Dtype::F32 && !is_row || format == MemoryFormat::Contiguous)?;
    image(dtype, shape, format)
}

/// The format of a batch of images; rows of pixels are images of one row.
fn image_format<S: Size>(images: &Tensor<S>) -> Known<MemoryFormat> {
    match images.rank() {
        3 => super::views::unsqueezed(images, 2)?.suggested_format(),
        _ => images.suggested_format(),
    }
}

/// A batch of images in a format.
fn image<S: Size>(dtype: Dtype, shape: &[S], format: MemoryFormat) -> Known<Tensor<S>> {
    if shape.len() != 3 {
        return Tensor::fresh(dtype, shape, format);
    }
    let shape = [shape[0].clone(), shape[1].clone(), S::of(1), shape[2].clone()];
    Ok(super::views::without(&Tensor::fresh(dtype, &shape, format)?, 2))
}

/// Pooling: `(input, kernel_size, stride, padding, …, ceil_mode)`.
pub struct Pool {
    /// Dimensions of an image.
    pub dims: usize,
    /// The place of `ceil_mode`.
    pub ceil: usize,
    /// The place of `dilation`.
    pub dilation: Option<usize>,
}

impl Pool {
    fn apply<S: Size>(&self, call: &Call<S>) -> Known<Tensor<S>> {
        let (input, dims) = (call.tensor(0)?, self.dims);
        sure(input.dtype.is_float() && !input.is_empty()?)?;
        sure(input.rank() == dims + 2 || input.rank() == dims + 1)?;
        let size = call.sizes_for(1, dims)?;
        let stride = match call.argument(2) {
            Argument::Missing | Argument::None => size.clone(),
            Argument::Tuple(items) | Argument::List(items) if items.is_empty() => size.clone(),
            _ => call.sizes_for(2, dims)?,
        };
        let padding = call.sizes_or(3, dims, 0)?;
        let dilation = match self.dilation {
            Some(place) => call.sizes_or(place, dims, 1)?,
            None => (0..dims).map(|_| S::of(1)).collect(),
        };
        let ceil = call.flag(self.ceil)?;
        let start = input.rank() - dims;
        let mut shape: Sizes<S> = input.shape[..start].iter().cloned().collect();
        for dim in 0..dims {
            sure(padding[dim].times(2)?.at_most(&size[dim])?)?;
            let [size, stride, padding, dilation] =
                [&size, &stride, &padding, &dilation].map(|sizes| sizes[dim].clone());
            shape.push(Window { size, stride, padding, dilation }.count(&input.shape[start + dim], ceil)?);
        }
        pooled(input, &shape, dims)
    }
}

/// An image keeps where its channels are, if it is one of a batch.
fn pooled<S: Size>(input: &Tensor<S>, shape: &[S], dims: usize) -> Known<Tensor<S>> {
    match input.rank() == dims + 2 {
        true => image(input.dtype, shape, image_format(input)?),
        false => Tensor::fresh(input.dtype, shape, MemoryFormat::Contiguous),
    }
}

/// `max_pool…`.
pub fn max_pool<S: Size>(call: &Call<S>, dims: usize) -> Answered<S> {
    Ok(Given::Fresh(Pool { dims, dilation: Some(4), ceil: 5 }.apply(call)?))
}

/// `avg_pool…`.
pub fn avg_pool<S: Size>(call: &Call<S>, dims: usize) -> Answered<S> {
    call.flag(5)?;
    sure(!call.has(6))?;
    Ok(Given::Fresh(Pool { dims, dilation: None, ceil: 4 }.apply(call)?))
}

/// The shape of an image whose last dimensions are replaced; `None` keeps one.
fn resized<S: Size>(call: &Call<S>, input: &Tensor<S>, dims: usize) -> Known<Sizes<S>> {
    let start = input.rank() - dims;
    let mut shape = input.shape.clone();
    let items = match call.argument(1) {
        Argument::Tuple(items) | Argument::List(items) => items.clone(),
        Argument::Int(size) => vec![Argument::Int(size.clone()); dims],
        _ => return Err(Unsure),
    };
    sure(items.len() == dims)?;
    for (dim, item) in items.iter().enumerate() {
        match item {
            Argument::Int(size) => {
                sure(S::of(0).less(size)?)?;
                shape[start + dim] = size.clone();
            }
            _ => return Err(Unsure),
        }
    }
    Ok(shape)
}

/// `adaptive_avg_pool…(input, output_size)`.
pub fn adaptive_avg_pool<S: Size>(call: &Call<S>, dims: usize) -> Answered<S> {
    let input = call.tensor(0)?;
    sure(input.dtype.is_float() && !input.is_empty()?)?;
    sure(input.rank() == dims + 2 || input.rank() == dims + 1)?;
    let shape = resized(call, input, dims)?;
    Ok(Given::Fresh(pooled(input, &shape, dims)?))
}

/// `adaptive_max_pool…(input, output_size)`, with indices.
pub fn adaptive_max_pool<S: Size>(call: &Call<S>, dims: usize) -> Answered<S> {
    let Given::Fresh(values) = adaptive_avg_pool(call, dims)? else { return Err(Unsure) };
    let indices = values.clone().typed(Dtype::I64);
    Ok(Given::Several(super::super::result::Container::Tuple, vec![values, indices]))
}

/// `upsample_…(input, output_size, …, scale_factors)`: one of both is given, the scale factors in the last place.
pub fn upsample<S: Size>(call: &Call<S>, dims: usize, scales: usize) -> Answered<S> {
    let input = call.tensor(0)?;
    sure(input.dtype.is_float() && !input.is_empty()? && input.rank() == dims + 2)?;
    let shape = match (call.has(1), call.argument(scales)) {
        (true, Argument::Missing | Argument::None) => resized(call, input, dims)?,
        (false, Argument::Tuple(items) | Argument::List(items)) => scaled(input, items, dims)?,
        _ => return Err(Unsure),
    };
    Ok(Given::Fresh(pooled(input, &shape, dims)?))
}

fn scaled<S: Size>(input: &Tensor<S>, factors: &[Argument<S>], dims: usize) -> Known<Sizes<S>> {
    sure(factors.len() == dims)?;
    let mut shape = input.shape.clone();
    for (dim, factor) in factors.iter().enumerate() {
        let size = &mut shape[dim + 2];
        *size = match factor {
            Argument::Int(factor) => size.mul(factor)?,
            Argument::Float(factor) if factor.fract() == 0.0 && factor.abs() < 1e6 => size.times(*factor as i64)?,
            // Halves and the like are exact.
            Argument::Float(factor) if (factor * 16.0).fract() == 0.0 && (0.0..1e6).contains(factor) => {
                size.times((factor * 16.0) as i64)?.floor_div(&S::of(16))?
            }
            Argument::Float(factor) if (0.0..1e6).contains(factor) => size.scaled(*factor)?,
            _ => return Err(Unsure),
        };
        sure(S::of(0).less(size)?)?;
    }
    Ok(shape)
}

/// `pad(input, pad, mode, value)`.
pub fn pad<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, pad) = (call.tensor(0)?, call.sizes(1)?);
    match call.argument(2) {
        Argument::Missing => padded(call, input, &pad, 3),
        Argument::Text(mode) => match &**mode {
            "constant" => padded(call, input, &pad, 3),
            "reflect" | "replicate" => bordered(input, &pad, mode == "reflect"),
            _ => Err(Unsure),
        },
        _ => Err(Unsure),
    }
}

/// `constant_pad_nd(input, pad, value)`.
pub fn constant_pad<S: Size>(call: &Call<S>) -> Answered<S> {
    padded(call, call.tensor(0)?, &call.sizes(1)?, 2)
}

fn padded<S: Size>(call: &Call<S>, input: &Tensor<S>, pad: &[S], value: usize) -> Answered<S> {
    if call.has(value) {
        sure(call.number(value)?.stores_in(input.dtype))?;
    }
    sure(pad.len().is_multiple_of(2) && pad.len() / 2 <= input.rank())?;
    let mut shape = input.shape.clone();
    let mut grows = true;
    for (place, pair) in pad.chunks_exact(2).enumerate() {
        let dim = input.rank() - 1 - place;
        for amount in pair {
            grows &= !amount.is_negative()?;
        }
        shape[dim] = shape[dim].add(&pair[0])?.add(&pair[1])?;
        sure(S::of(0).less(&shape[dim])?)?;
    }
    sure(grows && !input.is_empty()?)?;
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &shape, input.suggested_format()?)?))
}

/// `pad(…, mode="reflect")`, `"replicate"`: of contiguous images or lines, whose lengths grow; `reflects`: by less than they are long.
fn bordered<S: Size>(input: &Tensor<S>, pad: &[S], reflects: bool) -> Answered<S> {
    let dims = pad.len() / 2;
    sure(pad.len().is_multiple_of(2) && (1..=2).contains(&dims) && (1..=2).contains(&(input.rank() - dims)))?;
    sure(matches!(input.dtype, Dtype::F32 | Dtype::F64) && input.is_contiguous(MemoryFormat::Contiguous)?)?;
    sure(input.suggested_format()? == MemoryFormat::Contiguous && !input.is_empty()?)?;
    let mut shape: Sizes<S> = input.shape.clone();
    for (place, pair) in pad.chunks_exact(2).enumerate() {
        let dim = input.rank() - 1 - place;
        for amount in pair {
            sure(!amount.is_negative()? && (!reflects || amount.less(&input.shape[dim])?))?;
        }
        shape[dim] = shape[dim].add(&pair[0])?.add(&pair[1])?;
    }
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `pixel_shuffle(input, upscale_factor)`.
pub fn pixel_shuffle<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, factor) = (call.tensor(0)?, call.size(1)?);
    sure(input.rank() == 4 && S::of(0).less(&factor)? && input.is_contiguous(MemoryFormat::Contiguous)?)?;
    let square = factor.mul(&factor)?;
    let mut shape = input.shape.clone();
    shape[1] = input.shape[1].floor_div(&square)?;
    sure(shape[1].mul(&square)?.equals(&input.shape[1])? && !input.is_empty()?)?;
    for dim in [2, 3] {
        shape[dim] = shape[dim].mul(&factor)?;
    }
    Ok(Given::Fresh(Tensor::fresh(input.dtype, &shape, MemoryFormat::Contiguous)?))
}
