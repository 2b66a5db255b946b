//! Functions, instances and exceptions at the end of a trace: which parts of them their constructors do not set.
use super::finish::Described;
use super::native::is_c_type;
use super::signal::{Traced, internal};
use super::state::Tracer;
use super::token::Token;
use super::value::{Held, Inlined, New, ValueId};
use crate::ffi::inspect;
use crate::ffi::ordered_dict;
use crate::ffi::types;
use crate::names::{interned, name};
use generated::slots::Slot;
use pyo3::exceptions::{PyBaseException, PyBaseExceptionGroup};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

/// Parts of an exception that are rebuilt by themselves or by raising.
const LINKS: &[&str] =
    &["__class__", "args", "__traceback__", "__context__", "__cause__", "__suppress_context__", "__dict__"];

/// Parts of a function that `FunctionType` takes from the code object and the globals.
const FUNCTION_PARTS: &[&str] = &["__name__", "__qualname__", "__doc__", "__module__", "__type_params__"];

type Attributes = Vec<(Held, ValueId)>;

/// What an instance of a class derived from a container holds.
#[derive(Default)]
struct Content {
    /// Items, or keys and values.
    items: Vec<ValueId>,
    /// Keys, where they are to be brought into another order than that of the table.
    order: Vec<ValueId>,
}

impl<'py> Tracer<'py> {
    pub(super) fn describe_function(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
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
        if self.is_made_here(globals.as_any()) {
            return self.escape(id, "function whose globals are a dict of the trace");
        }
        let fresh = crate::ffi::function::new(&code, &globals).or_else(|error| internal(error.to_string()))?;
        let Some(mut attributes) = self.own_attributes(object)? else {
            return self.escape(id, "function with unusual attributes");
        };
        for name in FUNCTION_PARTS {
            let name_object = interned(self.py, name);
            let (Ok(now), Ok(then)) = (object.getattr(&name_object), fresh.getattr(&name_object)) else { continue };
            if !same(&now, &then) {
                attributes.push((Held::Attribute((*name).to_owned()), self.absorb(now)));
            }
        }
        let annotations = object.getattr(name!("__annotations__")).or_else(|error| internal(error.to_string()))?;
        if annotations.len().is_ok_and(|length| length > 0) {
            attributes.push((Held::Attribute("__annotations__".to_owned()), self.absorb(annotations)));
        }
        let mut children: Vec<_> = optional.iter().flatten().copied().collect();
        children.extend(&closure);
        children.extend(attributes.iter().map(|(_, value)| *value));
        let (code, globals) = (code.unbind(), globals.into_any().unbind());
        let [defaults, kwdefaults] = optional[..] else { return internal("function") };
        self.set(id, New::Function { code, globals, defaults, kwdefaults, closure, attributes }, children)
    }

