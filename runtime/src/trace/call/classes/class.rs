//! Calls classes. CPython: `type_call`, `object_new`, `slot_tp_init`.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::trace::call::effects::allowed;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PySlice, PyString, PyType};

/// Whether instances of a class of C are made by functions that work on their arguments alone.
pub(crate) fn is_made_here(class: &Bound<'_, PyType>, name: &str) -> bool {
    let module =
        class.getattr(intern!(class.py(), "__module__")).map(|module| types::text(&module)).unwrap_or_default();
    let listed = MADE.contains(&name) || allowed::makes(name);
    listed || is_struct_sequence(class) || matches!(module.as_str(), "itertools" | "operator" | "_operator")
}

/// Whether `PyStructSequence_NewType` made the class. CPython: `structseq_new`, `structseq_reduce`.
pub(crate) fn is_struct_sequence(class: &Bound<'_, PyType>) -> bool {
    is_c_type(class)
        && class.is_subclass_of::<pyo3::types::PyTuple>().unwrap_or(false)
        && class.hasattr(intern!(class.py(), "n_sequence_fields")).unwrap_or(false)
}

/// Classes whose instances hold their arguments or are made of them through their slots; text is decoded by codecs of the library.
const MADE: &[&str] = &[
    "int",
    "float",
    "complex",
    "bool",
    "str",
    "bytes",
    "bytearray",
    "memoryview",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "range",
    "slice",
    "enumerate",
    "zip",
    "map",
    "filter",
    "reversed",
    "property",
    "cell",
    "staticmethod",
    "classmethod",
    "object",
    "NoneType",
    "NotImplementedType",
    "ellipsis",
    "collections.deque",
    "collections._tuplegetter",
    "_collections._tuplegetter",
    "collections.defaultdict",
    "collections.OrderedDict",
    "functools.partial",
    "functools._lru_cache_wrapper",
    "_struct.Struct",
];

/// The class of C whose `tp_new` the class has. A class keeps it where its `__new__` is the wrapper of another C class's.
/// CPython: `update_one_slot`, `tp_new_wrapper`.
fn base_with_tp_new<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let own = tp_new(class)?;
    let mut bases = types::mro(class)?.into_iter().filter_map(|base| base.cast_into::<PyType>().ok());
    bases.find(|base| is_c_type(base) && tp_new(base) == Some(own))
}

/// Whether calls of two classes make their instances by the same function.
pub(crate) fn have_same_tp_new(one: &Bound<'_, PyType>, other: &Bound<'_, PyType>) -> bool {
    tp_new(one) == tp_new(other)
}

fn tp_new(class: &Bound<'_, PyType>) -> Option<usize> {
    types::slot_pointer(class, Slot::tp_new.suite(), Slot::tp_new.offset())
}

/// Whether objects of the class keep the name of the module that made them.
fn names_its_module(class: &str) -> bool {
    matches!(class, "typing.TypeVar" | "typing.ParamSpec" | "typing.TypeVarTuple")
}

impl<'py> Tracer<'py> {
    pub(crate) fn call_class(
        &mut self,
        callable: ValueId,
        class: &Bound<'py, PyType>,
        args: Arguments,
    ) -> Traced<ValueId> {
        let _ = callable;
        let meta = class.get_type();
        if class.is(self.py.get_type::<PyType>()) {
            return self.call_type(&args);
        }
        let plain = types::lookup(&self.py.get_type::<PyType>(), intern!(self.py, "__call__"));
        match self.lookup(&meta, "__call__") {
            Some(call) if !plain.is_some_and(|plain| call.is(&plain)) => {
                let call = self.absorb_static(call);
                let class = self.constant(class.clone().into_any());
                self.call(call, args.with_receiver(class))
            }
            _ => self.instantiate(class, args),
        }
    }

