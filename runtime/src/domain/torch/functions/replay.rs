//! The graph so far, run again on tensors without contents: they remember what they were computed from, which sketches do not.
use super::leaves::data::is_set_data;
use super::leaves::is_set_requires_grad;
use super::random_state::draws_indices;
use crate::domain::torch::examples::empty_like::empty_like;
use crate::domain::torch::examples::history;
use crate::domain::torch::examples::place::is_device;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::generators::GENERATOR;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{CLEAR_GRADIENT, GRADIENT_OF, is_named};
use crate::domain::torch::stand_ins::stand_in;
use crate::domain::torch::thread::modes;
use crate::domain::{Answer, Recorded};
use crate::ffi::libtorch::Quiet;
use crate::ffi::{callee, types};
use crate::graph::Argument;
use crate::names::name;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySlice, PyTuple};

/// The only mode that is set again.
const GRADIENTS: &str = "_set_grad_enabled";

/// Devices: without contents, and with them.
const META: &str = "meta";
const CPU: &str = "cpu";

/// What the nodes give.
type Results<'py> = Vec<Option<Bound<'py, PyAny>>>;

impl Torch {
    /// Whether the call of an answer runs once more.
    pub(in crate::domain::torch) fn runs_again<'py>(&self, meta: &Meta<'_, 'py>, answer: &Answer<'py>) -> bool {
        let (target, args, kwargs) = match answer {
            Answer::Node { target, args, kwargs, .. } | Answer::Parts { target, args, kwargs, .. } => {
                (target, args, kwargs)
            }
            // What was changed in place is no longer what it was.
            _ => return false,
        };
        let operands = meta.stand_ins(args, kwargs);
        operands.is_ok_and(|operands| meta.call_on(target, &operands).is_ok())
    }

    pub(in crate::domain::torch) fn replayed<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        recorded: &[Recorded<'_, 'py>],
        undo: &[(Py<PyAny>, Py<PyTuple>)],
        by_kernels: bool,
    ) -> Option<Results<'py>> {
        let py = meta.py;
        let is_plain = !self.ambient.is_autocast(py).ok()? && !self.ambient.is_transforming(py).ok()?;
        let is_known = |call: &Recorded<'_, 'py>| match call {
            Recorded::Call { target, .. } => self.runs_without_contents(target),
            Recorded::Input(_) | Recorded::Number(_) | Recorded::Other => true,
        };
        let of_gradients = undo.iter().all(|(target, _)| callee::name_of(target.bind(py)) == GRADIENTS);
        if !is_plain || !of_gradients || !recorded.iter().all(is_known) {
            return None;
        }
        let before = self.keeps_gradients(py);
        let run = || {
            undo.iter().try_for_each(|(target, args)| target.bind(py).call1(args.bind(py)).map(drop))?;
            self.run_again(meta, recorded, by_kernels)
        };
        let results: PyResult<Results<'py>> = if by_kernels { meta.keeping_random(run) } else { run() };
        let set = self.module.bind(py).getattr(name!("_C")).and_then(|native| native.getattr(GRADIENTS));
        set.and_then(|set| set.call1((before,))).ok()?;
        results.ok()
    }

    /// Whether a call does the same to tensors without contents, and nothing else.
    fn runs_without_contents(&self, target: &Bound<'_, PyAny>) -> bool {
        let is_c = matches!(&*types::c_name(&target.get_type()), "builtin_function_or_method" | "method_descriptor");
        let own = callee::name_of(target);
        is_c && (own == GRADIENTS || !modes::is_setter(&own))
            || self.is_grad(target)
            || self.is_backward(target)
            || is_set_requires_grad(target)
            || is_named(target, GRADIENT_OF)
            || draws_indices(target)
            || is_named(target, CLEAR_GRADIENT)
            || is_set_data(target)
    }

    fn run_again<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        recorded: &[Recorded<'_, 'py>],
        by_kernels: bool,
    ) -> PyResult<Results<'py>> {
        let mut results = Results::with_capacity(recorded.len());
        for node in recorded {
            let given = match node {
                Recorded::Other => None,
                Recorded::Input(object) => self.leaf_like(object, by_kernels)?,
                // Which number it is shows in contents alone.
                Recorded::Number(number) => Some(number.clone()),
                Recorded::Call { target, args, kwargs, apart } => {
                    if *apart {
                        results.iter().flatten().try_for_each(forget)?;
                    }
                    Some(self.call_again(meta, target, (args, kwargs), &results, by_kernels)?)
                }
            };
            results.push(given);
        }
        Ok(results)
    }

    /// What stands for an input; what that was computed from is not known.
    fn leaf_like<'py>(&self, object: &Bound<'py, PyAny>, by_kernels: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !self.is_tensor(object) {
            return Ok(None);
        }
        let _quiet = Quiet::about([object]);
        if object.getattr(name!("is_meta"))?.is_truthy()? {
            return Err(PyValueError::new_err("what stands for it is not told from it"));
        }
        // A hook sees the gradient, and may give another one.
        for hooks in self.attributes_of_hooks(object) {
            if object.getattr(*hooks)?.is_truthy()? {
                return Err(PyValueError::new_err("it has hooks"));
            }
        }
        let place = place_of(object).filter(|place| !place.is_cpu());
        if by_kernels {
            let like = match place {
                None => empty_like(self.module.bind(object.py()), object, CPU)?,
                Some(_) => return Err(PyValueError::new_err("its kernels are those of another device")),
            };
            like.call_method0(name!("detach"))?.call_method0(name!("zero_"))?;
            history::begins_at(&like)?;
            return Ok(Some(like));
        }
        let like = stand_in(self, object)?;
        history::begins_at(&like)?;
        if let Some(place) = place {
            place.tell(&like)?;
        }
        Ok(Some(like))
    }

    fn call_again<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        target: &Bound<'py, PyAny>,
        (args, kwargs): (&[Argument], &[(String, Argument)]),
        results: &Results<'py>,
        by_kernels: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = meta.py;
        let object = |py, arg| match by_kernels {
            true => object(py, arg, results, &|device: &Bound<'py, PyAny>| Ok(device.clone())),
            false => object(py, arg, results, &|device: &Bound<'py, PyAny>| device.get_type().call1((META,))),
        };
        let positional = args.iter().map(|arg| object(py, arg)).collect::<PyResult<Vec<_>>>()?;
        let named = PyDict::new(py);
        // Which numbers are drawn shows in contents alone.
        for (name, value) in kwargs.iter().filter(|(name, _)| name != GENERATOR) {
            named.set_item(name, object(py, value)?)?;
        }
        if draws_indices(target)
            && let [_, samples, ..] = positional.as_slice()
        {
            return self.indices_like(samples);
        }
        let _quiet = Quiet::about(&positional);
        if is_set_data(target) {
            // The two are alike, and what a leaf was computed from stays what it is.
            return Ok(py.None().into_bound(py));
        }
        if !by_kernels
            && target.is(self.operator.bind(py).getattr(name!("getitem"))?)
            && let [tensor, index] = positional.as_slice()
        {
            return target.call1((tensor, first_item(index)?));
        }
        let is_mode = callee::name_of(target) == GRADIENTS;
        let tensors = positional.iter().any(|object| meta.has_tensor(object));
        if !is_mode && !by_kernels && (!tensors || kwargs.iter().any(|(name, _)| name == "device")) {
            named.set_item(name!("device"), META)?;
        }
        target.call(PyTuple::new(py, positional)?, (!named.is_empty()).then_some(&named))
    }
}

