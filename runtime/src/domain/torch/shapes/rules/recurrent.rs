//! Recurrent layers, each run as a whole.
use crate::domain::torch::shapes::arguments::{Argument, Call};
use crate::domain::torch::shapes::dtype::{Dtype, same};
use crate::domain::torch::shapes::result::{Answered, Container, Given};
use crate::domain::torch::shapes::size::{Known, Size, Unsure, all_equal, sure};
use crate::domain::torch::shapes::tensor::{MemoryFormat, Tensor};

/// `(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, of layers with so many gates.
///
/// The result for each step; then what is left after the last one: the hidden state, and for four gates the state of the cells.
pub fn recurrent<S: Size>(call: &Call<S>, gates: i64) -> Answered<S> {
    let (input, params) = (call.tensor(0)?, call.tensor_list(2)?);
    let states = match call.argument(1) {
        Argument::Tensor(_) => vec![call.tensor(1)?],
        _ => call.tensor_list(1)?,
    };
    sure(states.len() == if gates == 4 { 2 } else { 1 } && input.rank() == 3 && !input.is_empty()?)?;
    let dtype = same([input, states[0]].into_iter().chain(params.iter().copied()).map(|tensor| tensor.dtype))?;
    sure(matches!(dtype, Dtype::F32 | Dtype::F64))?;
    call.float(5)?;
    call.flag(6)?;
    let (layers, directions) = (call.int(4)?, 1 + i64::from(call.flag(7)?));
    let batch_first = call.flag(8)?;
    let [steps, batch] = if batch_first { [1, 0] } else { [0, 1] }.map(|dim| input.shape[dim].clone());
    let hidden = states[0].shape.last().cloned().ok_or(Unsure)?;
    for state in &states {
        sure(
            state.dtype == dtype
                && all_equal(&state.shape, &[S::of(layers * directions), batch.clone(), hidden.clone()])?,
        )?;
        sure(state.is_contiguous(MemoryFormat::Contiguous)?)?;
    }
    weights(&params, &input.shape[2], &hidden, [layers, directions, gates], call.flag(3)?)?;
    let output = Tensor::fresh(dtype, &[steps, batch, hidden.times(directions)?], MemoryFormat::Contiguous)?;
    let output = if batch_first { super::views::permuted(&output, &[1, 0, 2]) } else { output };
    let last = Tensor::fresh(dtype, &states[0].shape, MemoryFormat::Contiguous)?;
    let results = std::iter::once(output).chain(states.iter().map(|_| last.clone())).collect();
    Ok(Given::Several(Container::Tuple, results))
}

/// `Unsure` unless there are weights, and biases, of these sizes for each layer and direction, and no others.
fn weights<S: Size>(
    params: &[&Tensor<S>],
    input: &S,
    hidden: &S,
    [layers, directions, gates]: [i64; 3],
    biases: bool,
) -> Known<()> {
    let each = if biases { 4 } else { 2 };
    sure(layers > 0 && params.len() as i64 == layers * directions * each)?;
    let rows = hidden.times(gates)?;
    for (place, params) in params.chunks_exact(each as usize).enumerate() {
        let inner = if (place as i64) < directions { input.clone() } else { hidden.times(directions)? };
        sure(all_equal(&params[0].shape, &[rows.clone(), inner])?)?;
        sure(all_equal(&params[1].shape, &[rows.clone(), hidden.clone()])?)?;
        for bias in &params[2..] {
            sure(all_equal(&bias.shape, std::slice::from_ref(&rows))?)?;
        }
    }
    Ok(())
}
