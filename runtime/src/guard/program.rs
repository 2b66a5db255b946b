//! A flat program that checks guards: each path is loaded once, each test looks at one register.
use super::class_state::ClassState;
use super::condition::{Check, Guard, Reason};
use super::function_shape::FunctionShape;
use super::function_state::FunctionState;
use super::homes::Homes;
use super::load::{Load, Registers};
use super::source::{Source, identity_key, item_key, keys_key, length_key, size_key};
use super::step::{Action, Step};
use super::test::Test;
use super::values;
use crate::ffi::Args;
use crate::ffi::held::Held;
use crate::names::interned;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Checks the guards of one cache entry, all of them.
#[derive(Debug)]
pub struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) registers: usize,
    reasons: Vec<Reason>,
    /// What tells the path of each guard from others.
    keys: Vec<u64>,
    /// The register that each guard looks at.
    pub(super) subjects: Vec<usize>,
    /// The step that fills each register.
    pub(super) loads: Vec<usize>,
}

/// A program that does not hold for a call: the step that failed, and what those before it found.
#[derive(Debug)]
pub struct GuardFailure<'py> {
    pub(super) step: usize,
    pub(super) found: Registers<'py>,
    /// The guard that the step belongs to.
    pub guard: usize,
}

impl Program {
    /// Flattens guards, in their order; a path that several guards share is loaded where the first needs it.
    pub fn new(py: Python<'_>, guards: Vec<Guard>) -> PyResult<Self> {
        let homes = Homes::of(&guards, py);
        let mut builder = Builder { py, steps: Vec::new(), known: FxHashMap::default(), guard: 0, homes };
        let mut reasons = Vec::with_capacity(guards.len());
        let mut subjects = Vec::with_capacity(guards.len());
        let mut keys = Vec::with_capacity(guards.len());
        for (index, guard) in guards.into_iter().enumerate() {
            builder.guard = index;
            let register = builder.load(&guard.source)?;
            keys.push(guard.source.key());
            builder.check(register, guard.check)?;
            reasons.push(guard.reason);
            subjects.push(register);
        }
        let registers = builder.known.len();
        let mut loads = vec![0; registers];
        for (index, step) in builder.steps.iter().enumerate() {
            if let Action::Load { into, .. } = &step.action {
                loads[*into] = index;
            }
        }
        Ok(Self { steps: builder.steps, registers, reasons, keys, subjects, loads })
    }

