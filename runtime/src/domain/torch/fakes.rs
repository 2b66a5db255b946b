//! Operations under autocast: the `meta` device does not know it. PyTorch's own fake tensors do; they are slower.
use super::empty_like::empty_like;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PyTuple, PyType};
use std::sync::Mutex;

/// Turns objects with tensors of the `meta` device into such with fake tensors, and back.
#[derive(Debug)]
pub(super) struct Fakes {
    module: Py<PyModule>,
    tensor: Py<PyType>,
    /// `FakeTensorMode()`.
    mode: Mutex<Option<Py<PyAny>>>,
}

impl Fakes {
    pub(super) fn new(module: &Bound<'_, PyModule>, tensor: &Py<PyType>) -> Self {
        let py = module.py();
        Self { module: module.clone().unbind(), tensor: tensor.clone_ref(py), mode: Mutex::default() }
    }

    /// What `target` gives, with tensors of the `meta` device for the results; an operand that it gives is the operand itself.
    pub(super) fn call<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Bound<'py, PyAny>],
        named: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.call_in(&self.mode(target.py())?, target, args, named)
    }

    /// The same for an operator that takes functions, which may make numbers of its own for sizes.
    pub(super) fn call_operator<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, named) = (target.py(), PyDict::new(target.py()));
        let symbols = py.import("torch.fx.experimental.symbolic_shapes")?.getattr(name!("ShapeEnv"))?.call0()?;
        named.set_item(name!("shape_env"), symbols)?;
        let class = py.import("torch._subclasses.fake_tensor")?.getattr(name!("FakeTensorMode"))?;
        self.call_in(&class.call((), Some(&named))?, target, args, &PyDict::new(py))
    }

    fn call_in<'py>(
        &self,
        mode: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        args: &[Bound<'py, PyAny>],
        named: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = target.py();
        mode.call_method0(name!("__enter__"))?;
        let called = (|| {
            let fakes = args.iter().map(|arg| self.on(arg, "cpu")).collect::<PyResult<Vec<_>>>()?;
            let fake_named = PyDict::new(py);
            for (name, value) in named {
                // Where a call says its device, that is the one of its result.
                let is_device = name.eq("device")?;
                fake_named.set_item(
                    name,
                    if is_device { "cpu".into_pyobject(py)?.into_any() } else { self.on(&value, "cpu")? },
                )?;
            }
            let gives = target.call(PyTuple::new(py, &fakes)?, Some(&fake_named))?;
            PyResult::Ok((fakes, gives))
        })();
        let none = py.None();
        mode.call_method1(name!("__exit__"), (&none, &none, &none))?;
        let (fakes, gives) = called?;
        match fakes.iter().position(|fake| fake.is(&gives)) {
            Some(index) => Ok(args[index].clone()),
            None => self.on(&gives, "meta"),
        }
    }

    /// The mode in which tensors are fake: made when it is first needed, for that takes long.
    fn mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = self.mode.lock().ok().and_then(|mode| mode.as_ref().map(|mode| mode.bind(py).clone()));
        if let Some(known) = known {
            return Ok(known);
        }
        let made = py.import("torch._subclasses.fake_tensor")?.getattr(name!("FakeTensorMode"))?.call0()?;
        if let Ok(mut mode) = self.mode.lock() {
            *mode = Some(made.clone().unbind());
        }
        Ok(made)
    }

    /// The object with tensors on another device.
    fn on<'py>(&self, object: &Bound<'py, PyAny>, device: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        if object.is_instance(self.tensor.bind(py))? {
            return empty_like(self.module.bind(py), object, device);
        }
        let all = |items: Bound<'py, PyAny>| {
            items.try_iter()?.map(|item| self.on(&item?, device)).collect::<PyResult<Vec<_>>>()
        };
        if object.is_exact_instance_of::<PyList>() {
            return Ok(PyList::new(py, all(object.clone())?)?.into_any());
        }
        if object.is_exact_instance_of::<PyTuple>() {
            return Ok(PyTuple::new(py, all(object.clone())?)?.into_any());
        }
        if object.is_instance_of::<PyTuple>() && crate::ffi::types::is_c_type(&object.get_type()) {
            return object.get_type().call1((all(object.clone())?,));
        }
        Ok(object.clone())
    }
}
