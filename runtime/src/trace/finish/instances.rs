//! Materialises functions and instances: the parts that their constructors do not set.
use crate::ffi::containers::{self, Kind};
use crate::ffi::types::is_c_type;
use crate::ffi::{inspect, ordered_dict, types};
use crate::names::{interned, name};
use crate::trace::finish::c_objects::SEVERAL_CALLBACKS;
use crate::trace::finish::descriptors::{Attributes, bases, descriptors, is_hidden, kind, same};
use crate::trace::state::materialised::Materialised;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{New, StateSlot, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType, PyWeakrefReference};

/// Parts of a function that `FunctionType` takes from the code object and the globals.
const FUNCTION_PARTS: &[&str] = &["__name__", "__qualname__", "__doc__", "__module__", "__type_params__"];

/// What an instance of a class derived from a container holds.
#[derive(Default)]
struct Content {
    /// Items, or keys and values.
    items: Vec<ValueId>,
    /// Keys, where they are to be brought into another order than that of the table.
    order: Vec<ValueId>,
}

impl<'py> Tracer<'py> {
    pub(crate) fn materialise_function(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Materialised<Vec<ValueId>> {
        let mut optional = Vec::new();
        for value in [inspect::function_defaults(object), inspect::function_kwdefaults(object)] {
            optional.push(value.filter(|value| !value.is_none()).map(|value| self.absorb(value)));
        }
        let cells = inspect::function_closure(object).and_then(|cells| cells.cast_into::<PyTuple>().ok());
        let closure: Vec<_> = cells.iter().flatten().map(|cell| self.absorb(cell)).collect();
        let (Some(code), Some(globals)) = (inspect::function_code(object), inspect::globals(object)) else {
            return internal("function without code or globals");
        };
        let free = code
            .getattr(name!("co_freevars"))
            .and_then(|free| free.len())
            .or_else(|error| internal(error.to_string()))?;
        if free != closure.len() {
            return self.escape(id, "function without its closure");
        }
        let Ok(globals) = globals.cast_into::<PyDict>() else { return internal("function without globals") };
        if self.are_of_one_call(globals.as_any()) {
            return self.escape(id, "function whose globals are a dict of the trace, or of the caller");
        }
        let fresh = crate::ffi::function::new(&code, &globals).or_else(|error| internal(error.to_string()))?;
        let Some(mut attributes) = self.own_attributes(object)? else {
            return self.escape(id, "function with unusual attributes");
        };
        for name in FUNCTION_PARTS {
            let name_object = interned(self.py, name);
            let (Ok(now), Ok(then)) = (object.getattr(&name_object), fresh.getattr(&name_object)) else { continue };
            if !same(&now, &then) {
                attributes.push((StateSlot::Attribute((*name).to_owned()), self.absorb(now)));
            }
        }
        let Some(annotations) = annotations(object).or_else(|error| internal(error.to_string()))? else {
            return self.escape(id, "function whose annotations were made in the trace");
        };
        if let Some((name, value)) = annotations {
            attributes.push((StateSlot::Attribute(name.to_owned()), self.absorb(value)));
        }
        let mut children: Vec<_> = optional.iter().flatten().copied().collect();
        children.extend(&closure);
        children.extend(attributes.iter().map(|(_, value)| *value));
        let (code, globals) = (code.unbind(), globals.into_any().unbind());
        let [defaults, kwdefaults] = optional[..] else { return internal("function") };
        self.set(id, New::Function { code, globals, defaults, kwdefaults, closure, attributes }, children)
    }

    pub(crate) fn materialise_instance(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
    ) -> Materialised<Vec<ValueId>> {
        let name = types::name(class);
        let bases = bases(class);
        if bases.iter().any(|base| !is_c_type(base) && is_made_by_c(base)) {
            return self.escape(id, format!("instance of {name}, which derives from a C class"));
        }
        let mut laid_out = bases.iter().filter(|base| lays_out(base));
        let (args, content) = match laid_out.next() {
            None => (Vec::new(), Content::default()),
            Some(base) if base.is(self.py.get_type::<PyWeakrefReference>()) && laid_out.next().is_none() => {
                match self.referent(object) {
                    Some((referent, Some(_))) if self.leaves_with_callback(object, referent) => {
                        return self.escape(id, SEVERAL_CALLBACKS);
                    }
                    Some((referent, callback)) => {
                        (std::iter::once(referent).chain(callback).collect(), Content::default())
                    }
                    None => return self.escape(id, format!("instance of {name}, a kind of weak reference")),
                }
            }
            Some(base) if laid_out.all(|other| base.is_subclass(other).unwrap_or(false)) => {
                match (self.builtin_value(object, base)?, self.content_of(id, object, base)?) {
                    (_, Err(escape)) => return Ok(Err(escape)),
                    (None, Ok(None)) if is_c_type(class) => return self.escape(id, name),
                    (None, Ok(None)) => {
                        return self.escape(id, format!("instance of {name}, which derives from a C class"));
                    }
                    (value, Ok(content)) => (value.into_iter().collect(), content.unwrap_or_default()),
                }
            }
            Some(_) => return self.escape(id, format!("instance of {name}, which derives from C classes")),
        };
        let Some(mut attributes) = self.own_attributes(object)? else {
            return self.escape(id, format!("instance of {name} with an unusual __dict__"));
        };
        self.slots_of(object, &bases, &mut attributes);
        if let Some(factory) = bases.iter().find(|base| is(base, "collections.defaultdict")).and_then(factory_of) {
            let made = types::read(&factory, object).or_else(|error| internal(error.to_string()))?;
            attributes.push((StateSlot::Descriptor(factory.unbind()), self.absorb(made)));
        }
        let class = self.constant(class.clone().into_any());
        let mut children: Vec<_> = attributes.iter().map(|(_, value)| *value).collect();
        children.push(class);
        children.extend(content.items.iter().chain(&args).copied());
        self.set(id, New::Instance { class, args, content: content.items, order: content.order, attributes }, children)
    }

    /// The items of an instance of a class derived from `list` or `deque`, or keys and values of one of a kind of dict.
    fn content_of(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        base: &Bound<'py, PyType>,
    ) -> Materialised<Option<Content>> {
        if let Ok(list) = object.cast::<PyList>()
            && base.is(self.py.get_type::<PyList>())
        {
            let items = self.absorb_all(list.iter());
            return Ok(Ok(Some(Content { items, order: Vec::new() })));
        }
        if let Some(deque) = containers::of(base).filter(|container| container.kind == Kind::Deque) {
            let held = deque.items(object).and_then(|items| Ok((items, deque.limit(object)?)));
            let (items, limit) = held.or_else(|error| internal(error.to_string()))?;
            let content =
                limit.is_none().then(|| Content { items: self.absorb_all(items.into_iter()), order: Vec::new() });
            return Ok(Ok(content));
        }
        let Some(dict) = object.cast::<PyDict>().ok().filter(|_| is_dict(base)) else { return Ok(Ok(None)) };
        let keys = self.absorb_all(dict.keys().iter());
        if let Err(escape) = self.refuse_own_hashes(id, &keys)? {
            return Ok(Err(escape));
        }
        let mut order = Vec::new();
        if is(base, "collections.OrderedDict") {
            // The keys are asked for their hashes: those of proxies are not at hand any more.
            if dict.keys().iter().any(|key| key.is_instance_of::<Proxy>()) {
                return self.escape(id, "an OrderedDict whose keys are no plain values");
            }
            order = ordered_dict::order_by(base, dict).or_else(|error| internal(error.to_string()))?;
            if order.iter().zip(dict.keys()).all(|(key, stored)| key.is(&stored)) {
                order.clear();
            }
        }
        let items = self.absorb_all(dict.iter().flat_map(|(key, value)| [key, value]));
        let order = self.absorb_all(order.into_iter());
        Ok(Ok(Some(Content { items, order })))
    }

    /// The tuple, number or text that an instance of a class derived from a builtin class is; `None`: of another class.
    fn builtin_value(&mut self, object: &Bound<'py, PyAny>, base: &Bound<'py, PyType>) -> Traced<Option<ValueId>> {
        let method = match &*types::c_name(base) {
            "tuple" => {
                let items = object.cast::<PyTuple>().map(|tuple| tuple.iter().collect::<Vec<_>>());
                let items = items.or_else(|error| internal(error.to_string()))?;
                let items = PyTuple::new(self.py, items).or_else(|error| internal(error.to_string()))?;
                return Ok(Some(self.own(items.into_any())));
            }
            "int" => "__int__",
            "float" => "__float__",
            "complex" => "__complex__",
            "str" => "__str__",
            "bytes" => "__bytes__",
            _ => return Ok(None),
        };
        let value = base.getattr(method).and_then(|method| method.call1((object,)));
        Ok(value.ok().map(|value| self.constant(value)))
    }

    /// What stands in the `__slots__` of Python classes.
    pub(crate) fn slots_of(
        &mut self,
        object: &Bound<'py, PyAny>,
        bases: &[Bound<'py, PyType>],
        attributes: &mut Attributes,
    ) {
        for base in bases.iter().filter(|base| !is_c_type(base) && types::adds_fields(base)) {
            for (_, slot) in descriptors(base).into_iter().filter(|(_, slot)| kind(slot) == "member_descriptor") {
                if let Ok(value) = types::read(&slot, object) {
                    attributes.push((StateSlot::Descriptor(slot.unbind()), self.absorb(value)));
                }
            }
        }
    }

    /// Entries of `__dict__`; `None` if one cannot be set again.
    pub(crate) fn own_attributes(&mut self, object: &Bound<'py, PyAny>) -> Traced<Option<Attributes>> {
        let class = object.get_type();
        match types::lookup(&class, &interned(self.py, "__dict__")) {
            None => return Ok(Some(Vec::new())),
            Some(found) if kind(&found).is_empty() => return Ok(None),
            Some(_) => {}
        }
        let Some(dict) = crate::trace::attribute::descriptors::own_dict(object) else { return Ok(None) };
        let mut attributes = Vec::new();
        for (key, value) in dict.iter() {
            if !crate::trace::value::kinds::is_scalar(&key) {
                return Ok(None);
            }
            let plain = key.cast_exact::<PyString>().ok().filter(|name| !is_hidden(&class, name));
            let held = plain.map_or_else(
                || StateSlot::Entry(key.clone().unbind()),
                |name| StateSlot::Attribute(name.to_string_lossy().into_owned()),
            );
            attributes.push((held, self.absorb(value)));
        }
        Ok(Some(attributes))
    }
}

fn is(class: &Bound<'_, PyType>, name: &str) -> bool {
    types::is_c_class(class, name)
}

/// A dict of C whose items are set one by one.
fn is_dict(class: &Bound<'_, PyType>) -> bool {
    ["dict", "collections.OrderedDict", "collections.defaultdict"].iter().any(|name| is(class, name))
}

/// The member that holds what a `defaultdict` calls.
fn factory_of<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    types::own(class, &interned(class.py(), "default_factory"))
}

/// Whether a class that looks like one of Python has a constructor of C, as `_random.Random` has.
fn is_made_by_c(base: &Bound<'_, PyType>) -> bool {
    let found = types::own(base, pyo3::intern!(base.py(), "__new__"));
    let found = found.filter(|found| types::is_c_class(&found.get_type(), "builtin_function_or_method"));
    // That of another class, under this name, says nothing of `tp_new`.
    found.is_some_and(|found| found.getattr(pyo3::intern!(base.py(), "__self__")).is_ok_and(|of| of.is(base)))
}

/// Whether C lays out the instances of a class and of those that derive from it.
fn lays_out(base: &Bound<'_, PyType>) -> bool {
    is_c_type(base) && types::has_own_fields(base)
}

/// The annotations of a function: the attribute that has them and its value, or that there are none. From 3.14 on they are made by a
/// function when they are first asked for; `None` where that has happened.
#[allow(clippy::type_complexity)]
fn annotations<'py>(function: &Bound<'py, PyAny>) -> PyResult<Option<Option<(&'static str, Bound<'py, PyAny>)>>> {
    if cfg!(Py_3_14) {
        let annotate = function.getattr(name!("__annotate__"))?;
        if !annotate.is_none() {
            return Ok((!inspect::has_annotations(function)).then_some(Some(("__annotate__", annotate))));
        }
    }
    let annotations = function.getattr(name!("__annotations__"))?;
    let some = annotations.len()? > 0;
    Ok(Some(some.then_some(("__annotations__", annotations))))
}
