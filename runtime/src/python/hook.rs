//! `slotrt.hook`: the evaluation hook with its frame handlers, for tests and measurements.
use crate::ffi::hook;
use crate::handlers::{CodeCopy, Counters, Named, Observe, Replace, Row, SplitEvery};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What the hook has done so far.
#[pyclass(frozen, module = "slotrt.hook")]
struct Hook(Arc<Counters>);

#[pymethods]
impl Hook {
    /// `frames` begun, `replaced`, `declined`.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = PyDict::new(py);
        counters.set_item("frames", self.0.frames.load(Ordering::Relaxed))?;
        counters.set_item("replaced", self.0.replaced.load(Ordering::Relaxed))?;
        counters.set_item("pairs", self.0.pairs.load(Ordering::Relaxed))?;
        counters.set_item("declined", self.0.declined.load(Ordering::Relaxed))?;
        let [functions, reachable, _, reached, whole] = self.0.coverage.counts();
        counters.set_item("functions", functions)?;
        counters.set_item("reachable", reachable)?;
        counters.set_item("reached", reached)?;
        counters.set_item("whole", whole)?;
        Ok(counters)
    }

    /// What was split, by function: reachable instructions, those split, those where the frame was transferred (as
    /// hexadecimal bit strings, the first instruction lowest in the first digit).
    fn functions(&self) -> BTreeMap<String, Row> {
        self.0.coverage.rows()
    }

    /// (function, instruction) pairs that no continuation can serve, by reason.
    fn refused(&self) -> BTreeMap<String, u64> {
        self.0.refused()
    }
}

/// Installs the evaluation hook: `"observe"` looks at every frame and leaves it alone, `"reassemble"` runs every frame from
/// a code object that was decoded and assembled again (`"copy"`: from `code.replace()`, to compare with), `"split"` breaks
/// every frame, each call of a function at its next instruction, `"split-every"` each time that instruction comes by.
/// Functions named in `whole`, by file name, qualified name and first line, are not broken.
#[pyfunction]
#[pyo3(signature = (mode, whole = Vec::new()))]
fn install(py: Python<'_>, mode: &str, whole: Vec<Named>) -> PyResult<Hook> {
    let whole = FxHashSet::from_iter(whole);
    let counters = Arc::new(Counters::default());
    let handler: Box<dyn hook::FrameHandler> = match mode {
        "observe" => Box::new(Observe(Arc::clone(&counters))),
        "reassemble" => Box::new(Replace { counters: Arc::clone(&counters), copy: CodeCopy::Reassembled }),
        "copy" => Box::new(Replace { counters: Arc::clone(&counters), copy: CodeCopy::Copied }),
        "split" => Box::new(SplitEvery::new(Arc::clone(&counters), false, whole)),
        "split-every" => Box::new(SplitEvery::new(Arc::clone(&counters), true, whole)),
        other => {
            return Err(PyValueError::new_err(format!(
                "mode is \"observe\", \"reassemble\", \"copy\", \"split\" or \"split-every\", not {other:?}"
            )));
        }
    };
    hook::install(py, handler)?;
    Ok(Hook(counters))
}

/// Takes the hook out.
#[pyfunction]
fn uninstall(py: Python<'_>) -> PyResult<()> {
    hook::uninstall(py)
}

/// Whether the hook is installed.
#[pyfunction]
fn installed(py: Python<'_>) -> bool {
    hook::is_installed(py)
}

/// Installs a hook that only calls the interpreter, or takes it out: the price of any hook, for benchmarks.
#[pyfunction]
fn empty(py: Python<'_>, on: bool) -> PyResult<()> {
    hook::set_empty(py, on)
}

/// The submodule `hook` of the native module.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "hook")?;
    module.add_class::<Hook>()?;
    module.add_function(wrap_pyfunction!(install, &module)?)?;
    module.add_function(wrap_pyfunction!(uninstall, &module)?)?;
    module.add_function(wrap_pyfunction!(installed, &module)?)?;
    module.add_function(wrap_pyfunction!(empty, &module)?)?;
    Ok(module)
}
