//! Private copies of byte arrays from outside, and views of the copies.
use crate::ffi::{buffers, callee, types};
use crate::guard::source::Source;
use crate::guard::{BytesContent, Check, ShownPart};
use crate::names::name;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice, PyType};
use std::sync::Arc;

const WHY: &str = "the trace read the bytes";

/// Functions and classes of `builtins` that read the bytes of what they get and ask it for nothing else, its address above all.
const READ_BYTES: [&str; 15] = [
    "bytes",
    "bytearray",
    "memoryview",
    "list",
    "tuple",
    "sorted",
    "sum",
    "min",
    "max",
    "any",
    "all",
    "enumerate",
    "len",
    "zip",
    "hash",
];

impl<'py> Tracer<'py> {
    /// Whether the value is a view of memory from outside: its text says where it lies.
    pub(crate) fn is_outside_view(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| object.is_exact_instance_of::<PyMemoryView>())
    }

    /// Whether a callable of C reads the bytes of such a view.
    pub(crate) fn reads_bytes(&self, callable: &Bound<'py, PyAny>, value: ValueId) -> bool {
        let named = || match callable.cast::<PyType>() {
            Ok(class) => READ_BYTES.contains(&&*types::c_name(class)),
            Err(_) => READ_BYTES.contains(&&*callee::name_of(callable)),
        };
        self.is_outside_view(value) && named()
    }

    /// A copy of a byte array, which keeps its size where the original must.
    pub(crate) fn copy_byte_array(
        &mut self,
        id: ValueId,
        bytes: &Bound<'py, PyByteArray>,
        source: Source,
    ) -> Traced<Bound<'py, PyAny>> {
        self.class_of(id)?;
        let check = Check::Domain(Box::new(BytesContent::of(bytes)));
        self.guard_once(id, GuardRequest::ITEMS, source, check, WHY);
        let copy = PyByteArray::new(self.py, &bytes.to_vec()).into_any();
        if buffers::is_viewed(bytes) {
            let view = PyMemoryView::from(&copy).or_else(|error| internal(error.to_string()))?;
            self.push(Value::Real { object: view.into_any().unbind(), source: None });
        }
        Ok(copy)
    }

    /// A view like this one of the copy of what it is a view of; `None`: of another kind.
    pub(crate) fn copy_view(
        &mut self,
        id: ValueId,
        view: &Bound<'py, PyAny>,
        source: Source,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let Some((object, part)) = buffers::viewed(view) else { return Ok(None) };
        self.class_of(id)?;
        let readonly = part.readonly && object.is_exact_instance_of::<PyByteArray>();
        let (from, to) = (part.offset as isize, (part.offset + part.length) as isize);
        let check = Check::Domain(Box::new(ShownPart(part)));
        self.guard_once(id, GuardRequest::ITEMS, source.clone(), check, WHY);
        let object = self.sourced(object, Source::Attr(Arc::new(source), "obj".into()));
        let native = self.native(object)?;
        let made = PyMemoryView::from(&native).and_then(|whole| {
            let shown = whole.get_item(PySlice::new(self.py, from, to, 1))?;
            if readonly { shown.call_method0(name!("toreadonly")) } else { Ok(shown) }
        });
        made.map(Some).or_else(|error| internal(error.to_string()))
    }

    /// What a byte array holds at the end, if that is not what it held.
    pub(crate) fn compare_bytes(
        &mut self,
        value: ValueId,
        now: &Bound<'py, PyByteArray>,
        then: &Bound<'py, PyBytes>,
    ) -> Traced<()> {
        let now = now.to_vec();
        if now == then.as_bytes() {
            return Ok(());
        }
        let store = self.py.get_type::<PyByteArray>().getattr(name!("__setitem__"));
        let store = store.or_else(|error| internal(error.to_string()))?;
        let (all, content) = (PySlice::full(self.py).into_any(), PyBytes::new(self.py, &now).into_any());
        let (callable, all, content) = (self.constant(store), self.constant(all), self.constant(content));
        self.state.effects.push(Effect::Call { callable, args: vec![value, all, content] });
        Ok(())
    }
}
