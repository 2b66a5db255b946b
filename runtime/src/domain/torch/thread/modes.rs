//! Modes of the thread: functions of `torch._C` that set one, and those that read it.
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::{Answer, ModeChange};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Functions that set a mode to their last argument, and functions that read it from the arguments before.
const SETTERS: &[(&str, &str)] = &[
    ("_set_grad_enabled", "is_grad_enabled"),
    ("_set_fwd_grad_enabled", "_is_fwd_grad_enabled"),
    ("_set_default_dtype", "get_default_dtype"),
    ("set_autocast_enabled", "is_autocast_enabled"),
    ("set_autocast_dtype", "get_autocast_dtype"),
    ("set_autocast_cache_enabled", "is_autocast_cache_enabled"),
    ("_set_float32_matmul_precision", "_get_float32_matmul_precision"),
    ("_set_mkldnn_enabled", "_get_mkldnn_enabled"),
    ("_set_sdp_priority_order", "_get_sdp_priority_order"),
    ("_set_sdp_use_cudnn", "_get_cudnn_sdp_enabled"),
    ("_set_sdp_use_flash", "_get_flash_sdp_enabled"),
    ("_set_sdp_use_math", "_get_math_sdp_enabled"),
    ("_set_sdp_use_mem_efficient", "_get_mem_efficient_sdp_enabled"),
    ("_set_sdp_use_overrideable", "_get_overrideable_sdp_enabled"),
];

/// Functions that set several settings, one by each argument, and functions that read these.
const SEVERAL: &[(&str, &[&str])] = &[("set_anomaly_enabled", &["is_anomaly_enabled", "is_anomaly_check_nan_enabled"])];

/// Functions that another function undoes, or that need not be undone.
const STEPS: &[(&str, Option<&str>)] = &[
    ("autocast_increment_nesting", Some("autocast_decrement_nesting")),
    ("autocast_decrement_nesting", Some("autocast_increment_nesting")),
    ("clear_autocast_cache", None),
];

/// Functions of one argument that set a mode, and functions of none that read it.
pub(super) fn own_setters() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTERS.iter().copied().filter(|(setter, _)| setter.starts_with("_set_"))
}

/// Whether a function of this name sets a mode.
pub(in crate::domain::torch) fn is_setter(name: &str) -> bool {
    SETTERS.iter().any(|(setter, _)| *setter == name)
        || SEVERAL.iter().any(|(setter, _)| *setter == name)
        || STEPS.iter().any(|(step, _)| *step == name)
}

/// Whether a function of this name sets what operations choose where a call does not say it.
pub(in crate::domain::torch) fn is_of_defaults(name: &str) -> bool {
    name.starts_with("_set_default_")
}

/// Whether a function of this name sets what kernels look at when they run: a compiled graph sets nothing.
pub(in crate::domain::torch) fn is_of_kernels(name: &str) -> bool {
    matches!(name, "_set_mkldnn_enabled" | "_set_float32_matmul_precision")
}

/// Whether a function of this name sets whether operations are remembered for gradients: compiled graphs leave that as the graph does.
pub(in crate::domain::torch) fn is_of_gradients(name: &str) -> bool {
    name == "_set_grad_enabled"
}

/// What calling it with these means for the trace.
pub(in crate::domain::torch) fn change<'py>(
    module: &Bound<'py, PyAny>,
    name: &str,
    function: &Bound<'py, PyAny>,
    args: Vec<Bound<'py, PyAny>>,
) -> CallResult<'py> {
    let native = || module.getattr(name!("_C"));
    let get = |name: &str| {
        let name = interned(module.py(), name);
        module
            .getattr_opt(&name)
            .and_then(|found| found.map_or_else(|| native()?.getattr(&name), Ok))
            .map_err(|error| fault(&error))
    };
    if let Some((_, several)) = SEVERAL.iter().find(|(setter, _)| *setter == name) {
        let questions = several.iter().map(|question| get(question)).collect::<Result<Vec<_>, _>>()?;
        let before = questions.iter().map(|question| question.call0()).collect::<PyResult<Vec<_>>>();
        let undo = Some((function.clone(), before.map_err(|error| fault(&error))?));
        let questions = questions.into_iter().map(|question| (question, Vec::new())).collect();
        let set = (function.clone(), args);
        let restore = undo.clone();
        return Ok(Answer::ModeChange(Box::new(ModeChange { restore, undo, questions, ..ModeChange::new(set) })));
    }
    let (undo, question) = match SETTERS.iter().find(|(setter, _)| *setter == name) {
        Some((_, question)) => {
            let (question, asked) = (get(question)?, args.split_last().map(|(_, which)| which).unwrap_or_default());
            let now = PyTuple::new(module.py(), asked).and_then(|asked| question.call1(asked));
            let now = now.map_err(|error| fault(&error))?;
            let before = asked.iter().cloned().chain([now]).collect();
            (Some((function.clone(), before)), Some((question, asked.to_vec())))
        }
        None => {
            let undo = STEPS.iter().find(|(step, _)| *step == name).and_then(|(_, undo)| *undo);
            (undo.map(get).transpose()?.map(|undo| (undo, Vec::new())), None)
        }
    };
    // Of steps nobody knows how many the graph took.
    let restore = question.is_some().then(|| undo.clone()).flatten();
    let questions = question.into_iter().collect();
    let set = (function.clone(), args);
    Ok(Answer::ModeChange(Box::new(ModeChange { undo, restore, questions, ..ModeChange::new(set) })))
}
