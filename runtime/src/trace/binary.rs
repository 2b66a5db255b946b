//! Binary operators on the way to the generated `PyNumber_*` functions.
use super::native::is_c_type;
use super::signal::{Traced, unsupported};
use super::state::Tracer;
use super::value::ValueId;
use crate::domain::Callee;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    pub(super) fn binary_by_slots(
        &mut self,
        name: &str,
        slot: &'static str,
        left: ValueId,
        right: ValueId,
    ) -> Traced<ValueId> {
        let classes = [self.class_of(left)?, self.class_of(right)?];
        let domain = classes.iter().find_map(|class| self.domain_of(class));
        let plain = |class: &Bound<'py, pyo3::types::PyType>| is_c_type(class);
        if let Some(domain) = domain {
            if classes.iter().all(|class| plain(class) || self.domain_of(class).is_some()) {
                self.state.route.push(format!("{}.{slot}", domain.name()));
                return self.call_domain(&domain, Callee::Slot(slot), &[left, right], &[]);
            }
            return unsupported("operator of a graph value and a Python class", name);
        }
        if classes.iter().all(plain) {
            return self.native_operator(name, &[left, right]);
        }
        unsupported("operator of a Python class", format!("{name}: the generated dispatch is not linked"))
    }
}
