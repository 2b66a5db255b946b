//! What lookups on a class can see, as it was: a class that was changed and put back is the same again.
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The classes along the MRO of a class, and copies of the namespaces of those that can change.
#[derive(Debug)]
pub(super) struct ClassState {
    /// The version tag under which the class was last found to be as it was; 0 where it has none.
    tag: AtomicU32,
    /// The MRO; then, for each class on it that can change, its namespace.
    parts: Py<PyTuple>,
    /// What kinds of classes those are that can change.
    flags: Box<[u64]>,
}

/// Whether the version tag is valid.
const VALID_VERSION_TAG: u64 = 1 << 19;

impl ClassState {
    /// As the class is now.
    pub fn of(class: &Bound<'_, PyType>) -> PyResult<Self> {
        let py = class.py();
        let mro = types::mro(class).unwrap_or_else(|| PyTuple::empty(py));
        let (mut parts, mut flags) = (vec![mro.clone().into_any()], Vec::new());
        for class in changing(&mro) {
            flags.push(kind(&class));
            parts.push(match types::namespace(&class) {
                Some(namespace) => namespace.copy()?.into_any(),
                None => py.None().into_bound(py),
            });
        }
        let tag = AtomicU32::new(types::version_tag(class));
        Ok(Self { tag, parts: PyTuple::new(py, parts)?.unbind(), flags: flags.into() })
    }

    /// Whether the class is as it was.
    #[inline]
    pub fn holds(&self, class: &Bound<'_, PyType>) -> bool {
        let tag = types::version_tag(class);
        tag != 0 && tag == self.tag.load(Relaxed) || self.holds_again(class, tag)
    }

    /// Equal tags tell; others do not tell what has changed, or whether that was put back.
    #[cold]
    fn holds_again(&self, class: &Bound<'_, PyType>, tag: u32) -> bool {
        let holds = self.compare(class).unwrap_or(false);
        if holds {
            self.tag.store(tag, Relaxed);
        }
        holds
    }

    fn compare(&self, class: &Bound<'_, PyType>) -> PyResult<bool> {
        let parts = self.parts.bind(class.py());
        let (Some(now), then) = (types::mro(class), parts.get_item(0)?.cast_into::<PyTuple>()?) else {
            return Ok(false);
        };
        if now.len() != then.len() || now.iter().zip(then.iter()).any(|(now, then)| !now.is(&then)) {
            return Ok(false);
        }
        let kept = parts.iter().skip(1);
        for ((class, namespace), flags) in changing(&now).zip(kept).zip(&self.flags) {
            let Ok(then) = namespace.cast_into::<PyDict>() else { return Ok(false) };
            let same = types::namespace(&class).is_some_and(|now| is_same(&now, &then));
            if !same || kind(&class) != *flags {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether another state is known to be the same.
    pub fn same(&self, other: &Self) -> bool {
        let tag = self.tag.load(Relaxed);
        tag != 0 && tag == other.tag.load(Relaxed)
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.parts.as_any());
    }
}

/// The classes of an MRO that can change.
fn changing<'py>(mro: &Bound<'py, PyTuple>) -> impl Iterator<Item = Bound<'py, PyType>> {
    let classes = mro.iter().filter_map(|class| class.cast_into::<PyType>().ok());
    classes.filter(|class| !types::is_immutable(class))
}

/// The flags of a class but for that of its tag.
fn kind(class: &Bound<'_, PyType>) -> u64 {
    types::flags(class) & !VALID_VERSION_TAG
}

/// Whether two namespaces have the same objects under the same names, in one order.
fn is_same(now: &Bound<'_, PyDict>, then: &Bound<'_, PyDict>) -> bool {
    let mut pairs = now.iter().zip(then.iter());
    now.len() == then.len() && pairs.all(|((name, value), (known, held))| name.is(&known) && value.is(&held))
}
