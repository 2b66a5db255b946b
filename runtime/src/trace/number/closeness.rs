//! `math.isclose` of symbolic numbers.
use crate::symbol::Operation;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

/// How far numbers may lie apart where the program does not say: in relation to them, and at all.
const TOLERANCES: [(&str, f64); 2] = [("rel_tol", 1e-9), ("abs_tol", 0.0)];

impl<'py> Tracer<'py> {
    /// Whether two numbers are close; `None`: C says so. CPython: Modules/mathmodule.c, `math_isclose_impl`.
    pub(super) fn is_close(&mut self, args: &Arguments) -> Traced<Option<ValueId>> {
        let [left, right] = args.positional[..] else { return Ok(None) };
        let Some([relative, absolute]) = self.tolerances(args) else { return Ok(None) };
        let (Some(left), Some(right)) = (self.as_float(left)?, self.as_float(right)?) else { return Ok(None) };
        match self.compares("eq", left, right)? {
            Some(false) => {}
            known => return Ok(known.map(|_| self.boolean(true))),
        }
        for value in [left, right] {
            let finite = self.kind_of_float("isfinite", value)?;
            let Some(finite) = finite else { return Ok(None) };
            if !self.is_true(finite)? {
                return Ok(Some(self.boolean(false)));
            }
        }
        let difference = self.number_operation(Operation::Subtract, &[right, left])?;
        let Some(difference) = difference else { return Ok(None) };
        let Some(difference) = self.number_operation(Operation::Absolute, &[difference])? else { return Ok(None) };
        let relative = self.float_constant(relative);
        for value in [right, left] {
            let Some(bound) = self.number_operation(Operation::Multiply, &[relative, value])? else { return Ok(None) };
            let Some(bound) = self.number_operation(Operation::Absolute, &[bound])? else { return Ok(None) };
            match self.compares("le", difference, bound)? {
                Some(false) => {}
                known => return Ok(known.map(|_| self.boolean(true))),
            }
        }
        let absolute = self.float_constant(absolute);
        let truth = self.compares("le", difference, absolute)?;
        Ok(truth.map(|truth| self.boolean(truth)))
    }

    /// The two tolerances, where they are known and C takes them.
    fn tolerances(&mut self, args: &Arguments) -> Option<[f64; 2]> {
        let mut found = TOLERANCES.map(|(_, usual)| usual);
        for (name, value) in &args.keywords {
            let place = TOLERANCES.iter().position(|(known, _)| known == name)?;
            if self.is_symbolic(*value) {
                return None;
            }
            let known = self.known(*value)?;
            if !known.is_exact_instance_of::<PyFloat>() && !known.is_exact_instance_of::<PyInt>() {
                return None;
            }
            found[place] = known.extract().ok()?;
        }
        found.iter().all(|tolerance| (0.0..1e300).contains(tolerance)).then_some(found)
    }

    fn float_constant(&mut self, value: f64) -> ValueId {
        let object = PyFloat::new(self.py, value).into_any();
        self.constant(object)
    }

    /// Whether a comparison holds; `None`: no guard says so.
    fn compares(&mut self, comparison: &str, left: ValueId, right: ValueId) -> Traced<Option<bool>> {
        let Some(truth) = self.compare_numbers(comparison, &[left, right])? else { return Ok(None) };
        self.is_true(truth).map(Some)
    }
}
