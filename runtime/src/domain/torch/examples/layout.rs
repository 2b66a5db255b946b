//! How the tensor lies in memory that an example stands for.
use super::sketch::Sketch;
use crate::domain::torch::thread::quiet::Quiet;
use crate::names::name;
use crate::symbol::Layout;
use pyo3::prelude::*;

/// Sizes and strides in this call.
pub(in crate::domain::torch) fn layout_of(example: &Bound<'_, PyAny>) -> Option<Layout<i64>> {
    if let Ok(sketch) = example.cast::<Sketch>() {
        let tensor = sketch.get().fixed();
        return Some(Layout { sizes: tensor.shape.to_vec().into(), strides: tensor.strides.to_vec().into() });
    }
    let _quiet = Quiet::about([example]);
    let read = |sizes: PyResult<Bound<'_, PyAny>>| sizes.ok()?.extract::<Vec<i64>>().ok();
    let (sizes, strides) = (read(example.getattr(name!("shape")))?, read(example.call_method0(name!("stride")))?);
    Some(Layout { sizes: sizes.into(), strides: strides.into() })
}
