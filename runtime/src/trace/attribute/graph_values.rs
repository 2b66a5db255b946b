//! Attributes of values of domains: in C, of their class, or of their own.
use crate::domain::{Callee, Domain};
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::guard::source::Source;
use crate::guard::{Check, NoAttributes};
use crate::names::interned;
use crate::trace::attribute::descriptors::{held_dict, own_dict_allowed};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// An attribute of a value of a domain.
    pub(super) fn domain_attr(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Traced<ValueId> {
        let found = self.lookup(class, name);
        let kind = found.as_ref().map(Bound::get_type);
        let kind = kind.as_ref().map(types::c_name);
        match (found, kind.as_deref()) {
            (Some(found), Some("method_descriptor" | "function")) => {
                if let Some(value) = self.attr_before_method(object, name)? {
                    return Ok(value);
                }
                let found = self.absorb_static(found);
                Ok(self.bound_method(found, object))
            }
            (Some(_), Some("getset_descriptor")) if name == "__class__" => Ok(self.constant(class.clone().into_any())),
            (Some(found), Some("property")) => self.read_descriptor(found, object, class, name),
            (found, kind) if kind != Some("getset_descriptor") && !is_c_type(class) => {
                match (self.own_attr_of_graph_value(object, name)?, found) {
                    (Some(value), _) => Ok(value),
                    (None, Some(found)) => {
                        let found = self.absorb_static(found);
                        self.bind(found, object, class)
                    }
                    (None, None) => self.raise_missing_attribute(object, class, name),
                }
            }
            _ => self.attribute_from_c(domain, object, name),
        }
    }

    /// What a value of a domain has in its own `__dict__` under the name of a method.
    fn attr_before_method(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let key = (object, name.to_owned());
        let is_seen = self.state.attributes.get(&key).is_some() || self.dict_seen_whole(object).is_some();
        match self.outside_of_graph(object).filter(|real| !is_seen && !types::has_attributes(real)) {
            Some(real) => {
                self.guard_unhidden(object, &real, name);
                Ok(None)
            }
            None => self.own_attr_of_graph_value(object, name),
        }
    }

    /// Breaks where an attribute hides a method that the graph calls: graphs for backends call methods by their names.
    pub(crate) fn refuse_hidden_method(&mut self, object: ValueId, name: &str) -> Traced<()> {
        let Some(real) = self.outside_of_graph(object) else { return Ok(()) };
        let own = held_dict(&real).filter(|_| types::has_attributes(&real));
        match own.map_or(Ok(None), |own| self.held_in(&own, name))? {
            Some(_) => unsupported("method of a graph value that an attribute hides", name),
            None => {
                self.guard_unhidden(object, &real, name);
                Ok(())
            }
        }
    }

    /// Guards that an object from outside has no attribute of the name. Nearly all tensors have none at all: then one guard says so, whichever
    /// methods are called.
    fn guard_unhidden(&mut self, object: ValueId, real: &Bound<'py, PyAny>, name: &str) {
        let Some(source) = self.source(object).filter(|_| own_dict_allowed(&real.get_type())) else { return };
        let (source, check) = match types::has_attributes(real) {
            true => (Source::Dict(Arc::new(source)), Check::Absent(interned(self.py, name).into_any().unbind())),
            false => (source, Check::Domain(Box::new(NoAttributes))),
        };
        self.guard(source, check, "no attribute hides a method");
    }

    /// The object behind a value, as the frame found it.
    fn outside_of_graph(&self, object: ValueId) -> Option<Bound<'py, PyAny>> {
        let is_outside = matches!(self.value(object), Value::Real { .. }) && self.owned(object).is_none();
        self.real(object).filter(|_| is_outside)
    }

    /// An attribute that a value of a domain has in C.
    pub(crate) fn attribute_from_c(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: ValueId,
        name: &str,
    ) -> Traced<ValueId> {
        self.rely_on_surroundings(domain)?;
        if let Some(gradient) = self.gradient_after_backward(domain, object, name)? {
            return Ok(gradient);
        }
        if let Some(base) = self.base_of_view(domain, object, name)? {
            return Ok(base);
        }
        if let Some(later) = self.later_attribute(domain, object, name)? {
            return Ok(later);
        }
        match self.held_by_graph_value(domain, object, name) {
            Some(held) => Ok(held),
            None if self.is_before_gradients(domain, object, name)? => Ok(self.none()),
            None => self.call_domain(domain, Callee::GetAttr(name.to_owned()), &[object], &[]),
        }
    }

    /// Whether an attribute is the gradient of a leaf that the graph has made, and that nothing has given one yet.
    fn is_before_gradients(&mut self, domain: &Arc<dyn Domain>, object: ValueId, name: &str) -> Traced<bool> {
        let Value::Node { example, .. } = self.value(object) else { return Ok(false) };
        let example = example.bind(self.py).clone();
        let is_plain = domain.is_gradient(name)
            && self.state.backward.nodes.is_empty()
            && self.state.attributes.get(&(object, name.to_owned())).is_none()
            && !self.has_taking_modes()
            && !domain.belongs_together(self.py);
        if !is_plain || domain.takes_over(&self.class_of(object)?) {
            return Ok(false);
        }
        Ok(domain.holds(&example, name))
    }

    /// An object that a value of a domain from outside holds in C, if it is one that stays.
    pub(crate) fn held_by_graph_value(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: ValueId,
        name: &str,
    ) -> Option<ValueId> {
        let class = self.class_of(object).ok()?;
        // A mode from outside would see compiled code read it.
        if domain.takes_over(&class) || self.has_taking_modes() || self.has_modes_from_outside() {
            return None;
        }
        let Value::Real { object: real, source: Some(source) } = self.value(object) else { return None };
        let (real, source) = (real.bind(self.py).clone(), source.clone());
        if let Some(overlay) = self.state.attributes.get(&(object, name.to_owned())) {
            return *overlay;
        }
        let now = self.state.examples.get(&object).map_or(&real, |example| example.bind(self.py));
        let held = (domain.holds(&real, name) && domain.holds(now, name))
            .then(|| real.getattr(interned(self.py, name)).ok())??;
        Some(self.sourced(held, Source::Attr(Arc::new(source), name.into())))
    }

    /// What a value of a domain has in its own `__dict__`: what the trace has put there, where the graph makes it.
    pub(super) fn own_attr_of_graph_value(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        match self.value(object) {
            Value::Node { .. } if self.is_choice(object) && self.is_attribute_of_node(name) => {
                unsupported("attribute of one of several graph values", name)
            }
            Value::Node { .. } => Ok(self.state.attributes.get(&(object, name.to_owned())).copied().flatten()),
            _ => self.instance_attr(object, name),
        }
    }
}
