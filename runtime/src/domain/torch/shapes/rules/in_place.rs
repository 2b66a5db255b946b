//! Operations that change their first operand.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::Dtype;
use crate::domain::torch::shapes::iterator::broadcast;
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Size, Unsure, all_equal, sure};

/// What the operation of the same name without the underscore gives is stored in the operand, if it fits.
pub fn stored<S: Size>(call: &Call<S>, given: Given<S>) -> Answered<S> {
    let operand = call.tensor(0)?;
    match given {
        Given::Fresh(made) => {
            sure(made.dtype.stores_in(operand.dtype) && all_equal(&made.shape, &operand.shape)?)?;
            Ok(Given::Changed)
        }
        // A copy that is not needed, as of a `dropout` that is not in force, leaves the operand as it is.
        Given::Changed | Given::Itself => Ok(Given::Changed),
        _ => Err(Unsure),
    }
}

/// `copy_(self, src, non_blocking)`.
pub fn copy<S: Size>(call: &Call<S>) -> Answered<S> {
    let (operand, source) = (call.tensor(0)?, call.tensor(1)?);
    call.flag(2)?;
    sure(all_equal(&broadcast([&operand.shape[..], &source.shape[..]])?, &operand.shape)?)?;
    Ok(Given::Changed)
}

/// `fill_(self, value)`.
pub fn fill<S: Size>(call: &Call<S>) -> Answered<S> {
    match call.argument(1) {
        Argument::Tensor(_) => sure(call.tensor(1)?.rank() == 0)?,
        _ => call.number(1).map(drop)?,
    }
    call.tensor(0)?;
    Ok(Given::Changed)
}

/// `bernoulli_(self, p)`.
pub fn bernoulli<S: Size>(call: &Call<S>) -> Answered<S> {
    let is_probability = call.float(1).is_ok_and(|probability| (0.0..=1.0).contains(&probability));
    sure((is_probability || matches!(call.argument(1), Argument::Missing)) && !call.has(2))?;
    sure(call.tensor(0)?.dtype.is_float())?;
    Ok(Given::Changed)
}

/// `zero_(self)`.
pub fn zero<S: Size>(call: &Call<S>) -> Answered<S> {
    call.tensor(0)?;
    Ok(Given::Changed)
}

/// `exponential_(self, lambd)`, `uniform_(self, from, to)`, `normal_(self, mean, std)`: random numbers, of bounds that `fits` accepts.
pub fn random<S: Size>(call: &Call<S>, defaults: &[f64], fits: fn(&[f64]) -> bool) -> Answered<S> {
    let mut numbers = Vec::with_capacity(defaults.len());
    for (place, default) in defaults.iter().enumerate() {
        numbers.push(if call.has(place + 1) { call.float(place + 1)? } else { *default });
    }
    sure(fits(&numbers) && !call.has(defaults.len() + 1))?;
    sure(matches!(call.tensor(0)?.dtype, Dtype::F32 | Dtype::F64))?;
    Ok(Given::Changed)
}
