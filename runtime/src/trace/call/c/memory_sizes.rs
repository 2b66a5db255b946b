//! How much memory an object takes: `__sizeof__` and `sys.getsizeof`. Beside the value it hangs on how the object came about, and on what others
//! did with it meanwhile: those of objects from outside are not read, those of the trace's own only where C made them as the program does.
use crate::ffi::dict_table::shares_keys;
use crate::ffi::{callee, types};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

impl<'py> Tracer<'py> {
    /// Breaks where a method of C says how much memory an object takes, and the program's own may take another amount.
    pub(crate) fn refuse_memory_size(
        &mut self,
        name: &str,
        owner: Option<&Bound<'py, PyType>>,
        args: &Arguments,
    ) -> Traced<()> {
        let (Some(owner), Some(value), true) = (owner, args.positional.first(), name == "__sizeof__") else {
            return Ok(());
        };
        match self.has_lasting_size(owner, *value) {
            true => Ok(()),
            false => unsupported("memory of an object", types::name(owner)),
        }
    }

    /// Whether the `__sizeof__` of this class of C says the same of the program's own object.
    fn has_lasting_size(&mut self, owner: &Bound<'py, PyType>, value: ValueId) -> bool {
        match &*types::c_name(owner) {
            // The class and the length, or the number, decide.
            "object" | "int" => true,
            // Others are encoded but once.
            "str" => self.known_str(value).is_some_and(|text| text.is_ascii()),
            // A class of Python code keeps the names of its instances' attributes.
            "type" => {
                let known = self.known(value).and_then(|class| class.cast_into::<PyType>().ok());
                known.is_some_and(|class| types::is_immutable(&class))
            }
            _ => {
                let Some(object) = self.owned(value) else { return false };
                // What is copied of a dict from outside may have the room that the trace's own copy of that has.
                let is_copied = || {
                    self.state.private_copies.iter().any(|copy| copy.object.bind(self.py).is_instance_of::<PyDict>())
                };
                let by_others = object.cast::<PyDict>().is_ok_and(|dict| shares_keys(dict) || is_copied());
                !by_others && !self.state.with_other_room.contains(&value)
            }
        }
    }

    /// `sys.getsizeof(value)`, or with a default: C asks the object's `__sizeof__`, and adds what lies before the object. `None`: C cannot have the
    /// object.
    pub(crate) fn memory_size(
        &mut self,
        function: &Bound<'py, PyAny>,
        value: ValueId,
        default: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let class = self.class_of(value)?;
        if self.domain_of(&class).is_some() {
            return Ok(None);
        }
        let method = self.lookup(&class, "__sizeof__");
        if let Some(owner) = method.and_then(|method| callee::owner_of(&method)) {
            self.refuse_memory_size("__sizeof__", Some(&owner), &Arguments::positional(vec![value]))?;
        }
        let object = self.receiver(value)?;
        if object.is_instance_of::<Proxy>() {
            return Ok(None);
        }
        let mut given = vec![object];
        for default in default {
            given.push(self.native(*default)?);
        }
        self.run_native(function, &given, &[]).map(Some)
    }
}
