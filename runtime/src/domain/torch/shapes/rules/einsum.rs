//! `einsum` of two tensors, which PyTorch computes as a product, or as one stack of products of matrices.
use super::views::{permuted, shaped, unsqueezed};
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::{Dtype, same};
use crate::domain::torch::shapes::iterator::together;
use crate::domain::torch::shapes::result::{Answered, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, all_equal, product, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Sizes, Tensor};

/// The letters of two operands and of the result, each once at most in each of them.
struct Equation {
    operands: [Vec<char>; 2],
    result: Vec<char>,
}

impl Equation {
    fn read(text: &str) -> Known<Self> {
        let text: String = text.chars().filter(|letter| *letter != ' ').collect();
        // Where the result is not spelt out, it lies in memory in another way.
        let (operands, result) = text.split_once("->").ok_or(Unsure)?;
        let (one, other) = operands.split_once(',').ok_or(Unsure)?;
        let (operands, result) = ([letters(one)?, letters(other)?], letters(result)?);
        sure(result.iter().all(|letter| operands.iter().any(|operand| operand.contains(letter))))?;
        Ok(Self { operands, result })
    }

    /// All letters in the order of the dimensions that are computed with: those of the result, then those that are summed over.
    fn order(&self) -> Vec<char> {
        let mut summed: Vec<char> = self.operands.iter().flatten().copied().collect();
        summed.sort_unstable();
        summed.dedup();
        summed.retain(|letter| !self.result.contains(letter));
        self.result.iter().copied().chain(summed).collect()
    }
}

fn letters(text: &str) -> Known<Vec<char>> {
    let letters: Vec<char> = text.chars().collect();
    let mut seen = letters.clone();
    seen.sort_unstable();
    seen.dedup();
    sure(letters.iter().all(char::is_ascii_alphabetic) && seen.len() == letters.len())?;
    Ok(letters)
}

/// An operand with a dimension for each letter in this order, of length 1 where it has none.
fn aligned<S: Size>(tensor: &Tensor<S>, own: &[char], order: &[char]) -> Known<Tensor<S>> {
    sure(tensor.rank() == own.len())?;
    let mut tensor = tensor.clone();
    let mut places = own.to_vec();
    for letter in order.iter().filter(|letter| !own.contains(letter)) {
        tensor = unsqueezed(&tensor, tensor.rank())?;
        places.push(*letter);
    }
    let place = |letter: &char| places.iter().position(|known| known == letter).ok_or(Unsure);
    Ok(permuted(&tensor, &order.iter().map(place).collect::<Known<Vec<_>>>()?))
}

/// `einsum(equation, operands)`.
pub fn einsum<S: Size>(call: &Call<S>) -> Answered<S> {
    let Argument::Text(text) = call.argument(0) else { return Err(Unsure) };
    let equation = Equation::read(text)?;
    let [one, other] = call.tensor_list(1)?[..] else { return Err(Unsure) };
    let dtype = same([one.dtype, other.dtype])?;
    sure(dtype != Dtype::Bool && !one.is_empty()? && !other.is_empty()?)?;
    let order = equation.order();
    let kept = equation.result.len();
    let one = aligned(one, &equation.operands[0], &order)?;
    let other = aligned(other, &equation.operands[1], &order)?;
    for (left, right) in one.shape.iter().zip(&other.shape) {
        sure(left.is(1)? || right.is(1)? || left.equals(right)?)?;
    }
    if order.len() == kept {
        return in_order(together(&[&one, &other], dtype)?);
    }
    for dim in kept..order.len() {
        // What one of them alone is summed over is summed before.
        sure(!one.shape[dim].is(1)? && !other.shape[dim].is(1)?)?;
    }
    let products = stacked(&one, &other, kept, dtype)?;
    let sizes: Sizes<S> = products.shape[..kept].iter().cloned().collect();
    match shaped(&products, sizes)? {
        Given::View(result) => in_order(result),
        _ => Err(Unsure),
    }
}

/// A result that lies in the order of its letters: of others, some do not lie as here.
fn in_order<S: Size>(result: Tensor<S>) -> Answered<S> {
    let plain = Tensor::fresh(result.dtype, &result.shape, MemoryFormat::Contiguous)?;
    sure(all_equal(&plain.strides, &result.strides)?)?;
    Ok(Given::Fresh(plain))
}

/// What products of matrices give: the stack of both, the rows of one, lengths of 1 for the sums, the columns of the other, put back in order.
fn stacked<S: Size>(one: &Tensor<S>, other: &Tensor<S>, kept: usize, dtype: Dtype) -> Known<Tensor<S>> {
    let [mut both, mut rows, mut columns] = [const { Vec::new() }; 3];
    for dim in 0..kept {
        match (one.shape[dim].is(1)?, other.shape[dim].is(1)?) {
            (false, false) => both.push(dim),
            (false, true) => rows.push(dim),
            _ => columns.push(dim),
        }
    }
    let summed: Vec<usize> = (kept..one.rank()).collect();
    let length = |dim: &usize| match () {
        () if *dim >= kept => S::of(1),
        () if columns.contains(dim) => other.shape[*dim].clone(),
        () => one.shape[*dim].clone(),
    };
    let order: Vec<usize> = [&both[..], &rows, &summed, &columns].concat();
    let shape: Sizes<S> = order.iter().map(length).collect();
    product(&shape)?;
    let made = Tensor::fresh(dtype, &shape, MemoryFormat::Contiguous)?;
    let back: Vec<usize> = (0..order.len()).filter_map(|dim| order.iter().position(|known| *known == dim)).collect();
    Ok(permuted(&made, &back))
}
