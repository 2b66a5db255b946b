//! Runs real C functions on proxies and private objects (tiers "native on proxies" and "folded"), and reads their results and exceptions.
use crate::ffi::{callee, flag, referents, types};
use crate::names::name;
use crate::trace::proxy::convert::derives_from_c;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::has_c_base;
use crate::trace::value::kinds::{is_definition, is_scalar};
use pyo3::exceptions::PyBaseExceptionGroup;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple, PyType};
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use types::is_c_type;

impl<'py> Tracer<'py> {
    /// Calls a C callable on what C may see of the arguments and takes the result as private.
    pub(crate) fn run_native(
        &mut self,
        callable: &Bound<'py, PyAny>,
        positional: &[Bound<'py, PyAny>],
        keywords: &[(String, Bound<'py, PyAny>)],
    ) -> Traced<ValueId> {
        self.run_native_as(callable, false, positional, keywords)
    }

    /// The same; where it is so said, a method that is bound to the first argument, or an operator that is no more than such a method.
    pub(crate) fn run_native_as(
        &mut self,
        callable: &Bound<'py, PyAny>,
        bound: bool,
        positional: &[Bound<'py, PyAny>],
        keywords: &[(String, Bound<'py, PyAny>)],
    ) -> Traced<ValueId> {
        self.refuse_frozen_dicts(positional)?;
        let decimals = self.meets_decimals(Some(callable), positional)?;
        // Groups of exceptions are split by classes, which C tells from functions.
        let splits = positional.first().is_some_and(|group| group.is_instance_of::<PyBaseExceptionGroup>());
        let as_it_is = decimals || splits;
        let given = |value: &Bound<'py, PyAny>| if as_it_is { self.as_they_are(value) } else { Ok(value.clone()) };
        let mut called = callable.clone();
        let mut rest = positional;
        if bound
            && types::is_c_class(&callable.get_type(), "method_descriptor")
            && let Some((receiver, others)) = positional.split_first()
        {
            let read = given(receiver).and_then(|receiver| types::read(callable, &receiver));
            called = read.or_else(|error| internal(error.to_string()))?;
            rest = others;
        }
        let args = match as_it_is {
            true => rest.iter().map(given).collect::<PyResult<Vec<_>>>().and_then(|args| PyTuple::new(self.py, args)),
            false => PyTuple::new(self.py, rest),
        };
        let args = args.or_else(|error| internal(error.to_string()))?;
        let named = (!keywords.is_empty()).then(|| PyDict::new(self.py));
        for (name, value) in keywords {
            let stored =
                given(value).and_then(|value| named.as_ref().map_or(Ok(()), |named| named.set_item(name, value)));
            stored.or_else(|error| internal(error.to_string()))?;
        }
        self.fix_numbers_for(callable, positional)?;
        let kwargs = named.as_ref();
        let mut seen = Cow::Borrowed(positional);
        if !keywords.is_empty() {
            seen.to_mut().extend(keywords.iter().map(|(_, value)| value.clone()));
        }
        let result = match keeps_nothing(callable) && seen.iter().all(crate::trace::value::kinds::is_scalar) {
            true => self.with_callbacks_on_scalars(|| called.call(args, kwargs)),
            false => self.with_callbacks(|| called.call(args, kwargs)),
        };
        self.judge(result, &seen, || bound || callee::owner_of(callable).is_some())
    }

    /// What C gets with the classes in it as they are, also those within containers: it tells them by their addresses.
    pub(crate) fn as_they_are(&self, native: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if native.is_instance_of::<Proxy>() {
            let known = self.value_of_proxy(native).and_then(|value| self.at_hand(value));
            return Ok(known.filter(|known| known.is_instance_of::<PyType>()).unwrap_or_else(|| native.clone()));
        }
        let all = |items: &mut dyn Iterator<Item = Bound<'py, PyAny>>| {
            items.map(|item| self.as_they_are(&item)).collect::<PyResult<Vec<_>>>()
        };
        if let Ok(list) = native.cast_exact::<PyList>() {
            return Ok(PyList::new(self.py, all(&mut list.iter())?)?.into_any());
        }
        if let Ok(tuple) = native.cast_exact::<PyTuple>() {
            return Ok(PyTuple::new(self.py, all(&mut tuple.iter())?)?.into_any());
        }
        if let Ok(dict) = native.cast_exact::<PyDict>() {
            let copy = PyDict::new(self.py);
            for (key, value) in dict.iter() {
                copy.set_item(self.as_they_are(&key)?, value)?;
            }
            return Ok(copy.into_any());
        }
        Ok(native.clone())
    }

    /// Judges what a slot function gave.
    pub(crate) fn after_native(
        &mut self,
        result: PyResult<Bound<'py, PyAny>>,
        operands: &[Bound<'py, PyAny>],
    ) -> Traced<ValueId> {
        self.judge(result, operands, || true)
    }

    /// Judges what C gave: an interruption first, then errors that may come from looking at a proxy instead of the value. `is_method`:
    /// what C ran belongs to the class of the first argument.
    pub(crate) fn judge(
        &mut self,
        result: PyResult<Bound<'py, PyAny>>,
        positional: &[Bound<'py, PyAny>],
        is_method: impl FnOnce() -> bool,
    ) -> Traced<ValueId> {
        self.note_changes(positional);
        if let Some(signal) = self.state.pending.take() {
            return Err(signal);
        }
        match result {
            Ok(object) => match PyErr::take(self.py) {
                None => Ok(self.absorb(object)),
                // As CPython does it where functions are asked for what only functions have.
                Some(error) => unsupported("C code ignored an error", types::name(&error.get_type(self.py))),
            },
            Err(error) if self.signal_behind(&error).is_some() => self.raise_error(error),
            Err(error) if self.is_end(&error, positional) => self.raise_error(error),
            Err(error) => {
                let raised_by_trace = self.state.identity.contains_key(&(error.value(self.py).as_ptr() as usize));
                if !raised_by_trace
                    && !is_missing_key(&error, positional)
                    && self.meets_layout_by_base(positional, is_method())
                {
                    let class = types::name(&error.get_type(self.py));
                    return unsupported("C code raised on a symbolic value", class);
                }
                self.rely_on_no_handler(&error)?;
                self.rely_on_no_codec(&error)?;
                self.raise_error(error)
            }
        }
    }

    /// Whether an iterator of the trace's own says that it has come to its end.
    pub(crate) fn is_end(&self, error: &PyErr, positional: &[Bound<'py, PyAny>]) -> bool {
        error.get_type(self.py).is(self.py.get_type::<pyo3::exceptions::PyStopIteration>())
            && matches!(positional, [iterator] if self.is_private(iterator) && is_c_type(&iterator.get_type()))
    }

    /// Whether C may have seen a proxy that it judges otherwise than its value: as an argument, within one, or given by an iterator.
    pub(crate) fn meets_layout_by_base(&mut self, args: &[Bound<'py, PyAny>], is_method: bool) -> bool {
        let receiver = usize::from(is_method);
        for (at, arg) in args.iter().enumerate() {
            if (at < receiver || !self.is_plain_callable(arg)) && self.is_known_by_base(arg) {
                return true;
            }
        }
        // Methods of containers ask their own items by slots alone; other functions add them, join them, format them.
        let own_items = is_method && args.first().is_some_and(is_container);
        if !args.iter().skip(usize::from(own_items)).any(|arg| reaches_proxy(arg, 3)) {
            return false;
        }
        // C looks into cells where it compares them.
        let cells = args.iter().any(|arg| reaches_cell(arg, 3));
        let proxies = self.state.proxies.values().map(|proxy| proxy.bind(self.py));
        let met = proxies.filter(|proxy| cells || proxy.get().given.load(Ordering::Relaxed));
        let met: Vec<_> = met.map(|proxy| proxy.clone().into_any()).collect();
        met.iter().any(|proxy| self.has_c_layout(proxy))
    }

    /// Whether a proxy that C met within something stands for an object of a layout that C code asks for by flags or by base class.
    pub(crate) fn has_c_layout(&mut self, proxy: &Bound<'py, PyAny>) -> bool {
        let class = self.value_of_proxy(proxy).and_then(|value| self.class_of(value).ok());
        class.is_none_or(|class| {
            derives_from_c(&class) || types::has(&class, flag::DATA_SUBCLASS | flag::BASE_EXC_SUBCLASS)
        })
    }

    /// Whether a proxy stands for a function or a bound method: C calls what it is given, whatever it is, and tells these from others only
    /// as receivers of their own methods, and where it makes classes. CPython: `PyFunction_Check`, `PyMethod_Check`.
    fn is_plain_callable(&mut self, arg: &Bound<'py, PyAny>) -> bool {
        let value = self.value_of_proxy(arg);
        let class = value.and_then(|value| self.class_of(value).ok());
        class.is_some_and(|class| matches!(&*types::c_name(&class), "function" | "method"))
    }

    /// Whether a proxy stands for an object that C code recognises by more than its slots.
    pub(crate) fn is_known_by_base(&mut self, arg: &Bound<'py, PyAny>) -> bool {
        let Some(value) = self.value_of_proxy(arg) else { return arg.is_instance_of::<Proxy>() };
        self.class_of(value).map_or(true, |class| has_c_base(&class))
    }
}

/// Whether a dict or set says that it does not hold one of the arguments: it asked that for its hash and compared it, as it would the value itself.
pub(crate) fn is_missing_key(error: &PyErr, args: &[Bound<'_, PyAny>]) -> bool {
    let Some((container, keys)) = args.split_first() else { return false };
    let holds = container.is_instance_of::<PyDict>() || container.is_instance_of::<PySet>();
    let value = error.value(container.py());
    let said = value.getattr(intern!(value.py(), "args")).ok().and_then(|said| said.cast_into::<PyTuple>().ok());
    holds
        && value.get_type().is(container.py().get_type::<pyo3::exceptions::PyKeyError>())
        && said.is_some_and(|said| said.len() == 1 && said.iter().all(|said| keys.iter().any(|key| key.is(&said))))
}

/// Whether C finds proxies in the object: those of containers, and whatever other objects of C may give.
pub(crate) fn reaches_proxy(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    if object.is_instance_of::<Proxy>() || depth == 0 {
        return true;
    }
    if is_scalar(object) || is_definition(object) {
        return false;
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        return dict.iter().any(|(key, value)| reaches_proxy(&key, depth - 1) || reaches_proxy(&value, depth - 1));
    }
    if !is_c_type(&object.get_type()) {
        return true;
    }
    // Lists and tuples of C's own may have room that is not filled, or not any more, which an iterator must not meet.
    if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
        let held = referents::direct(object, usize::MAX);
        return held.iter().any(|item| reaches_proxy(item, depth - 1));
    }
    if !is_container(object) {
        return holds_proxy(object, depth);
    }
    object.try_iter().is_ok_and(|mut items| items.any(|item| item.is_ok_and(|item| reaches_proxy(&item, depth - 1))))
}

/// Whether an object of another class of C holds a proxy, or a callable that may give one.
pub(crate) fn holds_proxy(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    let held = crate::ffi::modules::import(object.py(), "gc")
        .and_then(|gc| gc.call_method1(name!("get_referents"), (object,)));
    let Ok(Ok(held)) = held.map(|held| held.cast_into::<PyList>()) else { return true };
    held.iter().any(|held| {
        !held.is_instance_of::<PyType>()
            && (is_definition(&held) && held.is_callable() || reaches_proxy(&held, depth - 1))
    })
}

/// Whether it is a cell, or a container of C with one in it.
fn reaches_cell(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    let is_cell = types::is_c_class(&object.get_type(), "cell");
    let within = || referents::direct(object, usize::MAX).iter().any(|held| reaches_cell(held, depth - 1));
    is_cell || depth > 1 && is_container(object) && within()
}

/// A container of a builtin class or of a class that derives from one.
pub(crate) fn is_container(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>()
}

/// Whether a callable of C has nothing of its own that a call could change.
pub(crate) fn keeps_nothing(callable: &Bound<'_, PyAny>) -> bool {
    match &*types::c_name(&callable.get_type()) {
        "method_descriptor" | "wrapper_descriptor" => true,
        "builtin_function_or_method" | "builtin_method" => {
            callee::receiver_of(callable).is_some_and(|of| of.is_none() || of.is_instance_of::<pyo3::types::PyModule>())
        }
        "type" => callable.cast::<PyType>().is_ok_and(types::is_immutable),
        _ => false,
    }
}
