//! Guards on disk: paths as what they are made of, checks as what they compare with.
use super::condition::{Check, DomainCheck, Guard, Reason};
use super::function_shape::FunctionShape;
use super::names_read::NamesRead;
use super::program::Program;
use super::source::Source;
use super::step::{Action, Step};
use super::stored_paths::{now, read_source, write_load};
use super::test::Test;
use crate::ffi::Args;
use crate::ffi::types;
use crate::stored::{Damaged, In, Misfit, Out};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Why guards that were read rely on what they check.
const WHY: &str = "a trace that was loaded relies on it";

/// Who makes the checks of libraries again, by name and state.
pub type Checks<'a> = dyn Fn(&str, &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> + 'a;

impl Program {
    /// Writes the first guards.
    ///
    /// # Errors
    /// What of them cannot be written, or cannot hold again.
    pub fn write<'py>(&self, count: usize, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        let written = || self.steps.iter().filter(|step| step.guard < count);
        let loads = written().filter(|step| matches!(step.action, Action::Load { .. })).count();
        out.bytes.number(loads as u64);
        let asked = self.asked_for(count, out.py());
        for step in written() {
            if let Action::Load { from, into } = &step.action {
                write_load(from, out).map_err(|why| why.at(self.place(step.guard)))?;
                out.places.extend(asked.iter().copied().filter(|(_, subject)| subject == into));
            }
        }
        out.bytes.number(self.subjects.len().min(count) as u64);
        let mut steps = written().filter(|step| !matches!(step.action, Action::Load { .. })).peekable();
        let mut file: &str = "";
        for (guard, subject) in self.subjects.iter().take(count).enumerate() {
            out.bytes.number(*subject as u64);
            let place = self.place(guard);
            let (here, line) = place.map_or(("", 0), |(file, line)| (&**file, *line));
            // Most guards come from the file of the one before.
            out.bytes.0.push(u8::from(here == file));
            if here != file {
                out.bytes.text(here);
                file = here;
            }
            out.bytes.number(u64::from(line));
            match steps.next_if(|step| step.guard == guard).map(|step| &step.action) {
                Some(Action::Check { test, .. }) => write_test(test, out).map_err(|why| why.at(place))?,
                Some(Action::Compare { other, same, .. }) => {
                    out.bytes.0.push(if *same { SAME } else { NOT_SAME });
                    out.bytes.number(*other as u64);
                }
                Some(Action::Load { .. }) | None => out.bytes.0.push(EXISTS),
            }
        }
        Ok(())
    }

    /// The addresses of objects that guards ask for, and the registers that they look at.
    fn asked_for(&self, count: usize, py: Python<'_>) -> Vec<(usize, usize)> {
        let object = |step: &Step| match &step.action {
            Action::Check { register, test } => match &**test {
                Test::Is(object) => Some((object.object_now(py)?.as_ptr() as usize, *register)),
                _ => None,
            },
            _ => None,
        };
        self.steps.iter().filter(|step| step.guard < count).filter_map(object).collect()
    }
}

impl Guard {
    /// Reads what [`Program::write`] has written.
    ///
    /// # Errors
    /// What is not in this process as it was in the other.
    pub fn read_all<'a, 'py>(
        from: &mut In<'a, 'py>,
        checks: &Checks<'_>,
        args: Args<'a, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Result<Vec<Self>, Misfit> {
        let shared: Rc<RefCell<Vec<Arc<Source>>>> = Rc::default();
        let (read, function) = (Rc::clone(&shared), function.clone());
        from.on_path = Some(Box::new(move |index| {
            let path = Arc::clone(read.borrow().get(index)?);
            found_at(&path, args, &function)
        }));
        for _ in 0..from.bytes.count()? {
            let path = read_source(from, &shared)?;
            shared.borrow_mut().push(Arc::new(path));
        }
        let paths = shared.borrow().clone();
        let at = |index: usize| paths.get(index).ok_or(Damaged);
        let mut guards = Vec::new();
        let mut file: Arc<str> = Arc::from("");
        for _ in 0..from.bytes.count()? {
            let source = at(from.bytes.index()?)?;
            if from.bytes.byte()? == 0 {
                file = Arc::from(from.bytes.text()?);
            }
            let line = u32::try_from(from.bytes.number()?).map_err(|_| Damaged)?;
            let place = (!file.is_empty()).then(|| (Arc::clone(&file), line));
            let check = read_check(from, checks, &paths)?;
            guards.push(Self {
                source: (**source).clone(),
                check,
                reason: Reason { why: WHY, operation: None, place },
            });
        }
        Ok(guards)
    }
}

/// What is at a path in a call.
fn found_at<'py>(path: &Source, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let reason = Reason { why: WHY, operation: None, place: None };
    let guard = Guard { source: path.clone(), check: Check::Exists, reason };
    let program = Program::new(function.py(), vec![guard]).ok()?;
    let found = program.check(args, function).ok()?;
    program.looked_at(&found).next()?
}