    /// `type(value)`, or `type(name, bases, namespace)`.
    pub(crate) fn call_type(&mut self, args: &Arguments) -> Traced<ValueId> {
        if let ([value], true) = (args.positional.as_slice(), args.keywords.is_empty()) {
            let class = self.class_of(*value)?;
            return Ok(self.constant(class.into_any()));
        }
        if args.positional.len() != 3 {
            return self.raise("TypeError", "type() takes 1 or 3 arguments");
        }
        let plain = self.py.get_type::<PyType>();
        let meta = self.constant(plain.clone().into_any());
        let made = self.new_type(&args.clone().with_receiver(meta))?;
        if self.class_of(made)?.is(&plain) { Ok(made) } else { self.initialise(&plain, made, args.clone()) }
    }

    /// `type_call`: `__new__`, then `__init__` if the result is an instance.
    pub(crate) fn instantiate(&mut self, class: &Bound<'py, PyType>, args: Arguments) -> Traced<ValueId> {
        let name = types::name(class);
        if is_c_type(class) {
            return self.instantiate_c(class, &name, &args);
        }
        if !self.ends_in_c(class) {
            return unsupported("instance with a finaliser", name);
        }
        let Some(instance) = self.call_tp_new(class, &name, &args)? else {
            return unsupported("class without __new__", name);
        };
        self.initialise(class, instance, args)
    }

    /// What the call of a class gives whose `tp_new` has given this: `__init__` is called where it is an instance of the class. CPython: `type_call`.
    fn initialise(&mut self, class: &Bound<'py, PyType>, instance: ValueId, args: Arguments) -> Traced<ValueId> {
        let plain_init = self.of_object("__init__")?;
        let made = self.class_of(instance)?;
        let has_init = self.lookup(&made, "__init__").is_some_and(|init| !init.is(&plain_init));
        if !types::is_subtype(&made, class) || !has_init {
            return Ok(instance);
        }
        let Some(init) = self.special(instance, "__init__")? else { return Ok(instance) };
        let result = self.call(init, args)?;
        if !self.is_none(result)? {
            let class = self.class_of(result)?;
            let name = types::name(&class);
            return self.raise("TypeError", format!("__init__() should return None, not '{name}'"));
        }
        Ok(instance)
    }

    /// What `tp_new` of the class gives; `None`: it has none. CPython: `object_new`, `slot_tp_new`, or the `tp_new` of a base.
    pub(crate) fn call_tp_new(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let Some(new) = self.lookup(class, "__new__") else { return Ok(None) };
        let class_value = self.constant(class.clone().into_any());
        let new = match base_with_tp_new(class) {
            Some(base) if base.is(self.py.get_type::<PyAny>()) => {
                let plain_init = self.of_object("__init__")?;
                let has_init = self.lookup(class, "__init__").is_some_and(|init| !init.is(&plain_init));
                return self.new_plain(class, name, args, has_init).map(Some);
            }
            Some(base) => match self.lookup(&base, "__new__") {
                Some(new) => self.static_function(new),
                None => return Ok(None),
            },
            None => match &*types::c_name(&new.get_type()) {
                "staticmethod" | "function" | "builtin_function_or_method" | "builtin_method" => {
                    self.static_function(new)
                }
                _ => self.get_attr(class_value, "__new__")?,
            },
        };
        self.call(new, args.clone().with_receiver(class_value)).map(Some)
    }

    /// Whether no Python code of the class runs when an instance ends, nor C whose end is not known.
    fn ends_in_c(&mut self, class: &Bound<'py, PyType>) -> bool {
        self.lookup(class, "__del__").is_none() || !crate::trace::value::finalisable::has_finaliser(class)
    }

    /// What hangs under a static method.
    fn static_function(&mut self, found: Bound<'py, PyAny>) -> ValueId {
        let inner = match &*types::c_name(&found.get_type()) {
            "staticmethod" => found.getattr(intern!(self.py, "__func__")).unwrap_or(found),
            _ => found,
        };
        self.absorb_static(inner)
    }

    /// CPython: `object_new`.
    fn new_plain(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
        has_init: bool,
    ) -> Traced<ValueId> {
        let excess = !args.positional.is_empty() || !args.keywords.is_empty();
        if excess && !has_init {
            return self.raise("TypeError", format!("{name}() takes no arguments"));
        }
        match types::new_instance(class) {
            Ok(instance) => Ok(self.own(instance)),
            Err(error) => self.raise_error(error),
        }
    }

