//! What stands for a tensor may not know what that was computed from: the way back of gradients ends there.
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;

/// Where a node of the graph of gradients is told that it stands for all before it.
const BEGINS: &str = "slotrt_begins";

/// Notes that the history of a tensor begins with it, though that of what it stands for does not.
pub(in crate::domain::torch) fn begins_at(tensor: &Bound<'_, PyAny>) -> PyResult<()> {
    let _quiet = Quiet::about([tensor]);
    let node = tensor.getattr(name!("grad_fn"))?;
    if node.is_none() { Ok(()) } else { node.getattr(name!("metadata"))?.set_item(BEGINS, true) }
}

/// Whether the history of a tensor leads to such a tensor.
pub(in crate::domain::torch) fn is_cut(tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
    let _quiet = Quiet::about([tensor]);
    let mut open = vec![tensor.getattr(name!("grad_fn"))?];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(node) = open.pop() {
        if node.is_none() || !seen.insert(node.hash()?) {
            continue;
        }
        if node.getattr(name!("metadata"))?.contains(BEGINS)? {
            return Ok(true);
        }
        for next in node.getattr(name!("next_functions"))?.try_iter()? {
            open.push(next?.get_item(0)?);
        }
    }
    Ok(false)
}
