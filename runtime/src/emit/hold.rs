//! Locks that compiled code acquires first of all; where one is not to be had at once, the frame is handed over as it began.
use super::Failure;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::guard::source::Source;
use crate::guard::{Check, Guard};
use crate::trace::state::reasons::ASKED_SYSTEM;
use pyo3::exceptions::PyException;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pyo3::create_exception!(
    slotrt,
    NotFree,
    PyException,
    "A thread that waited for the lock has got it after guards found it free."
);

impl Writer<'_, '_> {
    /// Acquires all locks of the trace that nobody holds, or none.
    pub(super) fn hold(&mut self) -> Result<(), Failure> {
        if self.outcome.held_first.is_empty() {
            return Ok(());
        }
        let asked = self.outcome.guards.iter().filter_map(|guard| asked(self.py, guard)).collect();
        self.callee(Bound::new(self.py, Take { asked })?.into_any());
        let count = self.holds()?;
        self.call(count);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    /// Releases them where the exception on the stack, which stays there, is not that they could not be acquired.
    pub(super) fn let_go(&mut self) -> Result<(), Failure> {
        if self.outcome.held_first.is_empty() {
            return Ok(());
        }
        self.callee(Bound::new(self.py, LetGo)?.into_any());
        self.plain(Op::COPY, 3);
        let count = self.holds()?;
        self.call(count + 1);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    /// Pushes three values a lock.
    fn holds(&mut self) -> Result<u32, Failure> {
        let outcome = self.outcome;
        for hold in &outcome.held_first {
            self.load(hold.acquire)?;
            self.load(hold.release)?;
            match hold.lock {
                Some(lock) => self.load(lock)?,
                None => self.constant(self.py.None().into_bound(self.py)),
            }
        }
        Ok(3 * outcome.held_first.len() as u32)
    }
}

/// A lock, and what acquires and releases it.
struct Held<'py> {
    acquire: Bound<'py, PyAny>,
    release: Bound<'py, PyAny>,
    lock: Bound<'py, PyAny>,
}

impl<'py> Held<'py> {
    fn all(values: &Bound<'py, PyTuple>) -> PyResult<Vec<Self>> {
        let item = |index| values.get_item(index);
        let held = |start: usize| Ok(Self { acquire: item(start)?, release: item(start + 1)?, lock: item(start + 2)? });
        (0..values.len()).step_by(3).map(held).collect()
    }

    /// Without waiting; what belongs to no object is free where there is one thread.
    fn take(&self) -> PyResult<bool> {
        if self.lock.is_none() {
            return self.acquire.call0().map(|_| true);
        }
        self.acquire.call1((&self.lock, false))?.is_truthy()
    }

    fn let_go(&self) -> PyResult<()> {
        if self.lock.is_none() {
            return self.release.call0().map(drop);
        }
        self.release.call1((&self.lock,)).map(drop)
    }
}

/// Acquires locks, or raises that one is not free and holds none.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Take {
    /// What the trace asked the system, and what compares the answers: it is asked again, for what a lock protects may be there.
    asked: Vec<(Py<PyAny>, Py<PyAny>)>,
}

impl Take {
    fn is_as_it_was(&self, py: Python<'_>) -> PyResult<bool> {
        for (question, compare) in &self.asked {
            if !compare.bind(py).call1((question,))?.is_truthy()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A question to the system, and what compares its answer.
fn asked(py: Python<'_>, guard: &Guard) -> Option<(Py<PyAny>, Py<PyAny>)> {
    match (&guard.source, &guard.check) {
        (Source::Constant(question), Check::Call(compare)) if guard.reason.why == ASKED_SYSTEM => {
            Some((question.0.clone_ref(py), compare.clone_ref(py)))
        }
        _ => None,
    }
}

#[pymethods]
impl Take {
    #[pyo3(signature = (*values))]
    fn __call__(&self, values: &Bound<'_, PyTuple>) -> PyResult<()> {
        let all = Held::all(values)?;
        for (index, held) in all.iter().enumerate() {
            if !held.take()? {
                all[..index].iter().rev().try_for_each(Held::let_go)?;
                return Err(NotFree::new_err(()));
            }
        }
        if !self.is_as_it_was(values.py()).unwrap_or_default() {
            all.iter().rev().try_for_each(Held::let_go)?;
            return Err(NotFree::new_err(()));
        }
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.asked.iter().try_for_each(|(question, compare)| {
            visit.call(question)?;
            visit.call(compare)
        })
    }
}

/// Releases locks after the exception of a graph.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct LetGo;

#[pymethods]
impl LetGo {
    #[pyo3(signature = (raised, *values))]
    fn __call__(&self, raised: &Bound<'_, PyAny>, values: &Bound<'_, PyTuple>) -> PyResult<()> {
        if raised.is_instance_of::<NotFree>() {
            return Ok(());
        }
        Held::all(values)?.iter().rev().try_for_each(Held::let_go)
    }
}
