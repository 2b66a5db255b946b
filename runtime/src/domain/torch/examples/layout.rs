//! How the tensor lies in memory that an example stands for.
use super::sketch::Sketch;
use crate::ffi::libtorch::Quiet;
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

/// Whether elements of a tensor are one in memory by a stride of 0.
pub(in crate::domain::torch) fn repeats(example: &Bound<'_, PyAny>) -> bool {
    layout_of(example).is_none_or(|layout| {
        layout.sizes.iter().zip(layout.strides.iter()).any(|(size, stride)| *size > 1 && *stride == 0)
    })
}

/// Whether elements of a tensor may be one in memory: a stride is no longer than what the dimensions within it reach over.
pub(in crate::domain::torch) fn may_overlap(example: &Bound<'_, PyAny>) -> bool {
    layout_of(example).is_some_and(|layout| {
        let dims = layout.strides.iter().copied().zip(layout.sizes.iter().copied());
        let mut dims: Vec<(i64, i64)> = dims.filter(|(_, size)| *size != 1).collect();
        dims.sort_unstable();
        let mut reach = 0_i64;
        let within = |(stride, size): (i64, i64)| {
            let is_short = stride <= reach;
            reach = reach.saturating_add(stride.saturating_mul(size - 1));
            is_short
        };
        dims.iter().all(|(_, size)| *size > 0) && dims.into_iter().any(within)
    })
}
