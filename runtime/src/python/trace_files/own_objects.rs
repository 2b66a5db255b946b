//! Objects of slotrt and of libraries, as traces on disk name them.
use super::continuations;
use crate::domain::Domain;
use crate::emit;
use crate::guard::{self, DomainCheck};
use crate::python::unit::CompilationUnit;
use crate::split::{ResumeMetadata, TransferConstants, metadata_in};
use crate::stored::{Damaged, In, Misfit, Out, Special};
use crate::trace;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::sync::Arc;

const CONSTANT: u8 = 0;
const FAILURE: u8 = 1;
const OF_TRACES: u8 = 2;
const SAVE: u8 = 3;
const CONTINUATION: u8 = 4;
const METADATA: u8 = 5;
const COMPILED_GRAPH: u8 = 6;
const GUESSES: u8 = 7;

/// Writes an object of one kind; `false`: it is another.
type Write<'py> = fn(&Bound<'py, PyAny>, &mut Out<'_, 'py>) -> Result<bool, Misfit>;

/// The objects that slotrt itself puts into code and guards, and what libraries know of theirs.
pub struct OwnObjects<'py> {
    constants: [Bound<'py, PyAny>; 18],
    domains: Vec<Arc<dyn Domain>>,
    /// What the trace is of.
    of: Traced<'py>,
    /// What a backend has made of the trace's graph.
    compiled: RefCell<Option<Bound<'py, PyAny>>>,
    /// Where wrong guesses are noted of the function whose trace is written.
    guesses: Option<Bound<'py, PyDict>>,
}

/// What a trace is of.
pub enum Traced<'py> {
    /// One that is written: of a unit at this address.
    Written(usize),
    /// One that is read: a function of this unit.
    Read(Arc<CompilationUnit>, Bound<'py, PyAny>),
}

impl<'py> OwnObjects<'py> {
    /// Those of a session.
    pub fn new(py: Python<'py>, constants: &TransferConstants, domains: Vec<Arc<dyn Domain>>, of: Traced<'py>) -> Self {
        Self { constants: constants.all(py), domains, of, compiled: RefCell::default(), guesses: None }
    }

    /// The names of the libraries.
    pub fn names_of_domains(&self) -> Vec<&'static str> {
        self.domains.iter().map(|domain| domain.name()).collect()
    }

    /// From here on a trace of a unit at this address is written, of whose graph a backend has made this; where its wrong guesses are noted.
    pub fn write_trace_of(
        &mut self,
        unit: usize,
        compiled: Option<Bound<'py, PyAny>>,
        guesses: Option<Bound<'py, PyDict>>,
    ) {
        self.of = Traced::Written(unit);
        self.compiled.replace(compiled);
        self.guesses = guesses;
    }

    /// A backend has made this of the graph of the trace that is read.
    pub fn set_compiled(&self, compiled: Bound<'py, PyAny>) {
        self.compiled.replace(Some(compiled));
    }

    fn function(&self) -> Result<(&Arc<CompilationUnit>, &Bound<'py, PyAny>), Damaged> {
        match &self.of {
            Traced::Read(unit, function) => Ok((unit, function)),
            Traced::Written(_) => Err(Damaged),
        }
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
        if self.compiled.borrow().as_ref().is_some_and(|compiled| compiled.is(object)) {
            out.bytes.0.push(COMPILED_GRAPH);
            return Ok(true);
        }
        if let Some(guesses) = self.guesses.as_ref().filter(|guesses| guesses.is(object)) {
            out.bytes.0.push(GUESSES);
            return if guesses.is_empty() { Ok(true) } else { Err(Misfit::new("a guess of contents that was wrong")) };
        }
        if object.is_exact_instance_of::<ResumeMetadata>() {
            let own = metadata_in(&out.traced())?.is_some_and(|own| own.is(object));
            out.bytes.0.push(METADATA);
            return if own { Ok(true) } else { Err(Misfit::new("the rest of another frame")) };
        }
        if let Traced::Written(unit) = self.of
            && let Some(written) = continuations::write(object, unit, CONTINUATION, out)
        {
            return written.map(|()| true);
        }
        let kinds: [(u8, Write<'py>); 3] =
            [(FAILURE, emit::write_failure), (OF_TRACES, trace::write_own), (SAVE, emit::write_save)];
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
            FAILURE => emit::read_failure(from, self.function()?.1),
            CONTINUATION => continuations::read(from, self.function()?.0),
            METADATA => Ok(metadata_in(&from.traced())?.ok_or(Damaged)?.into_any()),
            COMPILED_GRAPH => Ok(self.compiled.borrow().as_ref().ok_or(Damaged)?.clone()),
            GUESSES => Ok(self.function()?.0.kept.failed_guesses(from.py()).into_any()),
            OF_TRACES => trace::read_own(from),
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
