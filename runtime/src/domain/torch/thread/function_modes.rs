//! The modes of the thread that see functions of PyTorch being called.
use crate::ffi::libtorch::ModeWords;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::{Cell, RefCell};

thread_local! {
    /// Whether the trace under way has ended modes, or changed the default device: what the graph makes is put where it says itself.
    static LEFT: Cell<bool> = const { Cell::new(false) };

    /// Those that are set aside while the compiler works, which are active for whoever is compiled; outermost first.
    static SET_ASIDE: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// The modes of the thread that see functions of PyTorch being called.
#[derive(Debug)]
pub(in crate::domain::torch) struct FunctionModes {
    /// Gives their number.
    count: Py<PyAny>,
    /// Gives one of them.
    at: Py<PyAny>,
    /// Adds one.
    push: Py<PyAny>,
    /// Takes the innermost one away.
    pop: Py<PyAny>,
}

/// What a mode does.
enum Mode<'py> {
    /// It puts new tensors on this device.
    Device(Bound<'py, PyAny>),
    /// It stands for a mode of a trace.
    Marker,
    /// What the program says.
    Own(Bound<'py, PyAny>),
}

/// What guards compare.
#[derive(Debug)]
pub(in crate::domain::torch) struct ModesThen<'py> {
    /// The names of devices, and the addresses of modes of the program's own.
    pub(in crate::domain::torch) answer: Bound<'py, PyTuple>,
    /// These modes.
    pub(in crate::domain::torch) own: Vec<Py<PyAny>>,
}

impl FunctionModes {
    /// Of this `torch._C`.
    pub(in crate::domain::torch) fn new(native: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            count: native.getattr(name!("_len_torch_function_stack"))?.unbind(),
            at: native.getattr(name!("_get_function_stack_at"))?.unbind(),
            push: native.getattr(name!("_push_on_torch_function_stack"))?.unbind(),
            pop: native.getattr(name!("_pop_torch_function_stack"))?.unbind(),
        })
    }

    /// Their number.
    pub(in crate::domain::torch) fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count.bind(py).call0()
    }

    /// The functions that add one, and take one away.
    pub(in crate::domain::torch) fn steps<'py>(&self, py: Python<'py>) -> [Bound<'py, PyAny>; 2] {
        [&self.push, &self.pop].map(|step| step.bind(py).clone())
    }

    /// The function that gives one of them.
    pub(in crate::domain::torch) fn getter(&self) -> &Py<PyAny> {
        &self.at
    }

    fn active<'py>(&self, py: Python<'py>) -> PyResult<Vec<Mode<'py>>> {
        if !ModeWords::see_functions(py) {
            return Ok(Vec::new());
        }
        let count: usize = self.count(py)?.extract()?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let modes = (0..count).map(|index| self.at.bind(py).call1((index,))).collect::<PyResult<Vec<_>>>()?;
        kinds(py, modes)
    }

    /// Whether none of them does what the program says.
    pub(in crate::domain::torch) fn are_plain(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!self.active(py)?.iter().any(|mode| matches!(mode, Mode::Own(_))))
    }

    /// Whether each of them stands for a mode of a trace, and there are so many.
    pub(in crate::domain::torch) fn are_markers(&self, py: Python<'_>, count: usize) -> PyResult<bool> {
        let active = self.active(py)?;
        Ok(active.len() == count && active.iter().all(|mode| matches!(mode, Mode::Marker)))
    }

    /// Where they say that new tensors are put; `None`: they do not say it.
    pub(in crate::domain::torch) fn device<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut innermost = None;
        for mode in self.active(py)? {
            match mode {
                Mode::Device(device) => innermost = Some(device),
                Mode::Marker | Mode::Own(_) => return Ok(None),
            }
        }
        Ok(innermost)
    }

    /// Whether there are some, and they say nothing but where new tensors are put.
    pub(in crate::domain::torch) fn are_only_devices(&self, py: Python<'_>) -> PyResult<bool> {
        let active = self.active(py)?;
        Ok(!active.is_empty() && active.iter().all(|mode| matches!(mode, Mode::Device(_))))
    }

    /// A trace begins to rely on them.
    pub(in crate::domain::torch) fn begin(&self) {
        LEFT.set(false);
    }

    /// Whether the trace has done so.
    pub(in crate::domain::torch) fn were_left(&self) -> bool {
        LEFT.get()
    }

    /// Whether they say nothing but where new tensors are put.
    pub(in crate::domain::torch) fn are_devices(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.active(py)?.iter().all(|mode| matches!(mode, Mode::Device(_))))
    }

    /// What guards compare.
    pub(in crate::domain::torch) fn then<'py>(&self, py: Python<'py>) -> PyResult<ModesThen<'py>> {
        let aside = set_aside(py);
        let active = if aside.is_empty() { self.active(py)? } else { kinds(py, aside)? };
        let (mut parts, mut own) = (Vec::new(), Vec::new());
        for mode in active {
            match mode {
                Mode::Device(device) => parts.push(device.str()?.into_any()),
                Mode::Marker => {}
                Mode::Own(mode) => {
                    parts.push((mode.as_ptr() as usize).into_pyobject(py)?.into_any());
                    own.push(mode.unbind());
                }
            }
        }
        Ok(ModesThen { answer: PyTuple::new(py, parts)?, own })
    }

    /// Takes those away that do what the program says, with all others, as long as the answer lives.
    pub(in crate::domain::torch) fn set_aside(&self, py: Python<'_>) -> PyResult<Option<Aside>> {
        let taken = if self.are_plain(py)? { Vec::new() } else { self.take_all(py)? };
        let before = SET_ASIDE.replace(taken.iter().map(|mode| mode.clone_ref(py)).collect());
        if taken.is_empty() && before.is_empty() {
            return Ok(None);
        }
        Ok(Some(Aside { taken, before, push: self.push.clone_ref(py) }))
    }

    fn take_all(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let count: usize = self.count(py)?.extract()?;
        let mut taken = (0..count).map(|_| Ok(self.pop.bind(py).call0()?.unbind())).collect::<PyResult<Vec<_>>>()?;
        taken.reverse();
        Ok(taken)
    }
}

