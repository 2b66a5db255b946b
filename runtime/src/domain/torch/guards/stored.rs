//! What of PyTorch is written to disk with traces: conditions by their states, values by what makes them.
use super::super::library::Torch;
use super::super::symbols::open_sizes::{OPEN_SIZES, OpenSizes};
use super::super::thread::ambient::{MODES, SameModes};
use super::choice::{CHOICE, ChoiceCheck};
use super::kin::{KIN, KinCheck};
use super::memory::{MEMORY, MemoryCheck};
use super::storages::{STORAGES, StorageCheck};
use super::tensor::{TENSOR, TensorCheck};
use crate::ffi::types;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use std::sync::Arc;

/// Kinds of objects that are written by what they are made of.
const DEVICE: &str = "torch device";
const SIZE: &str = "torch size";
/// Limits of a type of numbers: by the class, and the name of the type.
const LIMITS: &str = "torch limits";

impl Torch {
    /// The condition with this state.
    pub(in crate::domain::torch) fn stored_check(
        &self,
        name: &str,
        state: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Box<dyn DomainCheck>>> {
        Ok(Some(match name {
            TENSOR => Box::new(TensorCheck::of_state(state)?),
            MODES => Box::new(SameModes::of_state(Arc::clone(&self.ambient), state)?),
            OPEN_SIZES => Box::new(OpenSizes::of_state(state)?),
            CHOICE => Box::new(ChoiceCheck::of_state(state)?),
            KIN => Box::new(KinCheck::of_state(state)?),
            MEMORY => Box::new(MemoryCheck::of_state(state)?),
            STORAGES => Box::new(StorageCheck::of_state(state)?),
            _ => return Ok(None),
        }))
    }

    /// The class of a device or of limits, and what makes another one of it.
    pub(in crate::domain::torch) fn answer_anew<'py>(
        &self,
        object: &Bound<'py, PyAny>,
    ) -> Option<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        let class = object.get_type();
        let argument = match &*types::c_name(&class) {
            "torch.device" => object.str().ok()?.into_any(),
            "torch.finfo" | "torch.iinfo" => {
                let name = object.getattr(name!("dtype")).ok()?.cast_into::<PyString>().ok()?;
                let numbers = self.module.bind(object.py()).getattr(name).ok()?;
                // Those of complex numbers name the type of their parts.
                class.call1((&numbers,)).and_then(|again| again.eq(object)).ok()?.then_some(numbers)?
            }
            _ => return None,
        };
        Some((class, argument))
    }

    /// What devices, sizes and limits of types are made of.
    pub(in crate::domain::torch) fn stored_parts<'py>(
        &self,
        object: &Bound<'py, PyAny>,
    ) -> Option<(&'static str, Bound<'py, PyAny>)> {
        match &*types::c_name(&object.get_type()) {
            "torch.device" => Some((DEVICE, self.answer_anew(object)?.1)),
            "torch.Size" => {
                Some((SIZE, PyTuple::new(object.py(), object.cast::<PyTuple>().ok()?.iter()).ok()?.into_any()))
            }
            "torch.finfo" | "torch.iinfo" => {
                let (class, _) = self.answer_anew(object)?;
                let parts = (class, object.getattr(name!("dtype")).ok()?).into_pyobject(object.py()).ok()?;
                Some((LIMITS, parts.into_any()))
            }
            _ => None,
        }
    }

    /// The object of these parts.
    pub(in crate::domain::torch) fn of_stored_parts<'py>(
        &self,
        kind: &str,
        parts: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let module = self.module.bind(parts.py());
        match kind {
            DEVICE => module.getattr(name!("device"))?.call1((parts.cast::<PyString>()?,)).map(Some),
            SIZE => module.getattr(name!("Size"))?.call1((parts.cast::<PyTuple>()?,)).map(Some),
            LIMITS => {
                let (class, name): (Bound<'py, PyType>, Bound<'py, PyString>) = parts.extract()?;
                class.call1((module.getattr(name)?,)).map(Some)
            }
            _ => Ok(None),
        }
    }
}