const EXISTS: u8 = 0;
const SAME: u8 = 1;
const NOT_SAME: u8 = 2;
const TYPE: u8 = 3;
const IS: u8 = 4;
const EQUALS: u8 = 5;
const LENGTH: u8 = 6;
const TRUTH: u8 = 7;
const NOTHING_HANDLED: u8 = 8;
const ABSENT: u8 = 9;
const CLASS_UNCHANGED: u8 = 10;
const FUNCTION_UNCHANGED: u8 = 11;
const KEYS: u8 = 12;
const CELL_EMPTY: u8 = 13;
const DOMAIN: u8 = 14;
const CALL: u8 = 15;
const FUNCTION_LIKE: u8 = 16;

fn write_test<'py>(test: &Test, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let py = out.py();
    match test {
        Test::TypeIs(kind) => {
            out.bytes.0.push(TYPE);
            out.identity(&now(kind, py)?)
        }
        Test::Is(object) => {
            out.bytes.0.push(IS);
            out.identity(&now(object, py)?)
        }
        Test::Equals(constant) => {
            out.bytes.0.push(EQUALS);
            out.object(constant.bind(py))
        }
        Test::Length(length) => {
            out.bytes.0.push(LENGTH);
            out.bytes.number(*length as u64);
            Ok(())
        }
        Test::Truth(truth) => {
            out.bytes.0.extend([TRUTH, u8::from(*truth)]);
            Ok(())
        }
        Test::NothingHandled => {
            out.bytes.0.push(NOTHING_HANDLED);
            Ok(())
        }
        Test::Absent(key) => {
            out.bytes.0.push(ABSENT);
            out.object(&now(key, py)?)
        }
        Test::Unchanged(class, state) => {
            let class = now(class, py)?.cast_into::<PyType>().map_err(PyErr::from)?;
            if !state.holds(&class) {
                return Err(Misfit(format!("the class {} has changed since", types::name(&class))));
            }
            out.bytes.0.push(CLASS_UNCHANGED);
            let print = out.fingerprints.of_class(&class)?;
            out.bytes.digest(print);
            out.identity(class.as_any())
        }
        Test::Function(state) => {
            let now = state.function(py).filter(|now| state.holds(now));
            let now = now.ok_or_else(|| Misfit::new("a function has changed since, or is gone"))?;
            out.bytes.0.push(FUNCTION_UNCHANGED);
            out.identity(&now)
        }
        Test::Keys(keys) => {
            out.bytes.0.push(KEYS);
            out.object(keys.bind(py))
        }
        Test::Empty => {
            out.bytes.0.push(CELL_EMPTY);
            Ok(())
        }
        Test::Domain(check) => {
            let (name, state) = check
                .state(py)
                .ok_or_else(|| Misfit(format!("a condition that is not written: {}", check.describe())))?;
            out.bytes.0.push(DOMAIN);
            out.bytes.text(name);
            out.object(&state)
        }
        Test::Call(check) => {
            out.bytes.0.push(CALL);
            out.object(check.bind(py))
        }
        Test::FunctionLike(shape) => {
            out.bytes.0.push(FUNCTION_LIKE);
            shape.write(out)
        }
        // Residual programs are not written.
        Test::Module | Test::Anchor(_) => Err(Misfit::new("a module")),
    }
}

fn read_check(from: &mut In<'_, '_>, checks: &Checks<'_>, paths: &[Arc<Source>]) -> Result<Check, Misfit> {
    let tag = from.bytes.byte()?;
    let other = |from: &mut In<'_, '_>| Ok::<_, Damaged>((**paths.get(from.bytes.index()?).ok_or(Damaged)?).clone());
    Ok(match tag {
        EXISTS => Check::Exists,
        SAME => Check::SameAs(other(from)?),
        NOT_SAME => Check::NotSameAs(other(from)?),
        TYPE => Check::TypeIs(from.object()?.unbind()),
        IS => Check::Is(from.object()?.unbind()),
        EQUALS => Check::Equals(from.object()?.unbind()),
        LENGTH => Check::Length(from.bytes.index()?),
        TRUTH => Check::Truth(from.bytes.byte()? != 0),
        NOTHING_HANDLED => Check::NothingHandled,
        ABSENT => Check::Absent(from.object()?.unbind()),
        CLASS_UNCHANGED => {
            let print = from.bytes.digest()?;
            let class = from.object()?.cast_into::<PyType>().map_err(|_| Damaged)?;
            if from.fingerprints.of_class(&class)? != print {
                return Err(Misfit(format!("the class {} is another one", types::name(&class))));
            }
            Check::TypeUnchanged(class.into_any().unbind(), NamesRead::all())
        }
        FUNCTION_UNCHANGED => Check::FunctionUnchanged(from.object()?.unbind()),
        KEYS => Check::Keys(from.object()?.unbind()),
        CELL_EMPTY => Check::CellEmpty,
        DOMAIN => {
            let name = from.bytes.text()?.to_owned();
            let state = from.object()?;
            let check = checks(&name, &state)?;
            Check::Domain(check.ok_or_else(|| Misfit(format!("nobody here makes the check {name}")))?)
        }
        CALL => Check::Call(from.object()?.unbind()),
        FUNCTION_LIKE => Check::FunctionLike(FunctionShape::read(from)?.unbind()),
        _ => return Err(Damaged.into()),
    })
}
