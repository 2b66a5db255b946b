//! Running an operation on tensors without contents to learn the metadata of its result.
use super::examples::array_scalars::is_scalar;
use super::examples::open::has_open;
use super::examples::place::{Place, is_device};
use super::examples::placed::place_of;
use super::examples::site::{Site, Way, is_by_kernel};
use super::examples::sketch::Sketch;
use super::examples::unheard::says;
use super::generators::without_generator;
use super::graph_break::{CallResult, fault, stop};
use super::itself::operand_that_is;
use super::library::Torch;
use super::metadata;
use super::stand_ins::StandIns;
use super::stand_ins::stand_in;
use super::undo::saved;
use crate::domain::torch::named::{is_allowed, own_name};
use crate::domain::{Answer, Domain, Gives, Operand, SavedParts, class_of_unread, is_unread};
use crate::graph_break::{Break, OVERRIDDEN};
use crate::names::name;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySlice, PyString, PyTuple};
use std::cell::RefCell;

/// The break at operations while something in the thread looks at them.
pub(super) fn overridden() -> Box<Break> {
    let what = "TorchFunctionMode, TorchDispatchMode, a transform of functions, or hooks on saved tensors";
    Box::new(Break {
        kind: OVERRIDDEN.into(),
        context: what.into(),
        explanation: "It changes what they do, or runs Python code.".into(),
        hints: vec!["the graph before it and the graph after it are kept; nothing needs to be done".into()],
    })
}

/// What stands for the positional operands of a call, and for what it gives.
type Called<'py> = (Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>);

/// Tensors on the `meta` device, and where those are that they stand for.
pub(super) type Places<'py> = RefCell<Vec<(Bound<'py, PyAny>, Place)>>;

/// Turns operands into the objects that stand for them.
pub(super) struct Meta<'a, 'py> {
    pub(super) torch: &'a Torch,
    pub(super) py: Python<'py>,
}

