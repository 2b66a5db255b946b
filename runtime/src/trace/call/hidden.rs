//! Functions of C whose state no row of the reviewed table can tell from their arguments: seeds of the system, dialects by name.
use super::Arguments;
use crate::ffi::called;
use crate::ffi::types;
use crate::trace::signal::{Traced, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

impl<'py> Tracer<'py> {
    /// Calls that depend on a state that no row can tell from their arguments: seeds that the system gives, dialects by name.
    pub(super) fn refuse_hidden_state(
        &mut self,
        object: &Bound<'py, PyAny>,
        owner: &Option<Bound<'py, PyType>>,
        name: &str,
        args: &Arguments,
    ) -> Traced<()> {
        let owner = owner.as_ref().map(types::c_name);
        if matches!(name, "seed" | "__init__") && owner.as_deref() == Some("_random.Random") {
            let given = args.positional.get(1).copied();
            let seeded = match given {
                Some(seed) => !self.is_none(seed)?,
                None => false,
            };
            let own = args.positional.first().is_some_and(|first| self.owned(*first).is_some());
            if own && !seeded {
                return unsupported("random numbers of the system", "a generator that is seeded with nothing");
            }
        }
        if matches!(name, "reader" | "writer") && called::module_of(object) == "_csv" {
            let named = args.keywords.iter().filter(|(name, _)| name == "dialect").map(|(_, value)| *value);
            for dialect in args.positional.get(1).copied().into_iter().chain(named) {
                let class = self.class_of(dialect)?;
                if types::is_subtype(&class, &self.py.get_type::<PyString>()) {
                    self.rely_on_dialect(dialect)?;
                }
            }
            let limit = self.import("_csv", "field_size_limit")?;
            self.ask_outside(&limit, &pyo3::types::PyTuple::empty(self.py))?;
        }
        Ok(())
    }

    /// A guard asks `_csv` for the dialect of that name.
    fn rely_on_dialect(&mut self, name: ValueId) -> Traced<()> {
        const SAME: &std::ffi::CStr = c"lambda name, then: lambda get: get(name) is then";
        let get = self.import("_csv", "get_dialect")?;
        let same = self.known(name).and_then(|name| {
            let then = get.call1((&name,)).ok()?;
            self.py.eval(SAME, None, None).and_then(|same| same.call1((name, then))).ok()
        });
        let Some(same) = same else { return unsupported("state of a module", "a dialect that _csv does not know") };
        let check = crate::guard::Check::Call(same.unbind());
        self.guard(crate::guard::source::Source::constant(&get), check, "the trace asked for a dialect by its name");
        Ok(())
    }
}