    pub(super) fn describe_instance(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
    ) -> Described<Vec<ValueId>> {
        let name = types::name(class);
        let bases = bases(class);
        if bases.iter().any(|base| !is_c_type(base) && is_made_by_c(base)) {
            return self.escape(id, format!("instance of {name}, which derives from a C class"));
        }
        let mut laid_out = bases.iter().filter(|base| lays_out(base));
        let (value, content) = match laid_out.next() {
            None => (None, Content::default()),
            Some(base) if laid_out.all(|other| base.is_subclass(other).unwrap_or(false)) => {
                match (self.builtin_value(object, base)?, self.content_of(id, object, base)?) {
                    (_, Err(escape)) => return Ok(Err(escape)),
                    (None, Ok(None)) if is_c_type(class) => return self.escape(id, name),
                    (None, Ok(None)) => {
                        return self.escape(id, format!("instance of {name}, which derives from a C class"));
                    }
                    (value, Ok(content)) => (value, content.unwrap_or_default()),
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
            attributes.push((Held::Descriptor(factory.unbind()), self.absorb(made)));
        }
        let class = self.constant(class.clone().into_any());
        let mut children: Vec<_> = attributes.iter().map(|(_, value)| *value).collect();
        children.push(class);
        children.extend(content.items.iter().copied().chain(value));
        self.set(id, New::Instance { class, value, content: content.items, order: content.order, attributes }, children)
    }

    /// The items of an instance of a class derived from `list`, or keys and values of one of a kind of dict.
    fn content_of(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        base: &Bound<'py, PyType>,
    ) -> Described<Option<Content>> {
        if let Ok(list) = object.cast::<PyList>()
            && base.is(self.py.get_type::<PyList>())
        {
            let items = self.absorb_all(list.iter());
            return Ok(Ok(Some(Content { items, order: Vec::new() })));
        }
        let Some(dict) = object.cast::<PyDict>().ok().filter(|_| is_dict(base)) else { return Ok(Ok(None)) };
        let keys = self.absorb_all(dict.keys().iter());
        if let Err(escape) = self.refuse_own_hashes(id, &keys)? {
            return Ok(Err(escape));
        }
        let mut order = Vec::new();
        if is(base, "collections.OrderedDict") {
            // The keys are asked for their hashes: those of tokens are not at hand any more.
            if dict.keys().iter().any(|key| key.is_instance_of::<Token>()) {
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
    fn slots_of(&mut self, object: &Bound<'py, PyAny>, bases: &[Bound<'py, PyType>], attributes: &mut Attributes) {
        for base in bases.iter().filter(|base| !is_c_type(base) && types::adds_fields(base)) {
            for (_, slot) in descriptors(base).into_iter().filter(|(_, slot)| kind(slot) == "member_descriptor") {
                if let Ok(value) = types::read(&slot, object) {
                    attributes.push((Held::Descriptor(slot.unbind()), self.absorb(value)));
                }
            }
        }
    }

    /// Entries of `__dict__`; `None` if one cannot be set again.
    fn own_attributes(&mut self, object: &Bound<'py, PyAny>) -> Traced<Option<Attributes>> {
        let class = object.get_type();
        match types::lookup(&class, &interned(self.py, "__dict__")) {
            None => return Ok(Some(Vec::new())),
            Some(found) if kind(&found).is_empty() => return Ok(None),
            Some(_) => {}
        }
        let Some(dict) = super::attr::own_dict(object) else { return Ok(None) };
        let mut attributes = Vec::new();
        for (key, value) in dict.iter() {
            if !super::known::is_scalar(&key) {
                return Ok(None);
            }
            let plain = key.cast_exact::<PyString>().ok().filter(|name| !is_hidden(&class, name));
            let held = plain.map_or_else(
                || Held::Entry(key.clone().unbind()),
                |name| Held::Attribute(name.to_string_lossy().into_owned()),
            );
            attributes.push((held, self.absorb(value)));
        }
        Ok(Some(attributes))
    }

    pub(super) fn describe_exception(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Described<Vec<ValueId>> {
        let class = object.get_type();
        if self.is_made_here(class.as_any()) {
            return self.escape(id, "an exception of a class made during the trace");
        }
        let root = self.py.get_type::<pyo3::exceptions::PyBaseException>();
        let part = |name: &str| {
            let descriptor = types::lookup(&root, &interned(root.py(), name));
            let Some(descriptor) = descriptor else { return internal("parts of an exception") };
            let value = types::read(&descriptor, object);
            value.map(|value| (descriptor, value)).or_else(|error| internal(error.to_string()))
        };
        part("__traceback__")?
            .0
            .call_method1(name!("__set__"), (object, self.py.None()))
            .or_else(|error| internal(error.to_string()))?;
        let bases = bases(&class);
        let Some(mut attributes) = self.own_attributes(object)? else {
            return self.escape(id, format!("instance of {} with an unusual __dict__", types::name(&class)));
        };
        self.slots_of(object, &bases, &mut attributes);
        let (args_member, args_now) = part("args")?;
        let given = match group_arguments(object)? {
            Some(made_of) => {
                attributes.push((Held::Descriptor(args_member.unbind()), self.absorb(args_now)));
                made_of
            }
            None => args_now,
        };
        if !self.members_of(object, &given, &bases, &mut attributes)? {
            return self.escape(id, format!("{} in a state that its constructor does not make", types::name(&class)));
        }
        let mut linked = Vec::new();
        for name in ["__context__", "__cause__"] {
            let value = part(name)?.1;
            linked.push((!value.is_none()).then(|| self.absorb(value)));
        }
        let (descriptor, suppressed) = part("__suppress_context__")?;
        if suppressed.is_truthy().unwrap_or(false) != linked[1].is_some() {
            attributes.push((Held::Descriptor(descriptor.unbind()), self.absorb(suppressed)));
        }
        let args = self.absorb(given);
        let class = self.constant(class.into_any());
        let mut children: Vec<_> = attributes.iter().map(|(_, value)| *value).collect();
        children.extend([class, args]);
        children.extend(linked.iter().flatten());
        let passed = self.passed(id);
        let inlined = passed.iter().filter_map(|passed| passed.inlined.as_ref());
        children.extend(inlined.flat_map(Inlined::held));
        self.set(id, New::Exception { class, args, attributes, context: linked[0], cause: linked[1], passed }, children)
    }

    /// Members and computed fields that a class of C defines, but for those that are rebuilt by themselves.
    fn members(&self, class: &Bound<'py, PyType>) -> Vec<Bound<'py, PyAny>> {
        let find = || {
            let fields = |(name, found): &(String, Bound<'py, PyAny>)| {
                !LINKS.contains(&name.as_str()) && matches!(kind(found), "member_descriptor" | "getset_descriptor")
            };
            descriptors(class).into_iter().filter(fields).map(|(_, found)| found.unbind()).collect()
        };
        self.state.lasting.members(class, find).iter().map(|member| member.bind(self.py).clone()).collect()
    }

    /// Members of C that differ from those of an exception freshly made from the same `args`; false if one cannot be set.
    fn members_of(
        &mut self,
        object: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        bases: &[Bound<'py, PyType>],
        attributes: &mut Attributes,
    ) -> Traced<bool> {
        let Some(base) = bases.iter().find(|base| is_c_type(base)) else {
            return internal("exception without a C base");
        };
        let members: Vec<_> = bases.iter().filter(|base| is_c_type(base)).flat_map(|base| self.members(base)).collect();
        if members.is_empty() && is_made_as_usual(base) {
            return Ok(true);
        }
        let fresh = self.with_callbacks(|| remade(base, args));
        if let Some(signal) = self.state.pending.take() {
            return Err(signal);
        }
        let Ok(fresh) = fresh else { return Ok(false) };
        for member in members {
            let (now, then) = (types::read(&member, object), types::read(&member, &fresh));
            match (now, then) {
                (Ok(now), Ok(then)) if same(&now, &then) => {}
                (Ok(now), _) => {
                    if member.call_method1(name!("__set__"), (&fresh, &now)).is_err() {
                        return Ok(false);
                    }
                    attributes.push((Held::Descriptor(member.unbind()), self.absorb(now)));
                }
                (Err(_), Ok(_)) => return Ok(false),
                (Err(_), Err(_)) => {}
            }
        }
        Ok(true)
    }
}

/// Whether a class of exceptions makes and initialises its instances as `BaseException` does, whatever the arguments.
fn is_made_as_usual(class: &Bound<'_, PyType>) -> bool {
    let root = class.py().get_type::<PyBaseException>();
    [Slot::tp_new, Slot::tp_init].iter().all(|slot| types::slot(class, *slot) == types::slot(&root, *slot))
}

/// A group is made of its message and the exceptions that it took then: `args` may hold a list that changed since.
fn group_arguments<'py>(object: &Bound<'py, PyAny>) -> Traced<Option<Bound<'py, PyAny>>> {
    if !object.is_instance_of::<PyBaseExceptionGroup>() {
        return Ok(None);
    }
    let root = object.py().get_type::<PyBaseExceptionGroup>();
    let part = |name: &str| root.getattr(interned(root.py(), name)).and_then(|member| types::read(&member, object));
    let parts = part("message").and_then(|message| Ok((message, part("exceptions")?)));
    let tuple = parts.and_then(|parts| parts.into_pyobject(object.py()));
    tuple.map(|tuple| Some(tuple.into_any())).or_else(|error| internal(error.to_string()))
}

/// `base.__new__(base, *args)`, `base.__init__(it, *args)`: what emitted code does.
fn remade<'py>(base: &Bound<'py, PyType>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let args = args.cast::<PyTuple>()?;
    let with = |first: &Bound<'py, PyAny>| {
        PyTuple::new(base.py(), std::iter::once(first.clone()).chain(args.iter()).collect::<Vec<_>>())
    };
    let fresh = base.getattr(name!("__new__"))?.call1(with(base.as_any())?)?;
    base.getattr(name!("__init__"))?.call1(with(&fresh)?)?;
    Ok(fresh)
}

/// The resolution order.
fn bases<'py>(class: &Bound<'py, PyType>) -> Vec<Bound<'py, PyType>> {
    types::mro(class).iter().flatten().filter_map(|base| base.cast_into::<PyType>().ok()).collect()
}

/// What the class itself defines.
fn descriptors<'py>(class: &Bound<'py, PyType>) -> Vec<(String, Bound<'py, PyAny>)> {
    let items = class.getattr(name!("__dict__")).and_then(|dict| dict.call_method0(name!("items")));
    let items = items.and_then(|items| items.try_iter());
    items
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|item| {
            let (name, found) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>().ok()?;
            Some((name.cast_into::<PyString>().ok()?.to_string_lossy().into_owned(), found))
        })
        .collect()
}

