//! Steps of guard programs: loads along a path, and tests of what they found. None runs code of the program, except where a guard is a call.
use super::held::Passing;
use super::{DomainCheck, load};
use crate::ffi::callable::Args;
use crate::ffi::guard as raw;
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString, PyType};
use smallvec::SmallVec;
use std::sync::Arc;

/// What the steps so far have found; numbers in steps are indices here.
pub type Registers<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 16]>;

/// An object that several steps name; the program that made it shows it to the garbage collector, once.
pub(super) type Held = Arc<Py<PyAny>>;

type Name = Arc<Py<PyString>>;

/// One step, and the guard that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub guard: usize,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Load { from: Load, into: usize },
    Check { register: usize, test: Arc<Test> },
    Compare { register: usize, other: usize, same: bool },
}

/// One step of a path; numbers are registers, but for arguments, free variables and the index of an item.
#[derive(Clone, Debug)]
pub(super) enum Load {
    Argument(usize),
    FreeCell(usize),
    Content(usize),
    Global(Name),
    Builtin(Name),
    Entry(usize, Held),
    Attribute(usize, Name),
    Dict(usize),
    Item(usize, usize),
    Type(usize),
    Constant(Held),
}

#[derive(Debug)]
pub(super) enum Test {
    TypeIs(Py<PyAny>),
    Is(Held),
    Equals(Py<PyAny>),
    Length(usize),
    NothingHandled,
    Absent(Held),
    /// The type and the version tag it had; 0 never matches.
    Unchanged(Arc<Py<PyType>>, u32),
    /// A function and the code, defaults and keyword defaults that it had, the latter also one by one.
    Function(Held, [Option<Py<PyAny>>; 3], Vec<(Py<PyAny>, Py<PyAny>)>),
    /// An object or a function of the caller.
    Passing(Passing),
    Keys(Py<PyAny>),
    Empty,
    Domain(Box<dyn DomainCheck>),
    Call(Py<PyAny>),
    /// A module, and none of a class derived from that of modules.
    Module,
}

impl Step {
    /// Whether it succeeds; a load that finds nothing fails.
    #[inline]
    pub fn run<'py>(
        &self,
        registers: &mut [Option<Bound<'py, PyAny>>],
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> bool {
        match &self.action {
            Action::Load { from, into } => match load::run(from, registers, args, function) {
                Some(value) => {
                    registers[*into] = Some(value);
                    true
                }
                None => false,
            },
            Action::Check { register, test } => registers[*register].as_ref().is_some_and(|value| test.holds(value)),
            Action::Compare { register, other, same } => match (&registers[*register], &registers[*other]) {
                (Some(value), Some(other)) => value.is(other) == *same,
                _ => false,
            },
        }
    }

    /// Whether two steps do the same to the same registers.
    pub fn same(&self, other: &Self, py: Python<'_>) -> bool {
        match (&self.action, &other.action) {
            (Action::Load { from, into }, Action::Load { from: other, into: there }) => {
                into == there && from.same(other)
            }
            (Action::Check { register, test }, Action::Check { register: there, test: other }) => {
                register == there && (Arc::ptr_eq(test, other) || test.same(other, py))
            }
            (
                Action::Compare { register, other, same },
                Action::Compare { register: there, other: beside, same: wanted },
            ) => register == there && other == beside && same == wanted,
            _ => false,
        }
    }
}

impl Load {
    /// The same with other registers.
    pub fn with(&self, mut register: impl FnMut(usize) -> usize) -> Self {
        match self {
            Self::Content(base) => Self::Content(register(*base)),
            Self::Entry(base, key) => Self::Entry(register(*base), Arc::clone(key)),
            Self::Attribute(base, name) => Self::Attribute(register(*base), Arc::clone(name)),
            Self::Dict(base) => Self::Dict(register(*base)),
            Self::Item(base, index) => Self::Item(register(*base), *index),
            Self::Type(base) => Self::Type(register(*base)),
            Self::Argument(_) | Self::FreeCell(_) | Self::Global(_) | Self::Builtin(_) | Self::Constant(_) => {
                self.clone()
            }
        }
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Argument(one), Self::Argument(other))
            | (Self::FreeCell(one), Self::FreeCell(other))
            | (Self::Content(one), Self::Content(other))
            | (Self::Dict(one), Self::Dict(other))
            | (Self::Type(one), Self::Type(other)) => one == other,
            (Self::Global(one), Self::Global(other)) | (Self::Builtin(one), Self::Builtin(other)) => one.is(&**other),
            (Self::Entry(base, key), Self::Entry(there, other)) => base == there && key.is(&**other),
            (Self::Attribute(base, name), Self::Attribute(there, other)) => base == there && name.is(&**other),
            (Self::Item(base, index), Self::Item(there, other)) => base == there && index == other,
            (Self::Constant(one), Self::Constant(other)) => one.is(&**other),
            _ => false,
        }
    }

    /// Shows the objects that it names to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::Entry(_, object) | Self::Constant(object) => visit(object),
            // Strings hold nothing.
            Self::Global(_) | Self::Builtin(_) | Self::Attribute(..) => {}
            Self::Argument(_)
            | Self::FreeCell(_)
            | Self::Content(_)
            | Self::Dict(_)
            | Self::Item(..)
            | Self::Type(_) => {}
        }
    }
}

