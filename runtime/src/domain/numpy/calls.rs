//! numpy as a domain: arrays and scalars are values of the graph; what depends on metadata alone is known while tracing.
use super::errors::Errors;
use super::example::Examples;
use super::graph_break::{CallResult, fault, stop};
use super::library::Numpy;
use super::names::{Functions, Rule};
use super::{changes, check, names, numbers, operators, scalars};
use crate::domain::{
    Answer, Callee, Domain, GlobalStateGuard, Gradients, HeldNumbers, LaterCalls, NodeEffects, NumberUse, Operand,
    OwnFunctions, Undoing, class_of_unread, description_of_unread, is_unread, unread,
};
use crate::ffi::ndarray;
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyType};
use std::sync::Arc;

/// The domain, if this numpy's arrays are laid out as known here.
pub fn new(module: &Bound<'_, PyModule>) -> PyResult<Option<Arc<dyn Domain>>> {
    let py = module.py();
    // A program can look while numpy is still being imported.
    let (Ok(zeros), Ok(ndarray)) = (module.getattr(name!("zeros")), module.getattr(name!("ndarray"))) else {
        return Ok(None);
    };
    let class = |name: &str| -> PyResult<Py<PyType>> { Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind()) };
    if !ndarray::agrees(&zeros.call1(((2, 3),))?)? {
        return Ok(None);
    }
    let (generic, ufunc) = (class("generic")?, class("ufunc")?);
    let ndarray = ndarray.cast_into::<PyType>()?.unbind();
    let operator = crate::ffi::modules::import(py, "operator")?.unbind();
    let errors = Arc::new(Errors::new(module)?);
    let functions = Functions::of(module);
    let module = module.clone().unbind();
    Ok(Some(Arc::new(Numpy { module, functions, ndarray, generic, ufunc, operator, errors })))
}

impl OwnFunctions for Numpy {}

impl LaterCalls for Numpy {}

impl Gradients for Numpy {}

impl HeldNumbers for Numpy {}

impl Undoing for Numpy {
    /// Nothing that is recorded takes random numbers, or shares memory with anything but its first argument.
    fn effects(&self, target: &Bound<'_, PyAny>) -> NodeEffects {
        let of_numbers = target.getattr_opt(name!("__module__")).ok().flatten();
        if of_numbers.is_some_and(|module| module.eq("slotrt._numbers").unwrap_or(false)) {
            return NodeEffects {
                raises: false,
                shares_first: false,
                draws: false,
                is_unknown: false,
                ..NodeEffects::unknown()
            };
        }
        let shares_first = !self.makes_new_arrays(target);
        NodeEffects { draws: false, shares_first, is_unknown: false, ..NodeEffects::unknown() }
    }

    fn takes_back_changes(&self) -> bool {
        false
    }
}