    /// The same with more guards after its own.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        let (registers, guards, steps) = (self.registers, self.len(), self.steps.len());
        let moved = |step: &Step| Step { guard: step.guard + guards, ..step.with(|register| register + registers) };
        self.steps.extend(other.steps.iter().map(moved));
        self.subjects.extend(other.subjects.into_iter().map(|register| register + registers));
        self.loads.extend(other.loads.into_iter().map(|step| step + steps));
        self.reasons.extend(other.reasons);
        self.keys.extend(other.keys);
        self.registers += other.registers;
        self
    }

    /// What each guard looks at, after the program was found to hold for a call.
    pub fn looked_at<'a, 'py>(
        &'a self,
        found: &'a Registers<'py>,
    ) -> impl Iterator<Item = Option<Bound<'py, PyAny>>> + 'a {
        self.subjects.iter().map(|register| found.get(*register)?.clone())
    }

    /// What tells the path of each guard from others: [`Source::key`].
    #[must_use]
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Checks all guards for a call: what the steps found, or where it stopped.
    pub fn check<'py>(
        &self,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Result<Registers<'py>, Box<GuardFailure<'py>>> {
        let mut found = Registers::from_elem(None, self.registers);
        match self.steps.iter().position(|step| !step.run(&mut found, args, function)) {
            Some(step) => Err(Box::new(GuardFailure { step, found, guard: self.steps[step].guard })),
            None => Ok(found),
        }
    }

    /// What a guard finds in a call where it does not hold, for reports: `now 5`; `text` names an object without running code of the program.
    pub fn now<'py>(
        &self,
        guard: usize,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
        text: impl Fn(&Bound<'py, PyAny>) -> String,
    ) -> Option<String> {
        let Some(value) = self.subject(guard, args, function) else { return Some("now there is none".to_owned()) };
        let last = self.steps.iter().rev().find(|step| step.guard == guard)?;
        let test = match &last.action {
            Action::Check { test, .. } => test,
            Action::Compare { same: true, .. } => return Some(format!("now another one: {}", text(&value))),
            Action::Compare { same: false, .. } => return Some(format!("now both are {}", text(&value))),
            Action::Load { .. } => return None,
        };
        match &**test {
            Test::TypeIs(_) => Some(format!("now {}", text(value.get_type().as_any()))),
            Test::Is(object) if object.is(&value) => None,
            Test::Function(state) if state.is(&value) => None,
            Test::Is(_) | Test::Function(..) | Test::FunctionLike(_) => {
                Some(format!("now another one: {}", text(&value)))
            }
            Test::Equals(_) | Test::Truth(_) => Some(format!("now {}", text(&value))),
            Test::Length(_) => values::length(&value).map(|length| format!("now {length}")),
            Test::Keys(_) => Some(format!("now {}", text(value.cast::<PyDict>().ok()?.keys().as_any()))),
            Test::Domain(check) => check.now(&value).map(|now| format!("now {now}")),
            Test::Absent(_) | Test::Empty => Some("now there is one".to_owned()),
            Test::NothingHandled | Test::Unchanged(..) | Test::Call(_) | Test::Module | Test::Anchor(_) => None,
        }
    }

    /// Where the call has other numbers than the guards ask for, of the same class: by [`Source::key`].
    pub fn changed_numbers<'py>(&self, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Vec<u64> {
        let mut registers = Registers::from_elem(None, self.registers);
        let mut changed = Vec::new();
        for step in &self.steps {
            // What the guards would not look into is not looked into here: that could run code, or warn.
            match &step.action {
                Action::Load { from, into } => registers[*into] = from.run(&registers, args, function),
                Action::Check { register, test } => {
                    let (Some(value), Some(key)) = (&registers[*register], self.keys.get(step.guard)) else { continue };
                    let (sizes, numbers) = (test.other_sizes(value), test.other_numbers(value, *key));
                    changed.extend(test.other_length(value).then(|| length_key(*key)));
                    changed.extend(test.other_object(value).then(|| identity_key(*key)));
                    let keys = keys_key(*key);
                    let others = test.other_keys(value).into_iter();
                    changed.extend(
                        others.flat_map(|count| (0..count).map(move |index| item_key(keys, index)).chain([keys])),
                    );
                    if sizes.is_empty() && numbers.is_empty() && !test.holds(value) {
                        registers[*register] = None;
                    }
                    changed.extend(numbers);
                    changed.extend(sizes.into_iter().map(|index| size_key(*key, index)));
                }
                Action::Compare { register, .. } => {
                    if !step.run(&mut registers, args, function) {
                        registers[*register] = None;
                    }
                }
            }
        }
        changed
    }

    /// Whether a guard that failed can never hold again: a class never gets back a version that it had.
    #[must_use]
    pub fn is_final(&self, guard: usize) -> bool {
        let of_class =
            |step: &Step| matches!(&step.action, Action::Check { test, .. } if matches!(**test, Test::Unchanged(..)));
        self.steps.iter().any(|step| step.guard == guard && of_class(step))
    }

    /// Whether it can never hold again, for an object is gone that it asks for.
    #[must_use]
    pub fn is_over(&self, py: Python<'_>) -> bool {
        self.steps.iter().any(|step| match &step.action {
            Action::Load { from: Load::Constant(object) | Load::Entry(_, object), .. }
            | Action::Load { from: Load::Member(object, _) | Load::CellOf(object, _), .. } => object.is_gone(py),
            Action::Check { test, .. } => test.is_over(py),
            Action::Load { .. } | Action::Compare { .. } => false,
        })
    }

    /// What a guard looks at, in this call; `None` where there is nothing.
    fn subject<'py>(
        &self,
        guard: usize,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, PyAny>> {
        let mut registers = Registers::from_elem(None, self.registers);
        let subject = *self.subjects.get(guard)?;
        for step in self.steps.iter().filter(|step| step.guard <= guard) {
            if matches!(step.action, Action::Load { .. }) && !step.run(&mut registers, args, function) {
                break;
            }
        }
        registers.get_mut(subject)?.take()
    }

    /// Shows every object that it owns to the garbage collector, once for each reference: steps share what they name.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        let mut shown: FxHashSet<*const Py<PyAny>> = FxHashSet::default();
        let mut once = |owned: &Py<PyAny>| {
            if shown.insert(owned) {
                visit(owned);
            }
        };
        for step in &self.steps {
            match &step.action {
                Action::Load { from, .. } => from.traverse(&mut once),
                Action::Check { test, .. } => test.traverse(&mut once),
                Action::Compare { .. } => {}
            }
        }
    }

    /// Why a guard is there.
    #[must_use]
    pub fn reason(&self, guard: usize) -> Option<String> {
        self.reasons.get(guard).map(ToString::to_string)
    }

    /// Where the trace came to rely on a guard.
    pub(super) fn place(&self, guard: usize) -> Option<&(Arc<str>, u32)> {
        self.reasons.get(guard)?.place.as_ref()
    }

    /// How many guards there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.reasons.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }
}

