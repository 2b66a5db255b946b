//! Warnings that the program gives with `warnings.warn`: compiled code gives them at the program's line, in the order of its effects.
//!
//! A guard asks whether filters and whatever shows warnings are CPython's own code, and raise nothing.
use crate::ffi::{callee, inspect};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

/// The module of what guards and compiled code call.
pub(super) const MODULE: &str = "slotrt._issued_warnings";

/// What is warned of.
pub(super) struct Issued<'py> {
    pub(super) text: Bound<'py, PyAny>,
    pub(super) category: Bound<'py, PyAny>,
    /// Which frame it is about: 1 is the one that warns.
    pub(super) level: usize,
}

impl<'py> Tracer<'py> {
    /// `warnings.warn(…)`; `None`: it is another function, or must run natively.
    pub(crate) fn issue_warning(
        &mut self,
        function: &Bound<'py, PyAny>,
        module: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if module != "_warnings" || callee::name_of(function) != "warn" {
            return Ok(None);
        }
        if self.has_set_for("_warnings") || self.state.filters.listening.is_some() {
            return Ok(None);
        }
        let Some(issued) = self.issued(args) else { return Ok(None) };
        let Some(arguments) = self.plainly_given(issued)? else { return Ok(None) };
        let give = self.import(MODULE, "give")?;
        self.give_warning(give, &arguments)?;
        Ok(Some(self.none()))
    }

    /// What the warning is given with, where it raises nothing and runs no code of the program.
    pub(super) fn plainly_given(&mut self, issued: Issued<'py>) -> Traced<Option<Bound<'py, PyTuple>>> {
        let Some(arguments) = self.at_its_place(issued) else { return Ok(None) };
        let arguments = PyTuple::new(self.py, arguments).or_else(|error| internal(error.to_string()))?;
        let plain = self.import(MODULE, "is_plain")?.call1(&arguments);
        Ok(plain.is_ok_and(|plain| plain.is_truthy().unwrap_or(false)).then_some(arguments))
    }

    /// Compiled code gives the warning, while it raises nothing and runs no code of the program.
    pub(super) fn give_warning(&mut self, give: Bound<'py, PyAny>, arguments: &Bound<'py, PyTuple>) -> Traced<()> {
        let asked = self.import(MODULE, "is_plain")?;
        let plain = asked.call1(arguments);
        self.guard_answer(&asked, arguments, plain)?;
        let callable = self.constant(give);
        let args = arguments.iter().map(|argument| self.constant(argument)).collect();
        self.state.effects.push(Effect::Call { callable, args });
        Ok(())
    }

    /// What is warned of, where all of it is known.
    fn issued(&mut self, args: &Arguments) -> Option<Issued<'py>> {
        let mut given = [None, None, None];
        let named = args.keywords.iter().map(|(name, value)| {
            let at = ["message", "category", "stacklevel"].iter().position(|known| known == name);
            (at, *value)
        });
        let placed = args.positional.iter().enumerate().map(|(at, value)| (Some(at), *value)).chain(named);
        for (at, value) in placed.collect::<Vec<_>>() {
            *given.get_mut(at?)? = Some(self.known(value)?);
        }
        let [text, category, level] = given;
        let text = text.filter(|text| text.is_exact_instance_of::<PyString>())?;
        let category = match category.filter(|category| !category.is_none()) {
            Some(category) => category.is_instance_of::<PyType>().then_some(category)?,
            None => self.py.get_type::<PyUserWarning>().into_any(),
        };
        let level = level.map_or(Some(1), |level| level.extract().ok())?;
        Some(Issued { text, category, level })
    }

    /// The warning with file, line and globals of the frame that it is about, where that is one of the trace. CPython: `setup_context`.
    fn at_its_place(&self, issued: Issued<'py>) -> Option<[Bound<'py, PyAny>; 5]> {
        let Issued { text, category, level } = issued;
        let is_internal = |file: &str| file.contains("importlib") && file.contains("_bootstrap");
        let frames = || self.state.places.iter().rev().take(level);
        if level == 0 || frames().count() < level || frames().any(|place| is_internal(&place.file)) {
            return None;
        }
        let place = frames().next_back()?;
        let globals = inspect::globals(place.function.bind(self.py))?;
        let (file, line) = (PyString::new(self.py, &place.file), place.line.into_pyobject(self.py).ok()?);
        Some([text, category, file.into_any(), line.into_any(), globals])
    }
}
