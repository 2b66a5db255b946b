//! Finds the rule for an operation, and works out what all rules have in common: gradients, changes in place.
use super::arguments::{Argument, Call, Modes, Signature};
use super::result::{Container, Given};
use super::rules::in_place;
use super::size::{Known, Size, Unsure, sure};
use super::table::{Row, Table};
use super::tensor::Tensor;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// PyTorch's iterator has no more dimensions.
const MAX_RANK: usize = 64;

/// All rules by the names of the operations.
#[derive(Debug)]
pub struct Rulebook<S: Size> {
    rows: FxHashMap<&'static str, (&'static Row<S>, usize)>,
    signatures: Vec<Signature>,
}

/// What an operation gives.
#[derive(Clone, Debug)]
pub enum Answer<S> {
    /// A tensor of its own.
    Fresh(Tensor<S>),
    /// A view of the first tensor.
    View(Tensor<S>),
    /// A view of the first tensor that gradients do not know.
    Detached(Tensor<S>),
    /// Several tensors, which may be views of the first one.
    Several {
        /// What they are in.
        container: Container,
        /// The tensors.
        items: Vec<Tensor<S>>,
        /// Whether they are views.
        views: bool,
    },
    /// Each of the tensors itself, or a view of it, in a tuple.
    Each(Vec<Tensor<S>>),
    /// The first tensor itself.
    Itself,
    /// The first tensor, which is changed in place; whether it requires gradients from now on and did not before.
    Changed {
        /// Whether it begins to require gradients.
        begins: bool,
    },
    /// The first tensor, which has this layout from now on.
    Relaid(Tensor<S>),
}

impl<S: Size> Default for Rulebook<S> {
    fn default() -> Self {
        let (mut rows, mut signatures) = (FxHashMap::default(), Vec::new());
        for row in Table::<S>::ROWS {
            for name in row.names.split_whitespace() {
                rows.insert(name, (row, signatures.len()));
            }
            signatures.push(Signature::new(row.parameters));
        }
        Self { rows, signatures }
    }
}

/// A rule for an operation.
#[derive(Debug)]
pub struct Rule<'a, S: Size> {
    row: &'static Row<S>,
    signature: &'a Signature,
    in_place: bool,
}

impl<S: Size> Rulebook<S> {
    /// The rule for an operation of this name.
    pub fn rule(&self, name: &str) -> Option<Rule<'_, S>> {
        let (entry, in_place) = match (self.rows.get(name), operator_in_place(name)) {
            (Some(entry), _) => {
                (entry, matches!(name, "setitem" | "__setitem__") || name.ends_with('_') && !name.ends_with("__"))
            }
            (None, Some(operator)) => (self.rows.get(&*operator)?, true),
            (None, None) => (self.rows.get(name.strip_suffix('_')?)?, true),
        };
        Some(Rule { row: entry.0, signature: self.signatures.get(entry.1)?, in_place })
    }
}

/// `__add__` of `__iadd__`.
fn operator_in_place(name: &str) -> Option<String> {
    let operator = name.strip_prefix("__i")?.strip_suffix("__")?;
    Some(format!("__{operator}__"))
}

impl<S: Size> Rule<'_, S> {
    /// What the operation gives for these arguments.
    pub fn apply(
        &self,
        modes: Modes,
        is_method: bool,
        tensors: SmallVec<[Tensor<S>; 4]>,
        positional: impl ExactSizeIterator<Item = Argument<S>>,
        named: impl Iterator<Item = (impl AsRef<str>, Argument<S>)>,
    ) -> Known<Answer<S>> {
        sure(tensors.iter().all(|tensor| tensor.rank() <= MAX_RANK))?;
        let arguments = self.signature.bind(is_method, positional, named)?;
        let call = Call { tensors, arguments, modes, is_method };
        let given = (self.row.rule)(&call)?;
        match self.in_place {
            true => changed(&call, given),
            false => recorded(&call, given),
        }
    }
}

/// What the call gives, where it makes something new.
fn recorded<S: Size>(call: &Call<S>, given: Given<S>) -> Known<Answer<S>> {
    let needed = call.modes.grad && call.tensors.iter().any(|tensor| tensor.requires_grad);
    let with = |mut tensor: Tensor<S>, needed: bool| {
        tensor.requires_grad = needed && tensor.dtype.is_float();
        tensor
    };
    // A view requires gradients where its base does, whether or not they are kept.
    let of_first = call.tensors.first().is_some_and(|tensor| tensor.requires_grad);
    let of_one = matches!(given, Given::View(_) | Given::Views(_) | Given::Detached(_) | Given::Itself);
    sure(!of_one || matches!(call.argument(0), Argument::Tensor(0)))?;
    Ok(match given {
        Given::Fresh(tensor) => Answer::Fresh(with(tensor, needed)),
        Given::Copy(tensor) => Answer::Fresh(with(tensor, call.modes.grad && of_first)),
        Given::Apart(tensor) => Answer::Fresh(with(tensor, false)),
        Given::View(tensor) => Answer::View(with(tensor, of_first)),
        Given::Detached(tensor) => Answer::Detached(with(tensor, false)),
        Given::Views(items) => {
            let items = items.into_iter().map(|item| with(item, of_first)).collect();
            Answer::Several { container: Container::Tuple, items, views: true }
        }
        Given::Each(items) => {
            let own = |(item, operand): (_, &Tensor<S>)| with(item, operand.requires_grad);
            Answer::Each(items.into_iter().zip(&call.tensors).map(own).collect())
        }
        Given::Several(container, items) => {
            let items = items.into_iter().map(|item| with(item, needed)).collect();
            Answer::Several { container, items, views: false }
        }
        Given::Itself => Answer::Itself,
        Given::Changed => return Err(Unsure),
    })
}

/// What the call does to its first operand.
fn changed<S: Size>(call: &Call<S>, given: Given<S>) -> Known<Answer<S>> {
    let operand = call.tensor(0)?;
    sure(matches!(call.argument(0), Argument::Tensor(0)))?;
    if let Given::View(tensor) = given {
        return Ok(Answer::Relaid(Tensor { requires_grad: operand.requires_grad, ..tensor }));
    }
    in_place::stored(call, given)?;
    sure(!operand.overlaps_itself()?)?;
    let needed = call.modes.grad && call.tensors[1..].iter().any(|tensor| tensor.requires_grad);
    // Others have no gradients, but may be told that they require some.
    sure(!needed || operand.dtype.is_float())?;
    Ok(Answer::Changed { begins: needed && !operand.requires_grad })
}
