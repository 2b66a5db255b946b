//! Saves what tensors and generators of random numbers hold, and puts it back.
use crate::domain::torch::examples::place::kinds_elsewhere;
use crate::domain::{SavedParts, SavedState};
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple};

/// What was saved.
struct Saved {
    module: Py<PyModule>,
    tensors: Vec<Contents>,
    /// What sets the state of generators, and the states.
    generators: Vec<(Py<PyAny>, Py<PyAny>)>,
    /// How deep autocast is nested.
    depth: Option<i64>,
}

/// A tensor, its contents, and how often it was changed; an inference tensor does not count that.
pub(super) struct Contents {
    tensor: Py<PyAny>,
    /// The memory that it had, whatever it has now: a tensor that nobody else has.
    memory: Py<PyAny>,
    /// What the contents are put back into: PyTorch writes nothing into a tensor with elements that are one in memory.
    target: Py<PyAny>,
    copy: Py<PyAny>,
    version: Option<Py<PyAny>>,
    /// Whether a leaf requires gradients.
    requires_grad: Option<bool>,
}

/// Saves the contents of tensors and the states of generators among `objects`, and what `parts` says.
pub(in crate::domain::torch) fn save(
    module: &Bound<'_, PyModule>,
    objects: &[Bound<'_, PyAny>],
    parts: SavedParts,
) -> PyResult<Box<dyn SavedState>> {
    let mut saved = Saved { module: module.clone().unbind(), tensors: Vec::new(), generators: Vec::new(), depth: None };
    let _quiet = Quiet::about(objects);
    for object in objects {
        if object.hasattr(name!("get_state"))? {
            saved.generator(object)?;
        } else {
            saved.tensors.extend(memory_of(module, object)?.map(|tensor| Contents::of(&tensor)).transpose()?);
        }
    }
    if parts.random {
        saved.generator(&module.getattr(name!("default_generator"))?)?;
        saved.generators_elsewhere(module.py())?;
    }
    if parts.nesting {
        saved.depth = Some(depth(module)?);
    }
    Ok(Box::new(saved))
}

impl Saved {
    fn generator(&mut self, generator: &Bound<'_, PyAny>) -> PyResult<()> {
        let state = generator.call_method0(name!("get_state"))?;
        self.generators.push((generator.getattr(name!("set_state"))?.unbind(), state.unbind()));
        Ok(())
    }

    /// The default generators of the devices beside the CPU that tensors were seen on.
    fn generators_elsewhere(&mut self, py: Python<'_>) -> PyResult<()> {
        for kind in kinds_elsewhere() {
            let devices = self.module.bind(py).getattr(name!("get_device_module"))?.call1((kind,))?;
            // Of one device, where there is but one; a device without them draws no numbers.
            for (get, set) in [("get_rng_state_all", "set_rng_state_all"), ("get_rng_state", "set_rng_state")] {
                if let (Some(get), Some(set)) = (devices.getattr_opt(get)?, devices.getattr_opt(set)?) {
                    self.generators.push((set.unbind(), get.call0()?.unbind()));
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Contents {
    pub(super) fn of(tensor: &Bound<'_, PyAny>) -> PyResult<Self> {
        let memory = tensor.call_method0(name!("detach"))?;
        let target = apart(&memory)?;
        let copy = target.call_method0(name!("clone"))?.unbind();
        let inference = tensor.call_method0(name!("is_inference"))?.is_truthy()?;
        let version = (!inference).then(|| tensor.getattr(name!("_version"))).transpose()?.map(Bound::unbind);
        let truth = |name| tensor.getattr(name)?.is_truthy();
        let requires_grad = truth(name!("is_leaf"))?.then(|| truth(name!("requires_grad"))).transpose()?;
        let (tensor, memory, target) = (tensor.clone().unbind(), memory.unbind(), target.unbind());
        Ok(Self { tensor, memory, target, copy, version, requires_grad })
    }
}

impl Contents {
    /// Puts contents, memory, versions, and whether leaves require gradients back.
    pub(super) fn restore<'a>(
        module: &Bound<'_, PyModule>,
        tensors: impl Iterator<Item = &'a Self> + Clone,
    ) -> PyResult<()> {
        let py = module.py();
        let native = module.getattr(name!("_C"))?;
        // In this mode tensors of both kinds can be changed, and no history is kept.
        let mode = native.getattr(name!("_InferenceMode"))?.call1((true,))?;
        mode.call_method0(name!("__enter__"))?;
        let restored = tensors
            .clone()
            .try_for_each(|saved| saved.target.bind(py).call_method1(name!("copy_"), (&saved.copy,)).map(drop));
        mode.call_method1(name!("__exit__"), (py.None(), py.None(), py.None()))?;
        restored?;
        tensors.clone().try_for_each(|saved| saved.restore_memory(py))?;
        tensors.clone().try_for_each(|saved| saved.restore_gradients(py))?;
        let count = native.getattr(name!("_autograd"))?.getattr(name!("_unsafe_set_version_counter"))?;
        for saved in tensors {
            if let Some(version) = &saved.version {
                count.call1((PyTuple::new(py, [&saved.tensor])?, PyTuple::new(py, [version])?))?;
            }
        }
        Ok(())
    }

    /// Lets a leaf require gradients as it did.
    fn restore_gradients(&self, py: Python<'_>) -> PyResult<()> {
        let (Some(before), tensor) = (self.requires_grad, self.tensor.bind(py)) else { return Ok(()) };
        match tensor.getattr(name!("requires_grad"))?.is_truthy()? == before {
            true => Ok(()),
            false => tensor.setattr(name!("requires_grad"), before),
        }
    }

    /// Gives the tensor the memory back that it had, if it has another one since.
    fn restore_memory(&self, py: Python<'_>) -> PyResult<()> {
        let (tensor, memory) = (self.tensor.bind(py), self.memory.bind(py));
        let place = |tensor: &Bound<'_, PyAny>| tensor.call_method0(name!("data_ptr"))?.extract::<u64>();
        match place(tensor)? == place(memory)? {
            true => Ok(()),
            false => tensor.setattr(name!("data"), memory),
        }
    }
}

/// The tensor, or one in the memory of an array of numpy; `None` where nobody changes that.
fn memory_of<'py>(module: &Bound<'py, PyModule>, object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if crate::ffi::types::c_name(&object.get_type()) != "numpy.ndarray" {
        return Ok(Some(object.clone()));
    }
    let is_written = object.getattr(name!("flags"))?.getattr(name!("writeable"))?.is_truthy()?;
    is_written.then(|| module.getattr(name!("from_numpy"))?.call1((object,))).transpose()
}

/// The tensor, or a view of it on the same memory without the elements that are others' memory by a stride of 0.
fn apart<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let sizes: Vec<usize> = tensor.getattr(name!("shape"))?.extract()?;
    let strides: Vec<i64> = tensor.call_method0(name!("stride"))?.extract()?;
    let mut repeated = sizes.iter().zip(&strides).enumerate().filter(|(_, (size, stride))| **size > 1 && **stride == 0);
    let Some((first, _)) = repeated.next() else { return Ok(tensor.clone()) };
    let dims = std::iter::once(first).chain(repeated.map(|(dim, _)| dim));
    dims.into_iter().try_fold(tensor.clone(), |view, dim| view.call_method1(name!("narrow"), (dim, 0, 1)))
}

impl SavedState for Saved {
    fn restore(&self, py: Python<'_>) -> PyResult<()> {
        let module = self.module.bind(py);
        let _quiet = Quiet::about(self.tensors.iter().map(|saved| saved.tensor.bind(py)));
        if let Some(before) = self.depth {
            restore_depth(module, before)?;
        }
        Contents::restore(module, self.tensors.iter())?;
        self.generators.iter().try_for_each(|(set, state)| set.bind(py).call1((state,)).map(drop))
    }
}

/// How often a tensor was changed; `None`: it is none, or does not count that.
pub(super) fn version(object: &Bound<'_, PyAny>) -> Option<u64> {
    let _quiet = Quiet::about([object]);
    object.getattr(name!("_version")).ok()?.extract().ok()
}

/// How deep autocast is nested: nothing tells it but the functions that change it.
fn depth(module: &Bound<'_, PyModule>) -> PyResult<i64> {
    module.call_method0(name!("autocast_increment_nesting"))?;
    module.call_method0(name!("autocast_decrement_nesting"))?.extract()
}

fn restore_depth(module: &Bound<'_, PyModule>, before: i64) -> PyResult<()> {
    let mut now = depth(module)?;
    while now != before {
        let step = if now > before { name!("autocast_decrement_nesting") } else { name!("autocast_increment_nesting") };
        now = module.call_method0(step)?.extract()?;
    }
    Ok(())
}
