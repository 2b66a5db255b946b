//! The PyTorch that the program has imported.
use super::examples::fakes::Fakes;
use super::examples::open;
use super::examples::placed::place_of;
use super::examples::rules::Rules;
use super::examples::sketch::Sketch;
use super::thread::ambient::Ambient;
use super::thread::repeated_warnings::RepeatedWarnings;
use crate::ffi::libtorch::Quiet;
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyModule, PyTuple, PyType};
use std::sync::Arc;

/// The PyTorch that the program has imported.
#[derive(Debug)]
pub struct Torch {
    pub(super) module: Py<PyModule>,
    pub(super) tensor: Py<PyType>,
    pub(super) parameter: Py<PyType>,
    pub(super) functions: Py<PyType>,
    pub(super) operator: Py<PyModule>,
    pub(super) ambient: Arc<Ambient>,
    pub(super) fakes: Fakes,
    pub(super) rules: Rules,
    pub(super) repeated_warnings: RepeatedWarnings,
}

impl Torch {
    /// This PyTorch; none while it is being imported.
    pub(super) fn of(module: &Bound<'_, PyModule>) -> PyResult<Option<Self>> {
        let py = module.py();
        // A program can look while torch is still being imported.
        let (Ok(tensor), Ok(nn), Ok(native)) =
            (module.getattr(name!("Tensor")), module.getattr(name!("nn")), module.getattr(name!("_C")))
        else {
            return Ok(None);
        };
        let (Ok(parameter), Ok(functions)) =
            (nn.getattr(name!("Parameter")), native.getattr(name!("_VariableFunctionsClass")))
        else {
            return Ok(None);
        };
        let (tensor, parameter) = (tensor.cast_into::<PyType>()?.unbind(), parameter.cast_into::<PyType>()?.unbind());
        let ambient = Arc::new(Ambient::new(module)?);
        let operator = crate::ffi::modules::import(py, "operator")?.unbind();
        let fakes = Fakes::new(module, &tensor);
        let rules = Rules::new(module)?;
        let repeated_warnings = RepeatedWarnings::new(&native)?;
        let (module, functions) = (module.clone().unbind(), functions.cast_into::<PyType>()?.unbind());
        Ok(Some(Self { module, tensor, parameter, functions, operator, ambient, fakes, rules, repeated_warnings }))
    }

    /// Whether an example is that of a tensor.
    pub(super) fn is_tensor(&self, example: &Bound<'_, PyAny>) -> bool {
        example.is_instance_of::<Sketch>() || example.is_instance(self.tensor.bind(example.py())).unwrap_or(false)
    }

    /// The class of what an example stands for.
    pub(super) fn class_of_example<'py>(&self, example: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        if let Some(class) = open::class_of(example, &self.tensor) {
            return class;
        }
        let Ok(sketch) = example.cast::<Sketch>() else { return example.get_type() };
        sketch.get().class.as_ref().unwrap_or(&self.tensor).bind(example.py()).clone()
    }

    /// An example in words.
    pub(super) fn description(&self, example: &Bound<'_, PyAny>) -> String {
        if let Ok(sketch) = example.cast::<Sketch>() {
            return sketch.get().describe();
        }
        if let Some(words) = open::description(example) {
            return words;
        }
        if example.is_none() {
            return "None".to_owned();
        }
        let _quiet = Quiet::about([example]);
        if example.is_instance_of::<PyTuple>() || example.is_instance_of::<PyList>() {
            let items = example.try_iter().into_iter().flatten().flatten();
            return format!("({})", items.map(|item| self.description(&item)).collect::<Vec<_>>().join(", "));
        }
        let text = |name: &str| example.getattr(name).map(|value| types::text(&value)).unwrap_or_default();
        if example.getattr_opt(name!("shape")).ok().flatten().is_none() {
            return types::text(example);
        }
        let shape = example.getattr(name!("shape")).and_then(|shape| shape.extract::<Vec<i64>>()).unwrap_or_default();
        let place = place_of(example).filter(|place| !place.is_cpu());
        let place = place.map_or_else(String::new, |place| format!(", {}", place.text()));
        format!("Tensor[{}, {shape:?}{place}]", text("dtype"))
    }
}