struct Builder<'py> {
    py: Python<'py>,
    steps: Vec<Step>,
    /// Registers by the path they hold.
    known: FxHashMap<Source, usize>,
    guard: usize,
    homes: Homes,
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
        let name = |name: &str| Arc::new(interned(self.py, name).unbind());
        Ok(match source {
            Source::Local(slot) => Load::Argument(*slot as usize),
            Source::FreeCell(index) => Load::FreeCell(*index as usize),
            Source::Free(index) => Load::Content(self.load(&Source::FreeCell(*index))?),
            Source::Cell(base) => Load::Content(self.load(base)?),
            Source::Global(global) => Load::Global(name(global)),
            Source::Builtin(builtin) => Load::Builtin(name(builtin)),
            Source::DictItem(base, key) | Source::OwnEntry(base, key) => {
                Load::Entry(self.load(base)?, Arc::new(Held::of_constant(key.0.bind(self.py))))
            }
            Source::Attr(base, attribute) | Source::OwnAttr(base, attribute) => {
                let attribute = name(attribute);
                Load::Attribute(self.load(base)?, attribute)
            }
            Source::ContextValue(base) => Load::ContextValue(self.load(base)?),
            Source::Dict(base) => Load::Dict(self.load(base)?),
            Source::EntryFor(base, key) => Load::EntryFor(self.load(base)?, self.load(key)?),
            Source::HasKey(base, _, key) => Load::HasKey(self.load(base)?, self.load(key)?),
            Source::Referent(base) => Load::Referent(self.load(base)?),
            Source::WeakReferent(base) => Load::WeakReferent(self.load(base)?),
            Source::WeakReference(base) => Load::WeakReference(self.load(base)?),
            Source::Keys(base) => Load::Keys(self.load(base)?),
            Source::ThreadDict(base) => Load::ThreadDict(self.load(base)?),
            Source::Values(base) => Load::Values(self.load(base)?),
            Source::WithHash(base, hash, side) => Load::WithHash(self.load(base)?, *hash, *side),
            Source::Ahead(base, count) => Load::Ahead(self.load(base)?, *count),
            Source::Drawn(base, draw) => Load::Drawn(self.load(base)?, *draw),
            Source::OwnItem(base, method, index) => {
                Load::OwnItem(self.load(base)?, Arc::new(method.0.clone_ref(self.py)), *index)
            }
            Source::ItemFromEnd(base, index) => Load::ItemFromEnd(self.load(base)?, *index),
            Source::Length(base) => Load::Length(self.load(base)?),
            Source::Size(base, index) => Load::Size(self.load(base)?, *index),
            Source::Contents(base) => Load::Contents(self.load(base)?),
            Source::Address(base) => Load::Address(self.load(base)?),
            Source::Item(base, index) => match closure_of(base) {
                Some(function) => Load::CellOf(Arc::new(Held::of_constant(function.bind(self.py))), *index),
                None => Load::Item(self.load(base)?, *index),
            },
            Source::TypeOf(base) => Load::Type(self.load(base)?),
            Source::Together(parts) => {
                Load::Together(parts.iter().map(|part| self.load(part)).collect::<PyResult<_>>()?)
            }
            Source::Constant(object) => {
                let object = object.0.bind(self.py);
                self.homes.get(object).unwrap_or_else(|| Load::Constant(Arc::new(Held::of_constant(object))))
            }
        })
    }

    fn check(&mut self, register: usize, check: Check) -> PyResult<()> {
        let test = match check {
            // Loading shows that it exists.
            Check::Exists => return Ok(()),
            Check::SameAs(other) => return self.compare(register, &other, true),
            Check::NotSameAs(other) => return self.compare(register, &other, false),
            Check::TypeIs(class) => Test::TypeIs(Held::of(class.bind(self.py))),
            Check::Is(object) => Test::Is(Arc::new(Held::of(object.bind(self.py)))),
            Check::Equals(constant) => Test::Equals(constant),
            Check::Length(length) => Test::Length(length),
            Check::Truth(truth) => Test::Truth(truth),
            Check::NothingHandled => Test::NothingHandled,
            Check::Absent(key) => Test::Absent(Held::of_constant(key.bind(self.py))),
            Check::TypeUnchanged(kind, names) => {
                let kind = kind.bind(self.py).cast::<PyType>()?;
                Test::Unchanged(Held::of(kind), ClassState::of(kind, &names))
            }
            Check::FunctionUnchanged(function) => Test::Function(FunctionState::of(function.bind(self.py))),
            Check::FunctionLike(function) => Test::FunctionLike(FunctionShape::of(function.bind(self.py))),
            Check::Keys(keys) => Test::Keys(keys),
            Check::CellEmpty => Test::Empty,
            Check::Domain(check) => Test::Domain(check),
            Check::Call(check) => Test::Call(check),
        };
        self.push(Action::Check { register, test: Arc::new(test) });
        Ok(())
    }

    fn compare(&mut self, register: usize, other: &Source, same: bool) -> PyResult<()> {
        let other = self.load(other)?;
        self.push(Action::Compare { register, other, same });
        Ok(())
    }
}

/// The function whose closure is at a path that begins at the function itself.
fn closure_of(path: &Source) -> Option<&Py<PyAny>> {
    match path {
        Source::Attr(base, name) if &**name == "__closure__" => match &**base {
            Source::Constant(function) => Some(&function.0),
            _ => None,
        },
        _ => None,
    }
}
