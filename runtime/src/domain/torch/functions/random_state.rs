//! The state of the generator of random numbers as graphs read and set it: `torch.get_rng_state`, `torch.set_rng_state`, `torch.manual_seed`.
use crate::domain::torch::examples::empty_like::empty_like;
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::module_of;
use crate::domain::torch::undo::effects::{DRAWN_INDICES, GET_STATE, SEED_STATE, SET_STATE};
use crate::domain::{Answer, Gives, Operand};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyInt};

/// Modules, and functions there.
const FUNCTIONS: &[(&str, &[&str])] =
    &[("torch.random", &[GET_STATE, SET_STATE]), ("slotrt._torch_functions", &[SEED_STATE]), (DRAWS, &[DRAWN_INDICES])];

/// Where the function is that draws indices.
const DRAWS: &str = "slotrt._torch_data";

/// Whether a function draws indices with a generator of its own.
pub(in crate::domain::torch) fn draws_indices(callable: &Bound<'_, PyAny>) -> bool {
    callee::name_of(callable) == DRAWN_INDICES && is_of_random_state(callable)
}

/// Whether a function takes a number for a seed.
pub(in crate::domain::torch) fn takes_seed(callable: &Bound<'_, PyAny>) -> bool {
    callee::name_of(callable) == SEED_STATE && is_of_random_state(callable)
}

/// Whether calls of it read or set the state.
pub(in crate::domain::torch) fn is_of_random_state(callable: &Bound<'_, PyAny>) -> bool {
    callable.is_exact_instance_of::<PyFunction>()
        && FUNCTIONS.iter().any(|(module, names)| {
            names.contains(&&*callee::name_of(callable)) && module_of(callable).is_some_and(|known| known == *module)
        })
}

impl Torch {
    /// A call of such a function.
    pub(in crate::domain::torch) fn random_state<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        meta.refuse_modes()?;
        let own = callee::name_of(function);
        let is_seed = |seed: &Bound<'py, PyAny>| {
            let fits = seed.extract::<i64>().is_ok() || seed.extract::<u64>().is_ok();
            seed.is_exact_instance_of::<PyInt>() && fits
        };
        match (&*own, args) {
            (GET_STATE, []) if kwargs.is_empty() => {
                let example = self.state_like(function).map_err(|error| fault(&error))?;
                let (target, args, kwargs) = (function.clone(), Vec::new(), Vec::new());
                Ok(Answer::Node { target, args, kwargs, example })
            }
            (DRAWN_INDICES, [Operand::Known(_), Operand::Known(samples), Operand::Known(_), Operand::Graph { .. }])
                if kwargs.is_empty() =>
            {
                let example = self.indices_like(samples).map_err(|error| fault(&error))?;
                let (target, args, kwargs) = (function.clone(), args.to_vec(), Vec::new());
                Ok(Answer::Node { target, args, kwargs, example })
            }
            (SET_STATE, [Operand::Graph { example, .. }]) if kwargs.is_empty() && self.is_state(example) => {
                Ok(change(function, args))
            }
            (SEED_STATE, [Operand::Known(seed) | Operand::Number { hint: seed, expression: Some(_), .. }])
                if kwargs.is_empty() && is_seed(seed) =>
            {
                Ok(change(function, args))
            }
            _ => Err(stop("state of a generator of random numbers", own, "It is not known to be such a state.")),
        }
    }

    /// What stands for so many indices.
    pub(super) fn indices_like<'py>(&self, count: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let module = self.module.bind(count.py());
        let made = module.getattr(name!("zeros"))?.call1(((count,),))?.call_method0(name!("long"))?;
        let made = empty_like(module, &made, "meta")?;
        Place::default().tell(&made)?;
        Ok(made)
    }

    /// What stands for the state.
    fn state_like<'py>(&self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let made = empty_like(self.module.bind(function.py()), &function.call0()?, "meta")?;
        Place::default().tell(&made)?;
        Ok(made)
    }

    fn is_state(&self, example: &Bound<'_, PyAny>) -> bool {
        let bytes = self.module.bind(example.py()).getattr(name!("uint8"));
        let _quiet = Quiet::about([example]);
        let is_bytes = || PyResult::Ok(example.getattr(name!("dtype"))?.is(&bytes?));
        is_bytes().unwrap_or(false) && place_of(example).is_some_and(|place| place.is_cpu())
    }
}

fn change<'py>(function: &Bound<'py, PyAny>, args: &[Operand<'py>]) -> Answer<'py> {
    Answer::Change {
        target: function.clone(),
        args: args.to_vec(),
        kwargs: Vec::new(),
        example: function.py().None().into_bound(function.py()),
        changes: Vec::new(),
        gives: Gives::Nothing,
    }
}
