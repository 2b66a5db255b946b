//! C functions and methods that have a model, or that read state from outside.
use crate::domain::Callee;
use crate::ffi::types::is_c_type;
use crate::ffi::{callee, types};
use crate::names::interned;
use crate::semantics::module_in_tables;
use crate::trace::attribute::descriptors::has_generic_setattr;
use crate::trace::operator::by_name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, hints, stop, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// Builtin class, class method.
const CONVERSIONS: &[(&str, &str)] =
    &[("int", "from_bytes"), ("float", "fromhex"), ("bytes", "fromhex"), ("bytearray", "fromhex")];

impl<'py> Tracer<'py> {
    /// What the model of a callable of C gives, by what it belongs to.
    pub(crate) fn call_modelled_c(
        &mut self,
        object: &Bound<'py, PyAny>,
        name: &str,
        owner: Option<&Bound<'py, PyType>>,
        receiver: Option<&Bound<'py, PyAny>>,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if args.keywords.is_empty()
            && owner.is_some_and(|owner| owner.is(self.py.get_type::<PyString>()))
            && let Some(text) = self.text_method(name, &args.positional)?
        {
            return Ok(Some(text));
        }
        if args.keywords.is_empty()
            && owner.is_some_and(|owner| self.is_of_numbers(owner))
            && let Some(number) = self.number_method(name, &args.positional)?
        {
            return Ok(Some(number));
        }
        if matches!(name, "format" | "format_map" | "__format__") {
            self.refuse_locale(object, name, args)?;
        }
        if let ("__format__", [value, spec]) = (name, args.positional.as_slice())
            && let Some(text) = self.format_unread(*value, &[*spec])?
        {
            return Ok(Some(text));
        }
        if let Some(owner) = owner
            && let Some(result) = self.call_modelled_method(object, owner, name, args)?
        {
            return Ok(Some(result));
        }
        match receiver {
            Some(receiver) if receiver.is_instance_of::<pyo3::types::PyModule>() => {
                self.call_of_module(object, name, args)
            }
            Some(receiver) => match receiver.cast::<PyType>() {
                Ok(class) => match self.read_settings_for(object, class, name, args)? {
                    Some(result) => Ok(Some(result)),
                    None => self.type_method(object, class, name, args),
                },
                Err(_) => Ok(None),
            },
            None => Ok(None),
        }
    }

