//! What lookups on a class can see, as it was: a class that was changed and put back is the same again.
//!
//! Nothing that the program may let go of is kept alive for that: functions and classes are held weakly, names and plain values as they are.
use super::class_member::ClassMember;
use super::names_read::NamesRead;
use super::values::is_plain;
use crate::ffi::types;
use crate::ffi::weak_references::WeakObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The classes along the MRO of a class, and what those hold that can change.
#[derive(Debug)]
pub(super) struct ClassState {
    /// The version tag under which the class was last found to be as it was; 0 where it has none.
    tag: AtomicU32,
    /// The MRO; `None` where something in it cannot be told from another thing later: then the tag alone says.
    classes: Option<Box<[ClassPart]>>,
}

/// One class of the MRO.
#[derive(Debug)]
struct ClassPart {
    class: WeakObject,
    /// Of a class that can change: what kind of class it is, and its namespace in order.
    contents: Option<(u64, Entries)>,
}

/// The names of a namespace, and what they have.
type Entries = Box<[(Py<PyAny>, Held)]>;

/// A value of a namespace.
#[derive(Debug)]
enum Held {
    /// A plain value, or a part of the class that leads to nothing.
    Strong(Py<PyAny>),
    /// Another part of the class.
    Member(ClassMember),
    /// A number, a container or another object that is no descriptor, whichever: the trace does not see it.
    Unread,
    /// A function, a class, or another object of C's.
    Weak(WeakObject),
}

/// Whether the version tag is valid.
const VALID_VERSION_TAG: u64 = 1 << 19;

/// Classes of what C keeps beside a class, and that leads to nothing.
const LEAVES: [&str; 2] = ["_abc._abc_data", "PyCapsule"];

/// Classes of objects that wrap functions of a class, or are its descriptors.
const MEMBERS: [&str; 8] = [
    "property",
    "classmethod",
    "staticmethod",
    "getset_descriptor",
    "member_descriptor",
    "wrapper_descriptor",
    "method_descriptor",
    "classmethod_descriptor",
];

impl ClassState {
    /// As the class is now, where these names are read.
    pub fn of(class: &Bound<'_, PyType>, read: &NamesRead) -> Self {
        let mro = types::mro(class).unwrap_or_else(|| PyTuple::empty(class.py()));
        let classes = mro.iter().map(|class| ClassPart::of(&class.cast_into::<PyType>().ok()?, read)).collect();
        Self { tag: AtomicU32::new(types::version_tag(class)), classes }
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
        let (Some(now), Some(then)) = (types::mro(class), &self.classes) else { return false };
        let holds = now.len() == then.len() && now.iter().zip(then).all(|(now, then)| then.holds(&now));
        if holds {
            self.tag.store(tag, Relaxed);
        }
        holds
    }

    /// Whether another state is known to be the same.
    pub fn same(&self, other: &Self) -> bool {
        let tag = self.tag.load(Relaxed);
        tag != 0 && tag == other.tag.load(Relaxed) && self.open_names().eq(other.open_names())
    }

    /// Names under which there may be other objects, and what number of the MRO has them.
    fn open_names(&self) -> impl Iterator<Item = (usize, *mut pyo3::ffi::PyObject)> {
        self.classes.iter().flatten().enumerate().flat_map(|(index, part)| {
            let entries = part.contents.iter().flat_map(|(_, entries)| entries);
            let open = entries.filter(|(_, held)| matches!(held, Held::Unread));
            open.map(move |(name, _)| (index, name.as_ptr()))
        })
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        let parts = self.classes.iter().flatten().filter_map(|part| part.contents.as_ref());
        for (name, held) in parts.flat_map(|(_, entries)| entries) {
            visit(name);
            match held {
                Held::Strong(object) => visit(object),
                Held::Member(member) => member.traverse(visit),
                Held::Weak(object) => visit(object.reference()),
                Held::Unread => {}
            }
        }
    }
}

/// Whether a class that has other numbers than it had is told from one that has changed otherwise.
#[must_use]
pub fn tells_numbers(class: &Bound<'_, PyType>) -> bool {
    ClassState::of(class, &NamesRead::none()).classes.is_some()
}

