//! Materialises objects of C classes: the calls that make them again.
use crate::ffi::set_table::SetLayout;
use crate::ffi::types;
use crate::names::name;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::internal;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet, PyString, PyTuple, PyType};

/// Which of them is called first would be decided by what is made first.
pub(super) const SEVERAL_CALLBACKS: &str = "several weak references to one object, with callbacks";

impl<'py> Tracer<'py> {
    /// A set that is filled again in its order, or whose table is made again as it is.
    pub(crate) fn materialise_set(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let refused = match self.set_items(id, object)? {
            Ok(items) => {
                let items = self.absorb_all(items.into_iter());
                return self.set(id, New::Set(items.clone()), items);
            }
            Err(escape) => escape,
        };
        let layout = object.cast::<PySet>().ok().map(|set| SetLayout::of(set)).transpose();
        let Some(layout) = layout.or_else(|error| internal(error.to_string()))?.flatten() else {
            return Ok(Err(refused));
        };
        let keys = self.absorb_all(layout.keys(self.py).iter());
        let is_lasting = keys.iter().all(|key| self.has_lasting_hash(*key));
        if !is_lasting || self.state.hashed_own > 0 && keys.iter().any(|key| self.hashes_itself(*key)) {
            return Ok(Err(refused));
        }
        let make = Bound::new(self.py, layout).and_then(|layout| layout.getattr(name!("make")));
        let make = make.or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(make);
        let children = keys.iter().copied().chain([callable]).collect();
        self.set(id, New::Call { callable, args: keys, state: None }, children)
    }

