//! Slot functions that give no object: lengths, truth, hashes, searches, stores; and iteration.
use crate::ffi::{iterators, tuple_hashes, types};
use crate::semantics::dispatch;
use crate::trace::operator::capi::SlotFunction;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::journal::changed;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use generated::capi::CApi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// The object that a C slot function may work on.
    fn object_for(&mut self, function: &SlotFunction, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        let object = self.receiver(value)?;
        if object.is_instance_of::<Proxy>() {
            let class = self.class_of(value)?;
            return self.unchanging_operand(function, value, &class);
        }
        Ok(object)
    }

    /// A class that C code names.
    pub(super) fn global_class(&mut self, name: &'static str) -> Traced<ValueId> {
        match crate::live::globals::class(self.py, name) {
            Some(class) => Ok(self.constant(class)),
            None => Err(CApi::unsupported(self, name)),
        }
    }

    fn untranslated<T>(&self, function: &SlotFunction) -> Traced<T> {
        unsupported("slot function without a translation", function.name)
    }

    pub(crate) fn slot_length(&mut self, function: &SlotFunction, value: ValueId) -> Traced<isize> {
        if let Some(id) = function.body() {
            return dispatch::lenfunc(self, id, &value).unwrap_or_else(|| self.untranslated(function));
        }
        self.state.route.push(function.name.to_owned().into());
        if let Some(length) = self.read_container("len", &[value])?
            && let Some(Ok(length)) = self.known(length).map(|length| length.extract())
        {
            return Ok(length);
        }
        let object = self.object_for(function, value)?;
        let length = self.with_callbacks(|| object.len());
        self.plain_result(length.map(|length| length as isize))
    }

    pub(crate) fn slot_truth(&mut self, function: &SlotFunction, value: ValueId) -> Traced<i32> {
        if let Some(id) = function.body() {
            let class = self.class_of(value)?;
            if release::NAMES_WHAT_HAS_NO_TRUTH && self.lookup(&class, "__bool__").is_some_and(|found| found.is_none())
            {
                return unsupported("truth of an object whose class has `__bool__ = None`", types::name(&class));
            }
            return dispatch::inquiry(self, id, &value).unwrap_or_else(|| self.untranslated(function));
        }
        self.state.route.push(function.name.to_owned().into());
        let class = self.class_of(value)?;
        if self.domain_of(&class).is_some() {
            return self.is_true(value).map(i32::from);
        }
        let object = self.object_for(function, value)?;
        let truth = self.with_callbacks(|| object.is_truthy());
        self.plain_result(truth.map(i32::from))
    }

    pub(crate) fn slot_hash(&mut self, function: &SlotFunction, value: ValueId) -> Traced<isize> {
        if let Some(id) = function.body() {
            if tuple_hashes::ARE_KEPT {
                // A tuple that C asks meanwhile keeps its hash, which going back could not take away.
                changed();
            }
            return dispatch::hashfunc(self, id, &value).unwrap_or_else(|| self.untranslated(function));
        }
        self.state.route.push(function.name.to_owned().into());
        let class = self.class_of(value)?;
        let object = self.import("builtins", "object")?;
        let Ok(object) = object.cast_into::<pyo3::types::PyType>() else { return self.untranslated(function) };
        let by_address = self.slot_function(&object, generated::slots::Slot::tp_hash)?;
        if by_address.is_some_and(|plain| plain.pointer == function.pointer) {
            let Some(object) = self.same_object(value) else {
                return unsupported("hash by address", types::name(&class));
            };
            let hash = object.hash();
            return self.plain_result(hash);
        }
        if self.keeps_hash(function, value) {
            return self.kept_hash(value, |trace| trace.native_hash(function, value));
        }
        self.native_hash(function, value)
    }

    fn native_hash(&mut self, function: &SlotFunction, value: ValueId) -> Traced<isize> {
        self.copy_with_hashes(value)?;
        let object = self.object_for(function, value)?;
        let hash = self.with_callbacks(|| object.hash());
        self.plain_result(hash)
    }

    pub(crate) fn slot_contains(&mut self, function: &SlotFunction, container: ValueId, item: ValueId) -> Traced<i32> {
        if let Some(id) = function.body() {
            return dispatch::objobjproc(self, id, &container, &item).unwrap_or_else(|| self.untranslated(function));
        }
        self.state.route.push(function.name.to_owned().into());
        if let Some(found) = self.context_operator("contains", &[container, item])? {
            return self.is_true(found).map(i32::from);
        }
        if let Some(found) = self.read_container("contains", &[container, item])? {
            return self.is_true(found).map(i32::from);
        }
        self.object_for(function, container)?;
        let found = self.native_operator("contains", &[container, item])?;
        self.is_true(found).map(i32::from)
    }

    /// `mp_ass_subscript`: stores, or deletes where there is no value.
    pub(crate) fn slot_store(
        &mut self,
        function: &SlotFunction,
        container: ValueId,
        key: ValueId,
        value: Option<ValueId>,
    ) -> Traced<i32> {
        if let Some(id) = function.body() {
            return dispatch::objobjargproc(self, id, &container, &key, value.as_ref())
                .unwrap_or_else(|| self.untranslated(function));
        }
        self.state.route.push(function.name.to_owned().into());
        if self.change_item(container, key, value)? {
            return Ok(0);
        }
        self.object_for(function, container)?;
        match value {
            Some(value) => self.native_operator("setitem", &[container, key, value])?,
            None => self.native_operator("delitem", &[container, key])?,
        };
        Ok(0)
    }

    pub(crate) fn slot_iter(&mut self, function: &SlotFunction, value: ValueId) -> Traced<ValueId> {
        if let Some(id) = function.body() {
            return dispatch::getiterfunc(self, id, &value).unwrap_or_else(|| self.untranslated(function));
        }
        self.state.route.push(function.name.to_owned().into());
        let class = self.class_of(value)?;
        if self.domain_of(&class).is_some() || self.is_stepped(value) {
            return self.get_iter(value);
        }
        let object = self.object_for(function, value)?;
        let iter = self.import("builtins", "iter")?;
        self.run_native(&iter, &[object], &[])
    }

    /// `None` at the end.
    pub(crate) fn slot_next(&mut self, function: &SlotFunction, value: ValueId) -> Traced<Option<ValueId>> {
        if let Some(id) = function.body() {
            return dispatch::iternextfunc(self, id, &value).unwrap_or_else(|| self.untranslated(function));
        }
        self.native_next(value)
    }

    /// An iterator over `__getitem__`: C's own, over the proxy.
    pub(crate) fn sequence_iterator(&mut self, sequence: ValueId) -> Traced<ValueId> {
        let object = self.receiver(sequence)?;
        let made = self.with_callbacks(|| iterators::over_sequence(&object));
        self.after_native(made, &[object])
    }

    /// A class that generated code works on.
    pub(crate) fn type_object(&self, id: ValueId) -> Traced<Bound<'py, PyType>> {
        match self.at_hand(id).and_then(|object| object.cast_into::<PyType>().ok()) {
            Some(class) => Ok(class),
            None => crate::trace::state::unwind::internal("generated code took an object for a type"),
        }
    }

    /// A tuple as C gets it.
    pub(crate) fn real_tuple(&mut self, tuple: ValueId) -> Traced<Bound<'py, PyTuple>> {
        let native = match self.owned(tuple) {
            Some(owned) => owned,
            None => self.native(tuple)?,
        };
        native.cast_into().or_else(|_| unsupported("tuple of a class from outside", "isinstance()"))
    }

    /// `PyErr_WarnEx` and its like.
    pub(crate) fn warn(&mut self, category: ValueId, mut message: ValueId) -> Traced<i32> {
        if let Some(text) = self.known_str(message) {
            let own = self.own_words(&text)?;
            message = if own == text { message } else { self.string(own) };
        }
        let warn = self.import("warnings", "warn")?;
        let warn = self.constant(warn);
        self.call(warn, Arguments::positional(vec![message, category])).map(|_| 0)
    }

    fn plain_result<T>(&mut self, result: PyResult<T>) -> Traced<T> {
        if let Some(signal) = self.state.pending.take() {
            return Err::<T, Unwind>(signal);
        }
        result.or_else(|error| self.raise_error(error))
    }
}
