//! Makes the residual program: which guards are watched, and which steps stay.
use super::pins::Pins;
use super::quick::Quick;
use super::residual::{ChangeCounts, GuardMode, Residual};
use crate::ffi::held::Held;
use crate::ffi::watch::{Owner, Watch};
use crate::ffi::{inspect, types};
use crate::guard::load::{Load, Registers};
use crate::guard::program::{GuardFailure, Program};
use crate::guard::step::{Action, Step};
use crate::guard::test::Test;
use crate::guard::values::keeps_type;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyTuple, PyType};
use std::sync::Arc;

pub(in crate::guard) const NO_WATCHER: &str = "nothing tells of changes to it here";

impl Program {
    /// What is left of the program after it was found to hold with these registers.
    pub fn residual<'py>(
        &self,
        found: &Registers<'py>,
        function: &Bound<'py, PyAny>,
        changes: &ChangeCounts,
    ) -> Residual {
        let mut plan = Plan::new(self, found, function, changes);
        plan.pins = plan.watch.as_ref().map(|_| Pins::new(self, function.py()));
        for (index, step) in self.steps.iter().enumerate() {
            plan.step(index, step);
        }
        let modes = (0..self.len()).map(|guard| plan.mode(guard)).collect();
        let Plan { steps, registers, watch, pins, .. } = plan;
        let (words, anchors) = pins.map(Pins::into_parts).unwrap_or_default();
        let quick = Quick::of(&steps, registers, function.py());
        Residual { steps, registers, quick, watch, words, anchors, modes, ..Residual::default() }
    }

    /// A guard that failed and will fail at each call, until something changes that CPython tells of; `None` where that is not known.
    pub fn lasting_failure<'py>(
        &self,
        failed: &GuardFailure<'py>,
        function: &Bound<'py, PyAny>,
        changes: &mut ChangeCounts,
    ) -> Option<Residual> {
        if changes.unknown.contains(&failed.step) {
            return None;
        }
        let mut plan = Plan::new(self, &failed.found, function, changes);
        let fixed = plan.decided(failed.step);
        let watch = plan.watch;
        if !fixed {
            changes.unknown.insert(failed.step);
            return None;
        }
        Some(Residual { watch, fails: Some(failed.guard), ..Residual::default() })
    }
}

