//! Scalars that the program makes: `numpy.float64(2.5)`.
use super::example::Examples;
use super::graph_break::{CallResult, stop};
use super::library::Numpy;
use crate::domain::Operand;
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyType};

/// The type of `float`, which takes all of them as they are.
pub(super) const DOUBLE: &str = "numpy.float64";

/// Types whose scalars are made of numbers.
const NUMBERS: &[&str] = &[
    DOUBLE,
    "numpy.float32",
    "numpy.float16",
    "numpy.int64",
    "numpy.int32",
    "numpy.int16",
    "numpy.int8",
    "numpy.uint8",
    "numpy.uint16",
    "numpy.uint32",
    "numpy.uint64",
    "numpy.bool",
    "numpy.bool_",
];

/// What all of these types hold.
const SMALL: f64 = 127.0;

impl Numpy {
    /// The name of a type whose scalars are made of numbers; `None`: the callable is another one.
    pub(super) fn makes_scalars(&self, callable: &Bound<'_, PyAny>) -> Option<&'static str> {
        let class = callable.cast::<PyType>().ok().filter(|class| self.claims_class(class))?;
        let name = types::c_name(class);
        NUMBERS.iter().copied().find(|known| *known == name)
    }
}

/// Whether nothing is lost, and nothing warned of.
fn fits(value: &Bound<'_, PyAny>, name: &str) -> bool {
    let is_float = value.is_exact_instance_of::<PyFloat>();
    let is_number = is_float || value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyBool>();
    let small = || value.extract::<f64>().is_ok_and(|number| (0.0..=SMALL).contains(&number.abs()));
    is_number && (is_float && name == DOUBLE || small())
}

/// Whether the type of `float` takes all contents of it.
fn is_double(example: &Bound<'_, PyAny>) -> bool {
    let kind = example.getattr(name!("dtype")).and_then(|dtype| dtype.getattr(name!("kind")));
    kind.is_ok_and(|kind| matches!(&*types::text(&kind), "f" | "i" | "u" | "b"))
}

/// A call of such a type.
pub(super) fn make<'py>(
    examples: &Examples<'_, 'py>,
    class: &Bound<'py, PyAny>,
    name: &str,
    args: &[Operand<'py>],
    kwargs: &[(String, Operand<'py>)],
) -> CallResult<'py> {
    let admitted = kwargs.is_empty()
        && match args {
            [Operand::Known(value)] => fits(value, name),
            // Of floats alone such a call is made whichever they are.
            [Operand::Number { .. }] => name == DOUBLE,
            [Operand::Graph { example, .. }] => name == DOUBLE && is_double(example),
            _ => false,
        };
    match admitted {
        true => examples.record(class.clone(), args, kwargs),
        false => {
            Err(stop("scalar of numpy that is made", name, "Only numbers that the type holds for sure are recorded."))
        }
    }
}
