//! Operations element by element.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::iterator::{broadcast, copied, together};
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// The type of a result, by what operands are promoted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The same.
    Same,
    /// The same; `bool` is an error.
    Number,
    /// The same, which is of numbers with fractions.
    FloatOnly,
    /// The same, which is of whole numbers.
    WholeOnly,
    /// With fractions.
    Float,
    /// `bool`.
    Bool,
}

impl To {
    fn of<S: Size>(self, call: &Call<S>, dtype: Dtype) -> Known<Dtype> {
        match self {
            Self::Same => Ok(dtype),
            Self::Number => sure(dtype != Dtype::Bool).map(|()| dtype),
            Self::FloatOnly => sure(dtype.is_float()).map(|()| dtype),
            Self::WholeOnly => sure(dtype.is_whole()).map(|()| dtype),
            Self::Float => Ok(call.float_of(dtype)),
            Self::Bool => Ok(Dtype::Bool),
        }
    }
}

/// An operand in the type that is computed in: where that is another one, the result lies as a copy does.
fn promoted<S: Size>(operand: &Tensor<S>, dtype: Dtype) -> Known<Tensor<S>> {
    match operand.dtype == dtype || operand.rank() == 0 {
        true => Ok(operand.clone()),
        false => copied(operand, dtype, MemoryFormat::Preserve),
    }
}

/// One operand, computed in the type of the result.
fn alone<S: Size>(operand: &Tensor<S>, dtype: Dtype) -> Answered<S> {
    Ok(Given::Fresh(together(&[&promoted(operand, dtype)?], dtype)?))
}

/// One operand.
pub fn unary<S: Size>(call: &Call<S>, to: To) -> Answered<S> {
    let operand = call.tensor(0)?;
    let dtype = to.of(call, operand.dtype)?;
    match to {
        To::Bool => Ok(Given::Fresh(together(&[operand], dtype)?)),
        _ => alone(operand, dtype),
    }
}

/// One operand, and numbers that say what becomes of it.
pub fn with_numbers<S: Size>(call: &Call<S>, to: To) -> Answered<S> {
    for place in 1..call.arguments.len() {
        call.optional_number(place)?;
    }
    unary(call, to)
}

/// The same of numbers with fractions, written into what lies as a copy does.
pub fn in_a_copy<S: Size>(call: &Call<S>) -> Answered<S> {
    with_numbers(call, To::FloatOnly)?;
    let operand = call.tensor(0)?;
    Ok(Given::Fresh(copied(operand, operand.dtype, MemoryFormat::Preserve)?))
}

/// A tensor, or a number as a tensor without dimensions.
fn operand<S: Size>(call: &Call<S>, place: usize) -> Known<Tensor<S>> {
    match call.argument(place) {
        Argument::Tensor(_) => call.tensor(place).cloned(),
        _ => Tensor::fresh(call.number(place)?, &[], MemoryFormat::Contiguous),
    }
}

/// Operands at these places, one of which is a tensor.
pub fn of_operands<S: Size>(call: &Call<S>, places: &[usize], to: To) -> Answered<S> {
    sure(!call.tensors.is_empty())?;
    let common = call.result_type(places)?;
    let dtype = to.of(call, common)?;
    let computed = if to == To::Bool { common } else { dtype };
    let operand = |place: &usize| promoted(&operand(call, *place)?, computed);
    let operands = places.iter().map(operand).collect::<Known<Vec<_>>>()?;
    Ok(Given::Fresh(together(&operands.iter().collect::<Vec<_>>(), dtype)?))
}

/// Two operands.
pub fn binary<S: Size>(call: &Call<S>, to: To) -> Answered<S> {
    of_operands(call, &[0, 1], to)
}

/// Two tensors.
pub fn binary_tensors<S: Size>(call: &Call<S>, to: To) -> Answered<S> {
    call.tensor(0)?;
    call.tensor(1)?;
    binary(call, to)
}

/// A tensor and an operand, with a factor for the latter.
pub fn with_alpha<S: Size>(call: &Call<S>, to: To) -> Answered<S> {
    let dtype = call.result_type(&[0, 1])?;
    match call.argument(2) {
        Argument::Missing => {}
        Argument::Int(_) => sure(dtype != Dtype::Bool)?,
        Argument::Float(_) | Argument::OpenFloat(_) => sure(dtype.is_float())?,
        _ => return Err(Unsure),
    }
    binary(call, to)
}

/// `rsub`: the operands in the other order.
pub fn subtract_from<S: Size>(call: &Call<S>) -> Answered<S> {
    let Given::Fresh(difference) = subtract(call)? else { return Err(Unsure) };
    let dtype = difference.dtype;
    let (one, other) = (promoted(&operand(call, 0)?, dtype)?, promoted(&operand(call, 1)?, dtype)?);
    Ok(Given::Fresh(together(&[&other, &one], difference.dtype)?))
}

