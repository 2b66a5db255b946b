//! Tensors that are made of numbers.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::iterator::copied;
use crate::domain::torch::shapes::result::{Answered, Given, apart};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::MemoryFormat;

/// The options of factories, at these places: `dtype, device, requires_grad`, and what no program needs here.
pub fn options<S: Size>(call: &Call<S>, first: usize) -> Known<Option<Dtype>> {
    sure(call.is_here(first + 1))?;
    sure(!call.flag(first + 2)?)?;
    call.dtype(first)
}

/// `zeros`, `ones`, `empty`: `(size, dtype, device, requires_grad)`.
pub fn sized<S: Size>(call: &Call<S>) -> Answered<S> {
    apart(options(call, 1)?.unwrap_or(call.modes.default_dtype), &call.sizes(0)?)
}

/// `rand`, `randn`: numbers with fractions.
pub fn random<S: Size>(call: &Call<S>) -> Answered<S> {
    let dtype = options(call, 1)?.unwrap_or(call.modes.default_dtype);
    sure(dtype.is_float())?;
    apart(dtype, &call.sizes(0)?)
}

/// `full(size, fill_value, dtype, device, requires_grad)`.
pub fn full<S: Size>(call: &Call<S>) -> Answered<S> {
    let filled = call.number(1)?;
    apart(options(call, 2)?.unwrap_or(filled), &call.sizes(0)?)
}

/// `zeros_like` and the like: `(self, dtype, device, requires_grad, memory_format)`.
pub fn like<S: Size>(call: &Call<S>) -> Answered<S> {
    like_at(call, 1)
}

/// `full_like(self, fill_value, …)`.
pub fn full_like<S: Size>(call: &Call<S>) -> Answered<S> {
    call.number(1)?;
    like_at(call, 2)
}

/// `rand_like`, `randn_like`.
pub fn random_like<S: Size>(call: &Call<S>) -> Answered<S> {
    match like(call)? {
        Given::Apart(made) if made.dtype.is_float() => Ok(Given::Apart(made)),
        _ => Err(Unsure),
    }
}

fn like_at<S: Size>(call: &Call<S>, first: usize) -> Answered<S> {
    let tensor = call.tensor(0)?;
    let dtype = options(call, first)?.unwrap_or(tensor.dtype);
    let format = call.format_or(first + 3, MemoryFormat::Preserve)?;
    Ok(Given::Apart(copied(tensor, dtype, format)?))
}

/// `new_zeros` and the like: `(self, size, dtype, device, requires_grad)`.
pub fn new<S: Size>(call: &Call<S>) -> Answered<S> {
    apart(options(call, 2)?.unwrap_or(call.tensor(0)?.dtype), &call.sizes(1)?)
}

/// `new_full(self, size, fill_value, …)`.
pub fn new_full<S: Size>(call: &Call<S>) -> Answered<S> {
    call.number(2)?;
    apart(options(call, 3)?.unwrap_or(call.tensor(0)?.dtype), &call.sizes(1)?)
}

/// `eye(n, m, …)`.
pub fn eye<S: Size>(call: &Call<S>) -> Answered<S> {
    let rows = call.size(0)?;
    let columns = if call.has(1) { call.size(1)? } else { rows.clone() };
    apart(options(call, 2)?.unwrap_or(call.modes.default_dtype), &[rows, columns])
}

/// An integer, also where it is written as a float.
fn whole<S: Size>(call: &Call<S>, place: usize) -> Known<S> {
    const EXACT: f64 = 1e9;
    match call.argument(place) {
        Argument::Float(value) if value.fract() == 0.0 && value.abs() < EXACT => Ok(S::of(*value as i64)),
        _ => call.size(place),
    }
}

