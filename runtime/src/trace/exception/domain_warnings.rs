//! Warnings of an array library that answers an operation without contents: the program gets them once, where it stands.
//!
//! An operation that warns runs natively. What the library says once in a process (`TORCH_WARN_ONCE`) is no reason for that: it has been said,
//! or compiled code says it.
use crate::domain::{Answer, Domain};
use crate::trace::exception::issued_warnings::{Issued, MODULE};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::warnings::{Heard, WARNS};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

impl<'py> Tracer<'py> {
    /// `heard` came with the answer, while the domain repeated what it says once.
    pub(crate) fn settle_warnings(&mut self, domain: &dyn Domain, answer: &Answer<'py>, heard: &[Heard]) -> Traced<()> {
        let Some(last) = heard.last() else { return Ok(()) };
        let py = self.py;
        let warns = || unsupported(WARNS, last.text.bind(py).to_string());
        // A filter may make an error of it: then the library has not said it.
        let given = if self.has_set_for("_warnings") { None } else { self.all_plainly_given(heard)? };
        let Some(given) = given else { return warns() };
        let (ran, said_now) = self.hearing_warnings(|| domain.run_again(py, answer));
        if !ran {
            return warns();
        }
        let (_, repeated) = self.hearing_warnings(|| domain.run_again(py, answer));
        if !repeated.is_empty() {
            return warns();
        }
        given.iter().try_for_each(|arguments| self.give_once(arguments, !said_now.is_empty()))
    }

    fn all_plainly_given(&mut self, heard: &[Heard]) -> Traced<Option<Vec<Bound<'py, PyTuple>>>> {
        let mut all = Vec::with_capacity(heard.len());
        for Heard { text, category } in heard {
            let (text, category) = (text.bind(self.py).clone(), category.bind(self.py).clone());
            match self.plainly_given(Issued { text, category, level: 1 })? {
                Some(arguments) => all.push(arguments),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// Compiled code gives a warning that the library takes for given, if nobody has got it; `begun`: since now.
    fn give_once(&mut self, arguments: &Bound<'py, PyTuple>, begun: bool) -> Traced<()> {
        let once = self.import(MODULE, "once")?;
        let text = arguments.get_item(0).or_else(|error| self.raise_error(error))?;
        let give = once.call1((text, begun)).or_else(|error| self.raise_error(error))?;
        if give.is_none() { Ok(()) } else { self.give_warning(give, arguments) }
    }
}
