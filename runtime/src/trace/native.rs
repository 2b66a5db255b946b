//! Real C functions on real, private objects that hold tokens (tier "native on tokens"), and constants (tier "folded").
use super::asked::Asked;
use super::known::{is_definition, is_key, is_of_one_object, is_scalar};
use super::nan::has_nan;
use super::shadows::Shadow;
use super::signal::{Traced, internal, unsupported};
use super::state::Tracer;
use super::token::Token;
use super::value::{Value, ValueId};
use crate::ffi::callee;
use crate::ffi::ordered_dict;
use crate::ffi::set_table::SetLayout;
use crate::ffi::{flag, referents, types};
use crate::guard::Check;
use crate::guard::source::{Fixed, Source};
pub(super) use types::is_c_type;

use crate::names::name;
use pyo3::exceptions::PyBaseExceptionGroup;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType};
use std::borrow::Cow;
use std::sync::Arc;

/// Containers within containers from outside that a trace looks into: bounds the C stack that it needs.
const MAX_DEPTH: usize = 100;

fn object_kind(object: &Bound<'_, PyAny>) -> String {
    types::name(&object.get_type())
}

/// Whether there may be other objects of the same value: numbers and text that the interpreter has but once are none of them.
fn may_have_equals(object: &Bound<'_, PyAny>) -> bool {
    const KEPT: std::ops::RangeInclusive<i64> = -5..=256;
    if let Ok(number) = object.cast_exact::<PyInt>() {
        return !number.extract::<i64>().is_ok_and(|number| KEPT.contains(&number));
    }
    if object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyBytes>() {
        return object.len().is_ok_and(|length| length > 1);
    }
    object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyComplex>()
        || object.cast_exact::<PyTuple>().is_ok_and(|tuple| !tuple.is_empty())
}

impl<'py> Tracer<'py> {
    /// The object that C gets for a value: itself where it is known, or private and of a class that C has a hand in, else its token.
    pub(super) fn native(&mut self, id: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(object) = self.known(id) {
            if self.runs_python(&object) {
                return self.token(id);
            }
            self.lend(id, &object);
            return Ok(object);
        }
        if let Some(object) = self.owned(id) {
            let itself =
                (is_c_type(&object.get_type()) || has_c_base(&object.get_type())) && !self.runs_python(&object);
            return if itself { Ok(object) } else { self.token(id) };
        }
        if let Some(object) = self.real(id)
            && !super::known::is_plain(&object.get_type())
        {
            if self.adopt_context(id)? {
                return self.native(id);
            }
            if let Some(object) = self.unchanging(id)? {
                return Ok(object);
            }
        }
        if self.is_globals(id) {
            return self.token(id);
        }
        if let Some(shadow) = self.shadow(id)? {
            return Ok(shadow);
        }
        self.token(id)
    }

    /// C gets a number, text or a tuple of them from outside: what it gives back, or a container that it filled, is that very object or an
    /// item of it, which need not be the same one the next time.
    fn lend(&mut self, id: ValueId, object: &Bound<'py, PyAny>) {
        let Value::Real { source: Some(source), .. } = self.value(id) else { return };
        let source = source.clone();
        if !may_have_equals(object) || !self.state.guarded.insert(id, Asked::LENT) {
            return;
        }
        let first = *self.state.lent.entry(object.as_ptr() as usize).or_insert(id);
        if let Some(other) = self.source(first).filter(|other| *other != source) {
            self.guard(source.clone(), Check::SameAs(other), "C got one object from two places");
        }
        let Ok(tuple) = object.cast_exact::<PyTuple>() else { return };
        let source = Arc::new(source);
        for (index, item) in tuple.iter().enumerate().filter(|(_, item)| may_have_equals(item)) {
            let item_id = self.sourced(item.clone(), Source::Item(Arc::clone(&source), index));
            self.lend(item_id, &item);
        }
    }

    pub(super) fn runs_python(&self, object: &Bound<'py, PyAny>) -> bool {
        let class = object.get_type();
        if super::known::is_plain(&class) {
            return false;
        }
        match &*types::c_name(&class) {
            "function" | "method" | "property" | "staticmethod" | "classmethod" => true,
            _ => object.cast::<PyType>().is_ok_and(|class| !is_c_type(class)),
        }
    }