/// `member_descriptor` and `getset_descriptor` by name, if C defines the class of the object.
fn kind(object: &Bound<'_, PyAny>) -> &'static str {
    match &*types::c_name(&object.get_type()) {
        "member_descriptor" => "member_descriptor",
        "getset_descriptor" => "getset_descriptor",
        _ => "",
    }
}

/// Whether setting the attribute meets a descriptor of the class instead of `__dict__`.
fn is_hidden(class: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> bool {
    let Some(found) = types::lookup(class, name) else { return false };
    let class = found.get_type();
    let setters = [pyo3::intern!(found.py(), "__set__"), pyo3::intern!(found.py(), "__delete__")];
    setters.iter().any(|name| types::lookup(&class, name).is_some())
}

/// The same object, equal plain values, or tuples of these.
fn same(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    if one.is(other) {
        return true;
    }
    if let (Ok(one), Ok(other)) = (one.cast_exact::<PyTuple>(), other.cast_exact::<PyTuple>()) {
        return one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| same(&one, &other));
    }
    one.get_type().is(other.get_type()) && super::known::is_scalar(one) && one.eq(other).unwrap_or(false)
}

fn is(class: &Bound<'_, PyType>, name: &str) -> bool {
    types::c_name(class) == name
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
    found.is_some_and(|found| types::c_name(&found.get_type()) == "builtin_function_or_method")
}

/// Whether C lays out the instances of a class and of those that derive from it.
fn lays_out(base: &Bound<'_, PyType>) -> bool {
    is_c_type(base) && types::has_own_fields(base)
}
