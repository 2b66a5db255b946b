//! The condition that numbers compare as they did.
use super::condition::DomainCheck;
use crate::stored::{Damaged, Reader, Writer};
use crate::symbol::{Condition, Number, Symbol};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyTuple};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// What the state of the condition is written as.
pub(super) const NUMBERS: &str = "numbers";

/// That a comparison of numbers from outside holds: of the one that is looked at, or of those in a tuple.
#[derive(Debug)]
pub struct NumberCondition {
    condition: Condition,
    /// Which symbol each number is, in their order.
    symbols: Box<[Symbol]>,
}

impl NumberCondition {
    /// A condition on these.
    #[must_use]
    pub fn new(condition: Condition, symbols: Box<[Symbol]>) -> Self {
        Self { condition, symbols }
    }

    /// From its state.
    pub(super) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let bytes = state.cast::<PyBytes>()?.as_bytes();
        Ok(Self::read(&mut Reader::new(bytes)).ok())
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let symbol = |from: &mut Reader<'_>| Ok(Symbol(u32::try_from(from.number()?).map_err(|_| Damaged)?));
        let symbols = (0..from.count()?).map(|_| symbol(from)).collect::<Result<_, Damaged>>()?;
        Ok(Self { condition: Condition::read(from)?, symbols })
    }

    /// Gives what comes in to `ask`: the number that is looked at, or those in a tuple.
    fn with<T: Default>(
        &self,
        value: &Bound<'_, PyAny>,
        ask: impl FnOnce(&dyn Fn(Symbol) -> Option<Number>) -> T,
    ) -> T {
        if let [only] = *self.symbols {
            let found = number(value);
            return ask(&|symbol| found.filter(|_| symbol == only));
        }
        let Ok(values) = value.cast_exact::<PyTuple>() else { return T::default() };
        ask(&|symbol| {
            let index = self.symbols.iter().position(|known| *known == symbol)?;
            number(&*values.get_borrowed_item(index).ok()?)
        })
    }
}

/// The number that an exact `int` of 64 bits or a `float` is.
#[must_use]
pub fn number(value: &Bound<'_, PyAny>) -> Option<Number> {
    if value.is_exact_instance_of::<PyInt>() {
        return value.extract().ok().map(Number::Integer);
    }
    value.cast_exact::<PyFloat>().ok().map(|value| Number::Float(value.value()))
}

impl DomainCheck for NumberCondition {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        self.with(value, |input| self.condition.holds(&input))
    }

    fn wanted(&self) -> Option<(u64, u64)> {
        let (formula, integer) = self.condition.asked()?;
        let mut hasher = FxHasher::default();
        formula.text().hash(&mut hasher);
        self.symbols.iter().for_each(|symbol| symbol.0.hash(&mut hasher));
        Some((hasher.finish(), integer.cast_unsigned()))
    }

    fn number(&self, value: &Bound<'_, PyAny>) -> Option<u64> {
        let (formula, _) = self.condition.asked()?;
        match self.with(value, |input| formula.evaluate(&input))? {
            Number::Integer(integer) => Some(integer.cast_unsigned()),
            Number::Float(_) => None,
        }
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let mut out = Writer::default();
        out.number(self.symbols.len() as u64);
        self.symbols.iter().for_each(|symbol| out.number(u64::from(symbol.0)));
        self.condition.write(&mut out);
        Some((NUMBERS, PyBytes::new(py, &out.0).into_any()))
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| self.condition == other.condition && self.symbols == other.symbols)
    }

    fn now(&self, value: &Bound<'_, PyAny>) -> Option<String> {
        let text =
            |value: &Bound<'_, PyAny>| number(value).and_then(|_| value.repr().ok()).map(|text| text.to_string());
        match value.cast_exact::<PyTuple>() {
            Ok(values) => values.iter().map(|value| text(&value)).collect::<Option<Vec<_>>>().map(|all| all.join(", ")),
            Err(_) => text(value),
        }
    }

    fn describe(&self) -> String {
        let names: Vec<_> = self.symbols.iter().map(|symbol| format!("s{}", symbol.0)).collect();
        format!("= {}: {}", names.join(", "), self.condition)
    }
}
