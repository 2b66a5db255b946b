//! What an operation gives, as rules say it.
use super::dtype::Dtype;
use super::size::{Known, Size};
use super::tensor::{MemoryFormat, Tensor};

/// What an operation gives. Whether a fresh tensor requires gradients is worked out from the operands for all rules alike.
#[derive(Clone, Debug)]
pub enum Given<S> {
    /// A tensor of its own.
    Fresh(Tensor<S>),
    /// The same, to which gradients flow from the first tensor alone.
    Copy(Tensor<S>),
    /// The same, through which no gradients flow.
    Apart(Tensor<S>),
    /// A view of the first tensor among the arguments.
    View(Tensor<S>),
    /// A view of it through which no gradients flow.
    Detached(Tensor<S>),
    /// Views of the first tensor among the arguments, in a tuple.
    Views(Vec<Tensor<S>>),
    /// Of each tensor itself, where it has that shape, or a view of it, in a tuple.
    Each(Vec<Tensor<S>>),
    /// Tensors of their own, in an object of this class.
    Several(Container, Vec<Tensor<S>>),
    /// The first tensor itself.
    Itself,
    /// The first tensor, changed in place.
    Changed,
}

/// What several results are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// `tuple`.
    Tuple,
    /// `torch.return_types.…`.
    Named(&'static str),
}

/// How a rule answers.
pub type Answered<S> = Known<Given<S>>;

/// A contiguous tensor of its own.
pub fn fresh<S: Size>(dtype: Dtype, shape: &[S]) -> Answered<S> {
    Ok(Given::Fresh(Tensor::fresh(dtype, shape, MemoryFormat::Contiguous)?))
}

/// The same, through which no gradients flow.
pub fn apart<S: Size>(dtype: Dtype, shape: &[S]) -> Answered<S> {
    Ok(Given::Apart(Tensor::fresh(dtype, shape, MemoryFormat::Contiguous)?))
}
