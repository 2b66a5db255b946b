//! What stands for results whose sizes contents decide, and which of their sizes are the same whatever the contents.
use super::answer::{TENSOR, needs};
use super::sample::{Sample, is_strided};
use crate::domain::Operand;
use crate::domain::torch::examples::empty_like::empty_like;
use crate::domain::torch::examples::history;
use crate::domain::torch::examples::layout::layout_of;
use crate::domain::torch::examples::open::{Unread, Unsized};
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::graph_break::fault;
use crate::domain::torch::meta::Meta;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice};

/// Of these, contents decide how many dimensions results have.
const OF_ANY_RANK: &[&str] = &["linalg_lstsq"];

impl<'py> Meta<'_, 'py> {
    /// What stands for a result that is like this tensor: without dimensions, it has sizes that are known.
    pub(super) fn like(
        &self,
        made: &Bound<'py, PyAny>,
        (name, args): (&str, &[Operand<'py>]),
        is_view: bool,
        sample: &Sample<'py>,
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let is_own = made.get_type().is(&self.torch.tensor);
        let is_here = || made.getattr(name!("is_cpu"))?.is_truthy();
        let fits = || {
            let shares = || PyResult::Ok(!is_view && sample.shares_memory(made)?);
            PyResult::Ok(is_own && is_here()? && is_strided(self.torch, made)? && !shares()?)
        };
        match fits()
            .and_then(|fits| if fits { self.stand_in_of(made, (name, args), is_view).map(Some) } else { Ok(None) })
        {
            Ok(Some(stand_in)) => Ok(stand_in),
            Ok(None) => Err(needs(name)),
            Err(error) => Err(fault(&error)),
        }
    }

    fn stand_in_of(
        &self,
        made: &Bound<'py, PyAny>,
        (name, args): (&str, &[Operand<'py>]),
        is_view: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rank: usize = made.call_method0(name!("dim"))?.extract()?;
        // Sequences of tensors without dimensions have a length that is known.
        if rank == 0 && !OF_ANY_RANK.contains(&name) || name == TENSOR {
            let like = empty_like(self.torch.module.bind(self.py), made, "meta")?;
            Place::default().tell(&like)?;
            history::begins_at(&like)?;
            return Ok(like);
        }
        let sizes = (!OF_ANY_RANK.contains(&name)).then(|| known_sizes(name, args, rank).into());
        let required = made.getattr(name!("requires_grad"))?.is_truthy()?;
        let tensor = Unsized::new(made.getattr(name!("dtype"))?.unbind(), sizes, required, is_view);
        Ok(Bound::new(self.py, tensor)?.into_any())
    }
}

/// The sizes of an operand, as far as they are the same at each call and for all contents; `None`: it is no tensor of a known rank.
pub(super) fn sizes_of(operand: &Operand<'_>) -> Option<Vec<Option<i64>>> {
    let Operand::Graph { example, layout, .. } = operand else { return None };
    if let Ok(tensor) = example.cast::<Unsized>() {
        return tensor.get().sizes.as_deref().map(<[_]>::to_vec);
    }
    if example.is_instance_of::<Unread>() {
        return None;
    }
    let sizes = layout_of(example)?.sizes;
    Some(sizes.iter().map(|size| layout.is_none().then_some(*size)).collect())
}

/// Of each dimension of a result of a call, how long it is whatever contents say.
fn known_sizes(name: &str, args: &[Operand<'_>], rank: usize) -> Vec<Option<i64>> {
    let found = match (name, args) {
        // A row for each element, in which are its indices.
        ("nonzero" | "argwhere", [tensor]) => sizes_of(tensor).map(|sizes| vec![None, Some(sizes.len() as i64)]),
        ("index", [tensor, Operand::Tuple(items)]) => sizes_of(tensor).and_then(|sizes| indexed(&sizes, items)),
        ("index", [tensor, index]) => sizes_of(tensor).and_then(|sizes| indexed(&sizes, std::slice::from_ref(index))),
        ("view" | "reshape", [_, lengths @ ..]) => lengths_of(lengths),
        _ => None,
    };
    found.filter(|sizes| sizes.len() == rank).unwrap_or_else(|| vec![None; rank])
}

/// The lengths that a program gives `view` and `reshape`: those that are known and say no other one.
pub(super) fn lengths_of(lengths: &[Operand<'_>]) -> Option<Vec<Option<i64>>> {
    let lengths = match lengths {
        [Operand::Tuple(items) | Operand::List(items)] => items,
        lengths => lengths,
    };
    let length = |length: &Operand<'_>| match length {
        Operand::Known(known) if known.is_exact_instance_of::<PyInt>() => {
            Some(known.extract::<i64>().ok().filter(|known| *known >= 0))
        }
        Operand::Number { .. } => Some(None),
        Operand::Graph { example, .. } if is_integer(example) => Some(None),
        _ => None,
    };
    lengths.iter().map(length).collect()
}

fn is_integer(example: &Bound<'_, PyAny>) -> bool {
    let class = |unread: &Bound<'_, Unread>| unread.get().class.is(unread.py().get_type::<PyInt>());
    example.cast::<Unread>().is_ok_and(class)
}

/// The sizes of what an index picks, where tensors in it stand for positions of one or more dimensions next to each other.
fn indexed(sizes: &[Option<i64>], index: &[Operand<'_>]) -> Option<Vec<Option<i64>>> {
    let consumed = |item: &Operand<'_>| match item {
        Operand::Known(item) if item.is_none() || item.is_exact_instance_of::<PyEllipsis>() => Some(0),
        Operand::Graph { example, .. } => match is_truths(example)? {
            true => sizes_of(item).map(|sizes| sizes.len()),
            false => Some(1),
        },
        _ => Some(1),
    };
    let total = index.iter().map(consumed).sum::<Option<usize>>()?;
    let mut rest = sizes.iter();
    let mut found = Vec::with_capacity(sizes.len());
    let mut before: Option<bool> = None;
    for item in index {
        let mut is_positions = false;
        match item {
            Operand::Known(item) if item.is_none() => found.push(Some(1)),
            Operand::Known(item) if item.is_exact_instance_of::<PyEllipsis>() => {
                found.extend(rest.by_ref().take(sizes.len().checked_sub(total)?));
            }
            Operand::Known(item) if item.is_exact_instance_of::<PySlice>() => {
                let size = rest.next()?;
                found.push(if is_whole(item)? { *size } else { None });
            }
            Operand::Slice(_) => {
                rest.next()?;
                found.push(None);
            }
            Operand::Graph { example, .. } => {
                let own = sizes_of(item)?;
                is_positions = true;
                let positions = match is_truths(example)? {
                    true => {
                        (0..own.len()).try_for_each(|_| rest.next().map(|_| ()))?;
                        vec![None]
                    }
                    false => {
                        rest.next()?;
                        own
                    }
                };
                match before {
                    None => found.extend(positions),
                    // More of them are spread over each other: of one dimension each, they give one.
                    Some(true) if positions.len() == 1 => *found.last_mut()? = None,
                    Some(_) => return None,
                }
            }
            _ => return None,
        }
        before = if is_positions { Some(true) } else { before.map(|_| false) };
    }
    found.extend(rest);
    Some(found)
}

/// Whether a tensor holds truths, which pick the elements where they stand; `None`: it is another number.
fn is_truths(example: &Bound<'_, PyAny>) -> Option<bool> {
    let dtype = example.getattr(name!("dtype")).ok()?.to_string();
    match dtype.as_str() {
        "torch.bool" => Some(true),
        "torch.int64" | "torch.int32" => Some(false),
        _ => None,
    }
}

/// Whether a slice takes all there is.
fn is_whole(slice: &Bound<'_, PyAny>) -> Option<bool> {
    let parts = ["start", "stop", "step"].map(|part| slice.getattr(part).ok());
    parts
        .into_iter()
        .map(|part| part.map(|part| part.is_none()))
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.iter().all(|none| *none))
}
