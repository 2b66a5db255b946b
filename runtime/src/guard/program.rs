//! A flat program that checks guards: each path is loaded once, each check looks at one register.
use super::source::Source;
use super::{Check, DomainCheck, Guard, Reason};
use crate::ffi::callable::Args;
use crate::ffi::{guard as raw, types};
use crate::guard::load;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Checks the guards of one cache entry. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Program(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    steps: Vec<Step>,
    registers: usize,
    reasons: Vec<Reason>,
}

#[derive(Debug)]
struct Step {
    /// Which guard a failure belongs to.
    guard: usize,
    action: Action,
}

#[derive(Debug)]
enum Action {
    Load { from: Load, into: usize },
    Check { register: usize, test: Test },
}

/// One step of a path; numbers are registers.
#[derive(Debug)]
pub(super) enum Load {
    Argument(usize),
    FreeCell(usize),
    Content(usize),
    Global(Py<PyString>),
    Builtin(Py<PyString>),
    Entry(usize, Py<PyAny>),
    Attribute(usize, Py<PyString>),
    Dict(usize),
    Item(usize, usize),
    Type(usize),
    Constant(Py<PyAny>),
}

#[derive(Debug)]
enum Test {
    TypeIs(Py<PyAny>),
    Is(Py<PyAny>),
    Equals(Py<PyAny>),
    Length(usize),
    Exists,
    NothingHandled,
    Absent(Py<PyAny>),
    Same(usize),
    Different(usize),
    /// The type and the version tag it had; 0 never matches.
    Unchanged(Py<PyType>, u32),
    /// A function and the code, defaults and keyword defaults that it had, the latter also one by one.
    Function(Py<PyAny>, [Option<Py<PyAny>>; 3], Vec<(Py<PyAny>, Py<PyAny>)>),
    Keys(Py<PyAny>),
    Empty,
    Domain(Box<dyn DomainCheck>),
    Call(Py<PyAny>),
}

pub(super) type Registers<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 16]>;

impl Program {
    /// Flattens guards, in their order; a path that several guards share is loaded where the first needs it.
    pub fn new(py: Python<'_>, guards: Vec<Guard>) -> PyResult<Self> {
        let mut builder = Builder { py, steps: Vec::new(), known: FxHashMap::default(), guard: 0 };
        let mut reasons = Vec::with_capacity(guards.len());
        for (index, guard) in guards.into_iter().enumerate() {
            builder.guard = index;
            let register = builder.load(&guard.source)?;
            // Loading shows that it exists.
            if !matches!(guard.check, Check::Exists) {
                let test = builder.test(guard.check)?;
                builder.push(Action::Check { register, test });
            }
            reasons.push(guard.reason);
        }
        let registers = builder.known.len();
        Ok(Self(Arc::new(Inner { steps: builder.steps, registers, reasons })))
    }

    /// Whether all guards hold for a call; else the index of the first that does not.
    pub fn check(&self, args: Args<'_, '_>, function: &Bound<'_, PyAny>) -> Result<(), usize> {
        let mut registers: Registers<'_> = SmallVec::from_elem(None, self.0.registers);
        for step in &self.0.steps {
            let held = match &step.action {
                Action::Load { from, into } => match load::run(from, &registers, args, function) {
                    Some(value) => {
                        registers[*into] = Some(value);
                        true
                    }
                    None => false,
                },
                Action::Check { register, test } => {
                    registers[*register].as_ref().is_some_and(|value| test.holds(value, &registers))
                }
            };
            if !held {
                return Err(step.guard);
            }
        }
        Ok(())
    }

    /// Shows every object that it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for step in &self.0.steps {
            match &step.action {
                Action::Load { from: Load::Entry(_, object) | Load::Constant(object), .. } => visit(object),
                Action::Load { .. } => {}
                Action::Check { test, .. } => test.traverse(visit),
            }
        }
    }

    /// Why a guard is there.
    #[must_use]
    pub fn reason(&self, guard: usize) -> Option<String> {
        self.0.reasons.get(guard).map(ToString::to_string)
    }
}

struct Builder<'py> {
    py: Python<'py>,
    steps: Vec<Step>,
    /// Registers by the path they hold.
    known: FxHashMap<Source, usize>,
    guard: usize,
}

