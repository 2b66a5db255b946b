//! Floats that tensors without dimensions hold on the CPU: counts of steps, rates, products of rates. Calls that work on them alone have rules.
use super::tags::operation;
use crate::domain::torch::change::changes;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::guards::choice::ChoiceCheck;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::own_name;
use crate::domain::torch::own::{ADDRESS_OF, BYTES_OF, HAS_BYTES, IS_FIRST, MODULE, STORAGE_ADDRESS_OF, is_named};
use crate::domain::torch::shapes::Dtype;
use crate::domain::torch::undo::effects::base;
use crate::domain::{Choice, HeldNumber, HeldNumbers, Operand, RangeRule, ToldByCheck};
use crate::ffi::libtorch::Quiet;
use crate::ffi::libtorch::{address, contents};
use crate::graph::{Argument, Node};
use crate::guard::DomainCheck;
use crate::names::name;
use crate::symbol::Operation;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Operations that tell which elements count.
const CHOOSE: &[&str] = &["nonzero", "argwhere", "where"];

/// How names of operations begin that do something to each tensor of a list.
const EACH: &str = "_foreach_";

impl HeldNumbers for Torch {
    fn is_float(&self, example: &Bound<'_, PyAny>) -> bool {
        self.float_held(example).is_some()
    }

    fn may_be_one_number(&self, example: &Bound<'_, PyAny>) -> bool {
        self.rules.metadata(example).is_none_or(|tensor| tensor.shape.iter().all(|length| *length == 1))
    }

    fn extreme<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arrays: &[Operand<'py>],
    ) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        self.extreme_of(&Meta { torch: self, py }, name, arrays)
    }

    fn is_address(&self, target: &Bound<'_, PyAny>) -> bool {
        [ADDRESS_OF, STORAGE_ADDRESS_OF, BYTES_OF].iter().any(|own| is_named(target, own))
    }

    fn told_by_check<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Option<ToldByCheck<'py>>> {
        let py = object.py();
        let own = |name: &str| crate::ffi::modules::import(py, MODULE)?.getattr(name);
        let _quiet = Quiet::about([object]);
        if is_named(target, BYTES_OF) {
            let told = target.call1((object,))?;
            let check = crate::ffi::modules::import(py, "functools")?.getattr(name!("partial"))?;
            return Ok(Some(ToldByCheck { check: check.call1((own(HAS_BYTES)?, &told))?, told: Some(told) }));
        }
        if is_named(target, STORAGE_ADDRESS_OF) {
            let check = own(IS_FIRST)?;
            let is_first = check.call1((object,))?.is_truthy()?;
            return if is_first {
                Ok(Some(ToldByCheck { check, told: None }))
            } else {
                Err(pyo3::exceptions::PyValueError::new_err("it begins elsewhere"))
            };
        }
        Ok(None)
    }

    fn keeps_address(&self, target: &Bound<'_, PyAny>, node: &Node) -> bool {
        let is_data = || matches!(node.args.get(1), Some(Argument::Constant(name)) if name.bind(target.py()).eq("data").unwrap_or(false));
        match &*own_name(target) {
            "detach" => true,
            "getattr" => is_data(),
            _ => false,
        }
    }

    fn address(&self, object: &Bound<'_, PyAny>) -> Option<usize> {
        address(object)
    }

    fn held_number(&self, object: &Bound<'_, PyAny>) -> Option<f64> {
        let held = contents(object)?;
        let _quiet = Quiet::about([object]);
        let told: f64 = object.call_method0(name!("item")).ok()?.extract().ok()?;
        (told.to_bits() == held.to_bits()).then_some(held)
    }

    fn all_chosen<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        count: i64,
        kwargs: &Bound<'py, PyDict>,
    ) -> Option<Bound<'py, PyAny>> {
        let is_choice = CHOOSE.contains(&&*operation(target)?);
        let named = PyDict::new(target.py());
        named.set_item(name!("dtype"), self.module.bind(target.py()).getattr(name!("bool")).ok()?).ok()?;
        named.set_item(name!("device"), "cpu").ok()?;
        let all = || self.module.bind(target.py()).getattr(name!("ones"))?.call((count,), Some(&named));
        let args = PyTuple::new(target.py(), [is_choice.then(all)?.ok()?]).ok()?;
        self.computed(target, &args, kwargs)
    }

    fn range_rule<'py>(
        &self,
        target: Option<&Bound<'py, PyAny>>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        example: Option<&Bound<'py, PyAny>>,
    ) -> Option<RangeRule> {
        self.range_of_call(target, args, kwargs, example)
    }

    fn chosen_among(&self, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> Option<(usize, i64)> {
        self.choice_of_call(target, args)
    }

    fn choices<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Vec<Choice<'py>>> {
        self.choices_of_call(target, args, kwargs)
    }

    fn guard_of_choice(&self, object: &Bound<'_, PyAny>, choice: &Choice<'_>) -> Option<Box<dyn DomainCheck>> {
        let check = ChoiceCheck::of(choice);
        check.holds(object).then(|| Box::new(check) as _)
    }

    fn computed<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> Option<Bound<'py, PyAny>> {
        let meta = Meta { torch: self, py: target.py() };
        meta.refuse_modes().ok()?;
        if self.ambient.is_transforming(target.py()).unwrap_or(true) {
            return None;
        }
        meta.keeping_random(|| target.call(args, Some(kwargs))).ok()
    }

    fn numbers_held_after<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        example: &Bound<'py, PyAny>,
    ) -> Option<Vec<HeldNumber<'py>>> {
        let own = own_name(target);
        if let (Some(operation), [Operand::List(tensors), number]) =
            (own.strip_prefix(EACH).filter(|_| changes(&own)), args)
        {
            let number_for = |place: usize| match number {
                Operand::List(numbers) => numbers.get(place),
                number => Some(number),
            };
            let changed = tensors
                .iter()
                .enumerate()
                .map(|(place, tensor)| self.changed_number(base(operation), tensor, number_for(place)?, kwargs));
            return changed.collect();
        }
        let held = match (base(&own), args) {
            ("item" | "float", [tensor]) => HeldNumber::Of(tensor.clone()),
            ("tensor" | "as_tensor" | "scalar_tensor", [number]) => {
                self.rounded(example, HeldNumber::Of(number.clone()))?
            }
            ("zeros", _) | ("zero", [_]) => HeldNumber::Known(0.0),
            ("ones", _) => HeldNumber::Known(1.0),
            (operation, [tensor, number]) if is_in_place(&own) => {
                self.changed_number(operation, tensor, number, kwargs)?
            }
            _ => return None,
        };
        Some(vec![held])
    }
}