impl Domain for Numpy {
    fn name(&self) -> &'static str {
        "numpy"
    }

    fn context_variable(&self) -> Option<&Py<PyAny>> {
        self.errors.variable()
    }

    fn parts<'py>(&self, object: &Bound<'py, PyAny>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let class = self.module.bind(object.py()).getattr(name!("dtype")).ok()?;
        let known = object.is_instance(&class).ok()? && object.getattr(name!("isbuiltin")).ok()?.eq(1).ok()?;
        Some((check::DTYPE, known.then(|| object.getattr(name!("str")).ok())??))
    }

    fn of_parts<'py>(&self, kind: &str, parts: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let class = || self.module.bind(parts.py()).getattr(name!("dtype"));
        (kind == check::DTYPE).then(|| class()?.call1((parts.cast::<PyString>()?,))).transpose()
    }

    fn check_of(&self, name: &str, state: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> {
        Ok(Some(match name {
            check::ARRAY => Box::new(check::ArrayCheck::of_state(state)?),
            check::SCALAR => Box::new(check::ScalarCheck::new(state.cast::<PyType>()?)),
            check::HARMLESS => Box::new(check::HarmlessErrors(Arc::clone(&self.errors))),
            _ => return Ok(None),
        }))
    }

    fn claims(&self, class: &Bound<'_, PyType>) -> bool {
        self.claims_class(class)
    }

    fn iterates_by_index(&self, example: &Bound<'_, PyAny>) -> bool {
        example.get_type().is(&self.ndarray) && numbers::has_few_items(example)
    }

    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool {
        callable.get_type().is(&self.ufunc)
            || self.functions.rule(callable).is_some()
            || self.makes_scalars(callable).is_some()
    }

    fn taken_by<'py>(&self, function: &Bound<'py, PyAny>) -> Option<&'static str> {
        let name = crate::ffi::callee::name_of(function);
        let of_array = matches!(&*name, "asarray" | "array") && self.functions.rule(function).is_some();
        of_array.then_some("__array__")
    }

    fn taken_through<'py>(&self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let copies = crate::ffi::callee::name_of(function) == "array";
        copies.then(|| {
            crate::ffi::modules::import(function.py(), "slotrt._numpy_functions")
                .and_then(|room| room.getattr("array_of"))
                .ok()
        })?
    }

    /// Types of results follow from that of a float, whichever it is; an integer may be too large for one.
    fn use_of_numbers(&self, callee: &Callee<'_>) -> NumberUse {
        let is_computed = match callee {
            Callee::Slot(slot) => operators::computes(slot) || changes::computes(slot),
            Callee::Function(function) => {
                let holds = || names::holds_floats(&crate::ffi::callee::name_of(function));
                function.get_type().is(&self.ufunc)
                    || self.functions.rule(function).is_some_and(|rule| rule == Rule::Any || holds())
                    || self.makes_scalars(function) == Some(scalars::DOUBLE)
            }
            Callee::Method(name) => names::method(name) == Some(Rule::Any),
            Callee::GetAttr(_) => false,
        };
        if is_computed { NumberUse::Floats } else { NumberUse::Other }
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let examples = Examples::new(self, py);
        if matches!(callee, Callee::Slot(slot) if operators::leaves_to_other(&examples, slot, args)) {
            return Ok(Answer::NotImplemented);
        }
        examples.refuse_objects(args)?;
        match callee {
            Callee::Slot(slot) => operators::slot(&examples, slot, args),
            Callee::Function(function) => self.function(&examples, function, args, kwargs),
            Callee::Method(name) => self.method(&examples, name, args, kwargs),
            Callee::GetAttr(name) => self.attribute(&examples, name, args),
        }
    }

    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>> {
        if example.get_type().is(&self.ndarray) {
            return Ok(Box::new(check::ArrayCheck::new(example)));
        }
        let parametric = ["datetime64", "timedelta64", "void", "str_", "bytes_", "object_"];
        let name = crate::ffi::types::name(&example.get_type());
        if parametric.iter().any(|kind| name.ends_with(kind)) {
            return Err(stop(
                "numpy scalar with a parametric type",
                name,
                "Its type alone does not determine its dtype.",
            ));
        }
        Ok(Box::new(check::ScalarCheck::new(&example.get_type())))
    }

    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>> {
        Ok(GlobalStateGuard {
            object: self.module.clone_ref(py).into_any(),
            check: Box::new(check::HarmlessErrors(Arc::clone(&self.errors))),
        })
    }

    fn class_of<'py>(&self, example: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class_of_unread(example).unwrap_or_else(|| example.get_type())
    }

    fn unread<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
        unread(class)
    }

    fn is_open(&self, example: &Bound<'_, PyAny>) -> bool {
        is_unread(example)
    }

    fn describe(&self, example: &Bound<'_, PyAny>) -> String {
        if let Some(description) = description_of_unread(example) {
            return description;
        }
        let text = |name: &str| example.getattr(name).map(|value| crate::ffi::types::text(&value)).unwrap_or_default();
        if example.get_type().is(&self.ndarray) {
            return format!("ndarray[{}, {}]", text("dtype"), text("shape"));
        }
        format!("scalar[{}]", text("dtype"))
    }
}

