//! Operators that take functions: conditions, loops, scans, checkpoints.
mod checkpoints;

use crate::domain::torch::examples::empty_like::empty_like;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::{Meta, Places, fails};
use crate::domain::torch::stand_ins::stand_in;
use crate::domain::{Formal, GraphCall, HigherOrder, Operand};
use crate::ffi::libtorch::Quiet;
use crate::ffi::{callee, modules};
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use Formal::{First, Index, Item, Whole};

/// An operator like most.
const PLAIN: HigherOrder = HigherOrder {
    bodies: &[0],
    formals: &[],
    later: &[],
    nested: None,
    apart: false,
    indexed: false,
    lifted: 0,
    arity: 0,
    options: &[],
    single: false,
    chooses: None,
    shaped: None,
};

/// Modules, names there, and what the operators take.
const OPERATORS: &[(&str, &str, HigherOrder)] = &[
    (COND, "cond_op", HigherOrder { bodies: &[1, 2], lifted: 3, arity: 4, chooses: Some(0), shaped: Some(0), ..PLAIN }),
    (
        "torch._higher_order_ops.while_loop",
        "while_loop_op",
        HigherOrder {
            bodies: &[0, 1],
            formals: &[Whole(2), Whole(3)],
            lifted: 3,
            arity: 4,
            shaped: Some(1),
            single: true,
            ..PLAIN
        },
    ),
    (
        "torch._higher_order_ops.scan",
        "scan_op",
        HigherOrder { formals: &[Whole(1), First(2), Whole(3)], lifted: 3, arity: 4, ..PLAIN },
    ),
    (
        "torch._higher_order_ops.associative_scan",
        "associative_scan_op",
        HigherOrder { formals: &[First(1), First(1), Whole(2)], lifted: 2, arity: 3, shaped: Some(0), ..PLAIN },
    ),
    (
        "torch._higher_order_ops.map",
        "map_impl",
        HigherOrder { formals: &[First(1), Whole(2)], lifted: 2, arity: 3, shaped: Some(0), ..PLAIN },
    ),
    (
        "torch._higher_order_ops.flex_attention",
        "flex_attention",
        HigherOrder {
            bodies: &[3, 7],
            formals: &[Item(0), Index(0), Index(0), Index(0), Index(0)],
            later: &[Index(0), Index(0), Index(0), Index(0)],
            nested: Some(4),
            apart: true,
            indexed: true,
            lifted: 9,
            arity: 8,
            single: true,
            ..PLAIN
        },
    ),
    (
        CHECKPOINT,
        "checkpoint",
        HigherOrder {
            lifted: 1,
            arity: 1,
            options: &["use_reentrant", "preserve_rng_state", "debug", "early_stop", "determinism_check"],
            shaped: Some(0),
            ..PLAIN
        },
    ),
];

const COND: &str = "torch._higher_order_ops.cond";
const CHECKPOINT: &str = "torch.utils.checkpoint";

impl Torch {
    /// What an operator takes that takes functions; `named`: how it is called.
    pub(super) fn higher_order(&self, callable: &Bound<'_, PyAny>, named: &str) -> Option<&'static HigherOrder> {
        let is_named = |name: &str| name == named || name.strip_suffix("_op") == Some(named);
        let (_, _, order) = OPERATORS.iter().find(|(module, name, _)| {
            let room = || modules::imported(&PyString::intern(callable.py(), module));
            is_named(name) && room().is_some_and(|room| room.getattr(*name).is_ok_and(|known| known.is(callable)))
        })?;
        Some(order)
    }

    /// A tensor without contents like what an operator calls a function with: like this one, or like a part of it.
    pub(in crate::domain::torch) fn formal_like<'py>(
        &self,
        example: &Bound<'py, PyAny>,
        formal: Formal,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _quiet = Quiet::about([example]);
        let torch = self.module.bind(example.py());
        let whole = empty_like(torch, &stand_in(self, example)?, "meta")?;
        let named = PyDict::new(example.py());
        let formal = match formal {
            Whole(_) => whole,
            First(_) => torch.getattr(name!("select_copy"))?.call1((whole, 0, 0))?,
            Item(_) => {
                named.set_item(name!("requires_grad"), example.getattr(name!("requires_grad"))?)?;
                whole.call_method(name!("new_empty"), ((),), Some(&named))?
            }
            Index(_) => {
                named.set_item(name!("dtype"), torch.getattr(name!("int32"))?)?;
                whole.call_method(name!("new_empty"), ((),), Some(&named))?
            }
        };
        place_of(example).map(|place| place.tell(&formal)).transpose()?;
        Ok(formal)
    }