impl ClassPart {
    fn of(class: &Bound<'_, PyType>, read: &NamesRead) -> Option<Self> {
        let contents = match types::is_immutable(class) {
            true => None,
            false => {
                let namespace = types::namespace(class)?;
                let entries =
                    namespace.iter().map(|(name, value)| Some((name.clone().unbind(), Held::of(&name, &value, read)?)));
                Some((kind(class), entries.collect::<Option<_>>()?))
            }
        };
        Some(Self { class: WeakObject::new(class)?, contents })
    }

    fn holds(&self, class: &Bound<'_, PyAny>) -> bool {
        let (true, Ok(class)) = (self.class.is(class), class.cast::<PyType>()) else { return false };
        let Some((flags, then)) = &self.contents else { return true };
        kind(class) == *flags && types::namespace(class).is_some_and(|now| is_same(&now, then))
    }
}

impl Held {
    /// `None` where it may not be kept alive, or has no weak references of its own kind.
    fn of(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, read: &NamesRead) -> Option<Self> {
        let class = value.get_type();
        if may_change(value) && is_unread(name, read) {
            return Some(Self::Unread);
        }
        if is_plain(value) || LEAVES.contains(&&*types::c_name(&class)) {
            return Some(Self::Strong(value.clone().unbind()));
        }
        if MEMBERS.contains(&&*types::c_name(&class)) || describes_class(name, value) {
            return ClassMember::of(value).map(Self::Member);
        }
        // Programs see the first weak reference to an instance of a class of their own.
        let is_of_c = types::is_c_type(&class) || types::has_own_fields(&class);
        let weak = is_of_c.then(|| WeakObject::new(value).map(Self::Weak)).flatten();
        // The trace itself holds what it has read.
        weak.or_else(|| (may_change(value) && is_read(name, read)).then(|| Self::Strong(value.clone().unbind())))
    }

    fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Strong(object) => object.is(value),
            Self::Unread => may_change(value),
            Self::Member(member) => member.is(value),
            Self::Weak(object) => object.is(value),
        }
    }
}

/// Whether it is a number that says nothing but its value.
#[must_use]
pub fn is_number(value: &Bound<'_, PyAny>) -> bool {
    is_number_class(&value.get_type())
}

/// Whether instances of the class are such numbers.
#[must_use]
pub fn is_number_class(class: &Bound<'_, PyType>) -> bool {
    let py = class.py();
    class.is(py.get_type::<PyInt>()) || class.is(py.get_type::<PyBool>()) || class.is(py.get_type::<PyFloat>())
}

/// Whether a lookup that does not ask for it sees nothing of it: it is no descriptor, and no class.
fn may_change(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type();
    let py = value.py();
    let names = [intern!(py, "__get__"), intern!(py, "__set__"), intern!(py, "__delete__")];
    !value.is_instance_of::<PyType>() && names.iter().all(|name| types::lookup(&class, name).is_none())
}

/// Whether a trace has read this name by itself.
fn is_read(name: &Bound<'_, PyAny>, read: &NamesRead) -> bool {
    name.cast_exact::<PyString>().is_ok_and(|name| name.to_str().is_ok_and(|name| read.names(name)))
}

/// Whether a trace that has read these names never sees what is under this one: C reads special ones by itself.
fn is_unread(name: &Bound<'_, PyAny>, read: &NamesRead) -> bool {
    let Ok(name) = name.cast_exact::<PyString>() else { return false };
    name.to_str().is_ok_and(|name| !name.starts_with("__") && !read.has(name))
}

/// Whether a container says something of the class itself: `__annotations__`, `__slots__`, `__constants__`…
fn describes_class(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> bool {
    let is_special = name.cast::<PyString>().is_ok_and(|name| {
        let name = name.to_string_lossy();
        name.starts_with("__") && name.ends_with("__")
    });
    is_special
        && (value.is_exact_instance_of::<PyDict>()
            || value.is_exact_instance_of::<PyList>()
            || value.is_exact_instance_of::<PyTuple>())
}

/// The flags of a class but for that of its tag.
fn kind(class: &Bound<'_, PyType>) -> u64 {
    types::flags(class) & !VALID_VERSION_TAG
}

/// Whether a namespace has the same objects under the same names, in one order.
fn is_same(now: &Bound<'_, PyDict>, then: &[(Py<PyAny>, Held)]) -> bool {
    let mut pairs = now.iter().zip(then);
    now.len() == then.len() && pairs.all(|((name, value), (known, held))| name.is(known) && held.is(&value))
}
