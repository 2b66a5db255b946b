//! Makes classes: a real, private class whose functions are proxies. CPython: `type_new`, `_PyType_CalculateMetaclass`.
use crate::ffi::types;
use crate::names::name;
use crate::trace::call::classes::class::have_same_tp_new;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// What C's parser of arguments quotes of a name. CPython: `converterr`.
const LONGEST_NAME: usize = 50;

impl<'py> Tracer<'py> {
    /// The most derived of the metaclass and those of the bases. CPython: `_PyType_CalculateMetaclass`.
    pub(crate) fn calculate_metaclass(
        &mut self,
        meta: &Bound<'py, PyType>,
        bases: &[ValueId],
    ) -> Traced<Bound<'py, PyType>> {
        let mut winner = meta.clone();
        for base in bases {
            let candidate = self.class_of(*base)?;
            if types::is_subtype(&winner, &candidate) {
                continue;
            }
            if !types::is_subtype(&candidate, &winner) {
                return self.raise(
                    "TypeError",
                    "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases",
                );
            }
            winner = candidate;
        }
        Ok(winner)
    }

    /// `type.__new__(metaclass, name, bases, namespace, **keywords)`.
    pub(crate) fn new_type(&mut self, args: &Arguments) -> Traced<ValueId> {
        let [meta, name, bases, namespace] = args.positional.as_slice() else {
            return self.refuse_count(args);
        };
        self.check_kinds(*name, *bases, *namespace)?;
        let Some(meta) = self.known(*meta).and_then(|meta| meta.cast_into::<PyType>().ok()) else {
            return unsupported("class made during the trace", "metaclass that is not known");
        };
        let Some(name) = self.known_str(*name) else {
            return unsupported("class made during the trace", "name that is not known");
        };
        let base_values = self.list_of(*bases, None)?;
        for base in &base_values {
            let is_class = types::is_subtype(&self.class_of(*base)?, &self.py.get_type::<PyType>());
            if !is_class && self.optional_attr(*base, "__mro_entries__")?.is_some() {
                return self.raise("TypeError", "type() doesn't support MRO entry resolution; use types.new_class()");
            }
        }
        let winner = self.calculate_metaclass(&meta, &base_values)?;
        if !winner.is(&meta) {
            self.rely_on_class(&winner);
            if !have_same_tp_new(&winner, &self.py.get_type::<PyType>()) {
                let rest = Arguments {
                    positional: args.positional[1..].to_vec(),
                    keywords: args.keywords.clone(),
                    ..Arguments::default()
                };
                let made = self.call_tp_new(&winner, &types::name(&winner), &rest)?;
                return made
                    .map_or_else(|| unsupported("class made during the trace", "a metaclass without __new__"), Ok);
            }
        }
        let mut known = Vec::new();
        for base in &base_values {
            match self.known(*base).and_then(|base| base.cast_into::<PyType>().ok()) {
                Some(base) => known.push(base),
                None => return unsupported("class statement with a base that is no class", name),
            }
        }
        let Ok(namespace) = self.receiver(*namespace)?.cast_into::<PyDict>() else {
            return unsupported("class made during the trace", "namespace that is no dict");
        };
        // CPython: `PyDict_Copy`.
        let namespace = namespace.copy().or_else(|error| self.raise_error(error))?;
        self.set_module(&namespace)?;
        self.wrap_special_methods(&namespace)?;
        let keywords = PyDict::new(self.py);
        for (keyword, value) in &args.keywords {
            let value = self.native(*value)?;
            keywords.set_item(keyword, value).or_else(|error| self.raise_error(error))?;
        }
        self.make(&winner, &name, &known, &namespace, &keywords)
    }

    /// The types that C's parser of arguments asks for.
    fn check_kinds(&mut self, name: ValueId, bases: ValueId, namespace: ValueId) -> Traced<()> {
        let expected = [
            (name, self.py.get_type::<PyString>()),
            (bases, self.py.get_type::<PyTuple>()),
            (namespace, self.py.get_type::<PyDict>()),
        ];
        for (index, (value, class)) in expected.into_iter().enumerate() {
            let of = self.class_of(value)?;
            if !types::is_subtype(&of, &class) {
                if index == 2 && release::TAKES_FROZEN_NAMESPACES {
                    return unsupported("class made during the trace", "namespace that is no dict");
                }
                self.rely_on_name(&of, "__name__")?;
                let given = if self.is_none(value)? { "None".into() } else { types::c_name(&of) };
                let given: String = given.chars().take(LONGEST_NAME).collect();
                let (number, wanted) = (index + 1, types::name(&class));
                return self
                    .raise("TypeError", format!("type.__new__() argument {number} must be {wanted}, not {given}"));
            }
        }
        Ok(())
    }

    /// C counts its arguments before it looks at them.
    fn refuse_count<T>(&mut self, args: &Arguments) -> Traced<T> {
        const WHAT: &str = "type.__new__ without name, bases and namespace";
        let Some(meta) = args.positional.first().and_then(|meta| self.known(*meta)) else {
            return unsupported("class made during the trace", WHAT);
        };
        let new = self.import("builtins", "type")?.getattr(name!("__new__"));
        let new = new.or_else(|error| self.raise_error(error))?;
        let none = self.py.None().into_bound(self.py);
        let given = std::iter::once(meta).chain(std::iter::repeat_n(none, args.positional.len() - 1));
        let given = PyTuple::new(self.py, given.collect::<Vec<_>>()).or_else(|error| internal(error.to_string()))?;
        match new.call1(given) {
            Ok(_) => unsupported("class made during the trace", WHAT),
            Err(error) => self.raise_error(error),
        }
    }

    /// The module of a class is that of the code which asks for it. CPython: `type_new_set_module`.
    fn set_module(&mut self, namespace: &Bound<'py, PyDict>) -> Traced<()> {
        if namespace.contains("__module__").or_else(|error| self.raise_error(error))? {
            return Ok(());
        }
        let function = self.state.places.last().map(|place| place.function.bind(self.py).clone());
        let globals =
            function.and_then(|function| function.getattr(name!("__globals__")).ok()?.cast_into::<PyDict>().ok());
        let Some(globals) = globals else { return internal("frame without globals") };
        let Some(module) = self.in_globals(&globals, "__name__") else { return Ok(()) };
        let module = self.native(module)?;
        namespace.set_item("__module__", module).or_else(|error| self.raise_error(error))
    }

    fn make(
        &mut self,
        meta: &Bound<'py, PyType>,
        name: &str,
        bases: &[Bound<'py, PyType>],
        namespace: &Bound<'py, PyDict>,
        keywords: &Bound<'py, PyDict>,
    ) -> Traced<ValueId> {
        let new =
            self.import("builtins", "type")?.getattr(name!("__new__")).or_else(|error| self.raise_error(error))?;
        let bases = PyTuple::new(self.py, bases).or_else(|error| self.raise_error(error))?;
        self.state.unfinished_classes.push((name.to_owned(), meta.clone().unbind()));
        let made = self.with_callbacks(|| new.call((meta, name, bases, namespace), Some(keywords)));
        self.state.unfinished_classes.retain(|(unfinished_classes, _)| unfinished_classes != name);
        if let Some(class) = made.as_ref().ok().and_then(|made| made.cast::<PyType>().ok()) {
            self.state.made_classes.add(class);
        }
        match (made, self.state.pending.is_none()) {
            (Ok(class), true) => Ok(match self.state.identity.get(&(class.as_ptr() as usize)) {
                Some(id) => *id,
                None => self.own(class),
            }),
            (made, _) => self.after_native(made, &[]),
        }
    }

    /// What a `mro()` of Python code gave, with the classes themselves, which C looks into. CPython: `mro_implementation`.
    pub(crate) fn real_classes(&mut self, order: ValueId) -> Traced<Bound<'py, pyo3::PyAny>> {
        let mut classes = Vec::new();
        if !matches!(&*types::c_name(&self.class_of(order)?), "list" | "tuple") {
            return self.native(order);
        }
        for item in self.list_of(order, None)? {
            let known = self.known(item).map_or_else(|| self.native(item), Ok)?;
            classes.push(known);
        }
        PyTuple::new(self.py, classes).map(Bound::into_any).or_else(|error| self.raise_error(error))
    }

    /// Whether the object is the class that C is making, which no path from outside leads to.
    pub(crate) fn is_being_made(&mut self, object: &Bound<'py, PyAny>) -> bool {
        let Some((name, meta)) = self.state.unfinished_classes.last() else { return false };
        let Ok(class) = object.cast::<PyType>() else { return false };
        let found = class.get_type().is(meta.bind(self.py)) && types::name(class) == *name;
        if found {
            // Code of the program that ends the trace has seen it, though C will not give it to anyone.
            self.state.made_classes.add(class);
            self.state.unfinished_classes.pop();
        }
        found
    }

    /// `type_new` makes these functions static or class methods, which it does not recognise in proxies.
    fn wrap_special_methods(&mut self, namespace: &Bound<'py, PyDict>) -> Traced<()> {
        const METHODS: [(&str, &str); 3] =
            [("__new__", "staticmethod"), ("__init_subclass__", "classmethod"), ("__class_getitem__", "classmethod")];
        for (method, wrapper) in METHODS {
            let Ok(Some(function)) = namespace.get_item(method) else { continue };
            if !function.is_instance_of::<crate::trace::state::proxy::Proxy>() {
                continue;
            }
            let value = self.absorb(function.clone());
            if self.owned(value).is_none_or(|object| types::c_name(&object.get_type()) != "function") {
                continue;
            }
            let wrapper = self.import("builtins", wrapper)?;
            // It asks the function for what it copies: `__name__`, `__doc__`…
            let wrapped = self.with_callbacks(|| wrapper.call1((function,)));
            let wrapped = self.after_native(wrapped, &[])?;
            let Some(wrapped) = self.owned(wrapped) else { return internal("wrapped function") };
            namespace.set_item(method, wrapped).or_else(|error| self.raise_error(error))?;
        }
        Ok(())
    }
}
