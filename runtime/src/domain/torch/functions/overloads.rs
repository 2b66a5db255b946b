//! Operators of the dispatcher as functions: `torch.ops.library.name` and its overloads, those that programs register among them.
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::{OPERATORS, is_named_operator, is_registered};
use crate::domain::torch::quantised::takes_packed;
use crate::domain::{Operand, unread};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

impl Torch {
    /// Whether it is an operator that a program may have registered, with a function of its own.
    pub(in crate::domain::torch) fn is_of_program(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.is_operator(callable) && is_registered(callable)
    }

    /// Whether it is an operator, or one overload of one.
    pub(in crate::domain::torch) fn is_operator(&self, callable: &Bound<'_, PyAny>) -> bool {
        let class = callable.get_type();
        is_named_operator(&class)
            && self.module.bind(callable.py()).getattr(name!("_ops")).is_ok_and(|module| {
                OPERATORS.iter().any(|known| module.getattr(*known).is_ok_and(|known| known.is(&class)))
            })
    }

    /// Whether it is an operator of the program's that changes tensors of a list, which no compiler of PyTorch's takes.
    pub(in crate::domain::torch) fn changes_lists(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.is_of_program(callable) && writes_lists(callable).unwrap_or(true)
    }

    /// Whether it is an operator of the program's that gives numbers, beside tensors or alone. Compilers of PyTorch's take them for those of the
    /// operator's function for tensors without contents.
    pub(in crate::domain::torch) fn gives_numbers(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.is_of_program(callable) && gives_others(callable).unwrap_or(true)
    }

    /// What such an operator gives for tensors without contents: nobody knows the numbers.
    pub(in crate::domain::torch) fn without_numbers<'py>(
        &self,
        operator: &Bound<'py, PyAny>,
        given: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !self.gives_numbers(operator) {
            return Ok(given);
        }
        let py = given.py();
        let open = |item: Bound<'py, PyAny>| {
            let class = item.get_type();
            let is_number = class.is(py.get_type::<PyInt>())
                || class.is(py.get_type::<PyFloat>())
                || class.is(py.get_type::<PyBool>());
            if is_number { unread(&class).unwrap_or(item) } else { item }
        };
        match given.cast_exact::<PyTuple>() {
            Ok(items) => Ok(PyTuple::new(py, items.iter().map(open))?.into_any()),
            Err(_) => Ok(open(given)),
        }
    }

    /// A call of an operator: its schemas say whether it changes operands.
    pub(in crate::domain::torch) fn operator<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        operator: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let name = operator_name(operator).map_err(|error| fault(&error))?;
        let mutable = is_mutable(operator, kwargs).map_err(|error| fault(&error))?;
        match mutable {
            // By convention these change their first operand and give it.
            true if name.ends_with('_') => meta.perform(&name, operator.clone(), args, kwargs),
            true => {
                let (places, names) =
                    self.written(operator, kwargs).map_err(|error| fault(&error))?.ok_or_else(|| {
                        let why = "Which operands it changes depends on the overload that is chosen.";
                        stop("operator that changes its operands", name, why)
                    })?;
                meta.write(operator, args, kwargs, &places, &names)
            }
            false if args.iter().any(takes_packed) => meta.of_quantised(&name, operator.clone(), args, kwargs),
            false => meta.record(operator.clone(), args, kwargs),
        }
    }
}

/// What a call writes to, by place and by name.
type Written = (Vec<usize>, Vec<String>);

impl Torch {
    /// What a call of an operator writes to; `None`: it has several overloads.
    fn written(&self, operator: &Bound<'_, PyAny>, kwargs: &[(String, Operand<'_>)]) -> PyResult<Option<Written>> {
        let overloads = overloads(operator)?;
        let [overload] = overloads.as_slice() else { return Ok(None) };
        let (mut places, mut names) = Written::default();
        for (place, argument) in arguments(overload)?.enumerate() {
            let argument = argument?;
            if !is_written(&argument)? {
                continue;
            }
            let name: String = argument.getattr(name!("name"))?.extract()?;
            match kwargs.iter().any(|(given, _)| *given == name) {
                true => names.push(name),
                false => places.push(place),
            }
        }
        Ok(Some((places, names)))
    }

    /// The places of what a function of PyTorch's changes, as its operator's schema says.
    pub(in crate::domain::torch) fn places_written(&self, py: Python<'_>, name: &str) -> PyResult<Vec<usize>> {
        let packet = self.module.bind(py).getattr(name!("ops"))?.getattr(name!("aten"))?.getattr(name)?;
        let mut places = Vec::new();
        for (place, argument) in arguments(&packet.getattr(name!("default"))?)?.enumerate() {
            if is_written(&argument?)? {
                places.push(place);
            }
        }
        Ok(places)
    }
}

fn arguments<'py>(overload: &Bound<'py, PyAny>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    overload.getattr(name!("_schema"))?.getattr(name!("arguments"))?.try_iter()
}

/// Whether a schema says that it gives something else than tensors.
fn gives_others(operator: &Bound<'_, PyAny>) -> PyResult<bool> {
    for overload in overloads(operator)? {
        for given in overload.getattr(name!("_schema"))?.getattr(name!("returns"))?.try_iter()? {
            let kind = given?.getattr(name!("type"))?.call_method0(name!("kind"))?;
            if !kind.eq("TensorType")? && !kind.eq("ListType")? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether the schema says that an argument is written to.
fn is_written(argument: &Bound<'_, PyAny>) -> PyResult<bool> {
    let aliases = argument.getattr(name!("alias_info"))?;
    Ok(!aliases.is_none() && aliases.getattr(name!("is_write"))?.is_truthy()?)
}

/// `add` of `torch.ops.aten.add` and of `torch.ops.aten.add.Tensor`.
fn operator_name(operator: &Bound<'_, PyAny>) -> PyResult<String> {
    let packet = operator.getattr_opt(name!("_overloadpacket"))?.unwrap_or_else(|| operator.clone());
    packet.getattr(name!("__name__"))?.extract()
}

/// Whether a call with these keywords changes an operand, whichever overload it chooses.
fn is_mutable(operator: &Bound<'_, PyAny>, kwargs: &[(String, Operand<'_>)]) -> PyResult<bool> {
    for overload in overloads(operator)? {
        if writes(&overload, kwargs)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The overloads of an operator, or the one that it is.
fn overloads<'py>(operator: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if operator.hasattr(name!("_schema"))? {
        return Ok(vec![operator.clone()]);
    }
    let names = operator.call_method0(name!("overloads"))?;
    names.try_iter()?.map(|name| operator.getattr(name?.cast::<PyString>()?)).collect()
}

/// Whether a schema says that a list is written to.
fn writes_lists(operator: &Bound<'_, PyAny>) -> PyResult<bool> {
    for overload in overloads(operator)? {
        for argument in arguments(&overload)? {
            let argument = argument?;
            let kind = argument.getattr(name!("type"))?.call_method0(name!("kind"))?;
            if is_written(&argument)? && kind.eq("ListType")? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether the schema of one overload says that it writes to an operand; to one that is named only where it is given.
fn writes(overload: &Bound<'_, PyAny>, kwargs: &[(String, Operand<'_>)]) -> PyResult<bool> {
    for argument in arguments(overload)? {
        let argument = argument?;
        if !is_written(&argument)? {
            continue;
        }
        let name: String = argument.getattr(name!("name"))?.extract()?;
        if !argument.getattr(name!("kwarg_only"))?.is_truthy()? || kwargs.iter().any(|(given, _)| *given == name) {
            return Ok(true);
        }
    }
    Ok(false)
}
