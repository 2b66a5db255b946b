//! Functions of Python that change settings of the whole process: each call is one change, whatever it consists of.
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, ModeChange, Operand};
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFunction};

/// A function of `torch`, the functions of `slotrt._torch_functions` that tell and put back what it sets, and those of `torch` that ask for it.
const SETTINGS: &[(&str, &str, &str, &[&str])] = &[(
    "use_deterministic_algorithms",
    "determinism",
    "put_back_determinism",
    &["_get_deterministic_algorithms", "_get_deterministic_algorithms_warn_only"],
)];

impl Torch {
    /// Whether calls of it change a setting.
    pub(in crate::domain::torch) fn is_setting(&self, callable: &Bound<'_, PyAny>) -> bool {
        let own = || callee::name_of(callable);
        callable.is_exact_instance_of::<PyFunction>()
            && SETTINGS.iter().any(|(name, ..)| own() == *name)
            && self.module.bind(callable.py()).getattr(&*own()).is_ok_and(|known| known.is(callable))
    }

    /// Changes the setting.
    pub(in crate::domain::torch) fn set<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let truth = |operand: &Operand<'py>| match operand {
            Operand::Known(object) if object.is_exact_instance_of::<PyBool>() => Some(object.clone()),
            _ => None,
        };
        let positional = args.iter().map(truth).collect::<Option<Vec<_>>>();
        let named = kwargs.iter().map(|(name, value)| Some((name.clone(), truth(value)?))).collect::<Option<Vec<_>>>();
        let (Some(positional), Some(named)) = (positional, named) else {
            return Err(stop(
                "unsupported form of a PyTorch call",
                callee::name_of(function),
                "It is set to a truth value.",
            ));
        };
        meta.refuse_modes()?;
        let change = self.setting_change(function, positional, named);
        change.map(|change| Answer::ModeChange(Box::new(change))).map_err(|error| fault(&error))
    }

    fn setting_change<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        positional: Vec<Bound<'py, PyAny>>,
        named: Vec<(String, Bound<'py, PyAny>)>,
    ) -> PyResult<ModeChange<'py>> {
        let (py, own) = (function.py(), callee::name_of(function));
        let rows = SETTINGS.iter().filter(|(name, ..)| own == *name);
        let (tell, put_back) = rows.map(|(_, tell, put_back, _)| (*tell, *put_back)).next().unwrap_or_default();
        let functions = py.import("slotrt._torch_functions")?;
        let before = functions.getattr(interned(py, tell))?.call0()?;
        let undo = Some((functions.getattr(interned(py, put_back))?, vec![before]));
        let native = self.module.bind(py).getattr(name!("_C"))?;
        let asked = SETTINGS.iter().filter(|(name, ..)| own == *name).flat_map(|(.., questions)| questions.iter());
        let questions = asked.map(|question| Ok((native.getattr(*question)?, Vec::new()))).collect::<PyResult<_>>()?;
        Ok(ModeChange { set: (function.clone(), positional), named, restore: undo.clone(), undo, questions })
    }
}