/// Whether an operation of this name changes its first operand.
fn is_in_place(name: &str) -> bool {
    changes(name) || matches!(name, "iadd" | "imul")
}

impl Torch {
    /// The type of a plain tensor without dimensions on the CPU, where that is one of floats.
    fn float_held(&self, example: &Bound<'_, PyAny>) -> Option<Dtype> {
        let is_plain = || self.is_tensor(example) && self.class_of_example(example).is(&self.tensor);
        let tensor = self.rules.metadata(example)?;
        let is_float = tensor.shape.is_empty() && matches!(tensor.dtype, Dtype::F32 | Dtype::F64);
        let is_here = || place_of(example).is_some_and(|place| place.is_cpu());
        (is_float && is_plain() && is_here()).then_some(tensor.dtype)
    }

    /// What an operation in place makes of such a tensor and a number.
    fn changed_number<'py>(
        &self,
        operation: &str,
        tensor: &Operand<'py>,
        number: &Operand<'py>,
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<HeldNumber<'py>> {
        let Operand::Graph { example, .. } = tensor else { return None };
        let kind = self.float_held(example)?;
        // Of two types the larger one would compute.
        let is_alike = match number {
            Operand::Graph { example, .. } if self.is_tensor(example) => self.float_held(example) == Some(kind),
            _ => true,
        };
        let is_one = |(name, value): &(String, Operand<'_>)| {
            name == "alpha" && matches!(value, Operand::Known(one) if one.eq(1).unwrap_or(false))
        };
        let operation = match operation {
            "copy" | "fill" if kwargs.is_empty() => return self.rounded(example, HeldNumber::Of(number.clone())),
            _ if !is_alike => return None,
            "add" | "iadd" if kwargs.iter().all(is_one) => Operation::Add,
            "mul" | "imul" if kwargs.is_empty() => Operation::Multiply,
            _ => return None,
        };
        let number = self.rounded(example, HeldNumber::Of(number.clone()))?;
        self.rounded(example, HeldNumber::Applied(operation, vec![HeldNumber::Of(tensor.clone()), number]))
    }

    /// A number, as such a tensor holds it. Sums and products of two floats of 32 bits are rounded once, whether they are computed as such or
    /// in 64.
    fn rounded<'py>(&self, example: &Bound<'py, PyAny>, number: HeldNumber<'py>) -> Option<HeldNumber<'py>> {
        Some(match self.float_held(example)? {
            Dtype::F32 => HeldNumber::Applied(Operation::ToSingle, vec![number]),
            _ => HeldNumber::Applied(Operation::ToFloat, vec![number]),
        })
    }
}