    pub(crate) fn materialise_frozenset(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Materialised<Vec<ValueId>> {
        let items = match self.set_items(id, object)? {
            Ok(items) => items,
            Err(escape) => return Ok(Err(escape)),
        };
        let tuple = PyTuple::new(self.py, items).or_else(|error| internal(error.to_string()))?;
        let tuple = self.own(tuple.into_any());
        let class = self.constant(object.get_type().into_any());
        self.set(id, New::Call { callable: class, args: vec![tuple], state: None }, vec![class, tuple])
    }

    /// What a set holds, in its order, if compiled code can fill one again so.
    pub(crate) fn set_items(&mut self, id: ValueId, set: &Bound<'py, PyAny>) -> Materialised<Vec<Bound<'py, PyAny>>> {
        let items: Vec<_> = set.try_iter().into_iter().flatten().flatten().collect();
        let keys = self.absorb_all(items.iter().cloned());
        if let Err(escape) = self.refuse_own_hashes(id, &keys)? {
            return Ok(Err(escape));
        }
        if !self.keeps_order(set, &items) {
            return self.escape(id, "a set whose order comes from how it was filled");
        }
        Ok(Ok(items))
    }

    pub(crate) fn materialise_other(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let class = object.get_type();
        if !crate::ffi::types::is_c_type(&class) {
            return self.materialise_instance(id, object, &class);
        }
        match &*types::c_name(&class) {
            "cell" => {
                let content = object.getattr(name!("cell_contents")).ok().map(|content| self.absorb(content));
                self.set(id, New::Cell(content), content.into_iter().collect())
            }
            "function" => self.materialise_function(id, object),
            "method" => self.materialise_bound(id, object),
            "collections.deque" => self.materialise_deque(id, object),
            "float" | "complex" => self.materialise_nan(id, object),
            "list_iterator" | "list_reverseiterator" | "tuple_iterator" => self.describe_sequence_iterator(id, object),
            name @ ("dict_keyiterator"
            | "dict_valueiterator"
            | "dict_itemiterator"
            | "dict_reversekeyiterator"
            | "dict_reversevalueiterator"
            | "dict_reverseitemiterator") => self.describe_dict_iterator(id, object, name),
            name @ ("dict_keys" | "dict_values" | "dict_items" | "odict_keys" | "odict_values" | "odict_items") => {
                self.describe_view(id, object, name)
            }
            "range_iterator"
            | "range"
            | "enumerate"
            | "zip"
            | "map"
            | "filter"
            | "reversed"
            | "iterator"
            | "str_ascii_iterator"
            | "str_iterator"
            | "bytes_iterator"
            | "longrange_iterator"
            | "bytearray"
            | "array.array"
            | "decimal.Context"
            | "decimal.Decimal"
            | "operator.itemgetter"
            | "operator.attrgetter"
            | "operator.methodcaller"
            | "functools.partial" => self.materialise_reduced(id, object),
            // One that is unpacked says how to be made from an iterator.
            "types.GenericAlias"
                if !object.getattr(name!("__unpacked__")).is_ok_and(|it| it.is_truthy().unwrap_or(true)) =>
            {
                self.materialise_reduced(id, object)
            }
            "types.UnionType" | "typing.Union" => self.materialise_union(id, object),
            "object" => {
                let class = self.constant(class.into_any());
                self.set(id, New::Call { callable: class, args: Vec::new(), state: None }, vec![class])
            }
            name @ ("weakref.ReferenceType" | "weakref.ProxyType" | "weakref.CallableProxyType") => {
                let Some((referent, callback)) = self.referent(object) else {
                    return self.escape(id, name.to_owned());
                };
                if callback.is_some() && self.leaves_with_callback(object, referent) {
                    return self.escape(id, SEVERAL_CALLBACKS);
                }
                let maker = if name == "weakref.ReferenceType" { "ref" } else { "proxy" };
                let maker = self.import("_weakref", maker)?;
                let callable = self.constant(maker);
                let args: Vec<_> = std::iter::once(referent).chain(callback).collect();
                let children = args.iter().copied().chain([callable]).collect();
                self.set(id, New::Call { callable, args, state: None }, children)
            }
            "types.SimpleNamespace" | "collections.OrderedDict" | "collections.defaultdict" => {
                self.materialise_instance(id, object, &class)
            }
            "torch.Size" => {
                let items = object.try_iter().and_then(|items| items.collect::<PyResult<Vec<_>>>());
                let items = items.or_else(|error| internal(error.to_string()))?;
                let items = self.absorb_all(items.into_iter());
                let (class, items) = (self.constant(class.into_any()), self.push(Value::New(New::Tuple(items))));
                self.set(id, New::Call { callable: class, args: vec![items], state: None }, vec![class, items])
            }
            _ if crate::trace::call::classes::class::is_struct_sequence(&class)
                || crate::trace::value::c_values::is_value(object) =>
            {
                self.materialise_reduced(id, object)
            }
            name => self.escape(id, name.to_owned()),
        }
    }

    /// What a library answers with, another object each time; one that cannot be made again stays the same.
    pub(crate) fn materialise_answer(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let Some((class, argument)) = self.answer_anew(object) else { return Ok(Ok(Vec::new())) };
        let (callable, argument) = (self.constant(class.into_any()), self.constant(argument));
        self.set(id, New::Call { callable, args: vec![argument], state: None }, vec![callable, argument])
    }

    /// A method that C has bound.
    pub(crate) fn materialise_bound(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let parts =
            object.getattr(name!("__func__")).and_then(|function| Ok((function, object.getattr(name!("__self__"))?)));
        let (function, receiver) = parts.or_else(|error| internal(error.to_string()))?;
        let (function, receiver) = (self.absorb(function), self.absorb(receiver));
        self.set(id, New::Method { function, receiver }, vec![function, receiver])
    }

    pub(crate) fn materialise_deque(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let items = object.try_iter().and_then(|items| items.collect::<PyResult<Vec<_>>>());
        let parts = items.and_then(|items| Ok((items, object.getattr(name!("maxlen"))?)));
        let (items, limit) = parts.or_else(|error| internal(error.to_string()))?;
        let class = self.constant(object.get_type().into_any());
        if limit.is_none() {
            let content = self.absorb_all(items.into_iter());
            let children = content.iter().copied().chain([class]).collect();
            return self.set(
                id,
                New::Instance { class, args: Vec::new(), content, order: Vec::new(), attributes: Vec::new() },
                children,
            );
        }
        let items = PyList::new(self.py, items).or_else(|error| internal(error.to_string()))?;
        let args = vec![self.own(items.into_any()), self.constant(limit)];
        let children = args.iter().copied().chain([class]).collect();
        self.set(id, New::Call { callable: class, args, state: None }, children)
    }

    /// CPython: `_Py_union_type_or`; where no metaclass has a say.
    pub(crate) fn materialise_union(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let parts = object.getattr(name!("__args__")).ok().and_then(|parts| parts.cast_into::<PyTuple>().ok());
        let plain = |part: &Bound<'py, PyAny>| {
            let class = part.get_type();
            class.is(self.py.get_type::<PyType>()) || types::is_c_class(&class, "types.GenericAlias")
        };
        let Some(parts) = parts.filter(|parts| parts.iter().all(|part| plain(&part))) else {
            return self.escape(id, "types.UnionType");
        };
        let reduce = self.import("_functools", "reduce")?;
        let or = self.import("_operator", "or_")?;
        let (callable, or) = (self.constant(reduce), self.constant(or));
        let parts = self.own(parts.into_any());
        self.set(id, New::Call { callable, args: vec![or, parts], state: None }, vec![callable, or, parts])
    }

    /// `__reduce__` of a C class: callable, arguments and perhaps a state.
    pub(crate) fn materialise_reduced(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Materialised<Vec<ValueId>> {
        let name = types::name(&object.get_type());
        const PROTOCOL: u8 = 2;
        // The first that tells `fold` of a time.
        const WHOLE: u8 = 4;
        let inherits = |method: &str| {
            let (own, plain) = (object.get_type().getattr(method), self.py.get_type::<PyAny>().getattr(method));
            own.is_ok_and(|own| plain.is_ok_and(|plain| plain.is(&own)))
        };
        let reduced = match (inherits("__reduce_ex__"), inherits("__reduce__")) {
            (false, _) => object.call_method1(name!("__reduce_ex__"), (WHOLE,)),
            (true, true) => object.call_method1(name!("__reduce_ex__"), (PROTOCOL,)),
            (true, false) => object.call_method0(name!("__reduce__")),
        };
        let reduced = reduced.ok().and_then(|reduced| reduced.cast_into::<PyTuple>().ok());
        let Some(reduced) = reduced.filter(|reduced| matches!(reduced.len(), 2 | 3)) else {
            return self.escape(id, name);
        };
        if name == "reversed" && !self.stands_within(&reduced) {
            return self.escape(id, name);
        }
        let (Ok(callable), Ok(args)) = (reduced.get_item(0), reduced.get_item(1)) else { return self.escape(id, name) };
        let Ok(args) = args.cast_into::<PyTuple>() else { return self.escape(id, name) };
        // At its end an iterator over text of any kind says that it is one over an empty text.
        let over_text =
            args.get_item(0).ok().filter(|first| name.starts_with("str_") && first.is_exact_instance_of::<PyString>());
        if over_text.and_then(|text| text.try_iter().ok()).is_some_and(|made| !made.get_type().is(object.get_type())) {
            return self.escape(id, name);
        }
        let state = reduced.get_item(2).ok().filter(|state| !state.is_none());
        let args = self.absorb_all(args.iter());
        let callable = self.constant(callable);
        let state = state.map(|state| self.absorb(state));
        let mut children = args.clone();
        children.push(callable);
        children.extend(state);
        self.set(id, New::Call { callable, args, state }, children)
    }
}
