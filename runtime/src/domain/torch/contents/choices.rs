//! Which numbers of their operands operations take for indices and classes, and which of these are there.
use crate::domain::torch::examples::open::{has_open, has_unsized};
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::own_name;
use crate::domain::torch::shapes::Dtype;
use crate::domain::torch::undo::effects::base;
use crate::domain::{Choice, Operand};
use pyo3::prelude::*;

/// Operations that choose along a dimension, which comes first, by indices that are not counted from the end: `gather(dim, index)`.
const ALONG: &[&str] = &["gather", "index_select", "index_add", "scatter", "scatter_add"];

/// The class that losses leave out where nobody says which.
const LEFT_OUT: i64 = -100;

impl Torch {
    pub(super) fn choices_of_call<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Vec<Choice<'py>>> {
        if !kwargs.is_empty() {
            return None;
        }
        let own = own_name(target);
        let is_item = base(&own) == "getitem";
        let is_open = args.iter().any(|operand| has_open(operand) && !is_item || has_unsized(operand));
        let chooses_alone = || {
            matches!(base(&own), "embedding" | "index_select") || is_item && matches!(args, [_, Operand::Graph { .. }])
        };
        // Sizes that contents decide may not fit together.
        if is_open && !chooses_alone() {
            return None;
        }
        let among = |operand: &Operand<'py>, count: i64, beside| {
            Some(vec![Choice { operand: operand.clone(), least: 0, most: count - 1, beside }])
        };
        match (base(&own), args) {
            ("cross_entropy_loss" | "nll_loss" | "nll_loss_nd", [scores, classes, rest @ ..]) => {
                let beside = match rest.get(2) {
                    Some(Operand::Known(number)) => number.extract().ok()?,
                    None => LEFT_OUT,
                    Some(_) => return None,
                };
                let sizes = self.sizes(scores)?;
                match self.dtype(classes)? {
                    Dtype::I64 => among(classes, *sizes.get(1).or(sizes.first())?, Some(beside)),
                    // Probabilities of classes.
                    dtype if dtype.is_float() => Some(Vec::new()),
                    _ => None,
                }
            }
            ("embedding", [table, indices, ..]) => among(indices, self.length(table, 0)?, None),
            ("one_hot", [classes, Operand::Known(count)]) => {
                among(classes, count.extract().ok().filter(|count| *count > 0)?, None)
            }
            (name, [of, Operand::Known(dim), indices, ..]) if ALONG.contains(&name) => {
                among(indices, self.length(of, dim.extract().ok()?)?, None)
            }
            ("getitem", [of, index]) | ("setitem", [of, index, _]) => self.choices_of_index(of, index),
            _ => None,
        }
    }

    /// `of[index]`: those of integers, one dimension each; `None`: there are others, too.
    fn choices_of_index<'py>(&self, of: &Operand<'py>, index: &Operand<'py>) -> Option<Vec<Choice<'py>>> {
        let items = match index {
            Operand::Tuple(items) => items.as_slice(),
            _ => std::slice::from_ref(index),
        };
        let (mut choices, mut dim) = (Vec::new(), 0);
        for item in items {
            match item {
                Operand::Known(known) if known.is_none() => {}
                Operand::Known(_) | Operand::Slice(_) => dim += 1,
                Operand::Graph { .. } => {
                    let is_number = self.dtype(item).is_none();
                    if !is_number && !matches!(self.dtype(item), Some(Dtype::I64 | Dtype::I32)) {
                        return None;
                    }
                    let count = self.length(of, dim)?;
                    choices.push(Choice { operand: item.clone(), least: -count, most: count - 1, beside: None });
                    dim += 1;
                }
                _ => return None,
            }
        }
        Some(choices)
    }

    fn dtype(&self, operand: &Operand<'_>) -> Option<Dtype> {
        let Operand::Graph { example, .. } = operand else { return None };
        Some(self.rules.metadata(example)?.dtype)
    }
}
