//! C functions with state that neither effects nor reviewed rows show: seeds from the system, dialects by name.
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

impl<'py> Tracer<'py> {
    /// A generator of random numbers that is seeded with nothing asks the system.
    pub(crate) fn refuse_random_seed(
        &mut self,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<()> {
        if !matches!(name, "seed" | "__init__") || types::c_name(owner) != "_random.Random" {
            return Ok(());
        }
        let seeded = match args.positional.get(1).copied() {
            Some(seed) => !self.is_none(seed)?,
            None => false,
        };
        if !seeded {
            return unsupported("random numbers of the system", "a generator that is seeded with nothing");
        }
        Ok(())
    }

    /// Readers and writers of `_csv` look dialects up by name.
    pub(crate) fn rely_on_dialects(&mut self, name: &str, args: &Arguments) -> Traced<()> {
        if !matches!(name, "reader" | "writer") {
            return Ok(());
        }
        let named = args.keywords.iter().filter(|(name, _)| name == "dialect").map(|(_, value)| *value);
        for dialect in args.positional.get(1).copied().into_iter().chain(named) {
            let class = self.class_of(dialect)?;
            if types::is_subtype(&class, &self.py.get_type::<PyString>()) {
                self.rely_on_dialect(dialect)?;
            }
        }
        let limit = self.import("_csv", "field_size_limit")?;
        self.call_and_guard(&limit, &pyo3::types::PyTuple::empty(self.py)).map(drop)
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