impl Test {
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::TypeIs(object) | Self::Equals(object) | Self::Keys(object) | Self::Call(object) => visit(object),
            Self::Is(object) | Self::Absent(object) => visit(object),
            Self::Unchanged(class, _) => visit(class.as_any()),
            Self::Function(function, parts, values) => {
                visit(function);
                parts.iter().flatten().for_each(&mut *visit);
                values.iter().for_each(|(name, value)| {
                    visit(name);
                    visit(value);
                });
            }
            Self::Passing(object) => object.traverse(visit),
            Self::Domain(check) => check.traverse(visit),
            Self::Length(_) | Self::NothingHandled | Self::Empty | Self::Module => {}
        }
    }

    #[inline]
    pub fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let py = value.py();
        match self {
            Self::TypeIs(kind) => value.get_type_ptr().cast() == kind.as_ptr(),
            Self::Is(object) => value.is(&**object),
            Self::Equals(constant) => load::equal(value, constant.bind(py)),
            Self::Length(length) => load::length(value) == Some(*length),
            Self::Absent(key) => load::absent(value, key.bind(py)),
            Self::Unchanged(kind, tag) => *tag != 0 && types::version_tag(kind.bind(py)) == *tag,
            Self::Function(function, parts, values) => {
                value.is(&**function) && load::same_parts(value, parts) && load::same_defaults(parts, values, py)
            }
            Self::Passing(object) => object.is(value),
            Self::Keys(keys) => load::has_keys(value, keys.bind(py)),
            Self::Empty => raw::cell_content(value).is_none(),
            Self::Domain(check) => check.holds(value),
            Self::NothingHandled => !raw::is_handling(py),
            Self::Call(check) => check.bind(py).call1((value,)).and_then(|answer| answer.is_truthy()).unwrap_or(false),
            Self::Module => value.is_exact_instance_of::<PyModule>(),
        }
    }

    fn same(&self, other: &Self, py: Python<'_>) -> bool {
        match (self, other) {
            (Self::TypeIs(one), Self::TypeIs(other))
            | (Self::Keys(one), Self::Keys(other))
            | (Self::Call(one), Self::Call(other)) => one.is(other),
            (Self::Is(one), Self::Is(other)) | (Self::Absent(one), Self::Absent(other)) => one.is(&**other),
            (Self::Equals(one), Self::Equals(other)) => load::equal(one.bind(py), other.bind(py)),
            (Self::Length(one), Self::Length(other)) => one == other,
            (Self::Unchanged(one, tag), Self::Unchanged(other, then)) => one.is(&**other) && tag == then,
            (Self::Domain(one), Self::Domain(other)) => one.same(&**other, py),
            (Self::NothingHandled, Self::NothingHandled)
            | (Self::Empty, Self::Empty)
            | (Self::Module, Self::Module) => true,
            _ => false,
        }
    }
}
