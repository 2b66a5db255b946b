//! Operations under autocast, and on tensors at several places: the `meta` device does not know them. PyTorch's own fake tensors do; they
//! are slower.
use super::empty_like::{empty_like, zeros_like};
use super::history;
use super::place::Place;
use crate::domain::unheard;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PyTuple, PyType};
use std::sync::Mutex;

/// Tensors on the `meta` device, and where those are that they stand for.
type Places<'py> = [(Bound<'py, PyAny>, Place)];

/// Turns objects with tensors of the `meta` device into such with fake tensors, and back.
#[derive(Debug)]
pub(in crate::domain::torch) struct Fakes {
    module: Py<PyModule>,
    tensor: Py<PyType>,
    /// `FakeTensorMode()`.
    mode: Mutex<Option<Py<PyAny>>>,
}

impl Fakes {
    pub(in crate::domain::torch) fn new(module: &Bound<'_, PyModule>, tensor: &Py<PyType>) -> Self {
        let py = module.py();
        Self { module: module.clone().unbind(), tensor: tensor.clone_ref(py), mode: Mutex::default() }
    }

    /// What `target` gives, with tensors of the `meta` device for the results; an operand that it gives is the operand itself. `for_real`: the
    /// kernel itself does it, for zeros.
    pub(in crate::domain::torch) fn call<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Bound<'py, PyAny>],
        named: &Bound<'py, PyDict>,
        places: &Places<'py>,
        for_real: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mode = if for_real { None } else { Some(self.mode(target.py())?) };
        self.call_in(mode.as_ref(), target, args, named, places)
    }

    /// The same for an operator that takes functions, which may make numbers of its own for sizes.
    pub(in crate::domain::torch) fn call_operator<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Bound<'py, PyAny>],
        places: &Places<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, named) = (target.py(), PyDict::new(target.py()));
        let symbols = crate::ffi::modules::import(py, "torch.fx.experimental.symbolic_shapes")?
            .getattr(name!("ShapeEnv"))?
            .call0()?;
        named.set_item(name!("shape_env"), symbols)?;
        let class =
            crate::ffi::modules::import(py, "torch._subclasses.fake_tensor")?.getattr(name!("FakeTensorMode"))?;
        self.call_in(Some(&class.call((), Some(&named))?), target, args, &PyDict::new(py), places)
    }

    fn call_in<'py>(
        &self,
        mode: Option<&Bound<'py, PyAny>>,
        target: &Bound<'py, PyAny>,
        args: &[Bound<'py, PyAny>],
        named: &Bound<'py, PyDict>,
        places: &Places<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = target.py();
        let fake = |stand_in: &Bound<'py, PyAny>| {
            let place = places.iter().find(|(known, _)| known.is(stand_in)).map(|(_, place)| place.text());
            let make = if mode.is_some() { empty_like } else { zeros_like };
            unheard(|| make(self.module.bind(py), stand_in, place.as_deref().unwrap_or("cpu")))
        };
        mode.map(|mode| mode.call_method0(name!("__enter__"))).transpose()?;
        let called = (|| {
            let fakes = args.iter().map(|arg| self.mapped(arg, &fake)).collect::<PyResult<Vec<_>>>()?;
            let fake_named = PyDict::new(py);
            for (name, value) in named {
                fake_named.set_item(name, self.mapped(&value, &fake)?)?;
            }
            let gives = target.call(PyTuple::new(py, &fakes)?, Some(&fake_named))?;
            PyResult::Ok((fakes, gives))
        })();
        let none = py.None();
        mode.map(|mode| mode.call_method1(name!("__exit__"), (&none, &none, &none))).transpose()?;
        let (fakes, gives) = called?;
        match fakes.iter().position(|fake| fake.is(&gives)) {
            Some(index) => Ok(args[index].clone()),
            None => self.mapped(&gives, &|fake| {
                let _quiet = Quiet::about([fake]);
                let place = Place::named(&fake.getattr(name!("device"))?);
                let made = unheard(|| empty_like(self.module.bind(py), fake, "meta"))?;
                place.map(|place| place.tell(&made)).transpose()?;
                history::begins_at(&made)?;
                Ok(made)
            }),
        }
    }

    /// The mode in which tensors are fake: made when it is first needed, for that takes long.
    fn mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = self.mode.lock().ok().and_then(|mode| mode.as_ref().map(|mode| mode.bind(py).clone()));
        if let Some(known) = known {
            return Ok(known);
        }
        let made = crate::ffi::modules::import(py, "torch._subclasses.fake_tensor")?
            .getattr(name!("FakeTensorMode"))?
            .call0()?;
        if let Ok(mut mode) = self.mode.lock() {
            *mode = Some(made.clone().unbind());
        }
        Ok(made)
    }

    /// The object with other tensors in their place.
    fn mapped<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        other: &dyn Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        if object.is_instance(self.tensor.bind(py))? {
            return other(object);
        }
        let all = |items: Bound<'py, PyAny>| {
            items.try_iter()?.map(|item| self.mapped(&item?, other)).collect::<PyResult<Vec<_>>>()
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
