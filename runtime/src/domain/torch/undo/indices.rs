//! Operations that raise where an operand holds indices out of range, or classes that are not there, and for no other contents.
use crate::domain::Operand;
use crate::domain::torch::examples::rules::Rules;
use crate::domain::torch::shapes::Dtype;

/// These, and the position of that operand.
const RAISES_BY: &[(&str, usize)] = &[
    ("cross_entropy_loss", 1),
    ("embedding", 1),
    ("gather", 2),
    ("getitem", 1),
    ("index_select", 2),
    ("nll_loss", 1),
    ("nll_loss_nd", 1),
];

/// The position of the operand whose contents alone decide whether an operation raises.
pub(super) fn raises_by(base: &str) -> Option<usize> {
    RAISES_BY.iter().find(|(known, _)| *known == base).map(|(_, place)| *place)
}

/// Whether the operand that chooses items is a tensor of truths: these are never out of range.
pub(super) fn are_chosen_by_truths(rules: &Rules, args: &[Operand<'_>]) -> bool {
    let [_, Operand::Graph { example: index, .. }, ..] = args else { return false };
    rules.metadata(index).is_some_and(|index| index.dtype == Dtype::Bool)
}
