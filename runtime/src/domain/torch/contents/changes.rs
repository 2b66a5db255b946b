//! Changes in place by what contents have decided: what is changed keeps its type and its sizes.
use super::answer::{TRIED, needs};
use super::results::lengths_of;
use super::sample::Sample;
use crate::domain::torch::by_rule::relaid::RELAYING;
use crate::domain::torch::change::REFUSED;
use crate::domain::torch::examples::history;
use crate::domain::torch::examples::layout::repeats;
use crate::domain::torch::examples::open::{Unread, Unsized, has_open, has_unread};
use crate::domain::torch::functions::leaves::{DETACH, REQUIRES};
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::meta::{Meta, name_of};
use crate::domain::{Answer, Gives, Operand};
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

/// Operations in place, without their last letter, that no tag says to work on elements.
const OTHERS: &[&str] = &[
    "copy",
    "fill",
    "index_add",
    "index_copy",
    "index_fill",
    "masked_fill",
    "scatter",
    "scatter_add",
    "setitem",
    "zero",
];

impl<'py> Meta<'_, 'py> {
    /// A node for such a change. Where sizes do not fit, it raises as the graph runs.
    pub(super) fn change_by_open(
        &self,
        name: &str,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let refuse = || needs(name_of(target));
        let Some(Operand::Graph { value, example, .. }) = args.first() else { return Err(refuse()) };
        let is_refused = REFUSED.contains(&name) || RELAYING.contains(&name) || name == DETACH || name == REQUIRES;
        if is_refused || example.is_instance_of::<Unread>() || !self.works_on_elements(name)? {
            return Err(refuse());
        }
        let mut tried = None;
        for way in TRIED {
            let sample = self.sample(args, kwargs, way)?;
            tried = tried.or_else(|| self.try_change(name, target, &sample));
        }
        let (before, after) = tried.ok_or_else(refuse)?;
        match example.cast::<Unsized>() {
            Ok(tensor) if after && !tensor.get().required() => {
                if !tensor.get().begin_gradients() {
                    return Err(refuse());
                }
            }
            Ok(_) => {}
            Err(_) if repeats(example) || args.first().is_some_and(has_open) => return Err(refuse()),
            Err(_) => self.change_known(args, before != after, after)?,
        }
        let (args, kwargs) = (args.to_vec(), kwargs.to_vec());
        let gives = if name == "__setitem__" { Gives::Nothing } else { Gives::Operand(*value) };
        let (target, example, changes) = (target.clone(), example.clone(), vec![*value]);
        Ok(Answer::Change { target, args, kwargs, example, changes, gives })
    }

    /// Whether an operation in place of this name does something to elements, and nothing to sizes.
    fn works_on_elements(&self, name: &str) -> Result<bool, Box<Break>> {
        if OTHERS.contains(&without_place(name)) { Ok(true) } else { self.is_elementwise_change(name) }
    }

    /// Whether a tag says of an operation in place that it works element by element.
    pub(in crate::domain::torch) fn is_elementwise_change(&self, name: &str) -> Result<bool, Box<Break>> {
        let tags = self.torch.tags_in_place(self.py, without_place(name)).map_err(|error| fault(&error))?;
        Ok(tags.elementwise && !tags.by_contents)
    }

    /// Does it to what stands for the operands; whether gradients are required of the first before and after. `None`: it fails.
    fn try_change(&self, name: &str, target: &Bound<'py, PyAny>, sample: &Sample<'py>) -> Option<(bool, bool)> {
        let requires = |tensor: &Bound<'py, PyAny>| tensor.getattr(name!("requires_grad"))?.is_truthy();
        let run = || {
            let first = sample.args.get_item(0)?;
            let before = requires(&first)?;
            // A leaf is changed by nothing that gradients follow: the operand was made by another operation, or PyTorch says so below.
            let first = if before { first.call_method0(name!("clone"))? } else { first };
            let mut args: Vec<_> = sample.args.iter().collect();
            args[0] = first.clone();
            if let ("__setitem__", Some(value)) = (name, args.get_mut(2))
                && self.torch.is_tensor(value)
            {
                // How many places there are for how many elements shows when the graph runs.
                *value = value.call_method1(name!("reshape"), (-1,))?.get_item(0)?;
            }
            let gives = target.call(PyTuple::new(self.py, args)?, Some(&sample.named))?;
            PyResult::Ok((before, requires(&first)?, gives.is_none() || gives.is(&first)))
        };
        let (before, after, fits) = self.keeping_random(run).ok()?;
        fits.then_some((before, after))
    }

    /// Has PyTorch change what stands for an operand with known sizes by an operand without dimensions: that shows whether it may be changed, and
    /// what becomes of its gradients.
    fn change_known(&self, args: &[Operand<'py>], begins: bool, required: bool) -> Result<(), Box<Break>> {
        let [Operand::Graph { value, example, layout }, ..] = args else { return Err(needs("operand")) };
        let other = || {
            let module = self.torch.module.bind(self.py);
            let named = PyDict::new(self.py);
            named.set_item(name!("dtype"), example.getattr(name!("dtype"))?)?;
            named.set_item(name!("device"), "meta")?;
            named.set_item(name!("requires_grad"), begins)?;
            PyResult::Ok((module.getattr(name!("zeros"))?.call(((),), Some(&named))?, self.torch.tensor.bind(self.py)))
        };
        let (other, class) = other().map_err(|error| fault(&error))?;
        let add = class.getattr(name!("add_")).map_err(|error| fault(&error))?;
        let by = Operand::Graph { value: *value, example: other, layout: layout.clone() };
        self.changed("add_", &add, &[args[0].clone(), by], &[], example)?;
        if required {
            // What stands for it does not know all that it is computed from.
            history::begins_at(&self.object(&args[0])?).map_err(|error| fault(&error))?;
        }
        Ok(())
    }

    /// The operands of a sample: lengths that the program gives `view` and `reshape` say how many dimensions there are.
    pub(super) fn with_any_lengths(&self, name: &str, args: &[Operand<'py>]) -> Vec<Operand<'py>> {
        let Some((first, lengths)) = args.split_first().filter(|_| matches!(name, "view" | "reshape")) else {
            return args.to_vec();
        };
        if !has_open(first) && !lengths.iter().any(has_unread) {
            return args.to_vec();
        }
        let number = |number: i64| Operand::Known(PyInt::new(self.py, number).into_any());
        let any = |lengths: &[Operand<'py>]| -> Option<Vec<Operand<'py>>> {
            let count = lengths_of(lengths)?.len();
            Some((0..count).map(|at| number(if at == 0 { -1 } else { 1 })).collect())
        };
        let lengths = match lengths {
            [Operand::Tuple(items)] => any(items).map(|items| vec![Operand::Tuple(items)]),
            [Operand::List(items)] => any(items).map(|items| vec![Operand::List(items)]),
            _ => any(lengths),
        };
        lengths.map_or_else(|| args.to_vec(), |lengths| [vec![first.clone()], lengths].concat())
    }
}

/// The name of an operation in place, as that of the one that makes something new.
fn without_place(name: &str) -> &str {
    let dunder = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
    match dunder {
        Some("setitem") => "setitem",
        Some(operator) => operator.strip_prefix('i').unwrap_or(operator),
        None => name.strip_suffix('_').unwrap_or(name),
    }
}