/// Subtraction, which `bool` does not have on either side.
pub fn subtract<S: Size>(call: &Call<S>) -> Answered<S> {
    for place in [0, 1] {
        let dtype = match call.argument(place) {
            Argument::Tensor(_) => call.tensor(place)?.dtype,
            _ => call.number(place)?,
        };
        sure(dtype != Dtype::Bool)?;
    }
    with_alpha(call, To::Same)
}

/// Division: `rounding_mode` keeps whole numbers.
pub fn divide<S: Size>(call: &Call<S>) -> Answered<S> {
    match call.argument(2) {
        Argument::Missing | Argument::None => binary(call, To::Float),
        Argument::Text(mode) if ["floor", "trunc"].contains(&mode.as_str()) => binary(call, To::Number),
        _ => Err(Unsure),
    }
}

/// Powers; whole numbers have none with negative exponents, which a tensor may hold.
pub fn power<S: Size>(call: &Call<S>) -> Answered<S> {
    let dtype = call.result_type(&[0, 1])?;
    sure(dtype != Dtype::Bool)?;
    match call.argument(1) {
        Argument::Int(exponent) if dtype.is_whole() => sure(!exponent.is_negative()?)?,
        _ => {}
    }
    match (call.argument(0), call.argument(1)) {
        (Argument::Tensor(_), Argument::Tensor(_)) => binary(call, To::Same),
        (Argument::Tensor(_), _) => alone(call.tensor(0)?, dtype),
        _ => alone(call.tensor(1)?, dtype),
    }
}

/// `where`: a condition, and two operands.
pub fn choose<S: Size>(call: &Call<S>) -> Answered<S> {
    // As a method it is one of the first operand.
    let [condition, one, other] = if call.is_method { [1, 0, 2] } else { [0, 1, 2] };
    let condition = call.tensor(condition)?;
    sure(condition.dtype == Dtype::Bool)?;
    let dtype = call.result_type(&[one, other])?;
    let (one, other) = (promoted(&operand(call, one)?, dtype)?, promoted(&operand(call, other)?, dtype)?);
    Ok(Given::Fresh(together(&[condition, &one, &other], dtype)?))
}

/// `clamp`: bounds are numbers, tensors, or not given.
pub fn clamp<S: Size>(call: &Call<S>) -> Answered<S> {
    let bounds: Vec<usize> = [1, 2].into_iter().filter(|place| call.has(*place)).collect();
    sure(!bounds.is_empty())?;
    let places = [&[0], &bounds[..]].concat();
    let are_tensors = bounds.iter().all(|place| call.tensor(*place).is_ok());
    if are_tensors {
        return of_operands(call, &places, To::Number);
    }
    let dtype = call.result_type(&places)?;
    sure(dtype != Dtype::Bool && bounds.iter().all(|place| call.number(*place).is_ok()))?;
    alone(call.tensor(0)?, dtype)
}

/// `masked_fill(self, mask, value)`: the type stays.
pub fn masked_fill<S: Size>(call: &Call<S>) -> Answered<S> {
    let (operand, mask) = (call.tensor(0)?, call.tensor(1)?);
    sure(mask.dtype == Dtype::Bool)?;
    match call.argument(2) {
        Argument::Tensor(_) => {
            let value = call.tensor(2)?;
            sure(value.rank() == 0 && value.dtype.stores_in(operand.dtype))?;
        }
        _ => sure(call.number(2)?.stores_in(operand.dtype))?,
    }
    let shape = broadcast([&operand.shape[..], &mask.shape[..]])?;
    Ok(Given::Fresh(Tensor::fresh(operand.dtype, &shape, MemoryFormat::Contiguous)?))
}

/// `lerp`, `addcmul`, `addcdiv`: three tensors of one type, or a number for the third.
pub fn ternary<S: Size>(call: &Call<S>, to: To) -> Answered<S> {
    let places = [0, 1, 2];
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    call.optional_number(3)?;
    if let Argument::Tensor(_) = call.argument(2) {
        let third = call.tensor(2)?;
        sure(one.dtype == other.dtype && other.dtype == third.dtype)?;
        return of_operands(call, &places, to);
    }
    call.number(2)?;
    sure(one.dtype == other.dtype)?;
    of_operands(call, &places[..2], to)
}

/// `gelu(self, *, approximate)`.
pub fn gelu<S: Size>(call: &Call<S>) -> Answered<S> {
    match call.argument(1) {
        Argument::Missing => {}
        Argument::Text(way) => sure(["none", "tanh"].contains(&way.as_str()))?,
        _ => return Err(Unsure),
    }
    unary(call, To::FloatOnly)
}
