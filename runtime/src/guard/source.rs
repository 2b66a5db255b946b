//! Sources: how a compiled frame gets a value again, by a path from its arguments, globals or builtins.
use crate::ffi::random_numbers::Draw;
use crate::ffi::types;
use crate::names::interned;
use crate::stored::is_plain;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A path to a value that exists before the compiled code runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Argument slot of the compiled function: index into its fast locals.
    Local(u32),
    /// Content of a closure cell: index into `co_freevars`.
    Free(u32),
    /// The cell object itself of a free variable.
    FreeCell(u32),
    /// An entry of the function's globals.
    Global(Arc<str>),
    /// An entry of a dict that is reachable as an object (another module's globals).
    DictItem(Arc<Source>, Arc<Fixed>),
    /// An entry of the function's builtins.
    Builtin(Arc<str>),
    /// An instance or module attribute found in the object's own `__dict__` or slot.
    Attr(Arc<Source>, Arc<str>),
    /// The same where the class has a `__getattribute__` of its own, which must not run.
    OwnAttr(Arc<Source>, Arc<str>),
    /// `base[index]` of an exact tuple or list.
    Item(Arc<Source>, usize),
    /// `base[-index]` of an exact list.
    ItemFromEnd(Arc<Source>, usize),
    /// How many items a list or deque has.
    Length(Arc<Source>),
    /// The same of an instance of a derived class, or of another container of C: by this method of its C class.
    OwnItem(Arc<Source>, Arc<Fixed>, usize),
    /// An entry of a dict of a derived class, whose `__getitem__` must not run.
    OwnEntry(Arc<Source>, Arc<Fixed>),
    /// An entry of a dict, or of an instance of a derived class, under the key at another path, which is hashed by its address.
    EntryFor(Arc<Source>, Arc<Source>),
    /// Whether a dict or set has such a key; by this method of its C class.
    HasKey(Arc<Source>, Arc<Fixed>, Arc<Source>),
    /// The first object that the collector finds in this one: what a view of C is a view of.
    Referent(Arc<Source>),
    /// The next items of the iterator at this path, at most so many, in a tuple; it stays where it is.
    Ahead(Arc<Source>, usize),
    /// What the generator of random numbers at this path gives next, and a generator that goes on from there, in a tuple; it stays as it is.
    Drawn(Arc<Source>, Draw),
    /// What the weak reference at this path refers to.
    WeakReferent(Arc<Source>),
    /// The plain weak reference to the object at this path.
    WeakReference(Arc<Source>),
    /// The keys of the dict, or the items of the set, at this path, in their order, in a tuple.
    Keys(Arc<Source>),
    /// The values of the dict at this path, in the order of its keys, in a tuple.
    Values(Arc<Source>),
    /// The keys or values of the entries of the dict or set at this path whose keys have this hash, in the order in which C meets them, in a tuple.
    WithHash(Arc<Source>, isize, Side),
    /// The dict that the thread-local data at this path has for the running thread.
    ThreadDict(Arc<Source>),
    /// How long an array is in one dimension.
    Size(Arc<Source>, usize),
    /// The number that an array without dimensions holds.
    Contents(Arc<Source>),
    /// Where the elements of an array lie in memory.
    Address(Arc<Source>),
    /// What the cell object at this path holds.
    Cell(Arc<Source>),
    /// What the context variable at this path has in the running context, or was made with.
    ContextValue(Arc<Source>),
    /// The own `__dict__` of an instance, function or module; an empty dict where it has none yet.
    Dict(Arc<Source>),
    /// `type(base)`.
    TypeOf(Arc<Source>),
    /// What is found at several paths, for a guard on all of them.
    Together(Arc<[Source]>),
    /// An object that the compiled code keeps alive itself; needs no guard.
    Constant(Arc<Fixed>),
}

/// What of the entries of a dict or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The keys.
    Keys,
    /// The values.
    Values,
}

impl Source {
    /// An object that the compiled code keeps alive itself.
    #[must_use]
    pub fn constant<T>(object: &Bound<'_, T>) -> Self {
        Self::Constant(Fixed::new(object))
    }