/// `arange`: `(start, end, step, dtype, device, requires_grad)`, where one number alone is the end.
pub fn arange<S: Size>(call: &Call<S>) -> Answered<S> {
    let asked = options(call, 3)?;
    let given: Vec<usize> = (0..3).take_while(|place| call.has(*place)).collect();
    sure(!given.is_empty() && (given.len()..3).all(|place| !call.has(place)))?;
    let has_floats = given.iter().any(|place| matches!(call.argument(*place), Argument::Float(_)));
    if given.iter().all(|place| whole(call, *place).is_ok()) {
        let start = if given.len() == 1 { S::of(0) } else { whole(call, 0)? };
        let end = whole(call, usize::from(given.len() > 1))?;
        let step = if given.len() == 3 { whole(call, 2)? } else { S::of(1) };
        sure(!step.is(0)?)?;
        let (least, most, step) = match step.is_negative()? {
            true => (end, start, S::of(0).sub(&step)?),
            false => (start, end, step),
        };
        sure(least.at_most(&most)?)?;
        // A type that does not hold the end may be an error.
        sure(asked.is_none_or(|asked| matches!(asked, Dtype::I64 | Dtype::I32 | Dtype::F32 | Dtype::F64)))?;
        let length = most.sub(&least)?.ceil_div(&step)?;
        let own = if has_floats { call.modes.default_dtype } else { Dtype::I64 };
        return apart(asked.unwrap_or(own), &[length]);
    }
    let number = |place: usize| call.open_float(place);
    let (start, end) = if given.len() == 1 { (S::float(0.0), number(0)?) } else { (number(0)?, number(1)?) };
    let step = if given.len() == 3 { number(2)? } else { S::float(1.0) };
    let dtype = asked.unwrap_or(call.modes.default_dtype);
    sure(matches!(dtype, Dtype::F32 | Dtype::F64))?;
    apart(dtype, &[S::count(&start, &end, &step)?])
}

/// `linspace(start, end, steps, …)`, `logspace(start, end, steps, base, …)`: the options stand from a place on.
pub fn linspace<S: Size>(call: &Call<S>, first: usize) -> Answered<S> {
    call.number(0)?;
    call.number(1)?;
    (3..first).try_for_each(|place| call.optional_number(place))?;
    let steps = call.size(2)?;
    let dtype = options(call, first)?.unwrap_or(call.modes.default_dtype);
    sure(first == 3 || matches!(dtype, Dtype::F32 | Dtype::F64))?;
    apart(dtype, &[steps])
}

/// `hann_window(window_length, periodic, …)` and the like, with so many numbers more before the options.
pub fn window<S: Size>(call: &Call<S>, numbers: usize) -> Answered<S> {
    call.flag_or(1, true)?;
    let first = 2 + numbers;
    (2..first).try_for_each(|place| call.optional_number(place))?;
    let dtype = options(call, first)?.unwrap_or(call.modes.default_dtype);
    sure(matches!(dtype, Dtype::F32 | Dtype::F64))?;
    apart(dtype, &[call.size(0)?])
}

/// `fft_fftfreq(n, d, …)`, and `fft_rfftfreq`, which gives those that are not negative alone.
pub fn frequencies<S: Size>(call: &Call<S>, all: bool) -> Answered<S> {
    call.optional_number(1)?;
    let count = call.size(0)?;
    sure(S::of(0).less(&count)?)?;
    let dtype = options(call, 2)?.unwrap_or(call.modes.default_dtype);
    sure(matches!(dtype, Dtype::F32 | Dtype::F64))?;
    apart(dtype, &[if all { count } else { count.floor_div(&S::of(2))?.plus(1)? }])
}

/// `new_tensor(self, data, …)`, `as_tensor(data, …)`: nested lists of numbers, of a type that holds them.
pub fn numbers<S: Size>(call: &Call<S>, data: usize) -> Answered<S> {
    let (found, shape) = super::joins::nested(call, call.argument(data))?;
    let own = if data == 0 { found } else { Some(call.tensor(0)?.dtype) };
    let dtype = options(call, data + 1)?.or(own).unwrap_or(call.modes.default_dtype);
    sure(dtype.is_float() || found.is_none_or(|found| found == dtype))?;
    apart(dtype, &shape)
}

/// `tensor(data, dtype, device, requires_grad)`: nested lists of numbers.
pub fn tensor<S: Size>(call: &Call<S>) -> Answered<S> {
    let (found, shape) = super::joins::nested(call, call.argument(0))?;
    let dtype = options(call, 1)?.or(found).unwrap_or(call.modes.default_dtype);
    // Whole numbers of a type may be too large for it.
    sure(dtype.is_float() || found.is_none_or(|found| found == dtype) || dtype == Dtype::Bool)?;
    apart(dtype, &shape)
}
