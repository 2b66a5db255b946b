//! Products of matrices, and layers made of them.
use crate::domain::torch::shapes::arguments::Call;
use crate::domain::torch::shapes::dtype::{Dtype, same};
use crate::domain::torch::shapes::iterator::broadcast;
use crate::domain::torch::shapes::result::{Answered, Given, fresh};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, all_equal, sure};
use crate::domain::torch::shapes::tensor::{Sizes, Tensor};

/// Both have one type, which has products.
fn common<S: Size>(one: &Tensor<S>, other: &Tensor<S>) -> Known<Dtype> {
    let dtype = same([one.dtype, other.dtype])?;
    sure(dtype != Dtype::Bool)?;
    Ok(dtype)
}

/// `mm`.
pub fn mm<S: Size>(call: &Call<S>) -> Answered<S> {
    product_of(call.tensor(0)?, call.tensor(1)?, 2)
}

/// `bmm`.
pub fn bmm<S: Size>(call: &Call<S>) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    sure(one.rank() == 3 && other.rank() == 3 && one.shape[0].equals(&other.shape[0])?)?;
    product_of(one, other, 3)
}

fn product_of<S: Size>(one: &Tensor<S>, other: &Tensor<S>, rank: usize) -> Answered<S> {
    sure(one.rank() == rank && other.rank() == rank)?;
    let dtype = common(one, other)?;
    sure(one.shape[rank - 1].equals(&other.shape[rank - 2])?)?;
    let mut shape = one.shape.clone();
    shape[rank - 1] = other.shape[rank - 1].clone();
    fresh(dtype, &shape)
}

/// `matmul`: vectors and matrices, and stacks of matrices.
pub fn matmul<S: Size>(call: &Call<S>) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = common(one, other)?;
    sure(one.rank() > 0 && other.rank() > 0)?;
    let inner = one.rank() - 1;
    let outer = other.rank().saturating_sub(2);
    sure(one.shape[inner].equals(&other.shape[outer])?)?;
    let (stack, rows) = one.shape[..inner].split_at(inner.saturating_sub(1));
    let (others, columns) = (&other.shape[..outer], if other.rank() > 1 { &other.shape[outer + 1..] } else { &[] });
    let stacked = broadcast([stack, others])?;
    let shape: Sizes<S> = stacked.iter().chain(rows).chain(columns).cloned().collect();
    fresh(dtype, &shape)
}

/// `linear(input, weight, bias)`.
pub fn linear<S: Size>(call: &Call<S>) -> Answered<S> {
    let (input, weight) = (call.tensor(0)?, call.tensor(1)?);
    sure(input.rank() > 0 && weight.rank() == 2)?;
    let dtype = common(input, weight)?;
    let last = input.rank() - 1;
    sure(input.shape[last].equals(&weight.shape[1])?)?;
    if let Some(bias) = call.optional_tensor(2)? {
        sure(bias.rank() == 1 && bias.dtype == dtype && bias.shape[0].equals(&weight.shape[0])?)?;
    }
    let mut shape = input.shape.clone();
    shape[last] = weight.shape[0].clone();
    fresh(dtype, &shape)
}

/// `addmm(self, mat1, mat2, *, beta, alpha)`, `baddbmm`: what is added fits the product.
pub fn added<S: Size>(call: &Call<S>, rank: usize) -> Answered<S> {
    let (bias, one, other) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let dtype = same([bias.dtype, one.dtype, other.dtype])?;
    for place in [3, 4] {
        if call.has(place) {
            sure(call.number(place)?.stores_in(dtype))?;
        }
    }
    if rank == 3 {
        sure(one.rank() == 3 && other.rank() == 3 && one.shape[0].equals(&other.shape[0])?)?;
    }
    let Given::Fresh(product) = product_of(one, other, rank)? else { return Err(Unsure) };
    sure(all_equal(&broadcast([&bias.shape[..], &product.shape[..]])?, &product.shape)?)?;
    Ok(Given::Fresh(product))
}

/// `outer`: each element of one vector by each of the other.
pub fn outer<S: Size>(call: &Call<S>) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    sure(one.rank() == 1 && other.rank() == 1)?;
    fresh(call.result_type(&[0, 1])?, &[one.shape[0].clone(), other.shape[0].clone()])
}

/// `cdist(x1, x2, p, compute_mode)`: the distance of each row of one from each of the other.
pub fn cdist<S: Size>(call: &Call<S>) -> Answered<S> {
    let (one, other) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = same([one.dtype, other.dtype])?;
    sure(matches!(dtype, Dtype::F32 | Dtype::F64) && one.rank() >= 2 && other.rank() >= 2)?;
    sure(!one.is_empty()? && !other.is_empty()? && (!call.has(2) || call.float(2)? >= 0.0))?;
    if call.has(3) {
        sure((0..=2).contains(&call.int(3)?))?;
    }
    let (stack, rows) = one.shape.split_at(one.rank() - 2);
    let (others, columns) = other.shape.split_at(other.rank() - 2);
    sure(rows[1].equals(&columns[1])?)?;
    let mut shape = broadcast([stack, others])?;
    shape.extend([rows[0].clone(), columns[0].clone()]);
    fresh(dtype, &shape)
}
