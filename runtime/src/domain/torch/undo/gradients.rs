//! Saves the gradients that leaves hold, and puts them back: a way back that raises has given some of them already.
use super::saved::{Contents, version};
use crate::domain::SavedState;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyModule;

/// What leaves held.
struct Saved {
    module: Py<PyModule>,
    leaves: Vec<Leaf>,
}

struct Leaf {
    leaf: Py<PyAny>,
    /// Its gradient, or `None`.
    gradient: Py<PyAny>,
    held: Held,
}

/// What a gradient held.
enum Held {
    Nothing,
    Contents(Contents),
    /// A copy of one that is not laid out by strides.
    Copy(Py<PyAny>),
    /// What is not saved, but for how often it was changed; `None`: it does not count that.
    Version(Option<u64>),
}

/// Saves the gradients of those that are leaves; `contents`: what they hold, too.
pub(super) fn save<'a, 'py: 'a>(
    module: &Bound<'py, PyModule>,
    tensors: impl Iterator<Item = &'a Bound<'py, PyAny>>,
    contents: bool,
) -> PyResult<Box<dyn SavedState>> {
    let mut leaves = Vec::new();
    for object in tensors {
        if object.getattr(name!("is_leaf"))?.is_truthy()? {
            let gradient = object.getattr(name!("grad"))?;
            let held = match contents {
                true => Held::by(module, &gradient)?,
                false => Held::Version(version(&gradient)),
            };
            leaves.push(Leaf { leaf: object.clone().unbind(), gradient: gradient.unbind(), held });
        }
    }
    Ok(Box::new(Saved { module: module.clone().unbind(), leaves }))
}

impl Held {
    fn by(module: &Bound<'_, PyModule>, gradient: &Bound<'_, PyAny>) -> PyResult<Self> {
        let _quiet = Quiet::about([gradient]);
        if gradient.is_none() {
            return Ok(Self::Nothing);
        }
        match gradient.getattr(name!("layout"))?.is(module.getattr(name!("strided"))?) {
            true => Contents::of(gradient).map(Self::Contents),
            false => {
                let copy = gradient.call_method0(name!("detach"))?.call_method0(name!("clone"))?;
                Ok(Self::Copy(copy.unbind()))
            }
        }
    }
}

impl Leaf {
    /// Whether nothing has changed what is not saved.
    fn is_whole(&self, py: Python<'_>) -> PyResult<bool> {
        let Held::Version(before) = &self.held else { return Ok(true) };
        let gradient = self.leaf.bind(py).getattr(name!("grad"))?;
        Ok(gradient.is(&self.gradient) && (gradient.is_none() || before.is_some() && version(&gradient) == *before))
    }
}

impl SavedState for Saved {
    fn is_whole(&self, py: Python<'_>) -> bool {
        let _quiet = Quiet::about(self.leaves.iter().map(|saved| saved.leaf.bind(py)));
        self.leaves.iter().all(|leaf| leaf.is_whole(py).unwrap_or(false))
    }

    fn restore(&self, py: Python<'_>) -> PyResult<()> {
        let _quiet = Quiet::about(self.leaves.iter().flat_map(|saved| [saved.leaf.bind(py), saved.gradient.bind(py)]));
        let contents = self.leaves.iter().filter_map(|saved| match &saved.held {
            Held::Contents(contents) => Some(contents),
            Held::Nothing | Held::Copy(_) | Held::Version(_) => None,
        });
        Contents::restore(self.module.bind(py), contents)?;
        for Leaf { leaf, gradient, held } in &self.leaves {
            if let Held::Copy(copy) = held {
                gradient.bind(py).setattr(name!("data"), copy.bind(py).call_method0(name!("clone"))?)?;
            }
            leaf.bind(py).setattr(name!("grad"), gradient)?;
        }
        Ok(())
    }
}
