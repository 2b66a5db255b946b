//! Loads of guard programs: each follows a path one step further. None runs code of the program.
use super::source::Side;
use super::values;
use crate::ffi::held::Held;
use crate::ffi::random_numbers::Draw;
use crate::ffi::watch::Kept;
use crate::ffi::{
    Args, containers, context_variable, inspect, iterators, key_hashes, libtorch, random_numbers, referents,
    thread_locals, types, weak_references,
};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString, PyTuple, PyType};
use smallvec::SmallVec;
use std::sync::Arc;

/// What the steps so far have found; numbers in steps are indices here.
pub type Registers<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 16]>;

/// An object that several steps name; the program that made it shows it to the garbage collector, once.
pub(super) type SharedObject = Arc<Py<PyAny>>;

pub(super) type Name = Arc<Py<PyString>>;

/// One step of a path; numbers are registers, but for arguments, free variables and the index of an item.
#[derive(Clone, Debug)]
pub(super) enum Load {
    Argument(usize),
    FreeCell(usize),
    Content(usize),
    Global(Name),
    Builtin(Name),
    Entry(usize, Arc<Held>),
    Attribute(usize, Name),
    ContextValue(usize),
    Dict(usize),
    Item(usize, usize),
    ItemFromEnd(usize, usize),
    Length(usize),
    OwnItem(usize, SharedObject, usize),
    EntryFor(usize, usize),
    HasKey(usize, usize),
    Referent(usize),
    Ahead(usize, usize),
    Drawn(usize, Draw),
    WeakReferent(usize),
    WeakReference(usize),
    Keys(usize),
    Values(usize),
    WithHash(usize, isize, Side),
    ThreadDict(usize),
    Type(usize),
    Size(usize, usize),
    Contents(usize),
    Address(usize),
    Together(Vec<usize>),
    /// An object that the program names; a class or function of the program may be gone.
    Constant(Arc<Held>),
    /// What a class holds under a name; the class is watched or compared, too.
    Member(Arc<Held>, Name),
    /// A cell of a function's closure.
    CellOf(Arc<Held>, usize),
    /// Only in residual programs: what a watched entry holds.
    Kept(Kept),
}