impl<'py> Meta<'_, 'py> {
    /// The object that stands for an operand.
    pub(super) fn object(&self, operand: &Operand<'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        self.object_where(operand, None)
    }

    /// The object that stands for an operand. `places`: devices stay what they are, and what stands for tensors is added with their places.
    pub(super) fn object_where(
        &self,
        operand: &Operand<'py>,
        places: Option<&Places<'py>>,
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let object = |item: &Operand<'py>| self.object_where(item, places);
        let all = |items: &[Operand<'py>]| items.iter().map(object).collect::<Result<Vec<_>, _>>();
        match operand {
            // Arrays of another library are values of the graph, too.
            Operand::Graph { example, .. } if is_scalar(example) => Ok(example.clone()),
            Operand::Graph { example, .. } if !self.torch.is_tensor(example) => {
                Err(unknown(&crate::ffi::types::name(&example.get_type())))
            }
            Operand::Graph { example, .. } => {
                let stand_in = self.stand_in(example).map_err(|error| fault(&error))?;
                if let Some(places) = places {
                    places.borrow_mut().push((stand_in.clone(), place_of(example).unwrap_or_default()));
                }
                Ok(stand_in)
            }
            Operand::Known(object) if places.is_some() => plain(object),
            Operand::Known(object) => self.known(object),
            Operand::Number { hint, .. } => Ok(hint.clone()),
            Operand::Tuple(items) => Ok(PyTuple::new(self.py, all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::List(items) => Ok(PyList::new(self.py, all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::Slice(parts) => {
                let [start, end, step] = [object(&parts[0])?, object(&parts[1])?, object(&parts[2])?];
                self.py.get_type::<PySlice>().call1((start, end, step)).map_err(|error| fault(&error))
            }
            Operand::Foreign(class) => Err(unknown(&crate::ffi::types::name(class))),
        }
    }

    /// What stands for a known object: it itself, but for devices.
    fn known(&self, object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let object = plain(object)?;
        let class = object.get_type();
        if is_device(&object) {
            return class.call1(("meta",)).map_err(|error| fault(&error));
        }
        Ok(object)
    }

    /// What a callable gives, always the same, of operands that are known with all that they hold.
    pub(super) fn fold(
        &self,
        callable: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let args = args.iter().map(|arg| self.folded(arg)).collect::<Result<Vec<_>, _>>()?;
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            named.set_item(name, self.folded(value)?).map_err(|error| fault(&error))?;
        }
        let answer = PyTuple::new(self.py, args).and_then(|args| callable.call(args, Some(&named)));
        Ok(answer.map_or_else(Answer::Raised, Answer::Constant))
    }

    /// The object that an operand is, where it is known with all that it holds.
    pub(super) fn folded(&self, operand: &Operand<'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let all = |items: &[Operand<'py>]| items.iter().map(|item| self.folded(item)).collect::<Result<Vec<_>, _>>();
        match operand {
            Operand::Known(object) => plain(object),
            Operand::Number { .. } => Err(unknown("number that is not known")),
            Operand::Tuple(items) => Ok(PyTuple::new(self.py, all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::List(items) => Ok(PyList::new(self.py, all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::Graph { example, .. } => Err(unknown(&crate::ffi::types::name(&self.torch.class_of(example)))),
            Operand::Slice(_) => Err(unknown("slice")),
            Operand::Foreign(class) => Err(unknown(&crate::ffi::types::name(class))),
        }
    }

    /// Whether what stands for the operand is as it in what gradients make of it: one that needs none, or that the graph has made.
    pub(super) fn is_known_to_gradients(&self, operand: &Operand<'py>) -> PyResult<bool> {
        let Operand::Graph { example, .. } = operand else { return Ok(false) };
        Ok(says(example, name!("is_meta"))? || !says(example, name!("requires_grad"))?)
    }

    /// The operands of `Tensor.to`, where a text or a number names the device: the device itself.
    pub(super) fn placed(&self, args: &[Operand<'py>]) -> Result<Vec<Operand<'py>>, Box<Break>> {
        let mut args = args.to_vec();
        if let Some(Operand::Known(place)) = args.get_mut(1)
            && (place.is_exact_instance_of::<PyString>() || place.is_exact_instance_of::<PyInt>())
        {
            let device = self.torch.module.bind(self.py).getattr(name!("device"));
            *place = device.and_then(|device| device.call1((&*place,))).map_err(|error| fault(&error))?;
        }
        Ok(args)
    }

    /// A tensor on the `meta` device with the metadata of `example`.
    fn stand_in(&self, example: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        stand_in(self.torch, example)
    }

    /// Breaks where a mode intercepts all operations.
    pub(super) fn refuse_modes(&self) -> Result<(), Box<Break>> {
        match self.torch.ambient.plain(self.py) {
            Ok(true) => Ok(()),
            _ => Err(overridden()),
        }
    }

    /// A node for the call, if it can be run without contents and gives new tensors; or what else it gives.
    pub(super) fn record(
        &self,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        if args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_open) {
            return self.on_open(&target, args, kwargs);
        }
        let answer = self.record_known(target.clone(), args, kwargs);
        answer.or_else(|reason| self.by_contents(&target, args, kwargs).ok_or(reason))
    }

    fn record_known(
        &self,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        if metadata::is_method(&target)
            && kwargs.is_empty()
            && let Some(answer) = self.torch.metadata_answer(self.py, &target, args)?
        {
            return Ok(Answer::Constant(answer));
        }
        if let Some(answer) = self.recorded_by_rule(&target, args, kwargs) {
            return answer;
        }
        if let Some(raised) = self.refused_list(&own_name(&target), &target, args, kwargs) {
            return raised;
        }
        let site = Site::of(&own_name(&target), args, kwargs)?;
        let (objects, example) = match self.way(&target, args, &site).map_err(|error| fault(&error))? {
            Way::Kernel => self.run(&target, args, kwargs, true)?,
            Way::Fakes => self.run(&target, args, kwargs, false)?,
            Way::Meta => self.without_contents(&target, args, kwargs, &site)?,
        };
        if let Some(value) = operand_that_is(&example, args, &objects) {
            return Ok(Answer::Same(value));
        }
        self.answer(target, args, kwargs, &objects, example)
    }

    /// Who says what a call gives.
    fn way(&self, target: &Bound<'py, PyAny>, args: &[Operand<'py>], site: &Site) -> PyResult<Way> {
        let ambient = &self.torch.ambient;
        match site {
            Site::Several => Ok(Way::Fakes),
            Site::One(place) if is_by_kernel(&own_name(target), place, args) => {
                // What a transform has wrapped is no tensor that a kernel takes.
                Ok(if ambient.are_wrapped(self.py, args)? { Way::Meta } else { Way::Kernel })
            }
            Site::One(_) if ambient.is_autocast(self.py)? => Ok(Way::Fakes),
            Site::One(_) => Ok(Way::Meta),
        }
    }

    /// The positional operands, and what a call gives, on the `meta` device.
    fn without_contents(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        site: &Site,
    ) -> Result<Called<'py>, Box<Break>> {
        let operands = self.stand_ins(args, kwargs)?;
        let place = site.place();
        let without_kernel = |error| self.without_kernel(target, (args, kwargs), error);
        let called = match is_allowed(target) {
            true => self.call_allowed(target, &operands)?,
            false => self.call_on(target, &operands).or_else(without_kernel).map_err(|error| fails(target, &error))?,
        };
        let told = || {
            let called = self.torch.without_numbers(target, called)?;
            self.tell(&called, &place)?;
            PyResult::Ok(called)
        };
        Ok((operands.positional, told().map_err(|error| fault(&error))?))
    }

    /// Tells the tensors of a result where they are.
    fn tell(&self, result: &Bound<'py, PyAny>, place: &Place) -> PyResult<()> {
        match self.parts(result) {
            Some(parts) => parts.iter().filter(|part| self.is_meta_tensor(part)).try_for_each(|part| place.tell(part)),
            None if result.get_type().is(&self.torch.tensor) => place.tell(result),
            None => Ok(()),
        }
    }

    /// The positional operands, and what a call gives with tensors that know where they are: PyTorch's fake tensors, or tensors for which
    /// the kernel runs.
    pub(super) fn run(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        for_real: bool,
    ) -> Result<Called<'py>, Box<Break>> {
        let places = Places::default();
        let objects = args.iter().map(|arg| self.object_where(arg, Some(&places))).collect::<Result<Vec<_>, _>>()?;
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            named.set_item(name, self.object_where(value, Some(&places))?).map_err(|error| fault(&error))?;
        }
        let call = || self.torch.fakes.call(target, &objects, &named, &places.borrow(), for_real);
        let draws = for_real || self.torch.runs_program(target);
        let called = if draws { self.keeping_random(call) } else { call() };
        Ok((objects, called.map_err(|error| fails(target, &error))?))
    }

    /// Puts back what the act draws of random numbers.
    pub(super) fn keeping_random<T>(&self, act: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let random = SavedParts { random: true, ..SavedParts::default() };
        let saved = saved::save(self.torch.module.bind(self.py), &[], random)?;
        let done = act();
        saved.restore(self.py)?;
        done
    }

    /// What a call gives that the `meta` device has no kernel for, as PyTorch's fake tensors know; or its error.
    fn without_kernel(
        &self,
        target: &Bound<'py, PyAny>,
        (args, kwargs): (&[Operand<'py>], &[(String, Operand<'py>)]),
        error: PyErr,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !error.is_instance_of::<PyNotImplementedError>(self.py) || !self.torch.ambient.outside_is_plain(self.py)? {
            return Err(error);
        }
        if kwargs.is_empty() && self.is_by_contents(target)? {
            return Err(error);
        }
        // They may run the operation itself, on zeros.
        let called = self.keeping_random(|| Ok(self.run(target, args, kwargs, false)))?;
        called.map(|(_, called)| called).map_err(|_| error)
    }

    /// The objects that stand for operands; where no tensor tells the device, it is said.
    pub(super) fn stand_ins(
        &self,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<StandIns<'py>, Box<Break>> {
        let positional = args.iter().map(|arg| self.object(arg)).collect::<Result<Vec<_>, _>>()?;
        let named = PyDict::new(self.py);
        for (name, value) in without_generator(kwargs).iter() {
            named.set_item(name, self.object(value)?).map_err(|error| fault(&error))?;
        }
        let tensors = positional.iter().any(|object| self.has_tensor(object));
        if !tensors || kwargs.iter().any(|(name, _)| name == "device") {
            named.set_item(name!("device"), "meta").map_err(|error| fault(&error))?;
        }
        Ok(StandIns { positional, named })
    }

    /// What a call that gave `example` is in the graph.
    pub(super) fn answer(
        &self,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        objects: &[Bound<'py, PyAny>],
        example: Bound<'py, PyAny>,
    ) -> CallResult<'py> {
        if metadata::is_method(&target) && !self.is_meta_tensor(&example) {
            return Ok(Answer::Constant(example));
        }
        if example.is_none() && CHECKS.contains(&&*own_name(&target)) {
            let (mut args, kwargs) = (args.to_vec(), kwargs.to_vec());
            if args.len() == 1 && kwargs.is_empty() {
                args.push(Operand::Known(PyString::new(self.py, FAILED_CHECK).into_any()));
            }
            return Ok(Answer::Change { target, args, kwargs, example, changes: Vec::new(), gives: Gives::Nothing });
        }
        let parts = self.parts(&example);
        let made = parts.as_deref().unwrap_or(std::slice::from_ref(&example));
        let itself: Vec<_> = made.iter().map(|made| operand_that_is(made, args, objects)).collect();
        let unknown = |made: &Bound<'py, PyAny>| !made.is_none() && objects.iter().any(|object| object.is(made));
        if made.iter().zip(&itself).any(|(made, itself)| (itself.is_none() || parts.is_none()) && unknown(made)) {
            return Err(stop("result that is the operand itself", name_of(&target), "A graph makes new objects."));
        }
        let (args, kwargs) = (args.to_vec(), kwargs.to_vec());
        if parts.is_some() {
            let getitem = self.torch.operator.bind(self.py).getattr(name!("getitem")).map_err(|error| fault(&error))?;
            return Ok(Answer::Parts { target, args, kwargs, example, getitem, itself });
        }
        if self.is_meta_tensor(&example) || class_of_unread(&example).is_some() {
            return Ok(Answer::Node { target, args, kwargs, example });
        }
        let text = format!("{} gives {}", name_of(&target), crate::ffi::types::name(&example.get_type()));
        Err(stop("PyTorch result that is no tensor", text, "Only plain tensors are graph values."))
    }

    fn is_meta_tensor(&self, object: &Bound<'py, PyAny>) -> bool {
        let is = |question| object.getattr(question).and_then(|answer: Bound<'_, PyAny>| answer.is_truthy()).ok();
        let strided = || {
            let known = self.torch.module.bind(self.py).getattr(name!("strided"));
            object.getattr(name!("layout")).and_then(|layout| Ok(layout.is(&known?))).unwrap_or(false)
        };
        let is_plain = || is(name!("is_meta")) == Some(true) && is(name!("is_quantized")) == Some(false) && strided();
        object.is_instance_of::<Sketch>() || object.get_type().is(&self.torch.tensor) && is_plain()
    }

    /// The items of a list, a tuple or a named tuple of C that holds nothing but new tensors, and `None` perhaps; or nothing at all, as the rows
    /// of a tensor without rows.
    fn parts(&self, example: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
        let class = example.get_type();
        let sequence = example.is_exact_instance_of::<PyList>()
            || example.is_instance_of::<PyTuple>() && crate::ffi::types::is_c_type(&class);
        let items: Vec<_> = sequence.then(|| example.try_iter().ok())??.collect::<PyResult<_>>().ok()?;
        let fits = |item: &Bound<'py, PyAny>| item.is_none() || is_unread(item) || self.is_meta_tensor(item);
        let is_empty =
            items.is_empty() && (class.is(self.py.get_type::<PyTuple>()) || class.is(self.py.get_type::<PyList>()));
        let has_tensors = items.iter().any(|item| self.is_meta_tensor(item)) && items.iter().all(fits);
        (is_empty || has_tensors).then_some(items)
    }

    /// Whether an object is a tensor, or a tuple or a list that holds one.
    pub(super) fn has_tensor(&self, object: &Bound<'py, PyAny>) -> bool {
        let is_sequence = object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
        let holds = || object.try_iter().into_iter().flatten().flatten().any(|item| self.has_tensor(&item));
        self.torch.is_tensor(object) || is_sequence && holds()
    }
}

/// Functions that do nothing but raise an exception if contents are not as they say.
const CHECKS: &[&str] = &["_assert_async"];

/// What PyTorch says where one without a message fails: PyTorch's compilers drop calls without one.
const FAILED_CHECK: &str = "Expected Tensor with single nonzero value, but got zero";

/// Known objects that PyTorch takes as they are, without running Python code of theirs.
pub(super) fn plain<'py>(object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
    let class = object.get_type();
    let c_name = crate::ffi::types::c_name(&class);
    match (!c_name.is_empty() && !c_name.contains('.')) || c_name.starts_with("torch.") {
        true => Ok(object.clone()),
        false => Err(unknown(&crate::ffi::types::name(&class))),
    }
}

/// An error may be the program's, or that contents are needed: the operation itself says which.
pub(super) fn fails(target: &Bound<'_, PyAny>, error: &PyErr) -> Box<Break> {
    let text = format!("{}: {error}", name_of(target));
    stop("PyTorch operation that needs contents or fails", text, "It runs natively.")
}

pub(super) fn name_of(target: &Bound<'_, PyAny>) -> String {
    crate::graph::text::target(target).unwrap_or_default()
}

fn unknown(name: &str) -> Box<Break> {
    stop("tensor operation with an unknown object", name, "PyTorch would look into the object.")
}
