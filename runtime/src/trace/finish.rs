//! The end of a trace: what escapes is described so that emitted code can make it again, copies are compared with what they copied.
use super::outcome::{Effect, End};
use super::signal::{Traced, internal};
use super::state::Tracer;
use super::value::{Met, New, Value, ValueId};
use crate::ffi::set_table::SetLayout;
use crate::ffi::snapshot::original;
use crate::ffi::types;
use crate::names::name;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PySlice, PyString, PyTuple, PyType};

/// Why a trace cannot end here: a value that cannot be made again was made at this step of the outermost frame.
#[derive(Debug)]
pub(super) struct Escape {
    pub(super) step: u64,
    pub(super) what: String,
}

/// Result of describing: an escape is no signal, the trace is repeated up to it.
pub(super) type Described<T> = Traced<Result<T, Escape>>;

impl<'py> Tracer<'py> {
    /// Describes everything that emitted code needs to make again.
    pub(super) fn finish(&mut self, end: &mut End) -> Described<()> {
        if let Some(generator) = self.left_suspended() {
            return self.escape(generator, "a generator that is left inside try or with");
        }
        if let Some(file) = self.left_open() {
            self.close_files();
            return self.escape(file, "a file that is left open");
        }
        if let Some(object) = self.ended(end) {
            return self.escape(object, "an object whose end runs code within the trace");
        }
        if let Some(escape) = self.lost_inside(end).or_else(|| self.passed_from_outside()) {
            return Ok(Err(escape));
        }
        if let Err(escape) = self.compare_shadows()? {
            return Ok(Err(escape));
        }
        self.compare_copies()?;
        self.compare_contexts()?;
        if let Some(object) = self.mortal_in_guards() {
            return self.escape(object, "an object whose end runs code, which guards would keep alive");
        }
        super::merged::merge(&mut self.state.effects);
        if let End::Return { kept: locals, .. } | End::Break { locals, .. } = &*end {
            self.guard_arguments(locals);
        }
        let mut work = end.values();
        work.extend(self.state.effects.iter().flat_map(effect_values));
        let mut seen = Met::default();
        if let Err(escape) = self.describe_all(work, &mut seen)? {
            return Ok(Err(escape));
        }
        if let End::Return { kept, value, .. } = end {
            if self.is_observed(&seen) || self.several_end(*value) {
                let kept = kept.iter().flatten().copied().collect();
                if let Err(escape) = self.describe_all(kept, &mut seen)? {
                    return Ok(Err(escape));
                }
            } else {
                kept.clear();
            }
        }
        if let Some(coroutine) = self.never_awaited(&seen) {
            return self.escape(coroutine, "a coroutine that is left before it is awaited");
        }
        self.guard_existence();
        Ok(Ok(()))
    }

    #[inline(never)]
    pub(super) fn escape<T>(&self, id: ValueId, what: impl Into<String>) -> Described<T> {
        let step = self.state.born.get(id.0 as usize).copied().unwrap_or(0).saturating_sub(1);
        Ok(Err(Escape { step, what: what.into() }))
    }

