//! Objects of slotrt and of libraries, as traces on disk name them.
use crate::domain::Domain;
use crate::emit;
use crate::ffi::callable;
use crate::guard::{self, DomainCheck};
use crate::split::TransferConstants;
use crate::stored::{Damaged, In, Misfit, Out, Special};
use crate::trace;
use pyo3::prelude::*;
use std::sync::Arc;

const CONSTANT: u8 = 0;
const FAILURE: u8 = 1;
const ANSWER: u8 = 2;
const SAVE: u8 = 3;

/// Writes an object of one kind; `false`: it is another.
type Write<'py> = fn(&Bound<'py, PyAny>, &mut Out<'_, 'py>) -> Result<bool, Misfit>;

/// The objects that slotrt itself puts into code and guards, and what libraries know of theirs.
pub struct OwnObjects<'py> {
    constants: [Bound<'py, PyAny>; 17],
    domains: Vec<Arc<dyn Domain>>,
    /// What the trace is of, where one is read.
    function: Option<Bound<'py, PyAny>>,
}

impl<'py> OwnObjects<'py> {
    /// Those of a session.
    pub fn new(
        py: Python<'py>,
        constants: &TransferConstants,
        domains: Vec<Arc<dyn Domain>>,
        function: Option<Bound<'py, PyAny>>,
    ) -> Self {
        Self { constants: constants.all(py), domains, function }
    }

    /// A condition of a guard, from its state.
    pub fn check_of(&self, name: &str, state: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> {
        if let Some(check) = guard::check_of(name, state)? {
            return Ok(Some(check));
        }
        if let Some(check) = trace::check_of(name, state)? {
            return Ok(Some(check));
        }
        for domain in &self.domains {
            if let Some(check) = domain.check_of(name, state)? {
                return Ok(Some(check));
            }
        }
        Ok(None)
    }
}

impl<'py> Special<'py> for OwnObjects<'py> {
    fn write(&self, object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
        if let Some(index) = self.constants.iter().position(|constant| constant.is(object)) {
            out.bytes.0.extend([CONSTANT, index as u8]);
            return Ok(true);
        }
        if callable::is_compiled(object) {
            return Err(Misfit::new("it ends in a graph break, or calls a function that was compiled by itself"));
        }
        let kinds: [(u8, Write<'py>); 3] =
            [(FAILURE, emit::write_failure), (ANSWER, trace::write_answer), (SAVE, emit::write_save)];
        let at = out.bytes.0.len();
        for (kind, write) in kinds {
            out.bytes.0.push(kind);
            if write(object, out)? {
                return Ok(true);
            }
            out.bytes.0.truncate(at);
        }
        Ok(false)
    }

    fn read(&self, from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
        match from.bytes.byte()? {
            CONSTANT => {
                let index = usize::from(from.bytes.byte()?);
                Ok(self.constants.get(index).ok_or(Damaged)?.clone())
            }
            FAILURE => emit::read_failure(from, self.function.as_ref().ok_or(Damaged)?),
            ANSWER => trace::read_answer(from),
            SAVE => emit::read_save(from, &self.domains),
            _ => Err(Damaged.into()),
        }
    }

    fn parts(&self, object: &Bound<'py, PyAny>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        self.domains.iter().find_map(|domain| domain.parts(object))
    }

    fn of_parts(&self, kind: &str, parts: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Misfit> {
        for domain in &self.domains {
            if let Some(made) = domain.of_parts(kind, parts)? {
                return Ok(made);
            }
        }
        Err(Misfit(format!("nobody here makes a {kind}")))
    }
}
