//! Weak proxies from outside: what C does with such a proxy it does with what that refers to.
//!
//! CPython: `Objects/weakrefobject.c`, `UNWRAP`, `WRAP_BINARY`.
use crate::ffi::{types, weak_references};
use crate::guard::source::Source;
use crate::guard::{Check, DeadReference};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::gone_through::goes_through;
use pyo3::prelude::*;
use std::sync::Arc;

const WHY: &str = "the trace used the weak proxy";

impl<'py> Tracer<'py> {
    /// What the weak proxy refers to; `None`: the value is another object, or a proxy of the trace's own.
    pub(crate) fn behind_proxy(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        let Value::Real { object, source: Some(source) } = self.value(value) else { return Ok(None) };
        let (object, source) = (object.bind(self.py).clone(), source.clone());
        if !is_proxy(&object) {
            return Ok(None);
        }
        match self.referent_of_proxy(value, &object, source)? {
            Some(referent) => Ok(Some(referent)),
            None => self.raise("ReferenceError", "weakly-referenced object no longer exists"),
        }
    }

    /// The same for translated bodies; `None`: it refers to nothing any more.
    pub(crate) fn followed_proxy(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        match self.value(value) {
            Value::Real { object, source: Some(source) } => {
                let (object, source) = (object.bind(self.py).clone(), source.clone());
                self.referent_of_proxy(value, &object, source)
            }
            _ => unsupported("weak proxy", "one of the trace's own"),
        }
    }

    fn referent_of_proxy(
        &mut self,
        value: ValueId,
        object: &Bound<'py, PyAny>,
        source: Source,
    ) -> Traced<Option<ValueId>> {
        self.class_of(value)?;
        let Some(referent) = weak_references::referent(object) else {
            self.guard_once(value, GuardRequest::STATE, source, Check::Domain(Box::new(DeadReference)), WHY);
            return Ok(None);
        };
        self.refuse_ended(&referent)?;
        Ok(Some(self.sourced(referent, Source::WeakReferent(Arc::new(source)))))
    }

    /// What C goes through in the place of weak proxies.
    pub(crate) fn gone_through_behind(
        &mut self,
        callable: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<Option<Arguments>> {
        let mut changed = None;
        for (index, value) in args.positional.iter().enumerate() {
            if !goes_through(callable, index, args.positional.len()) {
                continue;
            }
            self.refuse_dead_beside_others(*value, args)?;
            if let Some(referent) = self.behind_proxy(*value)? {
                let args: &mut Arguments = changed.get_or_insert_with(|| args.clone());
                args.positional[index] = referent;
            }
        }
        Ok(changed)
    }

    /// C may find something wrong with another argument before it looks for what a weak proxy refers to.
    fn refuse_dead_beside_others(&mut self, value: ValueId, args: &Arguments) -> Traced<()> {
        let is_alone = args.positional.len() == 1 && args.keywords.is_empty();
        let is_dead = |tracer: &Self| {
            let Value::Real { object, .. } = tracer.value(value) else { return false };
            let object = object.bind(tracer.py);
            is_proxy(object) && weak_references::referent(object).is_none()
        };
        match !is_alone && is_dead(self) {
            true => unsupported("weak proxy", "what it refers to is gone, and other arguments may be wrong, too"),
            false => Ok(()),
        }
    }

    /// The operands as C hands them on where the first is a weak proxy; `None`: it is none.
    pub(crate) fn behind_proxies(&mut self, name: &str, operands: &[ValueId]) -> Traced<Option<Vec<ValueId>>> {
        let Some((first, rest)) = operands.split_first() else { return Ok(None) };
        let Some(first) = self.behind_proxy(*first)? else { return Ok(None) };
        let mut unwrapped = vec![first];
        for operand in rest {
            let is_handed_on = matches!(name, "contains" | "setitem" | "delitem");
            let behind = if is_handed_on { None } else { self.behind_proxy(*operand)? };
            unwrapped.push(behind.unwrap_or(*operand));
        }
        Ok(Some(unwrapped))
    }
}

fn is_proxy(object: &Bound<'_, PyAny>) -> bool {
    matches!(&*types::c_name(&object.get_type()), "weakref.ProxyType" | "weakref.CallableProxyType")
}
