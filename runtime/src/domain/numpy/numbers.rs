//! Numbers of Python that contents of arrays decide: `array.item()`, `float(array.mean())`, `array.tolist()`.
use super::example::Examples;
use super::graph_break::{CallResult, fault};
use crate::domain::{Answer, Operand, unread, unread_lists};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyType};

/// Longer lists are made natively: each of their items would be a node.
const LONGEST: i64 = 64;

/// Whether an array has dimensions, and no more items than a list that a graph makes.
pub(super) fn has_few_items(example: &Bound<'_, PyAny>) -> bool {
    let sizes = example.getattr(name!("shape")).and_then(|shape| shape.extract::<Vec<i64>>());
    sizes.is_ok_and(|sizes| sizes.first().is_some_and(|count| *count <= LONGEST))
}

/// Methods that convert, what does the same, and of which kinds of elements: an integer raises for no contents of integers.
const CONVERSIONS: &[(&str, &str, &str)] =
    &[("__float__", "float", "biuf"), ("__int__", "int", "biu"), ("__bool__", "bool", "biuf")];

/// What a scalar, or an array without dimensions, is converted to; `None`: it is another method, or raises for some contents.
fn converted<'py>(examples: &Examples<'_, 'py>, method: &str, array: &Operand<'py>) -> Option<CallResult<'py>> {
    let Operand::Graph { example, .. } = array else { return None };
    let (_, class, kinds) = CONVERSIONS.iter().find(|(known, ..)| *known == method)?;
    let dimensions: usize = example.getattr(name!("ndim")).ok()?.extract().ok()?;
    let is_wide = *method == *"__int__" && number_class(examples, example).is_none();
    if dimensions > 0 || is_wide || !kinds.contains(examples.kind(example).ok()?) {
        return None;
    }
    let class = crate::ffi::modules::import(examples.py, "builtins").and_then(|room| room.getattr(*class)).ok()?;
    let made = unread(class.cast::<PyType>().ok()?)?;
    Some(examples.refuse_errors().map(|()| node(class, array, made)))
}

/// A method of arrays that gives numbers.
pub(super) fn method<'py>(
    examples: &Examples<'_, 'py>,
    method: &str,
    args: &[Operand<'py>],
) -> Option<CallResult<'py>> {
    let [array @ Operand::Graph { example, .. }] = args else { return None };
    let class = number_class(examples, example).filter(|_| examples.numpy.is_value(example))?;
    if let Some(answer) = converted(examples, method, array) {
        return Some(answer);
    }
    let sizes: Vec<i64> = example.getattr(name!("shape")).ok()?.extract().ok()?;
    let count = sizes.iter().try_fold(1_i64, |count, size| count.checked_mul(*size))?;
    let made = match method {
        "item" if count == 1 => unread(&class)?,
        "tolist" if (1..=LONGEST).contains(&count) => unread_lists(&class, &sizes).ok()?,
        _ => return None,
    };
    let target = example.get_type().getattr(method).ok()?;
    let answer = || match sizes.is_empty() || method == "item" {
        true => Ok(node(target, array, made)),
        false => {
            let getitem = examples.numpy.operator.bind(examples.py).getattr(name!("getitem"));
            let (args, kwargs, itself) = (args.to_vec(), Vec::new(), Vec::new());
            getitem
                .map(|getitem| Answer::Parts { target, args, kwargs, example: made, getitem, itself })
                .map_err(|error| fault(&error))
        }
    };
    Some(examples.refuse_errors().and_then(|()| answer()))
}

fn node<'py>(target: Bound<'py, PyAny>, array: &Operand<'py>, example: Bound<'py, PyAny>) -> Answer<'py> {
    Answer::Node { target, args: vec![array.clone()], kwargs: Vec::new(), example }
}

/// The class of what elements of an array are to Python; `None`: it is none that holds 64 bits at most.
fn number_class<'py>(examples: &Examples<'_, 'py>, example: &Bound<'py, PyAny>) -> Option<Bound<'py, PyType>> {
    let py = examples.py;
    let bytes: usize = example.getattr(name!("itemsize")).ok()?.extract().ok()?;
    match (examples.kind(example).ok()?, bytes) {
        ('b', _) => Some(py.get_type::<PyBool>()),
        ('i', _) | ('u', ..8) => Some(py.get_type::<PyInt>()),
        ('f', ..=8) => Some(py.get_type::<PyFloat>()),
        _ => None,
    }
}
