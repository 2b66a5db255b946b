//! Locks that compiled code acquires first; where one is not free, the frame is deoptimised.
use super::failure::Failure;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::guard::source::Source;
use crate::guard::{Check, Guard};
use crate::trace::state::reasons::READS_SYSTEM;
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
    pub(super) fn acquire_locks(&mut self) -> Result<(), Failure> {
        if self.outcome.acquired_first.is_empty() {
            return Ok(());
        }
        let questions = self.outcome.guards.iter().filter_map(|guard| question(self.py, guard)).collect();
        self.callee(Bound::new(self.py, Acquire { questions })?.into_any());
        let count = self.push_locks()?;
        self.call(count);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    /// Releases them where the exception on the stack, which stays there, is not that they could not be acquired.
    pub(super) fn release_locks(&mut self) -> Result<(), Failure> {
        if self.outcome.acquired_first.is_empty() {
            return Ok(());
        }
        self.callee(Bound::new(self.py, Release)?.into_any());
        self.plain(Op::COPY, 3);
        let count = self.push_locks()?;
        self.call(count + 1);
        self.plain(Op::POP_TOP, 0);
        Ok(())
    }

    /// Pushes three values a lock.
    fn push_locks(&mut self) -> Result<u32, Failure> {
        let outcome = self.outcome;
        for lock in &outcome.acquired_first {
            self.load(lock.acquire)?;
            self.load(lock.release)?;
            match lock.lock {
                Some(object) => self.load(object)?,
                None => self.constant(self.py.None().into_bound(self.py)),
            }
        }
        Ok(3 * outcome.acquired_first.len() as u32)
    }
}

/// A lock, and what acquires and releases it.
struct Lock<'py> {
    acquirer: Bound<'py, PyAny>,
    releaser: Bound<'py, PyAny>,
    lock: Bound<'py, PyAny>,
}

impl<'py> Lock<'py> {
    fn all(values: &Bound<'py, PyTuple>) -> PyResult<Vec<Self>> {
        let item = |index| values.get_item(index);
        let lock =
            |start: usize| Ok(Self { acquirer: item(start)?, releaser: item(start + 1)?, lock: item(start + 2)? });
        (0..values.len()).step_by(3).map(lock).collect()
    }

    /// Without waiting; what belongs to no object is free where there is one thread.
    fn acquire(&self) -> PyResult<bool> {
        if self.lock.is_none() {
            return self.acquirer.call0().map(|_| true);
        }
        self.acquirer.call1((&self.lock, false))?.is_truthy()
    }

    fn release(&self) -> PyResult<()> {
        if self.lock.is_none() {
            return self.releaser.call0().map(drop);
        }
        self.releaser.call1((&self.lock,)).map(drop)
    }
}

/// Acquires locks, or raises that one is not free and holds none.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Acquire {
    /// What the trace asked the system, and what compares the answers: it is asked again, for what a lock protects may be there.
    questions: Vec<(Py<PyAny>, Py<PyAny>)>,
}

impl Acquire {
    fn is_as_it_was(&self, py: Python<'_>) -> PyResult<bool> {
        for (question, compare) in &self.questions {
            if !compare.bind(py).call1((question,))?.is_truthy()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A question to the system, and what compares its answer.
fn question(py: Python<'_>, guard: &Guard) -> Option<(Py<PyAny>, Py<PyAny>)> {
    match (&guard.source, &guard.check) {
        (Source::Constant(question), Check::Call(compare)) if guard.reason.why == READS_SYSTEM => {
            Some((question.0.clone_ref(py), compare.clone_ref(py)))
        }
        _ => None,
    }
}

#[pymethods]
impl Acquire {
    #[pyo3(signature = (*values))]
    fn __call__(&self, values: &Bound<'_, PyTuple>) -> PyResult<()> {
        let all = Lock::all(values)?;
        for (index, lock) in all.iter().enumerate() {
            if !lock.acquire()? {
                all[..index].iter().rev().try_for_each(Lock::release)?;
                return Err(NotFree::new_err(()));
            }
        }
        if !self.is_as_it_was(values.py()).unwrap_or_default() {
            all.iter().rev().try_for_each(Lock::release)?;
            return Err(NotFree::new_err(()));
        }
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.questions.iter().try_for_each(|(question, compare)| {
            visit.call(question)?;
            visit.call(compare)
        })
    }
}

/// Releases locks after the exception of a graph.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Release;

#[pymethods]
impl Release {
    #[pyo3(signature = (raised, *values))]
    fn __call__(&self, raised: &Bound<'_, PyAny>, values: &Bound<'_, PyTuple>) -> PyResult<()> {
        if raised.is_instance_of::<NotFree>() {
            return Ok(());
        }
        Lock::all(values)?.iter().rev().try_for_each(Lock::release)
    }
}
