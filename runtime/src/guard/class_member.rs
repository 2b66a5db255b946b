//! Objects of C that belong to a class and lead back to it, told again without keeping alive what they lead to.
use super::values::is_plain;
use crate::ffi::held::Held;
use crate::ffi::{referents, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// What tells one is at most so many objects.
const REFERENTS: usize = 64;

/// Where an object of C lies, and what it refers to. It may be freed, and another one come to lie there that says the same: whoever knew
/// the first has let go of it then.
#[derive(Debug)]
pub(super) struct ClassMember {
    address: usize,
    class: Py<PyType>,
    /// The name of a descriptor, which the collector does not show.
    name: Option<Py<PyAny>>,
    referents: Box<[Held]>,
}

impl ClassMember {
    /// `None` where it refers to something that could be another thing later.
    pub fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        let referents = of(object)?.into_iter().map(|referent| told(&referent).then(|| Held::of(&referent)));
        Some(Self {
            address: object.as_ptr() as usize,
            class: object.get_type().unbind(),
            name: name_of(object).map(Bound::unbind),
            referents: referents.collect::<Option<_>>()?,
        })
    }

    /// Whether it is this object.
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        if value.as_ptr() as usize != self.address || !value.get_type().is(&self.class) {
            return false;
        }
        let same_name = match (name_of(value), &self.name) {
            (Some(now), Some(then)) => now.eq(then).unwrap_or(false),
            (now, then) => now.is_none() && then.is_none(),
        };
        let same = |now: Vec<Bound<'_, PyAny>>| {
            now.len() == self.referents.len() && now.iter().zip(&self.referents).all(|(now, then)| then.is(now))
        };
        same_name && of(value).is_some_and(same)
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.class.as_any());
        self.name.iter().for_each(&mut *visit);
        self.referents.iter().for_each(|held| held.traverse(visit));
    }
}

/// What an object refers to, at once or by a dict or tuple of its own.
fn of<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let mut found = Vec::new();
    for referent in referents::direct(object, REFERENTS + 1) {
        match referent.is_exact_instance_of::<PyDict>() || referent.is_exact_instance_of::<PyTuple>() {
            true => found.extend(referents::direct(&referent, REFERENTS + 1)),
            false => found.push(referent),
        }
    }
    (found.len() <= REFERENTS).then_some(found)
}

/// Whether it is told from others without being kept alive, and no program sees that it is referred to weakly.
fn told(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    let weak = types::weaklistoffset(&class) != 0 && (types::is_c_type(&class) || types::has_own_fields(&class));
    is_plain(object) || object.is_instance_of::<PyType>() || weak
}

/// The name of a descriptor of C, a text.
fn name_of<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let named = types::c_name(&object.get_type()).ends_with("_descriptor");
    if named { object.getattr(name!("__name__")).ok() } else { None }
}