impl Load {
    /// The value a step leads to; `None` where there is none, which fails the guard.
    #[inline]
    pub fn run<'py>(
        &self,
        registers: &[Option<Bound<'py, PyAny>>],
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, PyAny>> {
        let py = args.py();
        let register = |index: &usize| registers.get(*index)?.as_ref();
        match self {
            Self::Argument(index) => Some(args.get(*index)?.to_owned()),
            Self::FreeCell(index) => inspect::closure_cell(function, *index),
            Self::Content(cell) => inspect::cell_content(register(cell)?),
            Self::Global(name) => values::entry(&inspect::globals(function)?, name.bind(py)),
            Self::Builtin(name) => values::entry(&inspect::builtins(function)?, name.bind(py)),
            Self::Entry(dict, key) => {
                let dict = register(dict)?;
                key.with(py, |key| values::entry(dict, key))
            }
            Self::Attribute(base, name) => inspect::own_attribute(register(base)?, name.bind(py)),
            Self::ContextValue(base) => context_variable::value(register(base)?),
            Self::Dict(base) => Some(inspect::own_dict(register(base)?)),
            Self::Item(base, index) => values::item(register(base)?, *index),
            Self::ItemFromEnd(base, index) => values::item_from_end(register(base)?, *index),
            Self::Length(base) => Some(values::length(register(base)?)?.into_pyobject(py).ok()?.into_any()),
            Self::OwnItem(base, method, index) => values::own_item(register(base)?, method.bind(py), *index),
            Self::EntryFor(dict, key) => values::entry_for(register(dict)?, register(key)?),
            Self::HasKey(container, key) => values::has_key(register(container)?, register(key)?),
            Self::Referent(base) => referents::direct(register(base)?, 1).pop(),
            Self::Ahead(base, count) => iterators::ahead(register(base)?, *count).map(Bound::into_any),
            Self::Drawn(base, draw) => {
                let (number, next) = random_numbers::ahead(register(base)?, *draw)?;
                tuple(PyTuple::new(py, [number, next]))
            }
            Self::WeakReferent(base) => weak_references::referent(register(base)?),
            Self::WeakReference(base) => weak_references::refer(register(base)?).ok(),
            Self::ThreadDict(base) => thread_locals::dict(register(base)?).map(Bound::into_any),
            Self::Values(base) => containers::values(register(base)?).ok().map(Bound::into_any),
            Self::Keys(base) => containers::keys(register(base)?).ok().map(Bound::into_any),
            Self::WithHash(base, hash, Side::Keys) => tuple(key_hashes::keys_with_hash(register(base)?, *hash)),
            Self::WithHash(base, hash, Side::Values) => tuple(key_hashes::values_with_hash(register(base)?, *hash)),
            Self::Size(base, index) => values::size(register(base)?, *index),
            Self::Contents(base) => libtorch::contents(register(base)?).map(|held| PyFloat::new(py, held).into_any()),
            Self::Address(base) => Some(libtorch::address(register(base)?)?.into_pyobject(py).ok()?.into_any()),
            Self::Type(base) => Some(register(base)?.get_type().into_any()),
            Self::Together(parts) => {
                let parts = parts.iter().map(register).collect::<Option<Vec<_>>>()?;
                PyTuple::new(py, parts).ok().map(Bound::into_any)
            }
            Self::Constant(_) | Self::Member(..) | Self::CellOf(..) => self.named(py),
            Self::Kept(kept) => kept.get(py),
        }
    }

    /// The object that it names, or that a class or function which it names holds; `None` where that is gone.
    pub fn named<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Constant(object) => object.object_now(py),
            Self::Member(class, name) => {
                let class = class.object_now(py)?.cast_into::<PyType>().ok()?;
                types::namespace(&class)?.get_item(name.bind(py)).ok()?
            }
            Self::CellOf(function, index) => function.with(py, |function| inspect::closure_cell(function, *index)),
            _ => None,
        }
    }

    /// The same with other registers.
    pub fn with(&self, mut register: impl FnMut(usize) -> usize) -> Self {
        match self {
            Self::Content(base) => Self::Content(register(*base)),
            Self::Entry(base, key) => Self::Entry(register(*base), Arc::clone(key)),
            Self::Attribute(base, name) => Self::Attribute(register(*base), Arc::clone(name)),
            Self::ContextValue(base) => Self::ContextValue(register(*base)),
            Self::Dict(base) => Self::Dict(register(*base)),
            Self::Item(base, index) => Self::Item(register(*base), *index),
            Self::ItemFromEnd(base, index) => Self::ItemFromEnd(register(*base), *index),
            Self::Length(base) => Self::Length(register(*base)),
            Self::OwnItem(base, method, index) => Self::OwnItem(register(*base), Arc::clone(method), *index),
            Self::EntryFor(dict, key) => Self::EntryFor(register(*dict), register(*key)),
            Self::HasKey(container, key) => Self::HasKey(register(*container), register(*key)),
            Self::Referent(base) => Self::Referent(register(*base)),
            Self::Ahead(base, count) => Self::Ahead(register(*base), *count),
            Self::Drawn(base, draw) => Self::Drawn(register(*base), *draw),
            Self::WeakReferent(base) => Self::WeakReferent(register(*base)),
            Self::WeakReference(base) => Self::WeakReference(register(*base)),
            Self::Keys(base) => Self::Keys(register(*base)),
            Self::Values(base) => Self::Values(register(*base)),
            Self::WithHash(base, hash, side) => Self::WithHash(register(*base), *hash, *side),
            Self::ThreadDict(base) => Self::ThreadDict(register(*base)),
            Self::Size(base, index) => Self::Size(register(*base), *index),
            Self::Contents(base) => Self::Contents(register(*base)),
            Self::Address(base) => Self::Address(register(*base)),
            Self::Type(base) => Self::Type(register(*base)),
            Self::Together(parts) => Self::Together(parts.iter().map(|part| register(*part)).collect()),
            Self::Argument(_)
            | Self::FreeCell(_)
            | Self::Global(_)
            | Self::Builtin(_)
            | Self::Constant(_)
            | Self::Member(..)
            | Self::CellOf(..)
            | Self::Kept(_) => self.clone(),
        }
    }

    /// Whether both load the same from the same registers.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Argument(one), Self::Argument(other))
            | (Self::FreeCell(one), Self::FreeCell(other))
            | (Self::Content(one), Self::Content(other))
            | (Self::ContextValue(one), Self::ContextValue(other))
            | (Self::Dict(one), Self::Dict(other))
            | (Self::Length(one), Self::Length(other))
            | (Self::Referent(one), Self::Referent(other))
            | (Self::WeakReferent(one), Self::WeakReferent(other))
            | (Self::WeakReference(one), Self::WeakReference(other))
            | (Self::Keys(one), Self::Keys(other))
            | (Self::Values(one), Self::Values(other))
            | (Self::ThreadDict(one), Self::ThreadDict(other))
            | (Self::Contents(one), Self::Contents(other))
            | (Self::Address(one), Self::Address(other))
            | (Self::Type(one), Self::Type(other)) => one == other,
            (Self::Global(one), Self::Global(other)) | (Self::Builtin(one), Self::Builtin(other)) => one.is(&**other),
            (Self::Entry(base, key), Self::Entry(there, other)) => base == there && key.same(other),
            (Self::Attribute(base, name), Self::Attribute(there, other)) => base == there && name.is(&**other),
            (Self::EntryFor(base, key), Self::EntryFor(there, other))
            | (Self::HasKey(base, key), Self::HasKey(there, other)) => base == there && key == other,
            (Self::Item(base, index), Self::Item(there, other))
            | (Self::ItemFromEnd(base, index), Self::ItemFromEnd(there, other))
            | (Self::Ahead(base, index), Self::Ahead(there, other))
            | (Self::Size(base, index), Self::Size(there, other)) => base == there && index == other,
            (Self::Drawn(base, draw), Self::Drawn(there, other)) => base == there && draw == other,
            (Self::OwnItem(base, method, index), Self::OwnItem(there, by, other)) => {
                base == there && method.is(&**by) && index == other
            }
            (Self::WithHash(base, hash, side), Self::WithHash(there, other, of)) => {
                base == there && hash == other && side == of
            }
            (Self::Together(one), Self::Together(other)) => one == other,
            (Self::Constant(one), Self::Constant(other)) => one.same(other),
            (Self::Member(one, name), Self::Member(other, of)) => one.same(other) && name.is(&**of),
            (Self::CellOf(one, index), Self::CellOf(other, of)) => one.same(other) && index == of,
            (Self::Kept(one), Self::Kept(other)) => one.same(other),
            _ => false,
        }
    }

    /// Shows the objects that it names to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::OwnItem(_, object, _) => visit(object),
            Self::Entry(_, object) | Self::Constant(object) => object.traverse(visit),
            Self::Member(object, _) | Self::CellOf(object, _) => object.traverse(visit),
            // Strings hold nothing.
            Self::Global(_) | Self::Builtin(_) | Self::Attribute(..) => {}
            Self::Argument(_)
            | Self::FreeCell(_)
            | Self::Content(_)
            | Self::ContextValue(_)
            | Self::Dict(_)
            | Self::Item(..)
            | Self::ItemFromEnd(..)
            | Self::Length(_)
            | Self::Size(..)
            | Self::Contents(_)
            | Self::Address(_)
            | Self::EntryFor(..)
            | Self::HasKey(..)
            | Self::Referent(_)
            | Self::Ahead(..)
            | Self::Drawn(..)
            | Self::WeakReferent(_)
            | Self::WeakReference(_)
            | Self::Keys(_)
            | Self::Values(_)
            | Self::WithHash(..)
            | Self::ThreadDict(_)
            | Self::Together(_)
            | Self::Kept(_)
            | Self::Type(_) => {}
        }
    }
}

fn tuple<'py>(made: PyResult<Bound<'py, PyTuple>>) -> Option<Bound<'py, PyAny>> {
    made.ok().map(Bound::into_any)
}
