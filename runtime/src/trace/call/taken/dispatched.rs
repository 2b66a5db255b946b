//! Calls of a library's functions that end in a method of an argument's class, below gradients: the library's own code runs on what stands for
//! the arguments, and hands the operations that it consists of to the trace, one after the other. The trace goes through the method that gets
//! them. PyTorch: `torch/csrc/autograd/python_variable.cpp`, `concrete_dispatch_fn`.
use crate::domain::{Callee, Dispatching, Domain, Operand, STANDS_FOR, SavedParts};
use crate::ffi::frame::Frame;
use crate::ffi::{callee, types};
use crate::trace::call::rehearsal::RehearsalStart;
use crate::trace::call::taken::native::NativeCall;
use crate::trace::proxy::reentry;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::process::Dispatched;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple, PyType};
use std::sync::Arc;

/// What PyTorch calls in the place of a `__torch_dispatch__`.
#[pyfunction]
#[pyo3(signature = (_class, function, types, args, kwargs=None))]
pub(crate) fn answer_dispatch<'py>(
    _class: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
    types: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _ = types;
    let answer = reentry::running(function.py(), |tracer| tracer.answer_dispatch(function, args, kwargs));
    answer.unwrap_or_else(|| Err(PyRuntimeError::new_err("what stands for a value outlived its trace")))
}

fn stand_in_class<'py>(py: Python<'py>, dispatching: &dyn Dispatching) -> PyResult<Bound<'py, PyType>> {
    const MADE: &str = "answer_dispatch";
    let module = crate::ffi::modules::import(py, "slotrt._slotrt")?;
    if module.getattr_opt(MADE)?.is_none() {
        module.setattr(MADE, pyo3::wrap_pyfunction!(answer_dispatch, py)?)?;
    }
    dispatching.stand_in_class(module.getattr(MADE)?)
}