    fn call_modelled_method(
        &mut self,
        object: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if let Some(first) = args.positional.first().copied() {
            let class = self.class_of(first)?;
            if let Some(domain) = self.domain_of(&class)
                && types::is_subtype(&class, owner)
            {
                self.refuse_hidden_method(first, name)?;
                let callee = Callee::Method(name.to_owned());
                return self.call_domain(&domain, callee, &args.positional, &args.keywords).map(Some);
            }
            if self.state.generators.contains_key(&first) {
                return self.generator_method(first, name, &args.positional[1..]).map(Some);
            }
        }
        if let Some(result) = self.attribute_of_graph_value(owner, name, args)? {
            return Ok(Some(result));
        }
        // CPython: `weakref___init__`.
        if name == "__init__" && is_c_type(owner) && self.is_weak_class(owner)? {
            return self.init_weak(object, args).map(Some);
        }
        self.refuse_random_seed(owner, name, args)?;
        if let Some(result) = self.view_method(name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.read_file_outside(object, owner, name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.namespace_method(name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.context_variable_method(owner, name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.context_method(name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.read_settings_of(object, owner, name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.lock_method(owner, name, args)? {
            return Ok(Some(result));
        }
        self.object_method(object, owner, name, args)
    }

    /// Functions of modules that have a model, or that read the world outside.
    fn call_of_module(&mut self, object: &Bound<'py, PyAny>, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        if let Some(first) = args.positional.first() {
            // A model may look at its object.
            self.class_of(*first)?;
        }
        if let Some(answer) = self.compiler_query(object, name, args) {
            return Ok(Some(answer));
        }
        let module = callee::module_of(object);
        let modelled = match module_in_tables(&module) {
            "builtins" => self.call_modelled(name, args)?,
            "sys" => self.call_sys(object, name, args)?,
            "gc" if name == "collect" && args.positional.is_empty() && args.keywords.is_empty() => {
                Some(self.collect(object)?)
            }
            "math" => self.number_in_math(object, name, args)?,
            "gc" if name == "is_tracked" => self.is_tracked(args)?,
            "_abc" => self.call_abc(name, args)?,
            "_warnings" if name == "warn" => self.model_warn(args)?,
            "_imp" => self.import_lock(name, args)?,
            "_codecs" if name == "register_error" => self.register_error(object, args)?,
            "_contextvars" if name == "copy_context" && args.positional.is_empty() && args.keywords.is_empty() => {
                Some(self.copy_context())
            }
            "_csv" => self.rely_on_dialects(name, args).map(|()| None)?,
            "_operator" if args.keywords.is_empty() && by_name::arity(name) == Some(args.positional.len()) => {
                Some(self.operator(name, &args.positional)?)
            }
            "_weakref" if name.starts_with("getweakref") => {
                return unsupported("weak references of an object", "those of the trace end later than the program's");
            }
            "_weakref" if name == "proxy" => self.make_weak(object, None, args).map(Some)?,
            "slotrt._slotrt" if name == "graph_break" => {
                return stop(
                    crate::graph_break::EXPLICIT,
                    "slotrt.graph_break()",
                    "the program asks for a graph break here",
                    hints::REQUESTED,
                );
            }
            _ => None,
        };
        if modelled.is_some() {
            return Ok(modelled);
        }
        if let Some(result) = self.issue_warning(object, &module, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.set_outside(object, &module, name, args) {
            return Ok(Some(result));
        }
        if let Some(result) = self.read_settings(object, &module, name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.read_outside(object, &module, name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.open_file(object, &module, name, args)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.call_handed_on(&module, name, args)? {
            return Ok(Some(result));
        }
        self.call_forwarded(&module, name, args)
    }

    /// `type.__new__` and `type.__prepare__`.
    fn type_method(
        &mut self,
        object: &Bound<'py, PyAny>,
        receiver: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let of_type = receiver.is(self.py.get_type::<PyType>());
        let meta = of_type || types::is_subtype(receiver, &self.py.get_type::<PyType>());
        match name {
            "__new__" if of_type => self.new_type(args).map(Some),
            "__new__" if self.is_weak_class(receiver)? => {
                let Some((class, rest)) = args.positional.split_first() else { return Ok(None) };
                let rest =
                    Arguments { positional: rest.to_vec(), keywords: args.keywords.clone(), ..Arguments::default() };
                self.make_weak(object, Some(*class), &rest).map(Some)
            }
            _ if let Some(converts) = self.conversion_of_base(receiver, name) => {
                let made = self.call_c_function(&converts, args.clone())?;
                let class = self.constant(receiver.clone().into_any());
                self.call(class, Arguments::positional(vec![made])).map(Some)
            }
            "fromkeys" if derives_from_dict(receiver) && args.keywords.is_empty() => {
                self.dict_from_keys(receiver, args)
            }
            "__init_subclass__" | "__subclasshook__" => self.call_c_on(object, args, false).map(Some),
            "__prepare__" if meta => Ok(Some(self.own(pyo3::types::PyDict::new(self.py).into_any()))),
            _ => Ok(None),
        }
    }

    /// Class methods that make a value of a builtin class and, asked by a class of Python code, call that with it: the one of the builtin class.
    /// CPython: `int_from_bytes_impl`, `float_fromhex`, `_PyBytes_FromHex`.
    fn conversion_of_base(&self, class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
        if is_c_type(class) || !CONVERSIONS.iter().any(|row| row.1 == name) {
            return None;
        }
        let key = interned(self.py, name);
        let mut bases = types::mro(class).into_iter().flatten().filter_map(|base| base.cast_into::<PyType>().ok());
        let base = bases.find(|base| is_c_type(base) && types::own(base, &key).is_some())?;
        let listed = CONVERSIONS.iter().any(|row| row.1 == name && types::is_c_class(&base, row.0));
        if listed { base.getattr(&key).ok() } else { None }
    }

    /// `fromkeys` of a class that derives from `dict`. CPython: `_PyDict_FromKeys`.
    fn dict_from_keys(&mut self, class: &Bound<'py, PyType>, args: &Arguments) -> Traced<Option<ValueId>> {
        let (keys, value) = match args.positional[..] {
            [keys] => (keys, self.none()),
            [keys, value] => (keys, value),
            _ => return Ok(None),
        };
        let class = self.constant(class.clone().into_any());
        let made = self.call(class, Arguments::default())?;
        let iterator = self.get_iter(keys)?;
        while let Some(key) = self.next(iterator)? {
            self.operator("setitem", &[made, key, value])?;
        }
        Ok(Some(made))
    }

    /// Methods of `object` and `type` that are protocol: they look at the value, not at C memory.
    fn object_method(
        &mut self,
        object: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let owner = types::c_name(owner);
        let none = self.none();
        match (&*owner, name, args.positional.as_slice()) {
            ("object", "__setattr__" | "__delattr__", [receiver, ..]) if self.has_odd_setattr(*receiver)? => {
                unsupported("object.__setattr__ on an object of a C class with a setter of its own", name)
            }
            ("object", "__setattr__", [receiver, attribute, value]) => {
                let attribute = self.name_of(*attribute)?;
                self.generic_set_attr(*receiver, &attribute, Some(*value))?;
                Ok(Some(none))
            }
            ("object", "__delattr__", [receiver, attribute]) => {
                let attribute = self.name_of(*attribute)?;
                self.generic_set_attr(*receiver, &attribute, None)?;
                Ok(Some(none))
            }
            ("object", "__getattribute__", [receiver, attribute]) => {
                let attribute = self.name_of(*attribute)?;
                self.generic_get_attr(*receiver, &attribute).map(Some)
            }
            // CPython: `_Py_module_getattro_impl`, for instances of derived classes.
            ("module", "__getattribute__", [receiver, attribute]) => {
                let attribute = self.name_of(*attribute)?;
                self.derived_module_get_attr(*receiver, &attribute).map(Some)
            }
            // CPython: `object_str`, `object___format___impl`.
            ("BaseException", "with_traceback", [exception, traceback]) => {
                self.set_traceback(*exception, Some(*traceback))?;
                Ok(Some(*exception))
            }
            // CPython: `member_get`, `getset_get`.
            ("member_descriptor" | "getset_descriptor", "__get__", [descriptor, receiver, ..])
                if !self.is_none(*receiver)? =>
            {
                self.read_member_of(*descriptor, *receiver)
            }
            // CPython: `type___instancecheck__`, `type___subclasscheck__`.
            ("type", "__instancecheck__", [class, value]) => {
                let truth = crate::semantics::abstract_::_PyObject_RealIsInstance(self, value, class)?;
                Ok(Some(self.boolean(truth != 0)))
            }
            ("type", "__subclasscheck__", [class, derived]) => {
                let truth = crate::semantics::abstract_::_PyObject_RealIsSubclass(self, derived, class)?;
                Ok(Some(self.boolean(truth != 0)))
            }
            ("object", "__dir__", [receiver]) if self.real(*receiver).is_some() => self.names_of_object(*receiver),
            // CPython: `object_richcompare`.
            ("object", "__eq__", [one, other]) => {
                let same = self.is(*one, *other)?;
                let not = self.py.NotImplemented().into_bound(self.py);
                Ok(Some(if same { self.boolean(true) } else { self.constant(not) }))
            }
            // Both say the address of an object from outside, which a guard then asks for.
            ("object", "__hash__" | "__repr__", [receiver]) if self.real(*receiver).is_some() => {
                self.class_of(*receiver)?;
                if name == "__repr__" {
                    let class = self.class_of(*receiver)?;
                    self.rely_on_name(&class, "__name__")?;
                    self.rely_on_name(&class, "__qualname__")?;
                }
                let Some(receiver) = self.same_object(*receiver) else {
                    return unsupported("address of an object that no guard may hold", name);
                };
                self.rely_on_class(&receiver.get_type());
                let said = object.call1((receiver,));
                self.after_native(said, &[]).map(Some)
            }
            ("object", "__str__", [receiver]) => self.special_call(*receiver, "__repr__").map(Some),
            ("object", "__format__", [receiver, format])
                if self.known_str(*format).is_some_and(|text| text.is_empty()) =>
            {
                self.call_builtin_class("str", *receiver).map(Some)
            }
            ("type", "__setattr__" | "__delattr__", [class, attribute, value @ ..]) if self.owned(*class).is_some() => {
                let attribute = self.name_of(*attribute)?;
                let Some(class) = self.owned(*class).and_then(|class| class.cast_into::<PyType>().ok()) else {
                    return Ok(None);
                };
                self.plain_type_set_attr(&class, &attribute, value.first().copied())?;
                Ok(Some(none))
            }
            // What the classes of the MRO hold, and what a class is called, which their versions guard.
            ("type", "__dir__" | "mro" | "__repr__", [class]) => {
                let Some(class) = self.known(*class).and_then(|class| class.cast_into::<PyType>().ok()) else {
                    return Ok(None);
                };
                self.rely_on_class(&class);
                if name == "__repr__" {
                    self.rely_on_name(&class, "__name__")?;
                    self.rely_on_name(&class, "__qualname__")?;
                }
                let said = object.call1((class,));
                self.after_native(said, &[]).map(Some)
            }
            // Nobody outside derives from a class of the trace's own; none of those that do has ended unless something was called meanwhile.
            ("type", "__subclasses__", [class])
                if self.owned(*class).is_some()
                    && !self.state.effects.iter().any(|effect| matches!(effect, Effect::Call { .. })) =>
            {
                let said = object.call1((self.owned(*class),));
                self.after_native(said, &[]).map(Some)
            }
            // Nothing is left to do when `type.__new__` has made the class.
            ("type", "__init__", [_, _, _, _]) => Ok(Some(none)),
            ("type", "__call__", [class, rest @ ..]) => {
                let class = *class;
                let rest =
                    Arguments { positional: rest.to_vec(), keywords: args.keywords.clone(), ..Arguments::default() };
                let Some(object) = self.known(class).and_then(|class| class.cast_into::<PyType>().ok()) else {
                    return Ok(None);
                };
                match object.is(self.py.get_type::<PyType>()) {
                    true => self.call_type(&rest).map(Some),
                    false => self.instantiate(&object, rest).map(Some),
                }
            }
            _ => Ok(None),
        }
    }

    /// Whether a C class of the value has an attribute setter of its own, that `object`'s must not bypass. CPython: `hackcheck`.
    fn has_odd_setattr(&mut self, value: ValueId) -> Traced<bool> {
        let class = self.class_of(value)?;
        let odd = |base: Bound<'py, PyAny>| {
            base.cast_into::<PyType>().is_ok_and(|base| is_c_type(&base) && !has_generic_setattr(&base))
        };
        Ok(types::mro(&class).is_none_or(|mro| mro.iter().any(odd)))
    }

    fn name_of(&mut self, name: ValueId) -> Traced<String> {
        self.known_str(name).map_or_else(|| unsupported("attribute name that is not known", "object"), Ok)
    }

    fn special_call(&mut self, receiver: ValueId, name: &str) -> Traced<ValueId> {
        match self.special(receiver, name)? {
            Some(method) => self.call_deeper(method, Arguments::default()),
            None => unsupported("special method", name),
        }
    }

    fn call_builtin_class(&mut self, name: &str, value: ValueId) -> Traced<ValueId> {
        let class = self.import("builtins", name)?;
        let class = self.constant(class);
        self.call(class, Arguments::positional(vec![value]))
    }
}

/// Whether it is a class of Python code whose instances are dicts.
fn derives_from_dict(class: &Bound<'_, PyType>) -> bool {
    !is_c_type(class) && types::is_subtype(class, &class.py().get_type::<pyo3::types::PyDict>())
}
