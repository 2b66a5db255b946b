//! Functions of Python that change settings of the whole process: each call is one change, whatever it consists of.
use crate::domain::torch::examples::place::is_device;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::{Meta, overridden};
use crate::domain::torch::thread::function_modes;
use crate::domain::{Answer, ModeChange, Operand};
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFunction, PyInt, PyString};

/// A function of `torch`.
struct Setting {
    name: &'static str,
    /// The functions of `slotrt._torch_functions` that tell and put back what it sets.
    tell: &'static str,
    put_back: &'static str,
    /// Those of `torch` or `torch._C` that ask for it.
    questions: &'static [&'static str],
    /// Whether no call of a graph depends on it.
    follows: bool,
}

const SETTINGS: &[Setting] = &[
    Setting {
        name: "use_deterministic_algorithms",
        tell: "determinism",
        put_back: "put_back_determinism",
        questions: &["_get_deterministic_algorithms", "_get_deterministic_algorithms_warn_only"],
        follows: false,
    },
    Setting {
        name: "set_default_device",
        tell: "default_device",
        put_back: "put_back_default_device",
        questions: &["get_default_device", "_len_torch_function_stack"],
        follows: true,
    },
];

fn setting(callable: &Bound<'_, PyAny>) -> Option<&'static Setting> {
    let own = callee::name_of(callable);
    SETTINGS.iter().find(|setting| own == setting.name)
}

/// Whether a setting may be set to it: a truth value, or what names a device.
fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyInt>()
        || is_device(object)
}

impl Torch {
    /// Whether calls of it change a setting.
    pub(in crate::domain::torch) fn is_setting(&self, callable: &Bound<'_, PyAny>) -> bool {
        callable.is_exact_instance_of::<PyFunction>()
            && setting(callable).is_some_and(|setting| {
                self.module.bind(callable.py()).getattr(setting.name).is_ok_and(|known| known.is(callable))
            })
    }

    /// Changes the setting.
    pub(in crate::domain::torch) fn set<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let known = |operand: &Operand<'py>| match operand {
            Operand::Known(object) if is_plain(object) => Some(object.clone()),
            _ => None,
        };
        let positional = args.iter().map(known).collect::<Option<Vec<_>>>();
        let named = kwargs.iter().map(|(name, value)| Some((name.clone(), known(value)?))).collect::<Option<Vec<_>>>();
        let (Some(positional), Some(named)) = (positional, named) else {
            return Err(stop(
                "unsupported form of a PyTorch call",
                callee::name_of(function),
                "It is set to a truth value, or to a device.",
            ));
        };
        meta.refuse_modes()?;
        if !self.ambient.function_modes().are_devices(meta.py).map_err(|error| fault(&error))? {
            return Err(overridden());
        }
        let change = self.setting_change(function, positional, named);
        change.map(|change| Answer::ModeChange(Box::new(change))).map_err(|error| fault(&error))
    }

    fn setting_change<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        positional: Vec<Bound<'py, PyAny>>,
        named: Vec<(String, Bound<'py, PyAny>)>,
    ) -> PyResult<ModeChange<'py>> {
        function_modes::leave();
        let py = function.py();
        let Some(Setting { tell, put_back, questions, follows, .. }) = setting(function) else {
            return Err(pyo3::exceptions::PyTypeError::new_err("no function that changes a setting"));
        };
        let functions = crate::ffi::modules::import(py, "slotrt._torch_functions")?;
        let before = functions.getattr(interned(py, tell))?.call0()?;
        let undo = Some((functions.getattr(interned(py, put_back))?, vec![before]));
        let module = self.module.bind(py);
        let native = module.getattr(name!("_C"))?;
        let asked = |name: &str| module.getattr_opt(name)?.map_or_else(|| native.getattr(name), Ok);
        let questions = questions.iter().map(|question| Ok((asked(question)?, Vec::new()))).collect::<PyResult<_>>()?;
        // What is set after the graph is called without names.
        let (all, named) = match follows {
            true => (positional.into_iter().chain(named.into_iter().map(|(_, value)| value)).collect(), Vec::new()),
            false => (positional, named),
        };
        let restore = undo.clone();
        let set = (function.clone(), all);
        Ok(ModeChange { named, restore, undo, follows: *follows, questions, ..ModeChange::new(set) })
    }
}
