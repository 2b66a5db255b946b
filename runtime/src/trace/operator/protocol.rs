//! Truth, identity, iteration, length and hashing, under the names of the C functions.
use crate::domain::Callee;
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::semantics::{abstract_ as protocol, object};
use crate::trace::state::generator::{ResumeWith, SendResult};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, hints, stop, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

impl<'py> Tracer<'py> {
    pub(crate) fn boolean(&mut self, truth: bool) -> ValueId {
        let object = PyBool::new(self.py, truth).to_owned().into_any();
        self.constant(object)
    }

    /// `PyObject_IsTrue`.
    pub(crate) fn is_true(&mut self, value: ValueId) -> Traced<bool> {
        if let Some(truth) = self.number_truth(value)? {
            return Ok(truth);
        }
        if let Some(truth) = self.unread_truth(value)? {
            return Ok(truth);
        }
        if let Some(object) = self.known(value)
            && is_c_type(&object.get_type())
        {
            if object.is(self.py.NotImplemented()) {
                return unsupported(
                    "truth of NotImplemented",
                    "the warning must come each time, where the test stands",
                );
            }
            return object.is_truthy().or_else(|error| self.raise_error(error));
        }
        if let Some(referent) = self.behind_proxy(value)? {
            return self.is_true(referent);
        }
        let class = self.class_of(value)?;
        if let Some(truth) = self.namespace_truth(value) {
            return Ok(truth);
        }
        if let Some(domain) = self.domain_of(&class) {
            let result = self.call_domain(&domain, Callee::Slot("nb_bool"), &[value], &[])?;
            return match self.known(result) {
                Some(truth) => truth.is_truthy().or_else(|error| self.raise_error(error)),
                None => stop(
                    "data-dependent branch",
                    domain.name(),
                    "the truth of an array is not known while tracing",
                    hints::DATA,
                ),
            };
        }
        if is_c_type(&class) {
            if let Some(length) = self.read_container("len", &[value])? {
                return self.is_true(length);
            }
            let object = self.receiver(value)?;
            if !object.is_instance_of::<crate::trace::state::proxy::Proxy>() {
                return object.is_truthy().or_else(|error| self.raise_error(error));
            }
        }
        object::PyObject_IsTrue(self, &value).map(|truth| truth != 0)
    }

    /// `left is right`.
    pub(crate) fn is(&mut self, left: ValueId, right: ValueId) -> Traced<bool> {
        if left == right {
            return Ok(true);
        }
        if self.is_none(left)? || self.is_none(right)? {
            return Ok(self.is_none(left)? && self.is_none(right)?);
        }
        let (Some(a), Some(b)) = (self.real(left), self.real(right)) else {
            if self.class_of(left)?.is(&self.class_of(right)?) {
                self.refuse_identity(&[left, right])?;
            }
            return self.is_of_new(left, right);
        };
        let by_value = |object| crate::trace::value::kinds::is_definition(object) || object.is_instance_of::<PyBool>();
        if by_value(&a) && by_value(&b) && self.known(left).is_some() && self.known(right).is_some() {
            return Ok(a.is(&b));
        }
        Ok(self.guard_identity(left, right, "the trace compared identities"))
    }

    fn is_of_new(&mut self, left: ValueId, right: ValueId) -> Traced<bool> {
        if self.any_weak(&[left, right]) && (self.real(left).is_some() || self.real(right).is_some()) {
            return unsupported("identity of weak references", "the object may have one that the program made before");
        }
        if let (Some(a), Some(b)) = (self.at_hand(left), self.at_hand(right)) {
            return Ok(a.is(&b));
        }
        let made = |value: &Value| matches!(value, Value::New(_));
        if made(self.value(left)) || made(self.value(right)) || !self.class_of(left)?.is(&self.class_of(right)?) {
            return Ok(false);
        }
        let class = self.class_of(left)?;
        let is_choice = self.is_choice(left) || self.is_choice(right);
        if !is_choice && self.domain_of(&class).is_some_and(|domain| domain.gives_new_objects()) {
            return Ok(false);
        }
        unsupported(
            "identity of graph values",
            "a graph operation may return one of its inputs, or the one object of its value",
        )
    }

    /// `PyObject_GetIter`.
    pub(crate) fn get_iter(&mut self, value: ValueId) -> Traced<ValueId> {
        if self.is_stepped(value) {
            return Ok(value);
        }
        if let Some(dict) = self.behind_view(value) {
            return self.get_iter(dict);
        }
        if let Some(names) = self.namespace_names(value)? {
            return self.get_iter(names);
        }
        if let Some(referent) = self.behind_proxy(value)? {
            return self.get_iter(referent);
        }
        let class = self.class_of(value)?;
        if let Some(domain) = self.domain_of(&class)
            && !self.is_python(&class, "__iter__")
        {
            if self.iterates_by_index(value) {
                return self.sequence_iterator(value);
            }
            return self.call_domain(&domain, Callee::Slot("tp_iter"), &[value], &[]);
        }
        if self.is_outside_iterator(value) {
            return Ok(value);
        }
        if let Some(iterator) = self.iterate_unusual(value)? {
            return Ok(iterator);
        }
        if is_c_type(&class) {
            let object = self.receiver(value)?;
            if object.is_instance_of::<crate::trace::state::proxy::Proxy>() {
                return unsupported("iteration over an object from outside", types::name(&class));
            }
            let iter = self.import("builtins", "iter")?;
            return self.run_native(&iter, &[object], &[]);
        }
        protocol::PyObject_GetIter(self, &value)
    }

