//! What is read of classes, with the guards that it stays.
use crate::ffi::types;
use crate::guard::source::Source;
use crate::guard::{Check, NamesRead};
use crate::names::interned;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::Value;
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    /// Guards that attribute lookup on a class gives what it gave, under whatever name.
    pub(crate) fn rely_on_class(&mut self, class: &Bound<'py, PyType>) {
        self.see_class(class);
        self.rely_on_names(class, &NamesRead::add_all);
    }

    /// The same of the class's slots alone.
    pub(crate) fn rely_on_slots(&mut self, class: &Bound<'py, PyType>) {
        self.rely_on_names(class, &|_| ());
    }

    fn is_class_made_here(&self, class: &Bound<'py, PyType>) -> bool {
        let value = self.state.identity.get(&(class.as_ptr() as usize));
        value.is_some_and(|value| matches!(self.value(*value), Value::New(_)))
    }

    /// Guards a class, and notes which names are read on it: on its bases where the trace has made it.
    fn rely_on_names(&mut self, class: &Bound<'py, PyType>, note: &dyn Fn(&NamesRead)) {
        types::get_ready(class);
        if types::is_immutable(class) {
            return;
        }
        if self.is_class_made_here(class) {
            let bases = types::mro(class).into_iter().flat_map(|mro| mro.iter().collect::<Vec<_>>());
            for base in bases.filter_map(|base| base.cast_into().ok()) {
                if !self.is_class_made_here(&base) {
                    self.rely_on_names(&base, note);
                }
            }
            return;
        }
        let address = class.as_ptr() as usize;
        let names = self.state.names_read.entry(address).or_insert_with(NamesRead::none).clone();
        note(&names);
        if self.state.touched_types.insert(address) {
            let object = class.clone().into_any().unbind();
            let source = Source::constant(object.bind(self.py));
            self.guard(source, Check::TypeUnchanged(object, names), "attributes were looked up on the class");
        }
    }

    /// What a class made during the trace holds: its functions are proxies, so that C calls lead back here.
    pub(crate) fn unproxied(&self, object: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        match self.value_of_proxy(&object) {
            Some(value) => self.at_hand(value).unwrap_or(object),
            None => object,
        }
    }

    /// `_PyType_Lookup`: along the MRO, without binding.
    pub(crate) fn lookup(&mut self, class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
        if let Some(number) = self.class_number(class, name) {
            return Some(number);
        }
        self.rely_on_names(class, &|names| names.add(name));
        let found = types::lookup(class, &interned(self.py, name))?;
        Some(self.unproxied(found))
    }
}