impl<'py> Tracer<'py> {
    /// What a call gives that ends in a method of the class of an argument; `None`: no argument is of such a class, or only tells of itself.
    pub(crate) fn call_dispatched(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<Option<ValueId>> {
        let Some(dispatching) = domain.dispatching() else { return Ok(None) };
        self.state.dispatched.takes_wrappers = false;
        if dispatching.ties(callee) {
            return self.tie_wrappers(callee).map(Some);
        }
        if !self.any_is_of_class(args, keywords, &|class| dispatching.dispatches(class))? {
            return Ok(None);
        }
        if dispatching.tells_of_itself(callee) {
            self.state.dispatched.takes_wrappers = true;
            return Ok(None);
        }
        self.rely_on_surroundings(domain)?;
        let class = stand_in_class(self.py, dispatching).or_else(|error| internal(error.to_string()))?;
        let start = self.rehearsal_start();
        let dispatched =
            Dispatched { class: Some(class.unbind()), nesting: self.state.nesting, ..Dispatched::default() };
        let outer = std::mem::replace(&mut self.state.dispatched, dispatched);
        let result = self.run_dispatched(domain, callee, (args, keywords), &start);
        let inner = std::mem::replace(&mut self.state.dispatched, outer);
        self.state.dispatched.is_native |= inner.is_native;
        result.map(Some)
    }

    /// Wrappers get the memory of others: the graph makes the call as it is that does so.
    fn tie_wrappers(&mut self, callee: &Callee<'py>) -> Traced<ValueId> {
        match self.state.dispatched.class.is_some() {
            true => {
                self.state.dispatched.is_native = true;
                Ok(self.none())
            }
            false => unsupported("tensor that gets the memory of another one", &*callee.name()),
        }
    }

    /// Runs the library's code on what stands for the arguments.
    fn run_dispatched(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        (args, keywords): (&[ValueId], &[(String, ValueId)]),
        start: &RehearsalStart,
    ) -> Traced<ValueId> {
        let Some(dispatching) = domain.dispatching() else { return internal("a library without such classes") };
        let positional = args.iter().map(|arg| self.dispatch_object(domain, *arg)).collect::<Traced<Vec<_>>>()?;
        let mut named = Vec::with_capacity(keywords.len());
        for (name, value) in keywords {
            named.push((name.clone(), self.dispatch_object(domain, *value)?));
        }
        let Some((function, positional)) =
            dispatching.plain_call(self.py, callee, positional).map_err(Unwind::Break)?
        else {
            return unsupported("operation on a wrapper", &*callee.name());
        };
        let call = NativeCall { function, positional, named };
        let called = self.run_library(domain, &call)?;
        let given = |object: &Bound<'py, PyAny>| self.state.dispatched.given.iter().any(|(_, given)| given.is(object));
        let is_given = called.as_ref().is_ok_and(given);
        let dispatched = &self.state.dispatched;
        if called.is_ok() && !dispatched.has_operations && !is_given && !dispatching.asks_for_classes(callee) {
            return unsupported("answer of a wrapper that no operation gives", &*callee.name());
        }
        let is_tied = |object: &Bound<'py, PyAny>| dispatching.is_tied(object);
        let is_native = dispatched.has_operations
            && (dispatched.is_native
                || dispatched.given.iter().any(|(_, object)| is_tied(object.bind(self.py)))
                || called.as_ref().is_ok_and(|object| self.is_tied_result(domain, object)));
        match called {
            Ok(object) if is_native => self.call_natively(domain, &call, &object, start),
            Ok(object) if !object.is_exact_instance_of::<PyTuple>() && object.is_instance_of::<PyTuple>() => {
                self.named_results(&object)
            }
            Err(_) if is_native && self.state.pending.is_none() => {
                self.drop_before_raise(domain, start)?;
                self.after_native(called, &[])
            }
            called => self.after_native(called, &[]),
        }
    }

    fn run_library(&mut self, domain: &Arc<dyn Domain>, call: &NativeCall<'py>) -> Traced<PyResult<Bound<'py, PyAny>>> {
        let bound = || {
            let named = PyDict::new(self.py);
            call.named.iter().try_for_each(|(name, object)| named.set_item(name, object))?;
            Ok((PyTuple::new(self.py, &call.positional)?, named))
        };
        let (positional, named) = bound().or_else(|error: PyErr| internal(error.to_string()))?;
        // What the library's code draws for itself is drawn again where the program runs.
        let random = SavedParts { random: true, ..SavedParts::default() };
        let saved = domain.save(self.py, &[], random).or_else(|error| internal(error.to_string()))?;
        let called = self.with_callbacks(|| call.function.call(positional, Some(&named)));
        saved.map_or(Ok(()), |saved| saved.restore(self.py)).or_else(|error| internal(error.to_string()))?;
        Ok(called)
    }

    /// A tuple with names, of what an operation gives.
    fn named_results(&mut self, object: &Bound<'py, PyAny>) -> Traced<ValueId> {
        let mut natives = Vec::new();
        for item in object.try_iter().into_iter().flatten().flatten() {
            let value = self.absorb(item);
            natives.push(self.stored(value)?);
        }
        let made = PyTuple::new(self.py, natives).and_then(|items| object.get_type().call1((items,)));
        let made = made.or_else(|error| self.raise_error(error))?;
        Ok(self.own(made))
    }

    /// Whether a result is a view that no graph shows, or has one.
    fn is_tied_result(&self, domain: &Arc<dyn Domain>, object: &Bound<'py, PyAny>) -> bool {
        if let Ok(items) = object.cast_exact::<PyTuple>() {
            return items.iter().any(|item| self.is_tied_result(domain, &item));
        }
        if let Ok(items) = object.cast_exact::<PyList>() {
            return items.iter().any(|item| self.is_tied_result(domain, &item));
        }
        let given = || self.state.dispatched.given.iter().map(|(_, given)| given.bind(self.py));
        let is_one = self.state.dispatched.class.as_ref().is_some_and(|class| object.get_type().is(class));
        let Some(dispatching) = domain.dispatching() else { return is_one };
        // What stands for operands is of no further use.
        let changes_with = |given| dispatching.changes_with(object, given).unwrap_or(true);
        is_one && !given().any(|given| given.is(object)) && (dispatching.is_tied(object) || given().any(changes_with))
    }

    /// An operation that the library's code consists of.
    fn answer_dispatch(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Traced<Bound<'py, PyAny>> {
        let Some(domain) = self.state.domains.iter().find(|domain| domain.dispatching().is_some()).cloned() else {
            return internal("a library without such classes");
        };
        self.state.dispatched.has_operations = true;
        let mut takers = Vec::new();
        for object in args.iter().chain(kwargs.into_iter().flat_map(|kwargs| kwargs.values())) {
            self.find_takers(&domain, &object, &mut takers)?;
        }
        let result = match takers.is_empty() {
            true => {
                let positional: Vec<_> = args.iter().map(|arg| self.absorb(arg)).collect();
                let named = kwargs.into_iter().flat_map(|kwargs| kwargs.iter());
                let named: Vec<_> = named.map(|(name, value)| (types::text(&name), self.absorb(value))).collect();
                self.call_domain(&domain, Callee::Function(function.clone()), &positional, &named)?
            }
            false => self.hand_dispatched(function, (args, kwargs), &takers)?,
        };
        self.dispatch_object(&domain, result)
    }

    /// Calls the methods of the classes, one after the other, until one takes the operation.
    fn hand_dispatched(
        &mut self,
        function: &Bound<'py, PyAny>,
        (args, kwargs): (&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>),
        takers: &[(ValueId, Bound<'py, PyType>)],
    ) -> Traced<ValueId> {
        let classes = PyTuple::new(self.py, takers.iter().map(|(_, class)| class));
        let classes = classes.or_else(|error| internal(error.to_string()))?;
        let mut given = vec![self.constant(function.clone()), self.own(classes.into_any())];
        given.push(self.own(args.clone().into_any()));
        given.extend(kwargs.map(|kwargs| self.own(kwargs.clone().into_any())));
        for (taker, _) in takers {
            let method = self.get_attr(*taker, "__torch_dispatch__")?;
            let result = self.call_deeper(method, Arguments::positional(given.clone()))?;
            if !self.is_not_implemented(result) {
                return Ok(result);
            }
        }
        unsupported("call that no class takes over", callee::name_of(function))
    }

    /// Adds those that an object stands for, or consists of, whose classes get operations: classes before those that they are derived from.
    fn find_takers(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: &Bound<'py, PyAny>,
        takers: &mut Vec<(ValueId, Bound<'py, PyType>)>,
    ) -> Traced<()> {
        if let Ok(items) = object.cast_exact::<PyTuple>() {
            return items.iter().try_for_each(|item| self.find_takers(domain, &item, takers));
        }
        if let Ok(items) = object.cast_exact::<PyList>() {
            return items.iter().try_for_each(|item| self.find_takers(domain, &item, takers));
        }
        let Some(value) = self.dispatched_value(object) else { return Ok(()) };
        let class = self.class_of(value)?;
        let dispatches = domain.dispatching().is_some_and(|dispatching| dispatching.dispatches(&class));
        if dispatches && !takers.iter().any(|(_, taker)| taker.is(&class)) {
            let derived = takers.iter().position(|(_, taker)| types::is_subtype(&class, taker));
            takers.insert(derived.unwrap_or(takers.len()), (value, class));
        }
        Ok(())
    }

    /// What the library's code gets for a value.
    fn dispatch_object(&mut self, domain: &Arc<dyn Domain>, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some((_, object)) = self.state.dispatched.given.iter().find(|(given, _)| *given == value) {
            return Ok(object.bind(self.py).clone());
        }
        let class = self.class_of(value)?;
        if domain.claims(&class) {
            return self.dispatch_tensor(domain, value);
        }
        if let Some(object) = self.known(value) {
            return Ok(object);
        }
        if class.is(self.py.get_type::<PySlice>())
            && let Some(own) = self.owned(value)
        {
            return self.dispatch_slice(domain, &own);
        }
        let Some(items) = self.items_of_own(value) else {
            return unsupported("argument of an operation on a wrapper", types::name(&class));
        };
        let items = items.into_iter().map(|item| self.dispatch_object(domain, item)).collect::<Traced<Vec<_>>>()?;
        let made = match class.is(self.py.get_type::<PyList>()) {
            true => PyList::new(self.py, items).map(Bound::into_any),
            false => PyTuple::new(self.py, items).map(Bound::into_any),
        };
        made.or_else(|error| internal(error.to_string()))
    }

    fn dispatch_slice(&mut self, domain: &Arc<dyn Domain>, own: &Bound<'py, PyAny>) -> Traced<Bound<'py, PyAny>> {
        let mut bounds = Vec::with_capacity(3);
        for name in ["start", "stop", "step"] {
            let bound = own.getattr(name).or_else(|error| internal(error.to_string()))?;
            let bound = self.absorb(bound);
            bounds.push(self.dispatch_object(domain, bound)?);
        }
        let made = PyTuple::new(self.py, bounds).and_then(|bounds| self.py.get_type::<PySlice>().call1(bounds));
        made.or_else(|error| internal(error.to_string()))
    }

    fn dispatch_tensor(&mut self, domain: &Arc<dyn Domain>, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        let Some(dispatching) = domain.dispatching() else { return internal("a library without such classes") };
        if self.state.numbers.layouts.contains_key(&value) {
            return self.fix_sizes(vec![value]);
        }
        let Some(stand_in) = self.state.dispatched.class.as_ref().map(|class| class.bind(self.py).clone()) else {
            return internal("nothing stands for tensors");
        };
        let example = self.example(domain, value)?;
        let is_argument = self.state.dispatched.runs(self.state.nesting);
        if dispatching.is_followed(&example) {
            if !is_argument {
                return unsupported("operation on a wrapper", "gradients follow what the class's method gives");
            }
            self.state.dispatched.is_native = true;
        }
        let made =
            dispatching.stand_in(stand_in.as_any(), &example, (self.state.trace, value.0)).map_err(Unwind::Break)?;
        // What the method gives is PyTorch's alone, as without a trace: it asks how many refer to it.
        if is_argument {
            self.state.dispatched.given.push((value, made.clone().unbind()));
        }
        Ok(made)
    }

    /// Breaks where the library's code calls a function of the program.
    pub(crate) fn refuse_frame_of_operation(&self, frame: Frame<'_>) -> Traced<()> {
        match self.state.dispatched.runs(self.state.nesting - 1) {
            true => unsupported(
                "function that an operation on a wrapper calls",
                callee::qualname_of(&frame.function(self.py)),
            ),
            false => Ok(()),
        }
    }

    /// What an operation on a wrapper consists of runs below gradients: where they follow an operand of that, the graph makes the call as it is.
    pub(crate) fn note_history_below<'a>(
        &mut self,
        domain: &Arc<dyn Domain>,
        mut operands: impl Iterator<Item = &'a Operand<'py>>,
    ) where
        'py: 'a,
    {
        let is_below = self.state.dispatched.class.is_some() && !self.state.dispatched.takes_wrappers;
        let Some(dispatching) = domain.dispatching().filter(|_| is_below) else { return };
        let is_followed = operands.any(|operand| operand.any_example(&|example| dispatching.is_followed(example)));
        self.state.dispatched.is_native |= is_followed;
    }

    /// Breaks where a wrapper would be an operand of the graph, but for what it tells by itself, and for calls that the graph makes as they are.
    pub(crate) fn refuse_wrapper(&mut self, domain: &Arc<dyn Domain>, class: &Bound<'py, PyType>) -> Traced<()> {
        let is_one = domain.dispatching().is_some_and(|dispatching| dispatching.dispatches(class));
        match is_one && !self.state.dispatched.takes_wrappers {
            true => unsupported("wrapper as an operand", types::name(class)),
            false => Ok(()),
        }
    }

    /// The value that such an object stands for.
    pub(crate) fn dispatched_value(&self, object: &Bound<'py, PyAny>) -> Option<ValueId> {
        let class = self.state.dispatched.class.as_ref()?;
        if !object.get_type().is(class) {
            return None;
        }
        let (trace, value) = object.getattr(STANDS_FOR).ok()?.extract::<(u64, u32)>().ok()?;
        (trace == self.state.trace).then_some(ValueId(value))
    }
}
