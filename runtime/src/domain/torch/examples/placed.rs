//! Where the tensor is that an example stands for.
use super::place::{Place, is_asked};
use super::sketch::Sketch;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;

/// Where the tensor is that an example stands for; `None`: nobody has told.
pub(in crate::domain::torch) fn place_of(example: &Bound<'_, PyAny>) -> Option<Place> {
    if let Ok(sketch) = example.cast::<Sketch>() {
        return Some(sketch.get().place.clone());
    }
    let _quiet = Quiet::about([example]);
    if !example.getattr(name!("is_meta")).ok()?.is_truthy().ok()? {
        return Place::named(&example.getattr(name!("device")).ok()?);
    }
    if is_asked() { Place::told(example) } else { Some(Place::default()) }
}