/// The object that an argument is; `device`: what a device is.
fn object<'py>(
    py: Python<'py>,
    argument: &Argument,
    results: &Results<'py>,
    device: &dyn Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let all =
        |items: &[Argument]| items.iter().map(|item| object(py, item, results, device)).collect::<PyResult<Vec<_>>>();
    match argument {
        Argument::Node(node) => results
            .get(node.0 as usize)
            .cloned()
            .flatten()
            .ok_or_else(|| PyValueError::new_err("nothing stands for a node")),
        Argument::Constant(constant) if is_device(constant.bind(py)) => device(constant.bind(py)),
        Argument::Constant(constant) => Ok(constant.bind(py).clone()),
        Argument::Tuple(items) => Ok(PyTuple::new(py, all(items)?)?.into_any()),
        Argument::List(items) => Ok(PyList::new(py, all(items)?)?.into_any()),
        Argument::Slice(parts) => py.get_type::<PySlice>().call1(PyTuple::new(py, all(parts)?)?),
    }
}

/// An index with the first item in the place of one that a tensor without dimensions chooses: which one it is shows in contents alone.
fn first_item<'py>(index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = index.py();
    if let Ok(items) = index.cast_exact::<PyTuple>() {
        let items = items.iter().map(|item| first_item(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    let is_tensor = index.hasattr(name!("is_meta"))?;
    let is_one = is_tensor && index.call_method0(name!("dim"))?.eq(0)?;
    let is_bool = || PyResult::Ok(index.getattr(name!("dtype"))?.str()?.to_str()? == "torch.bool");
    Ok(if is_one && !is_bool()? { PyInt::new(py, 0).into_any() } else { index.clone() })
}

/// Lets the history of tensors begin with them: another graph goes on from there.
fn forget(result: &Bound<'_, PyAny>) -> PyResult<()> {
    if result.is_instance_of::<PyTuple>() || result.is_instance_of::<PyList>() {
        return result.try_iter()?.try_for_each(|item| forget(&item?));
    }
    let _quiet = Quiet::about([result]);
    match result.hasattr(name!("grad_fn"))? {
        true => history::begins_at(result),
        false => Ok(()),
    }
}