    fn instantiate_c(&mut self, class: &Bound<'py, PyType>, name: &str, args: &Arguments) -> Traced<ValueId> {
        if let ([value], true) = (args.positional.as_slice(), args.keywords.is_empty())
            && let Some(result) = self.convert(name, *value)?
        {
            return Ok(result);
        }
        if class.is(self.py.get_type::<PySlice>())
            && args.keywords.is_empty()
            && (1..=3).contains(&args.positional.len())
            && args.positional.iter().any(|bound| self.is_symbolic(*bound))
        {
            return self.slice(&args.positional);
        }
        if self.is_weak_class(class)? {
            return self.make_weak(class.as_any(), None, args);
        }
        let empty = args.positional.is_empty() && args.keywords.is_empty();
        if empty && class.is(crate::ffi::contexts::context_class(self.py)) {
            return Ok(self.empty_context());
        }
        if class.is(self.py.get_type::<PyFunction>()) {
            return self.new_function(class, args);
        }
        if types::is_c_class(class, "types.GenericAlias") {
            self.refuse_generic_classes(&args.positional)?;
        }
        let exception = class.is_subclass_of::<pyo3::exceptions::PyBaseException>().unwrap_or(false);
        if !exception && !is_made_here(class, &types::c_name(class)) {
            return unsupported("call of a C class", name);
        }
        let made = self.making_an_object(class, |tracer| tracer.call_c_on(class.as_any(), args, false))?;
        if names_its_module(&types::c_name(class)) {
            self.set_module_of(made)?;
        }
        Ok(made)
    }

    /// What C takes for the calling module is that of the function that asked for the trace. CPython: `caller` in `typevarobject.c`.
    fn set_module_of(&mut self, made: ValueId) -> Traced<()> {
        let function = self.state.places.last().map(|place| place.function.bind(self.py).clone());
        let module = function.and_then(|function| function.getattr(intern!(self.py, "__module__")).ok());
        let module = module.unwrap_or_else(|| self.py.None().into_bound(self.py));
        match self.owned(made) {
            Some(object) => {
                object.setattr(intern!(self.py, "__module__"), module).or_else(|error| self.raise_error(error))
            }
            None => Ok(()),
        }
    }

    /// Conversions of one value that its own methods decide.
    fn convert(&mut self, name: &str, value: ValueId) -> Traced<Option<ValueId>> {
        match name {
            "bool" => {
                if let Some(truth) = self.truth_of_contents(value)? {
                    return Ok(Some(truth));
                }
                let truth = self.is_true(value)?;
                Ok(Some(self.boolean(truth)))
            }
            "str" => {
                let value = self.behind_proxy(value)?.unwrap_or(value);
                self.model_text(value, "__str__", &[])
            }
            "int" | "float" | "complex" => {
                if let Some(number) = self.number_function(name, &[value])? {
                    return Ok(Some(number));
                }
                let class = self.class_of(value)?;
                // What another class of C makes of it nobody knows before the graph has run.
                if is_c_type(&class) && self.domain_of(&class).is_none_or(|domain| domain.unread(&class).is_none()) {
                    return Ok(None);
                }
                // CPython: `complex_new_impl`, which reads text, of derived classes too, before it asks for a method.
                if name == "complex" && types::is_subtype(&class, &self.py.get_type::<PyString>()) {
                    return unsupported("conversion", "complex of text of a derived class");
                }
                let method = format!("__{name}__");
                // Without the method C asks for others, or raises.
                let Some(bound) = self.special(value, &method)? else { return Ok(None) };
                let result = self.call(bound, Arguments::default())?;
                let class = self.class_of(result)?;
                if types::is_c_class(&class, name) {
                    return Ok(Some(result));
                }
                unsupported("conversion that gives another type", name)
            }
            _ => Ok(None),
        }
    }
}
