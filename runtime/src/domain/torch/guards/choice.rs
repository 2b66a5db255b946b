//! Guards on tensors of indices: what they choose is there.
use crate::domain::Choice;
use crate::ffi::libtorch::all_integers;
use crate::guard::DomainCheck;
use pyo3::prelude::*;

/// What the state of the condition is written as.
pub(in crate::domain::torch) const CHOICE: &str = "choice";

/// A plain tensor on the CPU holds integers between these alone, or one other.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::domain::torch) struct ChoiceCheck {
    least: i64,
    most: i64,
    beside: Option<i64>,
}

impl ChoiceCheck {
    /// For tensors that choose so.
    pub(in crate::domain::torch) fn of(choice: &Choice<'_>) -> Self {
        Self { least: choice.least, most: choice.most, beside: choice.beside }
    }

    /// From its state: the least number, the greatest one, the other one.
    pub(in crate::domain::torch) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (least, most, beside) = state.extract()?;
        Ok(Self { least, most, beside })
    }

    fn allows(&self, number: i64) -> bool {
        (self.least..=self.most).contains(&number) || self.beside == Some(number)
    }
}

impl DomainCheck for ChoiceCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        all_integers(value, &|number| self.allows(number)) == Some(true)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).downcast_ref::<Self>().is_some_and(|other| self == other)
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((CHOICE, (self.least, self.most, self.beside).into_pyobject(py).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        let beside = self.beside.map(|other| format!(", or {other}")).unwrap_or_default();
        format!("holds integers from {} to {}{beside}", self.least, self.most)
    }
}
