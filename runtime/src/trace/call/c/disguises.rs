//! What C would take for something else: it tells builtins and their subclasses by flags that a proxy does not have.
use crate::ffi::{callee, flag, types};
use crate::trace::call::c::function::STORES;
use crate::trace::call::effects::allowed;
use crate::trace::proxy::convert;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyList, PyTuple};

/// Functions that ask what they get for an iterator, and for nothing else first.
const GO_THROUGH: &[&str] =
    &["list", "tuple", "extend", "sum", "zip", "enumerate", "map", "filter", "sorted", "min", "max", "any", "all"];

impl<'py> Tracer<'py> {
    /// C tells `int`, `str`, `list`… and their subclasses by flags that a proxy does not have.
    pub(crate) fn refuse_disguise(
        &mut self,
        native: &Bound<'py, PyAny>,
        name: &str,
        index: usize,
        value: ValueId,
    ) -> Traced<()> {
        if !native.is_instance_of::<Proxy>() || (index > 0 && STORES.contains(&name)) {
            return Ok(());
        }
        self.refuse_whole(value, name)?;
        const LOOK_UP: [&str; 4] = ["add", "discard", "remove", "__contains__"];
        let class = self.class_of(value)?;
        let looked_up = LOOK_UP.contains(&name) && (self.is_id(value) || index > 0 && self.domain_of(&class).is_some());
        if looked_up || class.is(self.py.get_type::<PyAny>()) {
            return Ok(());
        }
        let what = format!("{name}({})", types::name(&class));
        // CPython's C does not know what other libraries' C has laid out.
        let is_foreign = self.domain_of(&class).is_some();
        let is_data =
            types::has(&class, flag::DATA_SUBCLASS) || crate::trace::value::kinds::scalar_base(&class).is_some();
        if is_data || convert::derives_from_c(&class) && !is_foreign {
            return unsupported("C function on an instance of a builtin's subclass", what);
        }
        match self.real(value) {
            Some(_) if self.is_outside_iterator(value) && name != "length_hint" => Ok(()),
            Some(object)
                if crate::ffi::types::is_c_type(&class)
                    && !self.runs_python(&object)
                    && !self.acts_outside(&object)
                    && self.domain_call(value)?.is_none()
                    && !(GO_THROUGH.contains(&name) && self.iterates_by_index(value)) =>
            {
                unsupported("C function on an object of a C class from outside", what)
            }
            _ => Ok(()),
        }
    }

    /// From 3.15 on C reads the tables of frozen dicts as those of dicts, whatever methods a derived class has: a proxy has no table.
    pub(crate) fn refuse_frozen_dicts(&mut self, natives: &[Bound<'py, PyAny>]) -> Traced<()> {
        if cfg!(not(Py_3_15)) {
            return Ok(());
        }
        let frozen = self.import("builtins", "frozendict")?;
        for native in natives.iter().filter(|native| native.is_instance_of::<Proxy>()) {
            let Some(value) = self.value_of_proxy(native) else { continue };
            let class = self.class_of(value)?;
            let derived = !class.is(&frozen) && class.is_subclass(&frozen).unwrap_or(false);
            if derived {
                return unsupported("C function on an instance of a builtin's subclass", types::name(&class));
            }
        }
        Ok(())
    }

    /// The same for what lies in containers, where the function looks into containers in containers.
    pub(crate) fn refuse_disguises_inside<'a>(
        &mut self,
        callable: &Bound<'py, PyAny>,
        name: &str,
        mut natives: impl Iterator<Item = &'a Bound<'py, PyAny>>,
    ) -> Traced<()>
    where
        'py: 'a,
    {
        let owner = callee::owner_of(callable).unwrap_or_else(|| callable.get_type());
        if !allowed::looks_inside(&types::c_name(&owner)) && !allowed::looks_inside(&callee::module_of(callable)) {
            return Ok(());
        }
        natives.try_for_each(|native| self.refuse_inside(native, name, convert::MAX_DEPTH))
    }

    fn refuse_inside(&mut self, native: &Bound<'py, PyAny>, name: &str, depth: usize) -> Traced<()> {
        if let Some(value) = self.value_of_proxy(native) {
            return self.refuse_disguise(native, name, 0, value);
        }
        let parts: Vec<Bound<'py, PyAny>> = if let Ok(list) = native.cast::<PyList>() {
            list.iter().collect()
        } else if let Ok(tuple) = native.cast::<PyTuple>() {
            tuple.iter().collect()
        } else if let Ok(dict) = native.cast::<PyDict>() {
            dict.iter().flat_map(|(key, value)| [key, value]).collect()
        } else {
            return Ok(());
        };
        if depth == 0 {
            return unsupported("C function on a container", format!("{name}: containers lie too deep in one another"));
        }
        parts.iter().try_for_each(|part| self.refuse_inside(part, name, depth - 1))
    }
}
