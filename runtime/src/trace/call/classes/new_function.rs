//! `types.FunctionType(code, globals, …)`. CPython: `func_new_impl`.
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::namespaces::Namespace;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::is_scalar;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyTuple, PyType};

const KIND: &str = "function made of its parts";

impl<'py> Tracer<'py> {
    /// A function of known code, in globals of a module or in a dict of the trace's own.
    pub(super) fn new_function(&mut self, class: &Bound<'py, PyType>, args: &Arguments) -> Traced<ValueId> {
        let [code, globals, rest @ ..] = args.positional.as_slice() else {
            return unsupported(KIND, "its code and globals come by name");
        };
        let Some(known) = self.known(*code).filter(|code| code.is_exact_instance_of::<PyCode>()) else {
            return unsupported(KIND, "its code is not known");
        };
        let globals = match (self.owned(*globals), self.state.namespaces.get(globals)) {
            (Some(own), _) => own,
            (None, Some(Namespace::Globals(dict))) => dict.bind(self.py).clone().into_any(),
            _ => return unsupported(KIND, "its globals are a dict from outside"),
        };
        let mut given = vec![known, globals];
        for value in rest {
            given.push(self.own_part(*value)?);
        }
        let mut named = Vec::new();
        for (name, value) in &args.keywords {
            named.push((name.clone(), self.own_part(*value)?));
        }
        // Hooks are told by compiled code.
        let audit = self.import("sys", "audit")?;
        let (callable, event) = (self.constant(audit), self.string("function.__new__"));
        let made = self.run_native(class.as_any(), &given, &named)?;
        self.state.effects.push(Effect::Call { callable, args: vec![event, *code] });
        // What C gives is taken for a function that there was before.
        match self.real(made) {
            Some(function) => Ok(self.own(function)),
            None => Ok(made),
        }
    }

    /// A name, defaults or cells: nothing that a program outside could change.
    fn own_part(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(known) = self.known(value).filter(is_scalar) {
            return Ok(known);
        }
        let Some(own) = self.owned(value) else { return unsupported(KIND, "a part of it is from outside") };
        let is_proxy = |item: Bound<'py, PyAny>| {
            let stands_for = self.value_of_proxy(&item);
            stands_for.is_some_and(|of| self.owned(of).is_none_or(|cell| types::is_c_class(&cell.get_type(), "cell")))
        };
        match own.cast::<PyTuple>().is_ok_and(|parts| parts.iter().any(is_proxy)) {
            true => unsupported(KIND, "a part of it is from outside"),
            false => Ok(own),
        }
    }
}