    fn describe_all(&mut self, mut work: Vec<ValueId>, seen: &mut Met) -> Described<()> {
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.describe(id)? {
                Ok(children) => work.extend(children),
                Err(escape) => return Ok(Err(escape)),
            }
        }
        Ok(Ok(()))
    }

    fn describe(&mut self, id: ValueId) -> Described<Vec<ValueId>> {
        if self.release_context(id) {
            return Ok(Ok(Vec::new()));
        }
        match self.value(id) {
            Value::Real { object, source: None } if super::mortal::leads_to_code(object.bind(self.py)) => {
                self.escape(id, "an object whose end runs code, which compiled code would keep alive")
            }
            Value::Real { .. } | Value::Proxy { .. } => Ok(Ok(Vec::new())),
            Value::New(New::Owned(object)) => {
                let object = object.bind(self.py).clone();
                self.describe_owned(id, &object)
            }
            Value::New(New::Method { function, receiver }) => {
                let (function, receiver) = (*function, *receiver);
                self.describe_method(id, function, receiver)
            }
            Value::New(New::Opaque(what)) => {
                let what = *what;
                if let Some(described) = self.describe_generator(id)? {
                    return described;
                }
                self.describe_super(id).unwrap_or_else(|| self.escape(id, what))
            }
            Value::New(_) => Ok(Ok(Vec::new())),
        }
    }

    fn describe_method(&mut self, id: ValueId, function: ValueId, receiver: ValueId) -> Described<Vec<ValueId>> {
        let Some(object) = self.real(function).or_else(|| self.owned(function)) else {
            return Ok(Ok(vec![function, receiver]));
        };
        if types::c_name(&object.get_type()) == "function" {
            return Ok(Ok(vec![function, receiver]));
        }
        if self.real(receiver).is_some_and(|receiver| receiver.is_none()) {
            return self.describe_method_of_none(id, &object, receiver);
        }
        match object.getattr(name!("__get__")) {
            Ok(get) if self.owned(function).is_none() => {
                // Methods that are told their class (METH_METHOD) do not survive a __get__ without one.
                let Some(class) = crate::ffi::callee::owner_of(&object) else {
                    return internal("C method of no class");
                };
                let (callable, class) = (self.constant(get), self.constant(class.into_any()));
                let args = vec![receiver, class];
                self.set(id, New::Call { callable, args: args.clone(), state: None }, args)
            }
            _ => self.escape(id, "bound C method"),
        }
    }

    /// `__get__` takes `None` for no object at all: its methods come by their names.
    fn describe_method_of_none(
        &mut self,
        id: ValueId,
        method: &Bound<'py, PyAny>,
        none: ValueId,
    ) -> Described<Vec<ValueId>> {
        let parts =
            original(self.py, "builtins", "getattr").and_then(|get| Ok((get, method.getattr(name!("__name__"))?)));
        let (get, name) = parts.or_else(|error| internal(error.to_string()))?;
        let (callable, name) = (self.constant(get), self.constant(name));
        let args = vec![none, name];
        self.set(id, New::Call { callable, args: args.clone(), state: None }, args)
    }

    pub(super) fn set(&mut self, id: ValueId, new: New, children: Vec<ValueId>) -> Described<Vec<ValueId>> {
        let described = std::mem::replace(&mut self.state.values[id.0 as usize], Value::New(new));
        self.state.described.push(described);
        Ok(Ok(children))
    }

    pub(super) fn absorb_all(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Vec<ValueId> {
        items.map(|item| self.absorb(item)).collect()
    }

    fn describe_owned(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        if let Ok(list) = object.cast_exact::<PyList>() {
            let items = self.absorb_all(list.iter());
            return self.set(id, New::List(items.clone()), items);
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            let items = self.absorb_all(tuple.iter());
            return self.set(id, New::Tuple(items.clone()), items);
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            let pairs: Vec<_> = dict.iter().map(|(key, value)| (self.absorb(key), self.absorb(value))).collect();
            let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
            if let Err(escape) = self.refuse_own_hashes(id, &keys)? {
                return Ok(Err(escape));
            }
            let children = pairs.iter().flat_map(|(key, value)| [*key, *value]).collect();
            return self.set(id, New::Dict(pairs), children);
        }
        if object.is_exact_instance_of::<PySet>() {
            return self.describe_set(id, object);
        }
        if object.is_exact_instance_of::<PyFrozenSet>() {
            return self.describe_frozenset(id, object);
        }
        if object.is_exact_instance_of::<PySlice>() {
            let mut bounds = Vec::new();
            for name in ["start", "stop", "step"] {
                let bound = object.getattr(name).or_else(|error| internal(error.to_string()))?;
                bounds.push(self.absorb(bound));
            }
            let [start, stop, step] = bounds[..] else { return internal("slice") };
            return self.set(id, New::Slice([start, stop, step]), bounds);
        }
        if object.is_instance_of::<PyBaseException>() {
            return self.describe_exception(id, object);
        }
        self.describe_other(id, object)
    }

    /// A set that is filled again in its order, or whose table is made again as it is.
    fn describe_set(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let refused = match self.set_items(id, object)? {
            Ok(items) => {
                let items = self.absorb_all(items.into_iter());
                return self.set(id, New::Set(items.clone()), items);
            }
            Err(escape) => escape,
        };
        let layout = object.cast::<PySet>().ok().map(SetLayout::of).transpose();
        let Some(layout) = layout.or_else(|error| internal(error.to_string()))?.flatten() else {
            return Ok(Err(refused));
        };
        let keys = self.absorb_all(layout.keys(self.py).iter());
        if !keys.iter().all(|key| self.has_lasting_hash(*key)) {
            return Ok(Err(refused));
        }
        let make = Bound::new(self.py, layout).and_then(|layout| layout.getattr(name!("make")));
        let make = make.or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(make);
        let children = keys.iter().copied().chain([callable]).collect();
        self.set(id, New::Call { callable, args: keys, state: None }, children)
    }

    fn describe_frozenset(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
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
    fn set_items(&mut self, id: ValueId, set: &Bound<'py, PyAny>) -> Described<Vec<Bound<'py, PyAny>>> {
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

    fn describe_other(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let class = object.get_type();
        if !super::native::is_c_type(&class) {
            return self.describe_instance(id, object, &class);
        }
        match &*types::c_name(&class) {
            "cell" => {
                let content = object.getattr(name!("cell_contents")).ok().map(|content| self.absorb(content));
                self.set(id, New::Cell(content), content.into_iter().collect())
            }
            "function" => self.describe_function(id, object),
            "method" => self.describe_bound(id, object),
            "collections.deque" => self.describe_deque(id, object),
            "float" | "complex" => self.describe_nan(id, object),
            "list_iterator" | "tuple_iterator" => self.describe_sequence_iterator(id, object),
            name @ ("dict_keyiterator"
            | "dict_valueiterator"
            | "dict_itemiterator"
            | "dict_reversekeyiterator"
            | "dict_reversevalueiterator"
            | "dict_reverseitemiterator") => self.describe_dict_iterator(id, object, name),
            "range_iterator"
            | "range"
            | "enumerate"
            | "zip"
            | "map"
            | "filter"
            | "reversed"
            | "iterator"
            | "list_reverseiterator"
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
            | "functools.partial" => self.describe_reduced(id, object),
            // One that is unpacked says how to be made from an iterator.
            "types.GenericAlias"
                if !object.getattr(name!("__unpacked__")).is_ok_and(|it| it.is_truthy().unwrap_or(true)) =>
            {
                self.describe_reduced(id, object)
            }
            "types.UnionType" => self.describe_union(id, object),
            "object" => {
                let class = self.constant(class.into_any());
                self.set(id, New::Call { callable: class, args: Vec::new(), state: None }, vec![class])
            }
            name @ ("weakref.ReferenceType" | "weakref.ProxyType" | "weakref.CallableProxyType") => {
                let Some((referent, false)) = self.referent(object) else {
                    return self.escape(id, format!("{name} with a callback"));
                };
                let maker = if name == "weakref.ReferenceType" { "ref" } else { "proxy" };
                let maker = self.import("_weakref", maker)?;
                let callable = self.constant(maker);
                self.set(id, New::Call { callable, args: vec![referent], state: None }, vec![callable, referent])
            }
            "types.SimpleNamespace" | "collections.OrderedDict" | "collections.defaultdict" => {
                self.describe_instance(id, object, &class)
            }
            _ if super::call::is_struct_sequence(&class) || super::c_value::is_value(object) => {
                self.describe_reduced(id, object)
            }
            name => self.escape(id, name.to_owned()),
        }
    }

    /// A method that C has bound.
    fn describe_bound(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let parts =
            object.getattr(name!("__func__")).and_then(|function| Ok((function, object.getattr(name!("__self__"))?)));
        let (function, receiver) = parts.or_else(|error| internal(error.to_string()))?;
        let (function, receiver) = (self.absorb(function), self.absorb(receiver));
        self.set(id, New::Method { function, receiver }, vec![function, receiver])
    }

    fn describe_deque(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let items = object.try_iter().and_then(|items| items.collect::<PyResult<Vec<_>>>());
        let parts = items.and_then(|items| Ok((items, object.getattr(name!("maxlen"))?)));
        let (items, limit) = parts.or_else(|error| internal(error.to_string()))?;
        let class = self.constant(object.get_type().into_any());
        if limit.is_none() {
            let content = self.absorb_all(items.into_iter());
            let children = content.iter().copied().chain([class]).collect();
            return self.set(
                id,
                New::Instance { class, value: None, content, order: Vec::new(), attributes: Vec::new() },
                children,
            );
        }
        let items = PyList::new(self.py, items).or_else(|error| internal(error.to_string()))?;
        let args = vec![self.own(items.into_any()), self.constant(limit)];
        let children = args.iter().copied().chain([class]).collect();
        self.set(id, New::Call { callable: class, args, state: None }, children)
    }

    /// CPython: `_Py_union_type_or`; where no metaclass has a say.
    fn describe_union(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let parts = object.getattr(name!("__args__")).ok().and_then(|parts| parts.cast_into::<PyTuple>().ok());
        let plain = |part: &Bound<'py, PyAny>| {
            let class = part.get_type();
            class.is(self.py.get_type::<PyType>()) || types::c_name(&class) == "types.GenericAlias"
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
    pub(super) fn describe_reduced(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let name = types::name(&object.get_type());
        const PROTOCOL: u8 = 2;
        let inherited = object.get_type().getattr(name!("__reduce__")).is_ok_and(|reduce| {
            let plain = self.py.get_type::<PyAny>().getattr(name!("__reduce__"));
            plain.is_ok_and(|plain| plain.is(&reduce))
        });
        let reduced = match inherited {
            true => object.call_method1(name!("__reduce_ex__"), (PROTOCOL,)),
            false => object.call_method0(name!("__reduce__")),
        };
        let reduced = reduced.ok().and_then(|reduced| reduced.cast_into::<PyTuple>().ok());
        let Some(reduced) = reduced.filter(|reduced| matches!(reduced.len(), 2 | 3)) else {
            return self.escape(id, name);
        };
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

    /// Whether the trace has changed anything outside so far.
    pub(super) fn has_changed_something(&self) -> bool {
        !self.state.effects.is_empty()
            || !self.state.held_first.is_empty()
            || !self.state.copied.is_empty()
            || self.has_contexts()
            || self.state.shadows.iter().any(|shadow| shadow.is_changed(self.py))
    }
}

fn effect_values(effect: &Effect) -> Vec<ValueId> {
    match effect {
        Effect::SetAttr { object, value, .. } => vec![*object, *value],
        Effect::DelAttr { object, .. } => vec![*object],
        Effect::SetItem { object, key, value } => vec![*object, *key, *value],
        Effect::DelItem { object, key } => vec![*object, *key],
        Effect::ReplaceList { list, values } => std::iter::once(*list).chain(values.iter().copied()).collect(),
        Effect::SetGlobal { globals, value, .. } => vec![*globals, *value],
        Effect::DelGlobal { globals, .. } => vec![*globals],
        Effect::SetCell { cell, value } => std::iter::once(*cell).chain(*value).collect(),
        Effect::Call { callable, args } => std::iter::once(*callable).chain(args.iter().copied()).collect(),
    }
}