/// What is known of a register of the whole program.
#[derive(Clone, Copy, Debug)]
pub(in crate::guard) enum State {
    /// It holds what it held for as long as the watch holds and the checks before succeed.
    Fixed(&'static str),
    /// It may hold something else at each call.
    Moving(&'static str),
}

pub(in crate::guard) struct Plan<'a, 'py> {
    pub(in crate::guard) function: &'a Bound<'py, PyAny>,
    pub(in crate::guard) found: &'a Registers<'py>,
    pub(in crate::guard) program: &'a Program,
    pub(in crate::guard) changes: &'a ChangeCounts,
    pub(in crate::guard) watch: Option<Watch>,
    pub(in crate::guard) states: Vec<State>,
    /// The register of the plan that holds the same.
    homes: Vec<Option<usize>>,
    /// The object that a register holds, where the program itself names it.
    pub(in crate::guard) objects: Vec<Option<Arc<Held>>>,
    /// How what a register holds is known to live.
    pub(in crate::guard) owners: Vec<Option<Owner>>,
    /// What is known of objects that calls look at; `None` while no call will look.
    pub(in crate::guard) pins: Option<Pins>,
    /// Functions that the watch was set on.
    pub(super) watched_functions: Vec<Bound<'py, PyAny>>,
    /// Whether the exact type of what a register holds is known.
    pub(super) typed: Vec<bool>,
    pub(in crate::guard) steps: Vec<Step>,
    registers: usize,
    modes: Vec<Option<GuardMode>>,
}

impl<'a, 'py> Plan<'a, 'py> {
    fn new(
        program: &'a Program,
        found: &'a Registers<'py>,
        function: &'a Bound<'py, PyAny>,
        changes: &'a ChangeCounts,
    ) -> Self {
        Self {
            function,
            found,
            program,
            changes,
            watch: Watch::new(function.py()),
            states: vec![State::Moving(""); program.registers],
            homes: vec![None; program.registers],
            objects: vec![None; program.registers],
            owners: vec![None; program.registers],
            pins: None,
            watched_functions: Vec::new(),
            typed: vec![false; program.registers],
            steps: Vec::new(),
            registers: 0,
            modes: vec![None; program.len()],
        }
    }

    /// Whether a step does the same at each call while the watch holds, and all on the way to it.
    fn decided(&mut self, index: usize) -> bool {
        let program = self.program;
        match &program.steps[index].action {
            Action::Load { from, into } => {
                self.reached(from) && matches!(self.load(index, from, *into), State::Fixed(_))
            }
            Action::Check { register, test } => self.known(*register) && self.test(index, *register, test).is_ok(),
            Action::Compare { register, other, .. } => self.known(*register) && self.known(*other),
        }
    }

    fn reached(&mut self, from: &Load) -> bool {
        let mut known = true;
        let _ = from.with(|base| {
            known &= self.known(base);
            base
        });
        known
    }

    fn known(&mut self, register: usize) -> bool {
        let program = self.program;
        let index = program.loads[register];
        let Action::Load { from, into } = &program.steps[index].action else { return false };
        let state = if self.reached(from) { self.load(index, from, *into) } else { State::Moving("") };
        self.states[register] = state;
        matches!(state, State::Fixed(_))
    }

    /// What becomes of a guard; one without steps of its own shares them with another that looks at the same.
    fn mode(&self, guard: usize) -> GuardMode {
        let subject = self.program.subjects.get(guard).map(|register| self.states[*register]);
        self.modes[guard].unwrap_or(match subject {
            Some(State::Moving(why)) => GuardMode::Checked(why),
            Some(State::Fixed(what)) => GuardMode::Watched(what),
            None => GuardMode::Checked(NO_WATCHER),
        })
    }

    fn step(&mut self, index: usize, step: &Step) {
        match &step.action {
            Action::Load { from, into } => {
                self.states[*into] = self.load(index, from, *into);
                if let Load::Constant(object) = from {
                    self.objects[*into] = Some(Arc::clone(object));
                    if !object.is_kept() && !self.is_tested(*into) {
                        self.place(*into, step.guard);
                    }
                }
                if let State::Moving(why) = self.states[*into] {
                    self.place(*into, step.guard);
                    self.checked(step.guard, why);
                }
            }
            Action::Compare { register, other, same } => match (self.states[*register], self.states[*other]) {
                (State::Fixed(what), State::Fixed(_)) => self.watched(step.guard, what),
                (State::Moving(why), _) | (_, State::Moving(why)) => {
                    let (register, other) = (self.place(*register, step.guard), self.place(*other, step.guard));
                    self.steps
                        .push(Step { guard: step.guard, action: Action::Compare { register, other, same: *same } });
                    self.checked(step.guard, why);
                }
            },
            Action::Check { register, test } => match self.test(index, *register, test) {
                Ok(what) => self.watched(step.guard, what),
                Err(why) => {
                    self.keep_test(*register, step.guard, test);
                    self.checked(step.guard, why);
                }
            },
        }
    }

    /// Whether a test that fails once an object is gone asks for what a register holds: it is watched, or made.
    fn is_tested(&self, register: usize) -> bool {
        self.program.steps.iter().any(|step| match &step.action {
            Action::Check { register: of, test } => *of == register && test.asks_for_one(),
            Action::Load { .. } | Action::Compare { .. } => false,
        })
    }

    fn watched(&mut self, guard: usize, what: &'static str) {
        self.modes[guard].get_or_insert(GuardMode::Watched(what));
    }

    fn checked(&mut self, guard: usize, why: &'static str) {
        if !matches!(self.modes[guard], Some(GuardMode::Checked(_))) {
            self.modes[guard] = Some(GuardMode::Checked(why));
        }
    }

    /// Has the watch set; nothing where it cannot be, and where this changes all the time.
    pub(in crate::guard) fn set<T: Default>(&mut self, index: usize, set: impl FnOnce(&mut Watch, u32) -> T) -> T {
        match (u32::try_from(index), &mut self.watch) {
            (Ok(mark), Some(watch)) if !self.changes.is_frequent(index) => set(watch, mark),
            _ => T::default(),
        }
    }

    pub(in crate::guard) fn entry(
        &mut self,
        index: usize,
        dict: Option<&Bound<'py, PyAny>>,
        key: &Bound<'py, PyAny>,
        into: usize,
        what: &'static str,
    ) -> State {
        let kept = dict.and_then(|dict| self.set(index, |watch, mark| watch.value(dict, key, mark)));
        let found = kept.as_ref().and_then(|kept| kept.get(key.py()));
        match self.changes.is_frequent(index) {
            // What was found a moment ago.
            _ if found.is_some_and(|now| self.found[into].as_ref().is_some_and(|then| then.is(&now))) => {
                self.owners[into] = kept.map(Owner::Kept);
                State::Fixed(what)
            }
            true => State::Moving("it changes again and again"),
            false => State::Moving(NO_WATCHER),
        }
    }

    /// What a fixed register holds; else why it is not fixed.
    pub(in crate::guard) fn fixed(&self, register: usize) -> Result<&Bound<'py, PyAny>, &'static str> {
        match (self.states[register], &self.found[register]) {
            (State::Fixed(_), Some(value)) => Ok(value),
            (State::Moving(why), _) => Err(why),
            (State::Fixed(_), None) => Err(NO_WATCHER),
        }
    }

    fn load(&mut self, index: usize, from: &Load, into: usize) -> State {
        match self.follow(index, from, into) {
            State::Moving(_) if self.anchor(index, into) => State::Fixed("the object, which is the same as before"),
            state => state,
        }
    }

    fn follow(&mut self, index: usize, from: &Load, into: usize) -> State {
        let py = self.function.py();
        let base = match from {
            Load::Argument(_) => return State::Moving("an argument"),
            Load::FreeCell(_) => return State::Moving("a closure"),
            Load::Together(_) => return State::Moving("the state of several objects"),
            Load::Constant(_) => return State::Fixed("an object that the code keeps"),
            Load::CellOf(..) => return State::Fixed("a cell of a function"),
            Load::Member(class, name) => {
                let class = class.object_now(py).and_then(|class| class.cast_into::<PyType>().ok());
                let namespace = class.and_then(|class| types::namespace(&class)).map(Bound::into_any);
                return self.entry(index, namespace.as_ref(), name.bind(py), into, "an attribute of a class");
            }
            Load::Global(name) => {
                let globals = inspect::globals(self.function);
                return self.entry(index, globals.as_ref(), name.bind(py), into, "an entry of the globals");
            }
            Load::Builtin(name) => {
                let builtins = inspect::builtins(self.function);
                return self.entry(index, builtins.as_ref(), name.bind(py), into, "an entry of the builtins");
            }
            Load::Type(base) if self.typed[*base] => return State::Fixed("the type was compared before"),
            // Made by plans alone.
            Load::Kept(_) => return State::Moving(NO_WATCHER),
            Load::Content(base) | Load::Entry(base, _) | Load::Attribute(base, _) => *base,
            Load::Dict(base) | Load::Item(base, _) | Load::OwnItem(base, ..) => *base,
            Load::ItemFromEnd(base, _) | Load::Length(base) => *base,
            Load::Referent(base) | Load::Type(base) | Load::ContextValue(base) | Load::Size(base, _) => *base,
            Load::WeakReferent(base)
            | Load::WeakReference(base)
            | Load::Keys(base)
            | Load::Values(base)
            | Load::ThreadDict(base) => *base,
            Load::EntryFor(base, _) | Load::HasKey(base, _) | Load::Ahead(base, _) | Load::WithHash(base, ..) => *base,
            Load::Drawn(base, _) | Load::Contents(base) | Load::Address(base) => *base,
        };
        let value = match self.fixed(base) {
            Ok(value) => value.clone(),
            Err(why) => return State::Moving(why),
        };
        match from {
            Load::Entry(_, key) => match key.object_now(py) {
                Some(key) => self.entry(index, Some(&value), &key, into, "an entry of a dict"),
                None => State::Moving(NO_WATCHER),
            },
            Load::Attribute(_, name) => self.attribute(index, base, &value, name.bind(py), into),
            Load::Dict(_) if value.is_exact_instance_of::<PyModule>() => State::Fixed("the namespace of a module"),
            Load::Dict(_) if self.is_namespace(index, base, into) => State::Fixed("the namespace of an object"),
            Load::Dict(_) => State::Moving("the namespace of an object can be replaced"),
            Load::Item(..) if value.is_exact_instance_of::<PyTuple>() => State::Fixed("an item of a tuple"),
            Load::Item(..) | Load::OwnItem(..) | Load::ItemFromEnd(..) | Load::Length(_) => {
                State::Moving("the contents of a list")
            }
            Load::EntryFor(..) | Load::HasKey(..) | Load::WithHash(..) => State::Moving("the contents of a container"),
            Load::Size(..) => State::Moving("the size of an array"),
            Load::Contents(_) => State::Moving("the contents of an array"),
            Load::Address(_) => State::Moving("where an array lies"),
            Load::Referent(_) => State::Moving("what an object of C holds"),
            Load::WeakReferent(_) | Load::WeakReference(_) => State::Moving("what a weak reference refers to"),
            Load::Keys(_) | Load::Values(_) => State::Moving("the content of a container"),
            Load::ThreadDict(_) => State::Moving("what the thread has"),
            Load::Drawn(..) => State::Moving("what a generator of random numbers gives next"),
            Load::Ahead(..) => State::Moving("what an iterator gives next"),
            Load::Type(_) if keeps_type(&value) => State::Fixed("the type of the object never changes"),
            Load::Type(_) if self.is_classed(index, base) => State::Fixed("the class of the object"),
            Load::Type(_) => State::Moving("the class of an object can be assigned"),
            Load::ContextValue(_) => State::Moving("the value of a context variable"),
            _ => State::Moving("the contents of a cell"),
        }
    }

    /// An attribute of a module is an entry of its namespace, unless the module's class is made another one.
    fn attribute(
        &mut self,
        index: usize,
        base: usize,
        value: &Bound<'py, PyAny>,
        name: &Bound<'py, PyString>,
        into: usize,
    ) -> State {
        const INSTANCE: State = State::Moving("an attribute of an object");
        if !value.is_exact_instance_of::<PyModule>() {
            return self.instance_attribute(index, base, name, into).unwrap_or(INSTANCE);
        }
        let namespace = inspect::own_dict(value);
        let held = namespace.cast::<PyDict>().ok().and_then(|dict| dict.get_item(name).ok()?);
        let (Some(held), Some(found)) = (held, &self.found[into]) else { return INSTANCE };
        if !held.is(found) {
            return INSTANCE;
        }
        let state = self.entry(index, Some(&namespace), name.as_any(), into, "an entry of a module");
        if matches!(state, State::Fixed(_)) && !self.is_classed(index, base) {
            let guard = self.program.steps[index].guard;
            let register = self.place(base, guard);
            self.steps.push(Step { guard, action: Action::Check { register, test: Arc::new(Test::Module) } });
        }
        state
    }

    /// The register of the plan that holds what a register of the program holds; loaded now if it is not yet.
    pub(in crate::guard) fn place(&mut self, register: usize, guard: usize) -> usize {
        if let Some(home) = self.homes[register] {
            return home;
        }
        let program = self.program;
        let from = match (self.states[register], &self.objects[register], &self.owners[register]) {
            (State::Fixed(_), Some(object), _) => Load::Constant(Arc::clone(object)),
            (State::Fixed(_), _, Some(Owner::Kept(kept))) => Load::Kept(kept.clone()),
            _ => match &program.steps[program.loads[register]].action {
                Action::Load { from, .. } => from.with(|base| self.place(base, guard)),
                // Every register is filled by a load before anything asks for it.
                Action::Check { .. } | Action::Compare { .. } => Load::Argument(usize::MAX),
            },
        };
        let into = self.registers;
        self.registers += 1;
        self.homes[register] = Some(into);
        self.steps.push(Step { guard, action: Action::Load { from, into } });
        into
    }
}