impl Numpy {
    fn function<'py>(
        &self,
        examples: &Examples<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let mut others = kwargs.to_vec();
        let mut out = changes::take_out(&mut others);
        let kwargs = if out.is_some() { &others[..] } else { kwargs };
        let mut args = args;
        if function.get_type().is(&self.ufunc) {
            let plain = kwargs.iter().all(|(name, value)| name == "dtype" && matches!(value, Operand::Known(_)));
            let outputs: usize = function.getattr(name!("nout")).and_then(|count| count.extract()).unwrap_or(0);
            let inputs: usize = function.getattr(name!("nin")).and_then(|count| count.extract()).unwrap_or(0);
            if let (Some((last, before)), None) = (args.split_last().filter(|(_, before)| before.len() == inputs), &out)
            {
                (args, out) = (before, Some(last.clone()));
            }
            if !plain || outputs != 1 || args.len() != inputs {
                let text = format!("{function} with where=, or several results");
                return Err(stop("unsupported form of a numpy call", text, "Only plain calls of ufuncs are recorded."));
            }
            if crate::ffi::callee::name_of(function) == "power" {
                examples.refuse_integer_power(args)?;
            }
            return match out {
                Some(out) => changes::write(examples, function, (args, kwargs), &out),
                None => examples.record(function.clone(), args, kwargs),
            };
        }
        if let Some(name) = self.makes_scalars(function) {
            return scalars::make(examples, function, name, args, kwargs);
        }
        let Some(rule) = self.functions.rule(function) else {
            let text = crate::graph::text::target(function).unwrap_or_default();
            return Err(stop(
                "call of a numpy function that is not recorded",
                text,
                "Its result may depend on contents.",
            ));
        };
        let name = crate::ffi::callee::name_of(function);
        // An array of the plain class is given back as it is.
        if let (true, [Operand::Graph { value, example, .. }], []) = (name == "asarray", args, kwargs)
            && example.get_type().is(&self.ndarray)
        {
            return Ok(Answer::Same(*value));
        }
        let may_share = |(given, value): &(String, Operand<'py>)| {
            given == "copy"
                && !matches!(value, Operand::Known(copy) if copy.cast::<PyBool>().is_ok_and(|copy| copy.is_true()))
        };
        if name == "array" && kwargs.iter().any(may_share) {
            let why = "Whether it shares memory with its argument depends on that.";
            return Err(stop("unsupported form of a numpy call", "array(copy=…)", why));
        }
        rule.admit(args, kwargs)?;
        if names::overwrites(&name, args, kwargs) {
            return Err(stop("unsupported form of a numpy call", name, "It changes its operand."));
        }
        examples.refuse_warnings(&name, args, kwargs)?;
        match out {
            Some(out) => changes::write(examples, function, (args, kwargs), &out),
            None => examples.record(function.clone(), args, kwargs),
        }
    }

    fn method<'py>(
        &self,
        examples: &Examples<'_, 'py>,
        name: &str,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        if kwargs.is_empty()
            && let Some(answer) = numbers::method(examples, name, args)
        {
            return answer;
        }
        let Some(rule) = names::method(name) else {
            let text = format!("ndarray.{name}");
            return Err(stop(
                "call of a numpy method that is not recorded",
                text,
                "Its result may depend on contents, or it changes the array.",
            ));
        };
        rule.admit(args, kwargs)?;
        examples.refuse_warnings(name, args, kwargs)?;
        let class = examples.object(&args[0])?.get_type();
        let method = class.getattr(name).map_err(|error| fault(&error))?;
        examples.record(method, args, kwargs)
    }

    fn attribute<'py>(&self, examples: &Examples<'_, 'py>, name: &str, args: &[Operand<'py>]) -> CallResult<'py> {
        let Some(of) = args.first() else { return Err(stop("attribute of nothing", name, "")) };
        let object = examples.object(of)?;
        if names::METADATA.contains(&name) {
            return Ok(object.getattr(name).map_or_else(Answer::Raised, Answer::Constant));
        }
        if names::VIEWS.contains(&name) {
            let getattr = crate::ffi::modules::import(examples.py, "builtins")
                .and_then(|builtins| builtins.getattr(name!("getattr")));
            let name = pyo3::types::PyString::intern(examples.py, name).into_any();
            let target = getattr.map_err(|error| fault(&error))?;
            return examples.record(target, &[of.clone(), Operand::Known(name)], &[]);
        }
        match object.get_type().hasattr(name) {
            Ok(false) => Ok(object.getattr(name).map_or_else(Answer::Raised, Answer::Constant)),
            _ => Err(stop("attribute of an array that is not recorded", name, "Its value may depend on contents.")),
        }
    }
}
