//! Class statements: a real, private class whose functions are tokens. CPython: `builtin___build_class__`, `type_new`.
use crate::trace::call::Arguments;
use crate::trace::frame::{Flow, Frame, Rest};
use crate::trace::native::is_c_type;
use crate::trace::signal::{Traced, internal, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

impl<'py> Tracer<'py> {
    pub(super) fn load_build_class(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let function = self.import("builtins", "__build_class__")?;
        let function = self.constant(function);
        frame.push(function);
        Ok(Flow::Next)
    }

    /// `__build_class__(function, name, *bases)` with the metaclass `type`.
    pub(in crate::trace) fn build_class(&mut self, args: &Arguments) -> Traced<ValueId> {
        let ([body, name, bases @ ..], true) = (args.positional.as_slice(), args.keywords.is_empty()) else {
            return unsupported("class statement with keywords", "metaclass or __init_subclass__ arguments");
        };
        let (body, bases) = (*body, bases.to_vec());
        let Some(name) = self.known_str(*name) else { return internal("class without a name") };
        let bases = self.plain_bases(&bases, &name)?;
        let namespace = PyDict::new(self.py);
        let namespace_value = self.own(namespace.clone().into_any());
        self.run_class_body(body, namespace_value)?;
        self.wrap_special_methods(&namespace)?;
        let hooks = self.set_name_hooks(&namespace)?;
        let class = self.import("builtins", "type")?;
        let bases = PyTuple::new(self.py, bases).or_else(|error| self.raise_error(error))?;
        let made = self.with_callbacks(|| class.call1((&name, bases, &namespace)));
        let made = match (made, self.state.pending.is_none()) {
            (Ok(class), true) => self.own(class),
            (made, _) => self.after_native(made, &[])?,
        };
        for (hook, attribute) in hooks {
            self.call(hook, Arguments::positional(vec![made, attribute]))?;
        }
        Ok(made)
    }

    /// Bases whose creation of subclasses runs no Python code.
    fn plain_bases(&mut self, bases: &[ValueId], name: &str) -> Traced<Vec<Bound<'py, PyAny>>> {
        let of_object = self.import("builtins", "object")?;
        let of_object = of_object.getattr("__dict__").and_then(|dict| dict.get_item("__init_subclass__")).ok();
        let mut known = Vec::new();
        for base in bases {
            let Some(class) = self.known(*base).and_then(|base| base.cast_into::<PyType>().ok()) else {
                return unsupported("class statement with a base that is no class", name);
            };
            let hook = self.lookup(&class, "__init_subclass__");
            let plain_hook = hook.as_ref().map(|hook| hook.as_ptr()) == of_object.as_ref().map(|own| own.as_ptr());
            if !class.get_type().is(self.py.get_type::<PyType>()) || !plain_hook {
                let name = crate::ffi::types::name(&class);
                return unsupported("class statement with a metaclass or __init_subclass__", name);
            }
            known.push(class.into_any());
        }
        Ok(known)
    }

    fn run_class_body(&mut self, body: ValueId, namespace: ValueId) -> Traced<()> {
        let Some(function) = self.owned(body).or_else(|| self.real(body)) else { return internal("class body") };
        let code = function.getattr("__code__").or_else(|error| self.raise_error(error))?;
        let code = self.decode(&code)?;
        let mut frame = self.frame_of(&function, code, Vec::new())?;
        frame.namespace = Some(namespace);
        self.enter_call()?;
        let handled = self.state.exc_info;
        let rest = self.run(&mut frame);
        self.state.depth -= 1;
        self.state.exc_info = handled;
        match rest? {
            Rest::Returned(_) => Ok(()),
            _ => internal("a class body yielded"),
        }
    }

    /// `type_new` makes these functions static or class methods, which it does not recognise in tokens.
    fn wrap_special_methods(&mut self, namespace: &Bound<'py, PyDict>) -> Traced<()> {
        const METHODS: [(&str, &str); 3] =
            [("__new__", "staticmethod"), ("__init_subclass__", "classmethod"), ("__class_getitem__", "classmethod")];
        for (method, wrapper) in METHODS {
            let Ok(Some(function)) = namespace.get_item(method) else { continue };
            if !function.is_instance_of::<crate::trace::token::Token>() {
                continue;
            }
            let value = self.absorb(function.clone());
            if self.owned(value).is_none_or(|object| crate::ffi::types::c_name(&object.get_type()) != "function") {
                continue;
            }
            let wrapped =
                self.import("builtins", wrapper)?.call1((function,)).or_else(|error| self.raise_error(error))?;
            namespace.set_item(method, wrapped).or_else(|error| self.raise_error(error))?;
        }
        Ok(())
    }

    /// `__set_name__` of the values, which C does not see on tokens.
    fn set_name_hooks(&mut self, namespace: &Bound<'py, PyDict>) -> Traced<Vec<(ValueId, ValueId)>> {
        let mut hooks = Vec::new();
        for (name, value) in namespace.iter() {
            let value = self.absorb(value);
            let class = self.class_of(value)?;
            if is_c_type(&class) {
                continue;
            }
            if let Some(hook) = self.special(value, "__set_name__")? {
                hooks.push((hook, self.absorb(name)));
            }
        }
        Ok(hooks)
    }
}