/// A trace ends modes, or changes the default device.
pub(in crate::domain::torch) fn leave() {
    LEFT.set(true);
}

/// The modes that are set aside, outermost first.
pub(in crate::domain::torch) fn set_aside(py: Python<'_>) -> Vec<Bound<'_, PyAny>> {
    SET_ASIDE.with_borrow(|modes| modes.iter().map(|mode| mode.bind(py).clone()).collect())
}

/// Whether any are set aside.
pub(in crate::domain::torch) fn are_any_aside() -> bool {
    SET_ASIDE.with_borrow(|modes| !modes.is_empty())
}

fn kinds<'py>(py: Python<'py>, modes: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Mode<'py>>> {
    let device = crate::ffi::modules::import(py, "torch.utils._device")?.getattr(name!("DeviceContext"))?;
    let marker = crate::ffi::modules::import(py, "slotrt._torch_modes")?.getattr(name!("Marker"))?;
    let kind = |mode: Bound<'py, PyAny>| match mode.get_type() {
        class if class.is(&device) => Ok(Mode::Device(mode.getattr(name!("device"))?)),
        class if class.is(&marker) => Ok(Mode::Marker),
        _ => Ok(Mode::Own(mode)),
    };
    modes.into_iter().map(kind).collect()
}

/// Modes that are set aside as long as it lives.
#[derive(Debug)]
pub(in crate::domain::torch) struct Aside {
    taken: Vec<Py<PyAny>>,
    before: Vec<Py<PyAny>>,
    push: Py<PyAny>,
}

impl Drop for Aside {
    fn drop(&mut self) {
        Python::attach(|py| {
            for mode in &self.taken {
                // It refuses nothing that was a mode before.
                drop(self.push.bind(py).call1((mode,)));
            }
            let taken = SET_ASIDE.replace(std::mem::take(&mut self.before));
            drop(taken);
        });
    }
}
