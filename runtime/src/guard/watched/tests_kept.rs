//! Which tests of a program need not be made while the watch holds, and how the others stay.
use super::plan::{NO_WATCHER, Plan, State};
use crate::ffi::containers;
use crate::ffi::watch::Owner;
use crate::guard::function_state::FunctionState;
use crate::guard::step::{Action, Step};
use crate::guard::test::Test;
use crate::guard::values::{keeps_length, keeps_type};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::sync::Arc;

impl<'py> Plan<'_, 'py> {
    /// Whether a test need not be made again while the watch holds, and thanks to what; else why it is made.
    pub(super) fn test(&mut self, index: usize, register: usize, test: &Test) -> Result<&'static str, &'static str> {
        let py = self.function.py();
        match test {
            Test::Unchanged(class, _) => {
                let class =
                    class.object_now(py).and_then(|class| class.cast_into::<PyType>().ok()).ok_or(NO_WATCHER)?;
                let watched = self.set(index, |watch, mark| watch.class(&class, mark));
                return if watched { Ok("the class") } else { Err(NO_WATCHER) };
            }
            Test::Function(state) => {
                let function = state.function(py).ok_or(NO_WATCHER)?;
                if !self.set(index, |watch, mark| watch.function(&function, mark)) {
                    return Err(NO_WATCHER);
                }
                self.watched_functions.push(function);
            }
            _ => {}
        }
        let what = match self.states[register] {
            State::Fixed(what) => what,
            State::Moving(why) => return Err(why),
        };
        let value = self.fixed(register)?.clone();
        let watched = |watched: bool, what| if watched { Ok(what) } else { Err(NO_WATCHER) };
        match test {
            Test::TypeIs(_) if !keeps_type(&value) && !self.is_classed(index, register) => {
                Err("the class of an object can be assigned")
            }
            Test::Truth(_) if containers::of(&value.get_type()).is_some() && !keeps_length(&value) => {
                Err("the contents of a container")
            }
            Test::TypeIs(_) | Test::Is(_) | Test::Equals(_) | Test::Truth(_) => Ok(what),
            Test::Function(..) => Ok("the function"),
            Test::Length(_) if keeps_length(&value) => Ok(what),
            Test::Length(_) if value.is_instance_of::<PyDict>() => {
                watched(self.set(index, |watch, mark| watch.names(&value, mark)), "the names in a dict")
            }
            Test::Length(_) => Err("the contents of a container"),
            Test::Absent(key) => watched(
                key.object_now(py).is_some_and(|key| self.set(index, |watch, mark| watch.entry(&value, &key, mark))),
                "the dict, under that name",
            ),
            Test::Keys(_) => watched(self.set(index, |watch, mark| watch.names(&value, mark)), "the names in a dict"),
            Test::FunctionLike(_) => Err("an object of the caller"),
            Test::NothingHandled => Err("the caller may handle an exception"),
            Test::Empty => Err("the contents of a cell"),
            Test::Domain(_) => Err("the state of the object"),
            Test::Call(_) => Err("only a call can tell"),
            Test::Unchanged(..) | Test::Module | Test::Anchor(_) => Err(NO_WATCHER),
        }
    }

    /// Makes the test at each call. What is compared with an object is fixed from there on.
    pub(super) fn keep_test(&mut self, register: usize, guard: usize, test: &Arc<Test>) {
        let at = self.place(register, guard);
        let test = match &**test {
            Test::Function(state) if self.is_watched(state) => Arc::new(Test::Is(state.identity())),
            _ => Arc::clone(test),
        };
        match &*test {
            Test::Is(object) => {
                self.states[register] = State::Fixed("compared with the object before");
                self.owners[register] = Some(Owner::Held(Arc::clone(object)));
            }
            Test::TypeIs(_) => self.typed[register] = true,
            _ => {}
        }
        self.steps.push(Step { guard, action: Action::Check { register: at, test } });
    }

    /// Whether the watch was set on the function.
    fn is_watched(&self, state: &FunctionState) -> bool {
        self.watched_functions.iter().any(|known| state.is(known))
    }
}
