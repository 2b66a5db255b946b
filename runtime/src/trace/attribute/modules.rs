//! Attributes of modules, and the error of one that is missing. CPython: `Objects/moduleobject.c`.
use crate::ffi::types;
use crate::names::interned;
use crate::trace::attribute::descriptors::{is_data_descriptor, own_dict};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};

impl<'py> Tracer<'py> {
    /// CPython: `_Py_module_getattro_impl`.
    pub(crate) fn module_get_attr(
        &mut self,
        object: ValueId,
        module: &Bound<'py, PyAny>,
        name: &str,
    ) -> Traced<ValueId> {
        let Some(dict) = own_dict(module) else { return unsupported("attribute of a module", name) };
        self.refuse_given_globals(Some(dict.as_any()))?;
        self.known(object);
        let class = module.get_type();
        let found = self.lookup(&class, name);
        if name == "__dict__" {
            return self.globals_value(&dict);
        }
        if name == "__class__" {
            return Ok(self.constant(class.into_any()));
        }
        if found.as_ref().is_some_and(is_data_descriptor) {
            return unsupported("attribute of a module", name);
        }
        if let Some(value) = self.in_globals(&dict, name) {
            self.refuse_lazy_import(value, name)?;
            return Ok(value);
        }
        if let Some(found) = found {
            let found = self.absorb_static(found);
            return self.bind(found, object, &class);
        }
        if let Some(hook) = self.in_globals(&dict, "__getattr__") {
            let name = interned(self.py, name).into_any();
            let name = self.constant(name);
            return self.call(hook, Arguments::positional(vec![name]));
        }
        let own = self.in_globals(&dict, "__name__");
        let spec = self.in_globals(&dict, "__spec__");
        self.raise_missing_in_module(module, own, spec, name)
    }

    /// The same for an instance of a class that derives from that of modules.
    pub(crate) fn derived_module_get_attr(&mut self, object: ValueId, name: &str) -> Traced<ValueId> {
        let Some(module) = self.real(object) else { return unsupported("attribute of a module", name) };
        if module.is_exact_instance_of::<PyModule>() {
            return self.module_get_attr(object, &module, name);
        }
        match self.generic_get_attr(object, name) {
            Err(signal) if self.raised_is(&signal, "AttributeError")? => {
                if own_dict(&module).is_none_or(|dict| dict.contains("__getattr__").unwrap_or(true)) {
                    return unsupported("attribute of a module", name);
                }
                let own = self.own_attr(object, "__name__")?;
                let spec = self.own_attr(object, "__spec__")?;
                self.raise_missing_in_module(&module, own, spec, name)
            }
            found => found,
        }
    }

    /// The same where `__getattr__` of the class is asked next: nobody sees what C says of an attribute that is missing.
    pub(crate) fn hooked_module_get_attr(&mut self, object: ValueId, name: &str) -> Traced<ValueId> {
        let Some(module) = self.real(object) else { return unsupported("attribute of a module", name) };
        match self.generic_get_attr(object, name) {
            Err(signal) if self.raised_is(&signal, "AttributeError")? => {
                // The function of that name in the module comes first; a spec of the program's own may do anything where C asks it.
                let hooked = own_dict(&module).is_none_or(|dict| dict.contains("__getattr__").unwrap_or(true));
                let spec = self.own_attr(object, "__spec__")?.map(|spec| self.same_object(spec));
                let is_plain = |spec: Bound<'_, PyAny>| spec.is_none() || is_plain_spec(&spec);
                match hooked || !spec.is_none_or(|spec| spec.is_some_and(is_plain)) {
                    true => unsupported("attribute of a module", name),
                    false => Err(signal),
                }
            }
            found => found,
        }
    }

    pub(crate) fn own_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let read = self.generic_get_attr(object, name);
        self.unless_missing(read)
    }

    /// What C says depends on the module's name, and on where and whether its import stands: the real module is asked where these are its own.
    fn raise_missing_in_module<T>(
        &mut self,
        module: &Bound<'py, PyAny>,
        own: Option<ValueId>,
        spec: Option<ValueId>,
        name: &str,
    ) -> Traced<T> {
        let own = match own {
            None => None,
            Some(own) if !types::is_subtype(&self.class_of(own)?, &self.py.get_type::<PyString>()) => None,
            Some(own) => match self.known_str(own) {
                Some(own) => Some(own),
                None => return unsupported("attribute of a module with a name that is not known", name),
            },
        };
        let Some(own) = own else { return self.raise("AttributeError", format!("module has no attribute '{name}'")) };
        let plain = format!("module '{own}' has no attribute '{name}'");
        if let Some(spec) = spec {
            let spec = self.same_object(spec);
            if !spec.is_some_and(|spec| spec.is_none() || says(module, &spec, name).is_some_and(|said| said == plain)) {
                return unsupported("missing attribute of a module, which its spec may explain", name);
            }
        }
        self.raise("AttributeError", plain)
    }
}

/// Whether it is a spec as the import system makes them.
fn is_plain_spec(spec: &Bound<'_, PyAny>) -> bool {
    let machinery = crate::ffi::modules::import(spec.py(), "importlib.machinery");
    machinery.and_then(|room| room.getattr("ModuleSpec")).is_ok_and(|class| spec.get_type().is(&class))
}

/// What the real module says, if that is its spec and the spec is the import system's own.
fn says(module: &Bound<'_, PyAny>, spec: &Bound<'_, PyAny>, name: &str) -> Option<String> {
    let py = module.py();
    let is_plain = is_plain_spec(spec);
    let is_its = own_dict(module)?.get_item("__spec__").ok()??.is(spec);
    if !is_plain || !is_its {
        return None;
    }
    let error = module.getattr(interned(py, name)).err()?;
    Some(types::text(error.value(py).as_any()))
}