impl Builder<'_> {
    fn push(&mut self, action: Action) {
        self.steps.push(Step { guard: self.guard, action });
    }

    fn load(&mut self, source: &Source) -> PyResult<usize> {
        if let Some(register) = self.known.get(source) {
            return Ok(*register);
        }
        let from = self.step(source)?;
        let into = self.known.len();
        self.known.insert(source.clone(), into);
        self.push(Action::Load { from, into });
        Ok(into)
    }

    fn step(&mut self, source: &Source) -> PyResult<Load> {
        let name = |name: &str| PyString::intern(self.py, name).unbind();
        Ok(match source {
            Source::Local(slot) => Load::Argument(*slot as usize),
            Source::FreeCell(index) => Load::FreeCell(*index as usize),
            Source::Free(index) => Load::Content(self.load(&Source::FreeCell(*index))?),
            Source::Cell(base) => Load::Content(self.load(base)?),
            Source::Global(global) => Load::Global(name(global)),
            Source::Builtin(builtin) => Load::Builtin(name(builtin)),
            Source::DictItem(base, key) => Load::Entry(self.load(base)?, key.0.clone_ref(self.py)),
            Source::Attr(base, attribute) | Source::OwnAttr(base, attribute) => {
                let attribute = name(attribute);
                Load::Attribute(self.load(base)?, attribute)
            }
            Source::Dict(base) => Load::Dict(self.load(base)?),
            Source::Item(base, index) => Load::Item(self.load(base)?, *index),
            Source::TypeOf(base) => Load::Type(self.load(base)?),
            Source::Constant(object) => Load::Constant(object.0.clone_ref(self.py)),
        })
    }

    fn test(&mut self, check: Check) -> PyResult<Test> {
        Ok(match check {
            Check::TypeIs(kind) => Test::TypeIs(kind),
            Check::Is(object) => Test::Is(object),
            Check::Equals(constant) => Test::Equals(constant),
            Check::Length(length) => Test::Length(length),
            Check::Exists => Test::Exists,
            Check::NothingHandled => Test::NothingHandled,
            Check::Absent(key) => Test::Absent(key),
            Check::SameAs(other) => Test::Same(self.load(&other)?),
            Check::NotSameAs(other) => Test::Different(self.load(&other)?),
            Check::TypeUnchanged(kind) => {
                let kind = kind.bind(self.py).cast::<PyType>()?;
                Test::Unchanged(kind.clone().unbind(), types::version_tag(kind))
            }
            Check::FunctionUnchanged(function) => {
                let parts = load::function_parts(function.bind(self.py));
                let values = load::default_values(&parts);
                Test::Function(function, parts.map(|part| part.map(Bound::unbind)), values)
            }
            Check::Keys(keys) => Test::Keys(keys),
            Check::CellEmpty => Test::Empty,
            Check::Domain(check) => Test::Domain(check),
            Check::Call(check) => Test::Call(check),
        })
    }
}

impl Test {
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::TypeIs(object)
            | Self::Is(object)
            | Self::Equals(object)
            | Self::Absent(object)
            | Self::Keys(object)
            | Self::Call(object) => visit(object),
            Self::Unchanged(class, _) => visit(class.as_any()),
            Self::Function(function, parts, values) => {
                visit(function);
                parts.iter().flatten().for_each(&mut *visit);
                values.iter().for_each(|(name, value)| {
                    visit(name);
                    visit(value);
                });
            }
            Self::Domain(check) => check.traverse(visit),
            Self::Length(_)
            | Self::Exists
            | Self::NothingHandled
            | Self::Same(_)
            | Self::Different(_)
            | Self::Empty => {}
        }
    }

    fn holds(&self, value: &Bound<'_, PyAny>, registers: &Registers<'_>) -> bool {
        let py = value.py();
        let same = |register: &usize| registers[*register].as_ref().is_some_and(|other| other.is(value));
        match self {
            Self::TypeIs(kind) => value.get_type_ptr().cast() == kind.as_ptr(),
            Self::Is(object) => value.is(object),
            Self::Equals(constant) => load::equal(value, constant.bind(py)),
            Self::Length(length) => load::length(value) == Some(*length),
            Self::Absent(key) => load::absent(value, key.bind(py)),
            Self::Same(register) => same(register),
            Self::Different(register) => !same(register),
            Self::Unchanged(kind, tag) => *tag != 0 && types::version_tag(kind.bind(py)) == *tag,
            Self::Function(function, parts, values) => {
                value.is(function) && load::same_parts(value, parts) && load::same_defaults(parts, values, py)
            }
            Self::Keys(keys) => load::has_keys(value, keys.bind(py)),
            Self::Empty => raw::cell_content(value).is_none(),
            Self::Domain(check) => check.holds(value),
            Self::Exists => true,
            Self::NothingHandled => !raw::is_handling(py),
            Self::Call(check) => check.bind(py).call1((value,)).and_then(|answer| answer.is_truthy()).unwrap_or(false),
        }
    }
}
