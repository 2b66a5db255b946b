//! Operations on bits: kernels refuse operands with fractions, which the `meta` device takes.
use super::graph_break::stop;
use super::library::Torch;
use super::symbols::sizes::name_of;
use crate::domain::{Callee, Operand};
use crate::graph_break::Break;

/// What is left of their names without underscores, of forms in place without the `i` before, and without the prefixes of slots.
const NAMES: &[&str] = &["and", "or", "xor", "invert", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"];

impl Torch {
    /// Breaks before an operation on bits of numbers with fractions: it raises whatever its operands hold.
    pub(super) fn refuse_bits(&self, callee: &Callee<'_>, args: &[Operand<'_>]) -> Result<(), Box<Break>> {
        let name = name_of(callee);
        let plain = name.trim_matches('_').trim_start_matches("nb_").trim_start_matches("inplace_");
        let is_one = |name: &str| NAMES.contains(&name);
        let names = [Some(plain), plain.strip_prefix('i'), plain.strip_prefix('r')];
        if !names.into_iter().flatten().any(is_one) {
            return Ok(());
        }
        let has_fractions = |operand: &Operand<'_>| match operand {
            Operand::Graph { example, .. } => {
                self.rules.metadata(example).is_some_and(|tensor| tensor.dtype.is_float())
            }
            _ => false,
        };
        match args.iter().any(has_fractions) {
            true => Err(stop("bits of numbers with fractions", &*name, "It runs natively, and raises.")),
            false => Ok(()),
        }
    }
}
