//! Objects of C that belong to a class and lead back to it, told again without keeping alive what they lead to.
use super::values::is_plain;
use crate::ffi::held::{Held, stays};
use crate::ffi::{referents, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What tells one is at most so many objects, as far below it.
const REFERENTS: usize = 256;
const DEPTH: usize = 8;

/// Where an object of C lies, and what it leads to. It may be freed, and another one come to lie there that says the same: whoever knew the
/// first has let go of it then.
#[derive(Debug)]
pub(super) struct ClassMember {
    class: Held,
    /// The name of a descriptor, which the collector does not show.
    name: Option<Py<PyAny>>,
    parts: Box<[Part]>,
}

/// Something that an object leads to.
#[derive(Debug)]
enum Part {
    /// What leads further, by its address: a container, or an object of the program.
    Way(usize),
    /// A plain value, or what can be referred to weakly.
    End(Held),
}

impl Part {
    fn is(&self, other: &Self, py: Python<'_>) -> bool {
        match (self, other) {
            (Self::Way(one), Self::Way(other)) => one == other,
            (Self::End(one), Self::End(other)) => one.address(py).is_some() && one.address(py) == other.address(py),
            _ => false,
        }
    }
}

impl ClassMember {
    /// `None` where it leads to too much.
    pub fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        let mut parts = vec![Part::Way(object.as_ptr() as usize)];
        add(object, DEPTH, &mut parts)?;
        Some(Self {
            class: Held::of(object.get_type().as_any()),
            name: name_of(object).map(Bound::unbind),
            parts: parts.into(),
        })
    }

    /// Whether it is this object.
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        let Some(now) = Self::of(value) else { return false };
        let same_name = match (&now.name, &self.name) {
            (Some(now), Some(then)) => now.bind(value.py()).eq(then).unwrap_or(false),
            (now, then) => now.is_none() && then.is_none(),
        };
        let mut parts = now.parts.iter().zip(&self.parts);
        self.class.is_class_of(value)
            && same_name
            && now.parts.len() == self.parts.len()
            && parts.all(|(now, then)| now.is(then, value.py()))
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.class.traverse(visit);
        self.name.iter().for_each(&mut *visit);
        for part in &self.parts {
            if let Part::End(held) = part {
                held.traverse(visit);
            }
        }
    }
}

/// Adds what an object leads to; `None` where that is too much.
fn add(object: &Bound<'_, PyAny>, depth: usize, parts: &mut Vec<Part>) -> Option<()> {
    for referent in referents::direct(object, REFERENTS) {
        if parts.len() >= REFERENTS {
            return None;
        }
        if is_end(&referent) {
            parts.push(Part::End(Held::of(&referent)));
            continue;
        }
        let address = referent.as_ptr() as usize;
        let known = parts.iter().any(|part| matches!(part, Part::Way(known) if *known == address));
        parts.push(Part::Way(address));
        if !known {
            add(&referent, depth.checked_sub(1)?, parts)?;
        }
    }
    Some(())
}

/// Whether it is told from others without being kept alive, and no program sees that it is referred to weakly.
fn is_end(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    let weak = types::weaklistoffset(&class) != 0 && (types::is_c_type(&class) || types::has_own_fields(&class));
    is_plain(object) || stays(object) || object.is_instance_of::<PyType>() || weak
}

/// The name of a descriptor of C, a text.
fn name_of<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let named = types::c_name(&object.get_type()).ends_with("_descriptor");
    if named { object.getattr(name!("__name__")).ok() } else { None }
}
