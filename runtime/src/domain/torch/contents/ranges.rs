//! Between which numbers those lie that operations give: indices of what they draw, choose or sort, floats of 32 bits.
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::own_name;
use crate::domain::torch::shapes::Dtype;
use crate::domain::torch::undo::effects::base;
use crate::domain::{Domain, Operand, Range, RangeRule};
use pyo3::prelude::*;

/// Operations whose numbers are those of their first operand, some or all of them.
const OF_FIRST: &[&str] = &[
    "item",
    "tolist",
    "float",
    "int",
    "long",
    "getitem",
    "view",
    "reshape",
    "flatten",
    "ravel",
    "squeeze",
    "unsqueeze",
    "unbind",
    "chunk",
    "split",
    "clone",
    "contiguous",
    "detach",
    "cpu",
    "flip",
    "roll",
    "t",
    "permute",
    "select",
    "narrow",
    "index_select",
    "expand",
    "repeat",
];

/// Operations that give values along a dimension, and the places of these.
const PLACED: &[&str] = &["max", "min", "median", "nanmedian", "mode", "cummax", "cummin", "topk", "sort"];

/// Those that choose items by an operand, and its place: how many there are, the dimension, or the first, says.
const CHOOSE: &[(&str, usize)] = &[("getitem", 1), ("embedding", 1), ("index_select", 2)];

impl Torch {
    pub(super) fn range_of_call(
        &self,
        target: Option<&Bound<'_, PyAny>>,
        args: &[Operand<'_>],
        kwargs: &[(String, Operand<'_>)],
        example: Option<&Bound<'_, PyAny>>,
    ) -> Option<RangeRule> {
        let indices = |count: i64| (count > 0).then(|| RangeRule::Known(Range::integers(0, count - 1)));
        let by_name = target.and_then(|target| {
            let own = own_name(target);
            match (base(&own), args) {
                ("randperm" | "drawn_indices", [Operand::Known(count), ..]) => indices(count.extract().ok()?),
                ("randint", args) => {
                    let named = |name: &str| kwargs.iter().find(|(known, _)| known == name).map(|(_, value)| value);
                    let whole = |operand: &Operand<'_>| match operand {
                        Operand::Known(number) => number.extract::<i64>().ok(),
                        _ => None,
                    };
                    let given: Vec<_> = args.iter().map_while(whole).collect();
                    let (low, high) = match given.as_slice() {
                        [] => (named("low").map_or(Some(0), whole)?, whole(named("high")?)?),
                        [low] if named("high").is_some() => (*low, whole(named("high")?)?),
                        [high] => (0, *high),
                        [low, high, ..] => (*low, *high),
                    };
                    (low < high).then(|| RangeRule::Known(Range::integers(low, high - 1)))
                }
                ("multinomial", [weights, ..]) => indices(self.length(weights, -1)?),
                ("argmax" | "argmin" | "argsort", [of, rest @ ..]) => {
                    let named = kwargs.iter().find(|(name, _)| name == "dim").map(|(_, dim)| dim);
                    match (rest.first().or(named), &*own) {
                        (Some(Operand::Known(dim)), _) if !dim.is_none() => {
                            indices(self.length(of, dim.extract().ok()?)?)
                        }
                        (None, "argsort") => indices(self.length(of, -1)?),
                        (None, _) => indices(self.sizes(of)?.iter().product()),
                        _ => None,
                    }
                }
                ("zeros" | "zeros_like" | "new_zeros", _) => Some(RangeRule::Known(Range::integers(0, 0))),
                ("ones" | "ones_like" | "new_ones", _) => Some(RangeRule::Known(Range::integers(1, 1))),
                ("arange", args) if self.holds_indices(example) => {
                    let whole = |operand: &Operand<'_>| match operand {
                        Operand::Known(number) => number.extract::<i64>().ok(),
                        _ => None,
                    };
                    let given = args.iter().map(whole).collect::<Option<Vec<_>>>()?;
                    match given.as_slice() {
                        [end] => indices(*end),
                        [start, end] | [start, end, 1] if start < end => {
                            Some(RangeRule::Known(Range::integers(*start, end - 1)))
                        }
                        _ => None,
                    }
                }
                // The remainder has the sign of the divisor.
                ("remainder" | "mod", [_, Operand::Known(divisor)]) if self.holds_indices(example) => {
                    indices(divisor.extract().ok()?)
                }
                ("clamp" | "clip", [_, Operand::Known(least), Operand::Known(most)]) if self.holds_indices(example) => {
                    let (least, most) = (least.extract().ok()?, most.extract().ok()?);
                    (least <= most).then(|| RangeRule::Known(Range::integers(least, most)))
                }
                ("cat" | "concat" | "stack" | "hstack" | "vstack", [_, ..]) => Some(RangeRule::OfItems),
                // Values come first, then their places.
                (name, [of, rest @ ..]) if PLACED.contains(&name) && example.is_some_and(is_of_places) => {
                    let dim = match (rest.get(usize::from(name == "topk")), name) {
                        (Some(Operand::Known(dim)), _) => dim.extract().ok()?,
                        (None, "topk" | "sort") => -1,
                        _ => return None,
                    };
                    kwargs.is_empty().then(|| self.length(of, dim)).flatten().and_then(indices)
                }
                ("getitem", [Operand::Graph { example, .. }, Operand::Known(part)]) if is_of_places(example) => {
                    part.eq(1).unwrap_or(false).then_some(RangeRule::OfFirst)
                }
                (name, [_, ..]) if OF_FIRST.contains(&name) => Some(RangeRule::OfFirst),
                _ => None,
            }
        });
        let kind = || Some(self.rules.metadata(example?)?.dtype);
        let is_single = || matches!(kind(), Some(Dtype::F32 | Dtype::F16 | Dtype::BF16));
        by_name.or_else(|| is_single().then(|| RangeRule::Known(Range::singles())))
    }

    pub(super) fn choice_of_call(&self, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> Option<(usize, i64)> {
        let own = own_name(target);
        let (_, place) = CHOOSE.iter().find(|(name, _)| *name == base(&own))?;
        let dim = match args {
            [_, Operand::Known(dim), _] if *place == 2 => dim.extract().ok()?,
            [_, Operand::Graph { .. }] if *place == 1 => 0,
            _ => return None,
        };
        Some((*place, self.length(args.first()?, dim)?))
    }

    /// Whether a tensor holds integers of a type that takes no number for another one, as far as indices go.
    fn holds_indices(&self, example: Option<&Bound<'_, PyAny>>) -> bool {
        let dtype = example.and_then(|example| self.rules.metadata(example)).map(|tensor| tensor.dtype);
        matches!(dtype, Some(Dtype::I64 | Dtype::I32))
    }

    pub(super) fn sizes(&self, operand: &Operand<'_>) -> Option<Vec<i64>> {
        let Operand::Graph { example, layout: None, .. } = operand else { return None };
        if self.is_open(example) {
            return None;
        }
        Some(self.layout_of(example)?.sizes.to_vec())
    }

    /// How many there are along a dimension.
    pub(super) fn length(&self, operand: &Operand<'_>, dim: i64) -> Option<i64> {
        let sizes = self.sizes(operand)?;
        let dim = if dim < 0 { dim + sizes.len() as i64 } else { dim };
        sizes.get(usize::try_from(dim).ok()?).copied()
    }
}

/// Whether something stands for values and their places.
fn is_of_places(example: &Bound<'_, PyAny>) -> bool {
    const RESULTS: &str = "torch.return_types.";
    example.get_type().fully_qualified_name().is_ok_and(|name| name.to_string_lossy().starts_with(RESULTS))
}