    /// Whether it is an array over which C's iterator asks for items by index.
    pub(crate) fn iterates_by_index(&mut self, value: ValueId) -> bool {
        let Some(domain) = self.class_of(value).ok().and_then(|class| self.domain_of(&class)) else { return false };
        self.example(&domain, value).is_ok_and(|example| domain.iterates_by_index(&example))
    }

    /// `PyIter_Next`: `None` at the end.
    pub(crate) fn next(&mut self, iterator: ValueId) -> Traced<Option<ValueId>> {
        if self.is_stepped(iterator) {
            return self.next_of_generator(iterator);
        }
        let class = self.class_of(iterator)?;
        if !is_c_type(&class) {
            return self.next_by_method(iterator);
        }
        self.native_next(iterator)
    }

    fn next_of_generator(&mut self, generator: ValueId) -> Traced<Option<ValueId>> {
        match self.step_generator(generator, ResumeWith::Nothing) {
            Ok(SendResult::Yielded(item)) => Ok(Some(item)),
            Ok(SendResult::Returned(_)) => Ok(None),
            Err(signal) => self.stopped_with(signal).map(|_| None),
        }
    }

    /// The next item of an iterator whose `tp_iternext` is C's.
    pub(crate) fn native_next(&mut self, iterator: ValueId) -> Traced<Option<ValueId>> {
        if self.is_stepped(iterator) {
            return self.next_of_generator(iterator);
        }
        let class = self.class_of(iterator)?;
        let Some(object) = self.owned(iterator) else {
            return match self.is_outside_iterator(iterator) {
                true => self.next_outside(iterator),
                false => unsupported("iterator from outside", types::name(&class)),
            };
        };
        let next = self.import("builtins", "next")?;
        self.pass_on_through(&class);
        let sentinel = pyo3::types::PyList::empty(self.py).into_any();
        let result = self.with_callbacks(|| next.call1((&object, &sentinel)));
        if let Ok(result) = &result
            && result.is(&sentinel)
            && self.state.pending.is_none()
        {
            return Ok(None);
        }
        self.after_native(result, &[object]).map(Some)
    }

    fn next_by_method(&mut self, iterator: ValueId) -> Traced<Option<ValueId>> {
        if protocol::PyIter_Check(self, &iterator)? == 0 {
            // CPython: Objects/object.c, `_PyObject_NextNotImplemented`: the slot of a class that has lost its `__next__`.
            let class = self.class_of(iterator)?;
            return self.raise("TypeError", format!("'{}' object is not iterable", types::name(&class)));
        }
        protocol::PyIter_Next(self, &iterator)
    }

    /// `next()` asks first whether it is an iterator. CPython: Python/bltinmodule.c, `builtin_next`.
    pub(crate) fn require_iterator(&mut self, value: ValueId) -> Traced<()> {
        let class = self.class_of(value)?;
        if !is_c_type(&class) && protocol::PyIter_Check(self, &value)? == 0 {
            return self.raise("TypeError", format!("'{}' object is not an iterator", types::name(&class)));
        }
        Ok(())
    }

    /// `PyObject_Size`.
    pub(crate) fn size(&mut self, value: ValueId) -> Traced<usize> {
        let result = self.call_builtin("len", &[value])?;
        match self.known(result).and_then(|size| size.cast_into::<PyInt>().ok()).and_then(|size| size.extract().ok()) {
            Some(size) => Ok(size),
            None => unsupported("length that is not known", "len"),
        }
    }

    /// `PyObject_Hash`.
    pub(crate) fn hash(&mut self, value: ValueId) -> Traced<isize> {
        if self.is_id(value) {
            return self.hash_of_id(value);
        }
        if let Some(object) = self.known(value)
            && is_c_type(&object.get_type())
        {
            if self.state.nesting == 0 && self.owned(value).is_some() && crate::trace::value::nans::has_nan(&object) {
                return unsupported("hash by address", "a nan that the trace made");
            }
            return object.hash().or_else(|error| self.raise_error(error));
        }
        object::PyObject_Hash(self, &value)
    }

    /// A special method, looked up on the type and bound. CPython: `lookup_maybe_method`.
    pub(crate) fn special(&mut self, value: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let class = self.class_of(value)?;
        let Some(found) = self.lookup(&class, name) else { return Ok(None) };
        let found = self.absorb_static(found);
        self.bind(found, value, &class).map(Some)
    }

    /// A handle for what hangs off a class: constant, whatever it is.
    pub(crate) fn absorb_static(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        if object.is_instance_of::<crate::trace::state::proxy::Proxy>() {
            return self.absorb(object);
        }
        match self.state.identity.get(&(object.as_ptr() as usize)) {
            Some(id) if matches!(self.value(*id), Value::New(New::Owned(_))) => *id,
            // A copy that the trace has made is of this trace alone: it stands for what it was made of.
            Some(id) if self.state.private_copies.of(*id).is_some_and(|copy| copy.object.bind(self.py).is(&object)) => {
                *id
            }
            _ => self.constant(object),
        }
    }
}
