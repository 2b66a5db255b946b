//! Calls of the class of generators and of its methods, attributes of one, and the guard on one.
use crate::domain::torch::examples::empty_like::empty_like;
use crate::domain::torch::examples::place::{Place, is_device};
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::{Answer, Gives, Operand, class_of_unread};
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyModule, PyString, PyTuple, PyType};

/// Methods that change the generator, and give it.
pub(super) const CHANGES: &[&str] = &[SEED, SET_STATE];
pub(super) const SEED: &str = "manual_seed";
pub(super) const SET_STATE: &str = "set_state";

/// Methods that give something new.
const GET_STATE: &str = "get_state";
const CLONE: &str = "clone_state";

/// The break at what is not recorded.
pub(super) fn refused(what: &str) -> Box<Break> {
    stop(
        "call of a method of a generator of random numbers that is not recorded",
        what,
        "Its result is another one at each call.",
    )
}

/// A new generator.
pub(super) fn make<'py>(
    class: &Bound<'py, PyAny>,
    args: &[Operand<'py>],
    kwargs: &[(String, Operand<'py>)],
) -> CallResult<'py> {
    let is_place = |operand: &Operand<'py>| match operand {
        Operand::Known(object) => is_device(object) || object.is_exact_instance_of::<PyString>(),
        _ => false,
    };
    if !args.iter().chain(kwargs.iter().map(|(_, value)| value)).all(is_place) {
        return Err(refused("Generator"));
    }
    let known = |operand: &Operand<'py>| match operand {
        Operand::Known(object) => Some(object.clone()),
        _ => None,
    };
    let made = || {
        let named = PyDict::new(class.py());
        kwargs.iter().try_for_each(|(name, value)| named.set_item(name, known(value)))?;
        class.call(PyTuple::new(class.py(), args.iter().filter_map(known).collect::<Vec<_>>())?, Some(&named))
    };
    Ok(match made() {
        Ok(example) => Answer::Node { target: class.clone(), args: args.to_vec(), kwargs: kwargs.to_vec(), example },
        Err(error) => Answer::Raised(error),
    })
}

/// A call of a method.
pub(super) fn method<'py>(
    module: &Bound<'py, PyModule>,
    class: &Bound<'py, PyType>,
    name: &str,
    args: &[Operand<'py>],
    kwargs: &[(String, Operand<'py>)],
) -> CallResult<'py> {
    let [Operand::Graph { value, example, .. }, rest @ ..] = args else { return Err(refused(name)) };
    let is_here = || example.getattr(name!("device"))?.getattr(name!("type"))?.eq("cpu");
    if !kwargs.is_empty() || !is_here().unwrap_or(false) {
        return Err(refused(name));
    }
    let target = class.getattr(interned(class.py(), name)).map_err(|error| fault(&error))?;
    let args = args.to_vec();
    let given = |example| Answer::Node { target: target.clone(), args: args.clone(), kwargs: Vec::new(), example };
    match (name, rest) {
        (GET_STATE, []) => state_like(module, example).map(given).map_err(|error| fault(&error)),
        (CLONE, []) => example.call_method0(name!("clone_state")).map(given).map_err(|error| fault(&error)),
        (SEED, [seed]) if is_seed(seed) => Ok(change(target, args, *value, example)),
        (SET_STATE, [Operand::Graph { example: state, .. }]) if is_state(module, state).unwrap_or(false) => {
            Ok(change(target, args, *value, example))
        }
        _ => Err(refused(name)),
    }
}

fn change<'py>(
    target: Bound<'py, PyAny>,
    args: Vec<Operand<'py>>,
    value: crate::graph::ValueId,
    example: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let (changes, gives) = (vec![value], Gives::Operand(value));
    Answer::Change { target, args, kwargs: Vec::new(), example: example.clone(), changes, gives }
}

/// Whether a generator takes it for a seed.
fn is_seed(seed: &Operand<'_>) -> bool {
    let (Operand::Known(seed) | Operand::Number { hint: seed, .. }) = seed else {
        // One that contents decide.
        return matches!(seed, Operand::Graph { example, .. } if class_of_unread(example).is_some_and(|class| class.is(class.py().get_type::<PyInt>())));
    };
    seed.is_exact_instance_of::<PyInt>() && (seed.extract::<i64>().is_ok() || seed.extract::<u64>().is_ok())
}

/// What stands for the state of a generator.
fn state_like<'py>(module: &Bound<'py, PyModule>, generator: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let made = empty_like(module, &generator.call_method0(name!("get_state"))?, "meta")?;
    Place::default().tell(&made)?;
    Ok(made)
}

fn is_state(module: &Bound<'_, PyModule>, example: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_bytes = example.getattr(name!("dtype"))?.is(&module.getattr(name!("uint8"))?);
    Ok(is_bytes && place_of(example).is_some_and(|place| place.is_cpu()))
}

/// An attribute.
pub(super) fn attribute<'py>(name: &str, args: &[Operand<'py>]) -> CallResult<'py> {
    match (name, args) {
        ("device", [Operand::Graph { example, .. }]) => {
            example.getattr(name!("device")).map(Answer::Constant).map_err(|error| fault(&error))
        }
        (_, [Operand::Graph { example, .. }]) if !example.get_type().hasattr(name).unwrap_or(true) => {
            example.getattr(name).map_or_else(|error| Ok(Answer::Raised(error)), |_| Err(refused(name)))
        }
        _ => Err(refused(name)),
    }
}

/// The guard on a generator from outside.
pub(super) fn check(class: &Py<PyType>, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>> {
    let device = example.getattr(name!("device")).map_err(|error| fault(&error))?;
    let text = format!("device == {device}");
    Ok(Box::new(OfDevice { class: class.clone_ref(example.py()), device: device.unbind(), text }))
}

/// It is a generator of this device.
#[derive(Debug)]
struct OfDevice {
    class: Py<PyType>,
    device: Py<PyAny>,
    text: String,
}

impl DomainCheck for OfDevice {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let is_there = || value.getattr(name!("device"))?.eq(&self.device);
        value.get_type().is(&self.class) && is_there().unwrap_or(false)
    }

    fn class(&self) -> Option<&Py<PyType>> {
        Some(&self.class)
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other
            .downcast_ref::<Self>()
            .is_some_and(|other| self.class.is(&other.class) && self.device.bind(py).eq(&other.device).unwrap_or(false))
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}

/// What generators do depends on no mode.
#[derive(Debug)]
pub(super) struct Always;

impl DomainCheck for Always {
    fn holds(&self, _value: &Bound<'_, PyAny>) -> bool {
        true
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.is::<Self>()
    }

    fn describe(&self) -> String {
        "always".to_owned()
    }
}
