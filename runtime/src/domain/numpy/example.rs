//! Running an operation on examples to learn type, dtype and shape of its result.
use super::graph_break::{CallResult, fault, stop};
use super::library::Numpy;
use crate::domain::{Answer, Operand};
use crate::ffi::slot_call::{self, Signature};
use crate::ffi::types;
use crate::graph_break::Break;
use crate::names::name;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};

/// Turns operands into the objects that stand for them.
pub(super) struct Examples<'a, 'py> {
    pub(super) numpy: &'a Numpy,
    pub(super) py: Python<'py>,
}

impl<'a, 'py> Examples<'a, 'py> {
    pub(super) fn new(numpy: &'a Numpy, py: Python<'py>) -> Self {
        Self { numpy, py }
    }

    /// Arrays of objects run Python code for every element; those of dates and durations warn of their units, while tracing and again later.
    pub(super) fn refuse_objects(&self, args: &[Operand<'py>]) -> Result<(), Box<Break>> {
        let read = |example: &Bound<'py, PyAny>| -> PyResult<(bool, char)> {
            let dtype = example.getattr(name!("dtype"))?;
            Ok((dtype.getattr(name!("hasobject"))?.is_truthy()?, dtype.getattr(name!("kind"))?.extract()?))
        };
        for arg in args {
            let Operand::Graph { example, .. } = arg else { continue };
            self.object(arg)?;
            match read(example).map_err(|error| fault(&error))? {
                (true, _) => {
                    return Err(stop(
                        "array of objects",
                        "dtype=object",
                        "Operations on it call methods of its elements.",
                    ));
                }
                (_, 'm' | 'M') => {
                    return Err(stop(
                        "array of dates",
                        "dtype=datetime64",
                        "Operations on it may warn of their units.",
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Warnings that numpy's Python code gives for the metadata alone would come while tracing, and again when the graph runs.
    pub(super) fn refuse_warnings(
        &self,
        name: &str,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<(), Box<Break>> {
        let Some(Operand::Graph { example, .. }) = args.first() else { return Ok(()) };
        let read = |attribute: &str| example.getattr(attribute).map_err(|error| fault(&error));
        let size: usize = read("size")?.extract().map_err(|error| fault(&error))?;
        let warns = match name {
            "mean" | "median" | "average" => size == 0,
            "std" | "var" => {
                size <= 1 || args.len() > 2 || kwargs.iter().any(|(name, _)| name != "axis" && name != "keepdims")
            }
            "astype" => self.kind(example)? == 'c',
            _ => false,
        };
        if warns {
            return Err(stop("numpy call that may warn", name, "A warning must come once, where the call stands."));
        }
        Ok(())
    }

    /// Integers raised to negative integers are an error that depends on the contents of the exponent.
    pub(super) fn refuse_integer_power(&self, args: &[Operand<'py>]) -> Result<(), Box<Break>> {
        let [base, Operand::Graph { example, .. }, ..] = args else { return Ok(()) };
        let integer = match base {
            Operand::Graph { example, .. } => "iub".contains(self.kind(example)?),
            Operand::Known(object) | Operand::Number { hint: object, .. } => {
                object.is_instance_of::<pyo3::types::PyInt>()
            }
            _ => true,
        };
        if integer && self.kind(example)? == 'i' {
            return Err(stop("integer power", "nb_power", "Whether it raises depends on the exponent's contents."));
        }
        Ok(())
    }

    /// `dtype.kind`.
    pub(super) fn kind(&self, example: &Bound<'py, PyAny>) -> Result<char, Box<Break>> {
        let read = || example.getattr(name!("dtype"))?.getattr(name!("kind"))?.extract::<char>();
        read().map_err(|error| fault(&error))
    }

    /// The object that stands for an operand.
    pub(super) fn object(&self, operand: &Operand<'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let all = |items: &[Operand<'py>]| items.iter().map(|item| self.object(item)).collect::<Result<Vec<_>, _>>();
        match operand {
            // Values of another library, too, are values of the graph.
            Operand::Graph { example, .. } if !self.numpy.is_value(example) => {
                let name = crate::ffi::types::name(&example.get_type());
                Err(stop("array operation with an unknown object", name, "numpy would look into the object."))
            }
            Operand::Graph { example, .. } => Ok(example.clone()),
            Operand::Known(object) => self.known(object),
            Operand::Number { hint, .. } => Ok(hint.clone()),
            Operand::Tuple(items) => Ok(tuple(self.py, all(items)?)?.into_any()),
            Operand::List(items) => Ok(PyList::new(self.py, all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::Slice(parts) => {
                let [start, end, step] = [self.object(&parts[0])?, self.object(&parts[1])?, self.object(&parts[2])?];
                let slice = self.py.get_type::<PySlice>().call1((start, end, step));
                slice.map_err(|error| fault(&error))
            }
            Operand::Foreign(class) => {
                let name = crate::ffi::types::name(class);
                Err(stop("array operation with an unknown object", name, "numpy would look into the object."))
            }
        }
    }

    /// Known objects that numpy takes as they are, without running Python code of theirs.
    fn known(&self, object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let class = object.get_type();
        let c_name = crate::ffi::types::c_name(&class);
        let builtin = !c_name.is_empty() && !c_name.contains('.');
        let dtype = c_name.starts_with("numpy.");
        if builtin || dtype || self.numpy.is_value(object) || object.is_instance_of::<pyo3::types::PyType>() {
            return Ok(object.clone());
        }
        let name = crate::ffi::types::name(&class);
        Err(stop("array operation with an unknown object", name, "numpy would look into the object."))
    }

    /// Runs the call on the examples, floating point warnings off, and answers with a node for it.
    pub(super) fn record(
        &self,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        match self.run(&target, args, kwargs)? {
            Ok(example) => self.node(target, args, kwargs, example),
            Err(error) => Ok(Answer::Raised(error)),
        }
    }

    /// A node whose result is like `example`.
    pub(super) fn node(
        &self,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        example: Bound<'py, PyAny>,
    ) -> CallResult<'py> {
        if !self.numpy.is_value(&example) {
            let text = crate::ffi::types::name(&example.get_type());
            return Err(stop("numpy result that is no array", text, "Only arrays and numpy scalars are graph values."));
        }
        self.refuse_errors()?;
        let mut operands = args.iter().chain(kwargs.iter().map(|(_, value)| value));
        if operands.any(|operand| matches!(operand, Operand::Graph { example: operand, .. } if operand.is(&example))) {
            let text = crate::graph::text::target(&target).unwrap_or_default();
            return Err(stop("result that is the operand itself", text, "A graph makes new objects."));
        }
        Ok(Answer::Node { target, args: args.to_vec(), kwargs: kwargs.to_vec(), example })
    }

    /// Breaks where floating point errors are exceptions.
    pub(super) fn refuse_errors(&self) -> Result<(), Box<Break>> {
        match self.numpy.errors.harmless(self.py) {
            true => Ok(()),
            false => {
                let text = "numpy.errstate or numpy.seterr";
                Err(stop("floating point errors are exceptions", text, "They must be raised where they happen."))
            }
        }
    }

    /// What the call gives for the examples.
    pub(super) fn run(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<PyResult<Bound<'py, PyAny>>, Box<Break>> {
        let objects = args.iter().map(|arg| self.object(arg)).collect::<Result<Vec<_>, _>>()?;
        let objects = tuple(self.py, objects)?;
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            named.set_item(name, self.object(value)?).map_err(|error| fault(&error))?;
        }
        self.quietly(|| target.call(&objects, (!named.is_empty()).then_some(&named)))
    }

    /// What a number slot of the class of an operand gives for the examples; `NotImplemented` where it is absent.
    pub(super) fn run_slot(
        &self,
        own: &Operand<'py>,
        slot: Slot,
        args: &[Operand<'py>],
    ) -> Result<PyResult<Bound<'py, PyAny>>, Box<Break>> {
        let mut objects = args.iter().map(|arg| self.object(arg)).collect::<Result<Vec<_>, _>>()?;
        let signature = match slot {
            Slot::nb_power => {
                objects.push(self.py.None().into_bound(self.py));
                Signature::Ternary
            }
            _ => Signature::Binary,
        };
        match types::slot(&self.object(own)?.get_type(), slot) {
            Some(function) => self.quietly(|| slot_call::call(function, &objects, signature)),
            None => Ok(Ok(self.py.NotImplemented().into_bound(self.py))),
        }
    }

    /// Runs what warnings of floating point numbers must not come from.
    pub(super) fn quietly(
        &self,
        run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> Result<PyResult<Bound<'py, PyAny>>, Box<Break>> {
        let state = self.quiet().map_err(|error| fault(&error))?;
        let result = run();
        state
            .call_method1(name!("__exit__"), (self.py.None(), self.py.None(), self.py.None()))
            .map_err(|error| fault(&error))?;
        Ok(result)
    }

    /// Enters `errstate(all="ignore")`: the warnings of the real contents come when the graph runs.
    fn quiet(&self) -> PyResult<Bound<'py, PyAny>> {
        let kwargs = PyDict::new(self.py);
        kwargs.set_item("all", "ignore")?;
        let state = self.numpy.module.bind(self.py).getattr(name!("errstate"))?.call((), Some(&kwargs))?;
        state.call_method0(name!("__enter__"))?;
        Ok(state)
    }
}

/// The tuple of Python objects.
fn tuple<'py>(py: Python<'py>, items: Vec<Bound<'py, PyAny>>) -> Result<Bound<'py, PyTuple>, Box<Break>> {
    PyTuple::new(py, items).map_err(|error| fault(&error))
}
