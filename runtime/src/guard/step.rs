//! Steps of guard programs: loads, tests, comparisons.
use super::load::Load;
use super::test::Test;
use crate::ffi::Args;
use pyo3::prelude::*;
use std::sync::Arc;

/// One step, and the guard that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub guard: usize,
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Load { from: Load, into: usize },
    Check { register: usize, test: Arc<Test> },
    Compare { register: usize, other: usize, same: bool },
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
            Action::Load { from, into } => match from.run(registers, args, function) {
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

    /// The same with other registers.
    pub fn with(&self, mut register: impl FnMut(usize) -> usize) -> Self {
        let action = match &self.action {
            Action::Load { from, into } => Action::Load { from: from.with(&mut register), into: register(*into) },
            Action::Check { register: at, test } => Action::Check { register: register(*at), test: Arc::clone(test) },
            Action::Compare { register: one, other, same } => {
                Action::Compare { register: register(*one), other: register(*other), same: *same }
            }
        };
        Self { guard: self.guard, action }
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