    /// The tuple, or the constant in one, that it leads to from a tuple that the compiled code keeps.
    #[must_use]
    pub fn in_constant_tuple<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let found = match self {
            Self::Constant(object) => object.0.bind(py).clone(),
            Self::Item(base, index) => {
                base.in_constant_tuple(py)?.cast_into_exact::<PyTuple>().ok()?.get_item(*index).ok()?
            }
            _ => return None,
        };
        let plain = found.is_exact_instance_of::<PyTuple>() || is_plain(&found);
        plain.then_some(found)
    }

    /// Whether the path begins at what the caller gave, and may not outlive the call.
    #[must_use]
    pub fn is_given(&self) -> bool {
        matches!(self.root(), Self::Local(_) | Self::Free(_) | Self::FreeCell(_))
    }

    /// Whether the path begins at an argument.
    #[must_use]
    pub fn is_argument(&self) -> bool {
        matches!(self.root(), Self::Local(_))
    }

    /// What tells the path from others without keeping its objects alive; two may have the same, if seldom.
    #[must_use]
    pub fn key(&self) -> u64 {
        if let Self::Size(base, index) = self {
            return size_key(base.key(), *index);
        }
        if let Self::Item(base, index) = self {
            return item_key(base.key(), *index);
        }
        if let Self::Length(base) = self {
            return length_key(base.key());
        }
        if let Self::Keys(base) = self {
            return keys_key(base.key());
        }
        let mut hasher = rustc_hash::FxHasher::default();
        (PATH, self).hash(&mut hasher);
        hasher.finish()
    }

    /// Whether the path leads from an argument into containers alone: no attribute of an object.
    #[must_use]
    pub fn is_part_of_argument(&self) -> bool {
        match self {
            Self::Local(_) => true,
            Self::Item(base, _) | Self::ItemFromEnd(base, _) | Self::DictItem(base, _) | Self::Size(base, _) => {
                base.is_part_of_argument()
            }
            _ => false,
        }
    }

    /// The slot of a frame from which the path leads into containers and iterators alone: no attribute of an object.
    #[must_use]
    pub fn container_slot(&self) -> Option<u32> {
        match self {
            Self::Local(slot) => Some(*slot),
            Self::Item(base, _) | Self::ItemFromEnd(base, _) | Self::DictItem(base, _) | Self::Ahead(base, _) => {
                base.container_slot()
            }
            _ => None,
        }
    }

    /// The object of the compiled code's own that the path begins at.
    #[must_use]
    pub fn beginning(&self) -> Option<&Py<PyAny>> {
        match self.root() {
            Self::Constant(object) => Some(&object.0),
            _ => None,
        }
    }

    /// What the caller chose of the path: an argument, an item of one, a global; what follows hangs off that.
    #[must_use]
    pub fn origin(&self) -> &Self {
        match self {
            Self::Item(base, _) | Self::ItemFromEnd(base, _) | Self::DictItem(base, _)
                if matches!(**base, Self::Local(_)) =>
            {
                self
            }
            Self::DictItem(base, _)
            | Self::Attr(base, _)
            | Self::OwnAttr(base, _)
            | Self::Item(base, _)
            | Self::ItemFromEnd(base, _)
            | Self::Keys(base)
            | Self::Values(base)
            | Self::WithHash(base, ..)
            | Self::Cell(base)
            | Self::Dict(base)
            | Self::TypeOf(base) => base.origin(),
            _ => self,
        }
    }

    fn root(&self) -> &Self {
        match self {
            Self::Local(_)
            | Self::Free(_)
            | Self::FreeCell(_)
            | Self::Global(_)
            | Self::Builtin(_)
            | Self::Together(_)
            | Self::Constant(_) => self,
            Self::DictItem(base, _)
            | Self::Attr(base, _)
            | Self::OwnAttr(base, _)
            | Self::Item(base, _)
            | Self::ItemFromEnd(base, _)
            | Self::Length(base)
            | Self::OwnItem(base, ..)
            | Self::OwnEntry(base, _)
            | Self::EntryFor(base, _)
            | Self::HasKey(base, ..)
            | Self::Referent(base)
            | Self::Ahead(base, _)
            | Self::Drawn(base, _)
            | Self::WeakReferent(base)
            | Self::WeakReference(base)
            | Self::Keys(base)
            | Self::Values(base)
            | Self::WithHash(base, ..)
            | Self::ThreadDict(base)
            | Self::Size(base, _)
            | Self::Contents(base)
            | Self::Address(base)
            | Self::Cell(base)
            | Self::ContextValue(base)
            | Self::Dict(base)
            | Self::TypeOf(base) => base.root(),
        }
    }

    /// The entry under a key of this dict, which is at the path: past methods of a derived class.
    #[must_use]
    pub fn entry_of(&self, dict: &Bound<'_, PyDict>, key: &Bound<'_, PyAny>) -> Self {
        let base = Arc::new(self.clone());
        match types::is_c_type(&dict.get_type()) {
            true => Self::DictItem(base, Fixed::new(key)),
            false => Self::OwnEntry(base, Fixed::new(key)),
        }
    }

    /// The entry of the dict at this path under a name.
    #[must_use]
    pub fn entry(self, py: Python<'_>, name: &str) -> Self {
        Self::DictItem(Arc::new(self), Fixed::new(&interned(py, name)))
    }
}

/// What keys of paths, and of sizes, begin with: the hash of zeros alone is that of nothing, and the first local variable has such a path.
const PATH: u64 = 0x9e37;
const SIZE: u64 = 0x79b9;

/// The [`Source::key`] of a size of the array at the path with this key.
#[must_use]
pub fn size_key(base: u64, index: usize) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    (SIZE, base, index).hash(&mut hasher);
    hasher.finish()
}

/// The [`Source::key`] of the length of the list at a source with this key.
#[must_use]
pub fn length_key(base: u64) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    ("length", base).hash(&mut hasher);
    hasher.finish()
}

/// The [`Source::key`] of the keys of the dict at a source with this key.
#[must_use]
pub fn keys_key(base: u64) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    ("keys", base).hash(&mut hasher);
    hasher.finish()
}

/// What tells that the object at a source with this key is another one.
#[must_use]
pub fn identity_key(base: u64) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    ("identity", base).hash(&mut hasher);
    hasher.finish()
}

/// The [`Source::key`] of an item of the tuple or list at a source with this key.
#[must_use]
pub fn item_key(base: u64, index: usize) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    ("item", base, index).hash(&mut hasher);
    hasher.finish()
}

/// An object that is part of a path: equal to itself alone.
#[derive(Debug)]
pub struct Fixed(pub Py<PyAny>);

impl Fixed {
    /// Keeps the object.
    #[must_use]
    pub fn new<T>(object: &Bound<'_, T>) -> Arc<Self> {
        Arc::new(Self(object.clone().into_any().unbind()))
    }
}

impl PartialEq for Fixed {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }
}

impl Eq for Fixed {}

impl Hash for Fixed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}