    /// Puts graphs in; gives what stands for the results.
    pub(in crate::domain::torch) fn graphs_in<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        call: GraphCall<'_, 'py>,
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        meta.refuse_modes()?;
        let GraphCall { operator, operands, named, order, given, graphs, as_recorded, examples } = call;
        let is_checkpoint = callee::name_of(operator) == "checkpoint";
        if is_checkpoint && self.modes_are_on(meta.py) {
            return Err(stop(
                "call while a mode takes over calls",
                "checkpoint",
                "The mode sees what it asks tensors for.",
            ));
        }
        let convert =
            crate::ffi::modules::import(meta.py, "slotrt._fx").and_then(|module| module.getattr(name!("graph_module")));
        let convert = convert.map_err(|error| fault(&error))?;
        let (mut objects, places) = (Vec::new(), Places::default());
        for (index, operand) in operands.iter().enumerate() {
            let object = || match operand {
                // Options, by name.
                Operand::Known(options) if options.is_exact_instance_of::<PyDict>() => Ok(options.clone()),
                operand => meta.object_where(operand, Some(&places)),
            };
            objects.push(if order.bodies.contains(&index) { None } else { Some(object()?) });
        }
        for (index, (graph, single)) in order.bodies.iter().zip(graphs) {
            let module = convert.call1((graph, single)).map_err(|error| fault(&error))?;
            objects[*index] = Some(module.clone());
            operands[*index] = Operand::Known(module);
        }
        if callee::name_of(operator) == "checkpoint" {
            let reentrant = checkpoints::allow(given, named, &examples)?;
            match reentrant && as_recorded {
                true => *operator = checkpoints::keep_apart(meta.py, given, operands)?,
                false => checkpoints::take_newer(meta.py, named),
            }
            return PyTuple::new(meta.py, examples.concat()).map(Bound::into_any).map_err(|error| fault(&error));
        }
        // What shares memory with what the function got is refused when the operator runs.
        if examples.iter().flatten().any(|example| may_be_of_given(example, operands)) {
            return Err(stop(
                "operator that takes functions",
                callee::name_of(operator).as_ref(),
                "A function gives a view.",
            ));
        }
        let mut objects: Vec<_> = objects.into_iter().flatten().collect();
        if let (Some(at), Some(last)) = (order.nested, order.bodies.last()) {
            let items = objects[at].try_iter().and_then(|items| items.collect::<PyResult<Vec<_>>>());
            let mut items = items.map_err(|error| fault(&error))?;
            items.push(objects.remove(*last));
            objects[at] = PyTuple::new(meta.py, items).map_err(|error| fault(&error))?.into_any();
            let function = operands.remove(*last);
            if let Operand::Tuple(items) = &mut operands[at] {
                items.push(function);
            }
        }
        let made =
            self.fakes.call_operator(operator, &objects, &places.borrow()).map_err(|error| fails(operator, &error))?;
        let items = made.try_iter().and_then(|items| items.collect::<PyResult<Vec<_>>>());
        PyTuple::new(meta.py, items.map_err(|error| fault(&error))?).map(Bound::into_any).map_err(|error| fault(&error))
    }
}

/// Whether what a function gives may be a view of what it was given, or found: it is a view of anything but what the function has made.
fn may_be_of_given(example: &Bound<'_, PyAny>, operands: &[Operand<'_>]) -> bool {
    let Some(base) = sketched_base(example) else {
        return example.call_method0(name!("_is_view")).is_ok_and(|view| view.is_truthy().unwrap_or(true));
    };
    let is_base =
        |given: &Bound<'_, PyAny>| given.is(&base) || sketched_base(given).is_some_and(|other| other.is(&base));
    operands.iter().any(|operand| operand.any_example(&is_base))
}

/// The tensor of the graph that an example is a view of.
fn sketched_base(example: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
    let view = example.cast::<Sketch>().ok()?.get().view.as_ref()?;
    view.base.bind(example.py()).is_instance_of::<Sketch>().then(|| view.base.clone_ref(example.py()))
}
