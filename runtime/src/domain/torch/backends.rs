//! What a backend does with a call: compile it with others, or leave it alone.
use super::change::{OUT, changes};
use super::contents::tags::is_left_by_compilers;
use super::examples::layout::may_overlap;
use super::examples::open::has_open;
use super::functions::context_modes::is_of_this_package;
use super::functions::leaves::data::is_set_data;
use super::functions::leaves::{DETACH, REQUIRES, is_set_requires_grad};
use super::generators::draws_from;
use super::library::Torch;
use super::made::makes_of_lists;
use super::own::{CLEAR_GRADIENT, EXTREMES, GRADIENT_OF, IN_PLACE, MAKES, PARAMETER_OF, is_named, is_through_hook};
use super::quantised::{is_conversion, is_quantised, takes_packed};
use super::stand_ins::FACTORS;
use super::thread::modes;
use super::undo::effects::{AS_SUBCLASS, DRAWN_INDICES, GET_STATE, SEED_STATE, SET_STATE};
use crate::domain::torch::named::{is_script, own_name};
use crate::domain::{Dispatching, Operand};
use crate::ffi::libtorch::Quiet;
use crate::graph::ForBackend;
use crate::names::name;
use pyo3::prelude::*;

/// How operations begin that make images larger: of an image, to a size or by factors.
const UPSAMPLE: &str = "upsample_";

impl Torch {
    /// What a backend does with a call.
    pub(super) fn part_of_backend(
        &self,
        target: &Bound<'_, PyAny>,
        args: &[Operand<'_>],
        kwargs: &[(String, Operand<'_>)],
    ) -> ForBackend {
        if draws_from(kwargs).is_some() {
            return ForBackend::LeavesAlone;
        }
        // PyTorch's compilers run the graph once, and keep operations alone, on tensors that begin no history.
        let name = own_name(target);
        let is_true = |value: &Operand<'_>| matches!(value, Operand::Known(value) if value.is_truthy().unwrap_or(true));
        let begins = kwargs.iter().any(|(name, value)| name == "requires_grad" && is_true(value));
        // AOTAutograd puts a new tensor in the place of one that gets a result, and lays it out as it sees fit.
        let lays_out = kwargs.iter().any(|(name, _)| name == OUT);
        // They keep a state of their own.
        let is_state = [DRAWN_INDICES, GET_STATE, SET_STATE, SEED_STATE].contains(&&*name);
        let is_odd =
            |example: &Bound<'_, PyAny>| is_quantised(example) || self.dispatches(&self.class_of_example(example));
        let mut operands = args.iter().chain(kwargs.iter().map(|(_, value)| value));
        let is_left = begins
            || operands.any(has_open) && self.decides_by_contents(target, args)
            || lays_out
            || is_state
            || is_of_this_package(target)
            || self.changes_lists(target)
            // It would get operations on what nobody tells it of.
            || args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(|operand| operand.any_example(&is_odd))
            || args.iter().any(takes_packed)
            || modes::is_of_defaults(&name)
            || modes::is_of_kernels(&name)
            || name == AS_SUBCLASS
            || name == MAKES
            || is_script(target)
            || is_conversion(&name)
            || is_left_by_compilers(&name)
            || name == "numpy"
            || name == "from_numpy"
            // They change each element once, wherever it lies.
            || (changes(&name) || name == "setitem") && args.first().is_some_and(|first| first.any_example(&may_overlap))
            // They want floats in sequences of them.
            || name.starts_with(UPSAMPLE) && args.iter().skip(2).any(holds_number)
            // Their stand-ins ask for the number.
            || matches!(&*name, "getitem" | "setitem") && args.get(1).is_some_and(is_by_number)
            || kwargs.iter().any(|(name, value)| FACTORS.contains(&&**name) && is_by_number(value))
            || makes_of_lists(&name) && args.iter().any(holds_value)
            || is_set_data(target)
            || is_set_requires_grad(target)
            || EXTREMES.iter().any(|own| is_named(target, own))
            || is_named(target, GRADIENT_OF)
            || is_named(target, CLEAR_GRADIENT)
            || is_named(target, PARAMETER_OF)
            || is_named(target, IN_PLACE)
            || self.gives_numbers(target)
            // Of a tensor that another part gives, they would forget it.
            || name == REQUIRES
            || name == DETACH
            || self.is_backward(target)
            || is_through_hook(target)
            // AOTAutograd asserts that its kernel with gradients saves tensors alone.
            || name == "lstm" && self.keeps_gradients(target.py());
        match is_left {
            true => ForBackend::LeavesAlone,
            false if modes::is_of_gradients(&name) => ForBackend::KeptMode,
            false if modes::is_setter(&name) => ForBackend::Mode,
            false => ForBackend::Compiles,
        }
    }
}

/// Whether an index is, or holds, a tensor without dimensions, whose number is taken for one of Python's.
fn is_by_number(index: &Operand<'_>) -> bool {
    match index {
        Operand::Graph { example, .. } => {
            let _quiet = Quiet::about([example]);
            let rank = example.getattr(name!("shape")).and_then(|shape| shape.len());
            rank.is_ok_and(|rank| rank == 0)
        }
        Operand::Tuple(items) | Operand::List(items) => items.iter().any(is_by_number),
        Operand::Slice(bounds) => bounds.iter().any(is_by_number),
        Operand::Known(_) | Operand::Number { .. } | Operand::Foreign(_) => false,
    }
}

/// Whether it is a sequence that holds a number that may be another one.
fn holds_number(operand: &Operand<'_>) -> bool {
    let is = |item: &Operand<'_>| matches!(item, Operand::Number { .. });
    matches!(operand, Operand::Tuple(items) | Operand::List(items) if items.iter().any(is))
}

/// Whether it is a sequence that holds a tensor, or a number that may be another one: numbers are taken out of it.
fn holds_value(operand: &Operand<'_>) -> bool {
    let is = |item: &Operand<'_>| matches!(item, Operand::Graph { .. } | Operand::Number { .. }) || holds_value(item);
    matches!(operand, Operand::Tuple(items) | Operand::List(items) if items.iter().any(is))
}
