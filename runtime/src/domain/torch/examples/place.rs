//! Where tensors are: on the CPU, on another device, or on the `meta` device, where they have no contents.
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const CPU: &str = "cpu";
const META: &str = "meta";

/// The number of a device that has none.
const NO_INDEX: i64 = -1;

/// Whether a tensor was met, or a device named, that is not the CPU: until then nothing asks where tensors are.
static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// The kinds of such devices.
static KINDS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What a tensor that stands for one is told of where that is.
const TOLD: &str = "_slotrt_place";

/// Where a tensor is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::domain::torch) struct Place(Option<Arc<Device>>);

/// A device that is not the CPU.
#[derive(Debug, PartialEq, Eq)]
struct Device {
    /// `cuda`.
    kind: String,
    /// −1 where there is but one of the kind, which is written without a number: `meta`.
    index: i64,
}

impl Place {
    /// What a `torch.device`, a text or a number names; `None`: what that is differs.
    pub(in crate::domain::torch) fn named(device: &Bound<'_, PyAny>) -> Option<Self> {
        let made = || crate::ffi::modules::import(device.py(), "torch")?.getattr(name!("device"))?.call1((device,));
        let device = if is_device(device) { device.clone() } else { made().ok()? };
        let kind: String = device.getattr(name!("type")).ok()?.extract().ok()?;
        let index: Option<i64> = device.getattr(name!("index")).ok()?.extract().ok()?;
        match (kind.as_str(), index) {
            (CPU, _) => Some(Self::default()),
            (META, _) => Some(Self::elsewhere(kind, NO_INDEX)),
            (_, Some(index)) => Some(Self::elsewhere(kind, index)),
            // The current one of several differs from call to call.
            (_, None) if is_only_one(&device) => Some(Self::elsewhere(kind, 0)),
            (_, None) => None,
        }
    }

    fn elsewhere(kind: String, index: i64) -> Self {
        if kind != META
            && let Ok(mut kinds) = KINDS.lock()
            && !kinds.contains(&kind)
        {
            kinds.push(kind.clone());
        }
        ELSEWHERE.store(true, Relaxed);
        Self(Some(Arc::new(Device { kind, index })))
    }

    /// What a tensor that stands for one was told; `None`: nothing.
    pub(super) fn told(stand_in: &Bound<'_, PyAny>) -> Option<Self> {
        let told: String = stand_in.getattr_opt(TOLD).ok()??.extract().ok()?;
        match told.split_once(':') {
            Some((kind, index)) => Some(Self::elsewhere(kind.to_owned(), index.parse().ok()?)),
            None if told == CPU => Some(Self::default()),
            None => Some(Self::elsewhere(told, NO_INDEX)),
        }
    }

    /// Tells a tensor that stands for one where that is.
    pub(in crate::domain::torch) fn tell(&self, stand_in: &Bound<'_, PyAny>) -> PyResult<()> {
        stand_in.setattr(TOLD, self.text())
    }

    /// Whether it is the CPU.
    pub(in crate::domain::torch) fn is_cpu(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it is where tensors have no contents.
    pub(in crate::domain::torch) fn is_meta(&self) -> bool {
        self.kind() == META
    }

    /// `cpu`, `cuda`.
    pub(in crate::domain::torch) fn kind(&self) -> &str {
        self.0.as_deref().map_or(CPU, |device| &device.kind)
    }

    /// What `Tensor.get_device` gives: −1 for the CPU, and where there is no number.
    pub(in crate::domain::torch) fn index(&self) -> i64 {
        self.0.as_deref().map_or(NO_INDEX, |device| device.index)
    }

    /// `cpu`, `cuda:0`.
    pub(in crate::domain::torch) fn text(&self) -> String {
        match self.0.as_deref() {
            None => CPU.to_owned(),
            Some(Device { kind, index: NO_INDEX }) => kind.clone(),
            Some(Device { kind, index }) => format!("{kind}:{index}"),
        }
    }

    /// The `torch.device`.
    pub(in crate::domain::torch) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::ffi::modules::import(py, "torch")?.getattr(name!("device"))?.call1((self.text(),))
    }
}

/// Whether anything is elsewhere than on the CPU.
pub(in crate::domain::torch) fn is_asked() -> bool {
    ELSEWHERE.load(Relaxed)
}

/// The kinds of devices beside the CPU that tensors with contents were seen on.
pub(in crate::domain::torch) fn kinds_elsewhere() -> Vec<String> {
    KINDS.lock().map(|kinds| kinds.clone()).unwrap_or_default()
}

/// Whether there is one device of the kind: then it is the current one.
fn is_only_one(device: &Bound<'_, PyAny>) -> bool {
    let module =
        || crate::ffi::modules::import(device.py(), "torch")?.getattr(name!("get_device_module"))?.call1((device,));
    let count = module().and_then(|module| module.call_method0(name!("device_count")));
    count.is_ok_and(|count| count.extract::<usize>().is_ok_and(|count| count == 1))
}

/// Whether it is a `torch.device`.
pub(in crate::domain::torch) fn is_device(object: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&object.get_type(), "torch.device")
}
