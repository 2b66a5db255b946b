//! Identity of nans: the hash of one is its address, and containers compare objects before values.
use crate::guard::source::Source;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, ValueId};
use crate::trace::value::kinds::is_scalar;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyFrozenSet, PyTuple, PyType};
use std::sync::Arc;

/// Whether a scalar is a nan, or a tuple that holds one.
pub(crate) fn has_nan(object: &Bound<'_, PyAny>) -> bool {
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        return float.value().is_nan();
    }
    if let Ok(complex) = object.cast_exact::<PyComplex>() {
        return complex.real().is_nan() || complex.imag().is_nan();
    }
    object.cast_exact::<PyTuple>().is_ok_and(|tuple| tuple.iter().any(|item| has_nan(&item)))
}

impl<'py> Tracer<'py> {
    /// The nans that a tuple holds are those of the program, also where C gets the tuple as it is.
    pub(crate) fn keep_nans(&mut self, object: &Bound<'py, PyAny>, source: Option<&Source>) {
        let Some(tuple) = object.cast_exact::<PyTuple>().ok().filter(|tuple| is_scalar(tuple)) else { return };
        for (index, item) in tuple.iter().enumerate().filter(|(_, item)| has_nan(item)) {
            match source {
                Some(source) => self.sourced(item, Source::Item(Arc::new(source.clone()), index)),
                None => self.constant(item),
            };
        }
    }

    /// The same of a frozen set that the trace knows by its identity.
    pub(crate) fn keep_nans_of_set(&mut self, object: &Bound<'py, PyAny>) {
        let Ok(set) = object.cast_exact::<PyFrozenSet>() else { return };
        for item in set.iter().filter(has_nan) {
            self.constant(item);
        }
    }

    /// A nan that the trace made is another one each time: `float("nan")`, or a complex number of such parts.
    pub(crate) fn materialise_nan(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Materialised<Vec<ValueId>> {
        let made = match (object.cast_exact::<PyFloat>(), object.cast_exact::<PyComplex>()) {
            (Ok(float), _) => float_call(float),
            (_, Ok(complex)) => complex_call(complex),
            _ => None,
        };
        let Some((class, args)) = made else {
            return self.escape(id, "a nan with bits that no constructor gives");
        };
        let callable = self.constant(class.into_any());
        let args: Vec<_> = args.into_iter().map(|arg| self.absorb(arg)).collect();
        let children = args.iter().copied().chain([callable]).collect();
        self.set(id, New::Call { callable, args, state: None }, children)
    }
}

type Call<'py> = Option<(Bound<'py, PyType>, Vec<Bound<'py, PyAny>>)>;

fn float_call<'py>(float: &Bound<'py, PyFloat>) -> Call<'py> {
    let class = float.get_type();
    let text = if float.value().is_sign_negative() { "-nan" } else { "nan" };
    let again = class.call1((text,)).ok()?.cast_into::<PyFloat>().ok()?;
    let text = pyo3::types::PyString::new(float.py(), text).into_any();
    (again.value().to_bits() == float.value().to_bits()).then(|| (class, vec![text]))
}

fn complex_call<'py>(complex: &Bound<'py, PyComplex>) -> Call<'py> {
    let part = |value| PyFloat::new(complex.py(), value);
    let (real, imag) = (part(complex.real()), part(complex.imag()));
    let known = [&real, &imag].into_iter().all(|part| !part.value().is_nan() || float_call(part).is_some());
    known.then(|| (complex.get_type(), vec![real.into_any(), imag.into_any()]))
}