    /// The object to use as the receiver of a C method: also an instance of a Python class that derives from the C class.
    pub(super) fn receiver(&mut self, id: ValueId) -> Traced<Bound<'py, PyAny>> {
        match self.owned(id) {
            Some(object) => Ok(object),
            None => self.native(id),
        }
    }

    /// The private copy of a container from outside; made when first needed, with guards on what it holds.
    pub(super) fn shadow(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        if let Some(shadow) = self.state.shadows.of(id) {
            return Ok(Some(shadow.object.bind(self.py).clone()));
        }
        let Some(object) = self.real(id) else { return Ok(None) };
        let Some(source) = self.source(id) else { return Ok(None) };
        if self.is_namespace(id) {
            self.whole_namespace(id)?;
        }
        if self.state.copying.contains(&id) || self.state.copying.len() > MAX_DEPTH {
            return unsupported("container that holds itself, or too deep a container", object_kind(&object));
        }
        self.state.copying.push(id);
        let copy = self.copy(id, &object, source);
        self.state.copying.pop();
        let Some(copy) = copy? else { return Ok(None) };
        let original = match copy.cast::<PySet>() {
            Ok(set) => {
                let again = SetLayout::of(set)
                    .and_then(|layout| layout.map(|layout| layout.filled(&layout.keys(self.py))).transpose());
                let Ok(Some(again)) = again else { return internal("layout of a set") };
                again.into_any()
            }
            Err(_) => match self.reordered(&object, &copy)? {
                Some(again) => again,
                None => copy.call_method0(name!("copy")).unwrap_or_else(|_| copy.clone()),
            },
        };
        self.state.identity.insert(copy.as_ptr() as usize, id);
        self.state.shadows.add(Shadow {
            value: id,
            born: self.state.outer_step,
            object: copy.clone().unbind(),
            original: original.unbind(),
        });
        Ok(Some(copy))
    }

    /// A copy of a container of an exact builtin type, with what C may see of its items.
    fn copy(&mut self, id: ValueId, object: &Bound<'py, PyAny>, source: Source) -> Traced<Option<Bound<'py, PyAny>>> {
        let copy = if let Ok(list) = object.cast_exact::<PyList>() {
            self.class_of(id)?;
            self.guard_once(
                id,
                Asked::LENGTH,
                source.clone(),
                Check::Length(list.len()),
                "the trace read the container",
            );
            let items = self.items(list.iter(), &source)?;
            PyList::new(self.py, items).map(Bound::into_any)
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            self.class_of(id)?;
            self.guard_once(
                id,
                Asked::LENGTH,
                source.clone(),
                Check::Length(tuple.len()),
                "the trace read the container",
            );
            let items = self.items(tuple.iter(), &source)?;
            PyTuple::new(self.py, items).map(Bound::into_any)
        } else if let Some(dict) = ordered_dict::exact(object) {
            self.class_of(id)?;
            self.shadow_dict(id, dict, &source).map(Ok)?
        } else if let Ok(set) = object.cast_exact::<PySet>() {
            self.shadow_set(id, set, source).map(|set| Ok(set.into_any()))?
        } else {
            return Ok(None);
        };
        copy.or_else(|error| self.raise_error(error)).map(Some)
    }

    fn items(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        source: &Source,
    ) -> Traced<Vec<Bound<'py, PyAny>>> {
        let mut natives = Vec::new();
        for (index, item) in items.enumerate() {
            let item = self.sourced(item, Source::Item(Arc::new(source.clone()), index));
            natives.push(self.native(item)?);
        }
        Ok(natives)
    }

    fn shadow_dict(&mut self, id: ValueId, dict: &Bound<'py, PyDict>, source: &Source) -> Traced<Bound<'py, PyAny>> {
        if !dict.keys().iter().all(|key| is_key(&key)) {
            return unsupported("dict with unusual keys", "a dict from outside has keys that are no plain values");
        }
        let keys: Vec<_> = dict.keys().iter().collect();
        let guarded = PyTuple::new(self.py, &keys).or_else(|error| self.raise_error(error))?;
        self.guard_once(
            id,
            Asked::KEYS,
            source.clone(),
            Check::Keys(guarded.into_any().unbind()),
            "the trace read the dict",
        );
        let copy = dict.get_type().call0().or_else(|error| self.raise_error(error))?;
        let is_dict = dict.is_exact_instance_of::<PyDict>();
        for key in keys {
            let Ok(Some(value)) = dict.get_item(&key) else { return internal("a key of a dict") };
            let path = Source::DictItem(Arc::new(source.clone()), Fixed::new(&key));
            let value = self.sourced(value, path);
            let asks_nobody = is_dict && is_scalar(&key);
            let (key, value) = (self.native_key(key)?, self.native(value)?);
            let store = || copy.set_item(key, value);
            let stored = if asks_nobody { store() } else { self.with_callbacks(store) };
            stored.or_else(|error| self.raise_error(error))?;
        }
        if ordered_dict::is_ordered_dict(dict) {
            self.shadow_order(id, dict, &copy, source)?;
        }
        Ok(copy)
    }

    /// Another copy of an `OrderedDict` whose table has another order than it: its own `copy` would have one order for both.
    fn reordered(&mut self, object: &Bound<'py, PyAny>, copy: &Bound<'py, PyAny>) -> Traced<Option<Bound<'py, PyAny>>> {
        let (Some(dict), Ok(stored)) = (ordered_dict::exact(object), copy.cast::<PyDict>()) else { return Ok(None) };
        let Some(places) = ordered_dict::places(dict).or_else(|error| self.raise_error(error))? else {
            return Ok(None);
        };
        let keys: Vec<_> = stored.keys().iter().collect();
        let made = self.with_callbacks(|| {
            let again = copy.get_type().call0()?;
            stored.iter().try_for_each(|(key, value)| again.set_item(key, value))?;
            let mut moved = places.iter().filter_map(|place| keys.get(*place));
            moved.try_for_each(|key| again.call_method1(name!("move_to_end"), (key,)).map(drop)).map(|()| again)
        });
        made.map(Some).or_else(|error: PyErr| self.raise_error(error))
    }

    /// Brings the keys of a copy of an `OrderedDict` into its order.
    fn shadow_order(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
        copy: &Bound<'py, PyAny>,
        source: &Source,
    ) -> Traced<()> {
        let order = ordered_dict::order(dict).and_then(|order| PyTuple::new(self.py, order));
        let order = order.or_else(|error| self.raise_error(error))?;
        for key in &order {
            let key = self.native_key(key)?;
            let moved = self.with_callbacks(|| copy.call_method1(name!("move_to_end"), (key,)));
            moved.or_else(|error| self.raise_error(error))?;
        }
        let check = Check::Domain(Box::new(crate::guard::KeyOrder(order.unbind())));
        self.guard_once(id, Asked::ORDER, source.clone(), check, "the trace read the dict");
        Ok(())
    }

    /// The set's items, their types and their places are guarded.
    fn shadow_set(&mut self, id: ValueId, set: &Bound<'py, PySet>, source: Source) -> Traced<Bound<'py, PySet>> {
        let layout = SetLayout::of(set).or_else(|error| internal(error.to_string()))?;
        let Some(layout) = layout.filter(|_| set.iter().all(|item| is_key(&item))) else {
            return unsupported("set from outside", "its items are no plain values");
        };
        self.class_of(id)?;
        let mut keys = Vec::new();
        for key in layout.keys(self.py).iter() {
            keys.push(self.native_key(key)?);
        }
        let copy = PyTuple::new(self.py, keys).and_then(|keys| layout.filled(&keys));
        let check = Bound::new(self.py, layout).or_else(|error| internal(error.to_string()))?;
        self.guard_once(id, Asked::ITEMS, source, Check::Call(check.into_any().unbind()), "the trace read the set");
        copy.or_else(|error| self.raise_error(error))
    }

    /// A key of a container from outside, which guards compare, as C gets it elsewhere.
    fn native_key(&mut self, key: Bound<'py, PyAny>) -> Traced<Bound<'py, PyAny>> {
        if is_scalar(&key) {
            return Ok(key);
        }
        let key = self.constant(key);
        self.native(key)
    }

    /// The value that an object from C stands for.
    pub(super) fn absorb(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        if let Some(value) = self.value_of_token(&object) {
            return value;
        }
        if let Some(id) = self.state.identity.get(&(object.as_ptr() as usize)) {
            return *id;
        }
        if self.is_being_made(&object) {
            return self.own(object);
        }
        if let Some(lent) = self.state.lent.get(&(object.as_ptr() as usize)) {
            return *lent;
        }
        let plain = is_scalar(&object) && !has_nan(&object);
        if (plain || is_definition(&object) && !is_of_one_object(&object)) && !self.holds_lent(&object) {
            return self.constant(object);
        }
        self.own(object)
    }

    /// Whether a tuple or frozen set holds an object that C got from outside.
    fn holds_lent(&self, object: &Bound<'py, PyAny>) -> bool {
        if self.state.lent.is_empty() {
            return false;
        }
        let lent =
            |item: &Bound<'py, PyAny>| self.state.lent.contains_key(&(item.as_ptr() as usize)) || self.holds_lent(item);
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            return tuple.iter().any(|item| lent(&item));
        }
        object.cast_exact::<PyFrozenSet>().is_ok_and(|set| set.iter().any(|item| lent(&item)))
    }

    /// Calls a C callable on what C may see of the arguments and takes the result as private.
    pub(super) fn run_native(
        &mut self,
        callable: &Bound<'py, PyAny>,
        positional: &[Bound<'py, PyAny>],
        keywords: &[(String, Bound<'py, PyAny>)],
    ) -> Traced<ValueId> {
        self.run_native_as(callable, false, positional, keywords)
    }

    /// The same; where it is so said, a method that is bound to the first argument.
    pub(super) fn run_native_as(
        &mut self,
        callable: &Bound<'py, PyAny>,
        bound: bool,
        positional: &[Bound<'py, PyAny>],
        keywords: &[(String, Bound<'py, PyAny>)],
    ) -> Traced<ValueId> {
        let decimals = self.meets_decimals(Some(callable), positional)?;
        // Groups of exceptions are split by classes, which C tells from functions.
        let splits = positional.first().is_some_and(|group| group.is_instance_of::<PyBaseExceptionGroup>());
        let as_it_is = decimals || splits;
        let given = |value: &Bound<'py, PyAny>| if as_it_is { self.as_they_are(value) } else { Ok(value.clone()) };
        let mut called = callable.clone();
        let mut rest = positional;
        if bound
            && types::c_name(&callable.get_type()) == "method_descriptor"
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
        let kwargs = named.as_ref();
        let mut seen = Cow::Borrowed(positional);
        if !keywords.is_empty() {
            seen.to_mut().extend(keywords.iter().map(|(_, value)| value.clone()));
        }
        let result = match keeps_nothing(callable) && seen.iter().all(super::known::is_scalar) {
            true => self.with_callbacks_on_scalars(|| called.call(args, kwargs)),
            false => self.with_callbacks(|| called.call(args, kwargs)),
        };
        self.judge(result, &seen, || callee::owner_of(callable).is_some())
    }

    /// What C gets with the classes in it as they are, also those within containers: it tells them by their addresses.
    pub(super) fn as_they_are(&self, native: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if native.is_instance_of::<Token>() {
            let known = self.value_of_token(native).and_then(|value| self.owned(value).or_else(|| self.real(value)));
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
    pub(super) fn after_native(
        &mut self,
        result: PyResult<Bound<'py, PyAny>>,
        operands: &[Bound<'py, PyAny>],
    ) -> Traced<ValueId> {
        self.judge(result, operands, || true)
    }

    /// Judges what C gave: an interruption first, then errors that may come from looking at a token instead of the value. `is_method`:
    /// what C ran belongs to the class of the first argument.
    fn judge(
        &mut self,
        result: PyResult<Bound<'py, PyAny>>,
        positional: &[Bound<'py, PyAny>],
        is_method: impl FnOnce() -> bool,
    ) -> Traced<ValueId> {
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
                    && self.meets_disguise(positional, is_method())
                {
                    let class = types::name(&error.get_type(self.py));
                    return unsupported("C code raised on a symbolic value", class);
                }
                self.rely_on_no_handler(&error)?;
                self.raise_error(error)
            }
        }
    }
}

impl<'py> Tracer<'py> {
    /// Whether an iterator of the trace's own says that it has come to its end.
    fn is_end(&self, error: &PyErr, positional: &[Bound<'py, PyAny>]) -> bool {
        error.get_type(self.py).is(self.py.get_type::<pyo3::exceptions::PyStopIteration>())
            && matches!(positional, [iterator] if self.is_private(iterator) && is_c_type(&iterator.get_type()))
    }

    /// Whether C may have seen a token that it judges otherwise than its value: as an argument, within one, or given by an iterator.
    fn meets_disguise(&mut self, args: &[Bound<'py, PyAny>], is_method: bool) -> bool {
        if args.iter().any(|arg| self.is_disguised(arg)) {
            return true;
        }
        // Methods of containers ask their own items by slots alone; other functions add them, join them, format them.
        let own_items = is_method && args.first().is_some_and(is_container);
        let tokens: Vec<_> = self.state.tokens.values().map(|token| token.bind(self.py).clone().into_any()).collect();
        args.iter().skip(usize::from(own_items)).any(|arg| reaches_token(arg, 3))
            && tokens.iter().any(|token| self.is_laid_out(token))
    }

    /// Whether a token that C met within something stands for an object of a layout that C code asks for by flags or by base class.
    fn is_laid_out(&mut self, token: &Bound<'py, PyAny>) -> bool {
        let class = self.value_of_token(token).and_then(|value| self.class_of(value).ok());
        class.is_none_or(|class| {
            derives_from_c(&class) || types::has(&class, flag::DATA_SUBCLASS | flag::BASE_EXC_SUBCLASS)
        })
    }

    /// Whether a token stands for an object that C code recognises by more than its slots.
    fn is_disguised(&mut self, arg: &Bound<'py, PyAny>) -> bool {
        let Some(value) = self.value_of_token(arg) else { return arg.is_instance_of::<Token>() };
        self.class_of(value).map_or(true, |class| has_c_base(&class))
    }
}

/// Whether a dict or set says that it does not hold one of the arguments: it asked that for its hash and compared it, as it would the value itself.
fn is_missing_key(error: &PyErr, args: &[Bound<'_, PyAny>]) -> bool {
    let Some((container, keys)) = args.split_first() else { return false };
    let holds = container.is_instance_of::<PyDict>() || container.is_instance_of::<PySet>();
    let value = error.value(container.py());
    let said = value.getattr(intern!(value.py(), "args")).ok().and_then(|said| said.cast_into::<PyTuple>().ok());
    holds
        && value.get_type().is(container.py().get_type::<pyo3::exceptions::PyKeyError>())
        && said.is_some_and(|said| said.len() == 1 && said.iter().all(|said| keys.iter().any(|key| key.is(&said))))
}

/// Whether it is a class of Python code, but no metaclass, whose instances C lays out.
pub(super) fn derives_from_c(class: &Bound<'_, PyType>) -> bool {
    !is_c_type(class) && has_c_base(class) && !types::is_subtype(class, &class.py().get_type::<PyType>())
}

/// Whether C lays out instances of the class, or of a base of it other than `object`.
pub(super) fn has_c_base(class: &Bound<'_, PyType>) -> bool {
    const EMPTY: [&str; 3] = ["object", "Generic", "Protocol"];
    types::mro(class).is_none_or(|mro| {
        mro.iter().any(|base| {
            base.cast_into::<PyType>().is_ok_and(|base| is_c_type(&base) && !EMPTY.contains(&&*types::c_name(&base)))
        })
    })
}

/// Whether C finds tokens in the object: those of containers, and whatever other objects of C may give.
fn reaches_token(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    if object.is_instance_of::<Token>() || depth == 0 {
        return true;
    }
    if is_scalar(object) || is_definition(object) {
        return false;
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        return dict.iter().any(|(key, value)| reaches_token(&key, depth - 1) || reaches_token(&value, depth - 1));
    }
    if !is_c_type(&object.get_type()) {
        return true;
    }
    // Lists of C's own may have room that is not filled yet, which an iterator must not meet.
    if object.is_exact_instance_of::<PyList>() {
        let held = referents::direct(object, usize::MAX);
        return held.iter().any(|item| reaches_token(item, depth - 1));
    }
    if !is_container(object) {
        return holds_token(object, depth);
    }
    object.try_iter().is_ok_and(|mut items| items.any(|item| item.is_ok_and(|item| reaches_token(&item, depth - 1))))
}

/// Whether an object of another class of C holds a token, or a callable that may give one.
fn holds_token(object: &Bound<'_, PyAny>, depth: usize) -> bool {
    let held = object.py().import("gc").and_then(|gc| gc.call_method1(name!("get_referents"), (object,)));
    let Ok(Ok(held)) = held.map(|held| held.cast_into::<PyList>()) else { return true };
    held.iter().any(|held| {
        !held.is_instance_of::<PyType>()
            && (is_definition(&held) && held.is_callable() || reaches_token(&held, depth - 1))
    })
}

/// A container of a builtin class or of a class that derives from one.
fn is_container(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>()
}

/// Whether a callable of C has nothing of its own that a call could change.
fn keeps_nothing(callable: &Bound<'_, PyAny>) -> bool {
    match &*types::c_name(&callable.get_type()) {
        "method_descriptor" | "wrapper_descriptor" => true,
        "builtin_function_or_method" | "builtin_method" => {
            callee::receiver_of(callable).is_some_and(|of| of.is_none() || of.is_instance_of::<pyo3::types::PyModule>())
        }
        "type" => callable.cast::<PyType>().is_ok_and(types::is_immutable),
        _ => false,
    }
}
