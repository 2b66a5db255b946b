//! Tracebacks while C splits an exception group: C compares them, and the parts get the group's traceback.
use crate::ffi::types;
use crate::names::name;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use pyo3::exceptions::{PyBaseException, PyBaseExceptionGroup};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rustc_hash::FxHashSet;

/// Exceptions that a trace has, with real tracebacks that stand for its own.
pub(crate) struct TracebackStandIns<'py> {
    marked: Vec<Bound<'py, PyAny>>,
    /// Stand-ins, and the nodes that they stand for.
    stand_ins: Vec<(Bound<'py, PyAny>, usize)>,
}

impl<'py> Tracer<'py> {
    /// Gives exceptions within the objects tracebacks that tell theirs apart.
    pub(crate) fn mark_tracebacks(&self, given: &[Bound<'py, PyAny>]) -> Traced<TracebackStandIns<'py>> {
        let mut marks = TracebackStandIns { marked: Vec::new(), stand_ins: Vec::new() };
        if self.state.tracebacks.is_empty() {
            return Ok(marks);
        }
        for exception in exceptions_within(given) {
            let id = self.state.identity.get(&(exception.as_ptr() as usize));
            let Some(node) = id.and_then(|id| self.state.tracebacks.head(*id)) else { continue };
            let known = marks.stand_ins.iter().find(|(_, known)| *known == node).map(|(mark, _)| mark.clone());
            let mark = match known {
                Some(mark) => mark,
                None => {
                    let mark = self.some_traceback()?;
                    marks.stand_ins.push((mark.clone(), node));
                    mark
                }
            };
            set_traceback(&exception, &mark).or_else(|error| internal(error.to_string()))?;
            marks.marked.push(exception);
        }
        Ok(marks)
    }

    /// What C has copied is noted, and the exceptions have no tracebacks of their own again.
    pub(crate) fn unmark_tracebacks(
        &mut self,
        marks: TracebackStandIns<'py>,
        made: Option<&Bound<'py, PyAny>>,
    ) -> Traced<()> {
        if marks.stand_ins.is_empty() {
            return Ok(());
        }
        let made = exceptions_within(made.map(std::slice::from_ref).unwrap_or_default());
        let none = self.py.None().into_bound(self.py);
        for exception in marks.marked.into_iter().chain(made) {
            let now = traceback(&exception).or_else(|error| internal(error.to_string()))?;
            let Some((_, node)) = marks.stand_ins.iter().find(|(mark, _)| mark.is(&now)) else { continue };
            let id = self.absorb(exception.clone());
            self.state.tracebacks.inherit(id, *node);
            set_traceback(&exception, &none).or_else(|error| internal(error.to_string()))?;
        }
        Ok(())
    }

    /// A traceback that no other exception has.
    fn some_traceback(&self) -> Traced<Bound<'py, PyAny>> {
        let raised = self.py.eval(c"1/0", None, None).err().and_then(|error| error.traceback(self.py));
        raised.map_or_else(|| internal("an exception without a traceback"), |traceback| Ok(traceback.into_any()))
    }
}

/// `BaseException.__traceback__`, whatever derived classes say.
fn traceback<'py>(exception: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    types::read(&member(exception.py())?, exception)
}

fn set_traceback<'py>(exception: &Bound<'py, PyAny>, traceback: &Bound<'py, PyAny>) -> PyResult<()> {
    member(exception.py())?.call_method1(name!("__set__"), (exception, traceback)).map(drop)
}

fn member(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.get_type::<PyBaseException>().getattr(name!("__traceback__"))
}

/// Exceptions among the objects, in lists and tuples among them, and in groups among these.
fn exceptions_within<'py>(objects: &[Bound<'py, PyAny>]) -> Vec<Bound<'py, PyAny>> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut left = objects.to_vec();
    while let Some(object) = left.pop() {
        if let Ok(list) = object.cast_exact::<PyList>() {
            left.extend(list.iter());
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            left.extend(tuple.iter());
        } else if object.is_instance_of::<PyBaseException>() && seen.insert(object.as_ptr() as usize) {
            if object.is_instance_of::<PyBaseExceptionGroup>() {
                let member = object.py().get_type::<PyBaseExceptionGroup>().getattr(name!("exceptions"));
                left.extend(member.and_then(|member| types::read(&member, &object)).ok());
            }
            found.push(object);
        }
    }
    found
}
