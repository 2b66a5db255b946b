//! `tensor.data = other`: from then on the tensor has the other one's memory.
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::graph_break::{CallResult, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{MODULE, SET_DATA, is_named};
use crate::domain::torch::quantised::is_quantised;
use crate::domain::{Answer, Gives, Operand};
use crate::ffi::libtorch::Quiet;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// The function that sets the attribute.
pub(in crate::domain::torch) fn set_data(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    crate::ffi::modules::import(py, MODULE)?.getattr(SET_DATA)
}

/// Whether it is that function.
pub(in crate::domain::torch) fn is_set_data(callable: &Bound<'_, PyAny>) -> bool {
    is_named(callable, SET_DATA)
}

/// PyTorch's question whether a tensor can be given the memory of another one.
pub(in crate::domain::torch) const CAN_TAKE: &str = "_has_compatible_shallow_copy_type";

impl Torch {
    /// The answer to that: dense tensors on the CPU can be given each other's, and not that of one without contents, nor the other way round.
    pub(in crate::domain::torch) fn can_take_data<'py>(
        &self,
        py: Python<'py>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        let place_of_dense = |operand: &Operand<'py>| {
            let Operand::Graph { example, .. } = operand else { return None };
            let _quiet = Quiet::about([example]);
            let class = self.class_of_example(example);
            let is_plain = (class.is(&self.tensor) || class.is(&self.parameter)) && !is_quantised(example);
            place_of(example).filter(|_| is_plain)
        };
        let places: Option<Vec<_>> = args.iter().map(place_of_dense).collect();
        let can = match places.as_deref() {
            Some([one, other]) if one.is_cpu() && other.is_cpu() => Some(true),
            Some([one, other]) if one.is_cpu() && other.is_meta() || one.is_meta() && other.is_cpu() => Some(false),
            _ => None,
        };
        match can.filter(|_| !self.ambient.is_transforming(py).unwrap_or(true)) {
            Some(can) => Ok(Answer::Constant(PyBool::new(py, can).to_owned().into_any())),
            None => Err(stop("memory of a tensor is set", CAN_TAKE, "The two are not alike.")),
        }
    }

    /// A call of it. Nothing that the trace knows of the tensor becomes another thing where both are alike.
    pub(in crate::domain::torch) fn set_data<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        let refused = |why: &str| Err(stop("memory of a tensor is set", "data", why));
        let [Operand::Graph { value: set, example: known, layout: None }, given] = args else {
            return refused("Its sizes may be others at another call.");
        };
        let Operand::Graph { value: of, example: other, layout: None } = given else {
            return refused("What is given is no tensor of the graph whose sizes are known.");
        };
        meta.refuse_modes()?;
        if self.ambient.is_transforming(meta.py).unwrap_or(true) {
            return refused("A transform is under way.");
        }
        let quiet = Quiet::about([known, other]);
        let of_tensor = |tensor| self.rules.metadata(tensor).zip(place_of(tensor));
        let alike = of_tensor(known).zip(of_tensor(other)).is_some_and(|((one, here), (two, there))| {
            one.dtype == two.dtype && one.shape == two.shape && one.strides == two.strides && here == there
        });
        let plain = self.class_of_plain(known) && self.class_of_plain(other);
        drop(quiet);
        if !alike || !plain {
            return refused("The two are not alike.");
        }
        Ok(Answer::Change {
            target: function.clone(),
            args: args.to_vec(),
            kwargs: Vec::new(),
            example: meta.py.None().into_bound(meta.py),
            // Both are one memory from now on.
            changes: vec![*set, *of],
            gives: Gives::Nothing,
        })
    }

    fn class_of_plain(&self, example: &Bound<'_, PyAny>) -> bool {
        use crate::domain::Domain;
        !self.takes_over(&self.class_of(example))
    }
}
