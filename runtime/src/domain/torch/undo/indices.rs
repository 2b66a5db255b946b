//! Operations that raise where an operand holds indices out of range, or classes that are not there, and for no other contents.

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
