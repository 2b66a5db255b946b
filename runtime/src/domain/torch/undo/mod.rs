//! What operations do besides giving something new, and how that is taken back where a graph raises.
pub(super) mod effects;
mod gradients;
mod indices;
pub(super) mod saved;
mod sure;

use super::examples::sketch::constants;
use super::library::Torch;
use super::named::own_name;
use super::own::GRADIENT_OF;
use crate::domain::{CallEffects, NodeEffects, Operand, SavedParts, SavedState, Undoing};
use crate::ffi::libtorch::Quiet;
use pyo3::prelude::*;

/// The function of this package that begins inference mode.
const BEGIN_INFERENCE: &str = "begin_inference";

impl Undoing for Torch {
    fn effects(&self, target: &Bound<'_, PyAny>) -> NodeEffects {
        effects::of(self, target)
    }

    fn call_effects(&self, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> CallEffects {
        effects::of_call(self, target, args)
    }

    fn has_kernel<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> bool {
        self.takes(target, args, kwargs)
    }

    fn save(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        parts: SavedParts,
    ) -> PyResult<Option<Box<dyn SavedState>>> {
        let _quiet = Quiet::about(objects);
        saved::save(self.module.bind(py), objects, parts).map(Some)
    }

    fn save_gradients(
        &self,
        py: Python<'_>,
        leaves: &[Bound<'_, PyAny>],
        contents: bool,
    ) -> PyResult<Option<Box<dyn SavedState>>> {
        let _quiet = Quiet::about(leaves);
        let tensors = leaves.iter().filter(|leaf| self.is_tensor(leaf));
        gradients::save(self.module.bind(py), tensors, contents).map(Some)
    }

    fn keeps_history(&self, example: &Bound<'_, PyAny>) -> bool {
        // What gives nothing has no history.
        if example.is_none() {
            return false;
        }
        let _quiet = Quiet::about([example]);
        effects::keeps_history(self, example).unwrap_or(true)
    }

    /// A tensor of inference mode outside it: nothing may change it, or remember it for gradients.
    fn is_fragile(&self, object: &Bound<'_, PyAny>) -> bool {
        let _quiet = Quiet::about(std::slice::from_ref(object));
        self.is_tensor(object) && effects::is_of_inference(self.module.bind(object.py()), object).unwrap_or(true)
    }

    fn overlaps_itself(&self, example: &Bound<'_, PyAny>) -> bool {
        let _quiet = Quiet::about([example]);
        self.rules.metadata(example).is_none_or(|tensor| {
            let mut dims = constants(&tensor.shape).zip(constants(&tensor.strides));
            dims.any(|(size, stride)| size > 1 && stride == 0)
        })
    }

    fn lies_aside(&self, target: &Bound<'_, PyAny>) -> bool {
        own_name(target) == GRADIENT_OF
    }

    fn makes_fragile(&self, target: &Bound<'_, PyAny>) -> bool {
        BEGIN_INFERENCE == own_name(target)
    }

    fn version(&self, object: &Bound<'_, PyAny>) -> Option<u64> {
        saved::version(object)
    }
}
