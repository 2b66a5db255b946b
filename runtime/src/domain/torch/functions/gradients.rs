//! Gradients that the program asks for within the graph: a node, where all that they go through is in the graph.
use super::natives;
use crate::domain::torch::examples::history;
use crate::domain::torch::examples::layout::layout_of;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{CallResult, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{GRADIENT_OF, MODULE, is_named};
use crate::domain::torch::stand_ins::is_outside;
use crate::domain::{Callee, Gradient, HistoryUse, Operand};
use crate::names::name;
use pyo3::prelude::*;

impl Torch {
    /// What a call of `torch.autograd.grad`, or of `backward`, does with the graph of gradients.
    pub(in crate::domain::torch) fn walks_history(
        &self,
        callee: &Callee<'_>,
        args: &[Operand<'_>],
        kwargs: &[(String, Operand<'_>)],
    ) -> HistoryUse {
        const CREATE_GRAPH: usize = 4;
        let Callee::Function(function) = callee else { return HistoryUse::None };
        let is_off = |value: &Operand<'_>| matches!(value, Operand::Known(on) if !on.is_truthy().unwrap_or(true));
        let named = kwargs.iter().find(|(name, _)| name == "create_graph").map(|(_, value)| value);
        match self.is_grad(function) {
            true if args.get(CREATE_GRAPH).or(named).is_some_and(|value| !is_off(value)) => HistoryUse::Extends,
            true => HistoryUse::Walks,
            false if self.is_backward(function) => HistoryUse::Walks,
            false => HistoryUse::None,
        }
    }

    /// Whether it is one of these calls, or reads what one of them has made.
    pub(in crate::domain::torch) fn is_of_gradients(&self, callee: &Callee<'_>) -> bool {
        let reads = || matches!(callee, Callee::Function(function) if is_named(function, GRADIENT_OF));
        reads() || self.walks_history(callee, &[], &[]) != HistoryUse::None
    }

    /// Whether it is `torch.autograd.grad`.
    pub(in crate::domain::torch) fn is_grad(&self, callable: &Bound<'_, PyAny>) -> bool {
        let room = || self.module.bind(callable.py()).getattr(name!("autograd"))?.getattr(name!("grad"));
        crate::ffi::callee::name_of(callable) == "grad" && room().is_ok_and(|grad| grad.is(callable))
    }

    /// What gives the gradients of `torch.autograd.grad` by the names of a dict.
    pub(in crate::domain::torch) fn grad_by_name<'py>(&self, callee: &Callee<'py>) -> Option<Bound<'py, PyAny>> {
        let Callee::Function(function) = callee else { return None };
        let functions = self.is_grad(function).then(|| crate::ffi::modules::import(function.py(), MODULE))?;
        functions.ok()?.getattr(name!("gradients_by_name")).ok()
    }

    /// `torch.autograd.grad(outputs, inputs, …)`: what stands for a tensor from outside does not know what that was made of.
    pub(in crate::domain::torch) fn grad<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        grad: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let named = |name: &str| kwargs.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let outputs = args.first().or_else(|| named("outputs"));
        let inputs = args.get(1).or_else(|| named("inputs"));
        let (Some(outputs), Some(inputs)) = (outputs, inputs) else {
            return Err(natives::break_at(grad).unwrap_or_else(other));
        };
        if !is_made_here(outputs) || !is_made_here(inputs) || is_cut(outputs) {
            return Err(natives::break_at(grad).unwrap_or_else(other));
        }
        // A call without tensors by position is taken for one that makes some.
        let mut positional = vec![outputs.clone(), inputs.clone()];
        positional.extend(args.iter().skip(2).cloned());
        let is_other = |name: &str| name != "outputs" && name != "inputs";
        let named: Vec<_> = kwargs.iter().filter(|(name, _)| is_other(name)).cloned().collect();
        meta.record(grad.clone(), &positional, &named)
    }
}

impl Torch {
    /// Whether gradients are kept for now.
    pub(in crate::domain::torch) fn keeps_gradients(&self, py: Python<'_>) -> bool {
        let enabled = || self.module.bind(py).call_method0(name!("is_grad_enabled"))?.is_truthy();
        enabled().unwrap_or(true)
    }

    /// Whether a leaf from outside takes such a tensor for its gradient.
    pub(in crate::domain::torch) fn may_be_gradient(
        &self,
        leaf: &Bound<'_, PyAny>,
        gradient: &Bound<'_, PyAny>,
    ) -> bool {
        let known = |tensor| self.rules.metadata(tensor).zip(place_of(tensor));
        let (Some((leaf, here)), Some((gradient, there))) = (known(leaf), known(gradient)) else { return false };
        leaf.dtype == gradient.dtype && leaf.shape == gradient.shape && here == there
    }
}

impl Torch {
    /// The gradient that `backward` has made of a leaf, which `replayed` stands for.
    pub(in crate::domain::torch) fn gradient_made<'py>(
        &self,
        replayed: &Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
        by_kernels: &dyn Fn() -> Option<Bound<'py, PyAny>>,
    ) -> Option<Gradient<'py>> {
        let py = replayed.py();
        let truth = |object: &Bound<'py, PyAny>, name: &str| object.getattr(name).ok()?.is_truthy().ok();
        let is_leaf = truth(replayed, "is_leaf")?;
        if !is_leaf && !truth(replayed, "retains_grad")? {
            return None;
        }
        let gradient = replayed.getattr(name!("grad")).ok()?;
        if gradient.is_none() {
            return None;
        }
        place_of(example)?.tell(&gradient).ok()?;
        let is_plain = gradient.get_type().is(&self.tensor)
            && truth(&gradient, "is_meta")?
            && !truth(&gradient, "requires_grad")?
            && self.may_be_gradient(example, &gradient);
        // The stride of a single item is that of the leaf or any other, as kernels give it.
        let layout = layout_of(&gradient)?;
        if layout.sizes.contains(&1) && layout_of(&by_kernels()?.getattr(name!("grad")).ok()?)? != layout {
            return None;
        }
        // A leaf from outside may take gradients of another kind.
        let kind = example.getattr_opt(KIND).ok()?.filter(|_| !example.is_instance_of::<Sketch>());
        if !is_plain
            || kind.as_ref().is_some_and(|kind| !gradient.getattr(name!("dtype")).is_ok_and(|own| own.is(kind)))
        {
            return None;
        }
        let reader =
            crate::ffi::modules::import(py, MODULE).and_then(|functions| functions.getattr(GRADIENT_OF)).ok()?;
        Some(Gradient { reader, example: gradient, grows: is_leaf, relies_on: kind.map(|kind| (KIND, kind)) })
    }
}

/// The attribute that says of which kind of numbers the gradient of a leaf is.
const KIND: &str = "grad_dtype";

/// Whether the way back from one of the tensors may end before it should.
pub(super) fn is_cut(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Graph { example, .. } => history::is_cut(example).unwrap_or(true),
        Operand::Tuple(items) | Operand::List(items) => items.iter().any(is_cut),
        Operand::Known(_) | Operand::Number { .. } | Operand::Slice(_) | Operand::Foreign(_) => false,
    }
}

/// Whether the graph has made all of the tensors.
pub(super) fn is_made_here(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Graph { example, .. } => {
            // What stands for a sketch was not computed from anything.
            !example.is_instance_of::<Sketch>()
                && !is_outside(example)
                && example.getattr(name!("is_meta")).and_then(|is_meta| is_meta.is_truthy()).unwrap_or(false)
        }
        Operand::Tuple(items) | Operand::List(items) => items.iter().all(is_made_here),
        Operand::Known(_) | Operand::Number { .. } | Operand::Slice(_) | Operand::Foreign(_) => false,
    }
}

pub(super) fn other() -> Box<crate::graph_break::Break> {
    stop("unsupported form of a PyTorch call", "torch.autograd.grad", "It runs natively.")
}
