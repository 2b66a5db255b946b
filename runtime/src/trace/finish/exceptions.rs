//! Materialises exceptions: the parts that their constructors do not set.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::names::{interned, name};
use crate::trace::finish::descriptors::{Attributes, LINKS, bases, descriptors, kind, same};
use crate::trace::state::materialised::Materialised;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{InlinedFrame, New, StateSlot, ValueId};
use generated::slots::Slot;
use pyo3::exceptions::{PyBaseException, PyBaseExceptionGroup};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    pub(crate) fn materialise_exception(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Materialised<Vec<ValueId>> {
        let class = object.get_type();
        if self.is_made_here(class.as_any()) {
            return self.escape(id, "an exception of a class made during the trace");
        }
        if self.passed_given_globals(id) {
            return self.escape(id, "an exception that passed through code run in a dict of the caller");
        }
        let root = self.py.get_type::<pyo3::exceptions::PyBaseException>();
        let part = |name: &str| {
            let descriptor = types::lookup(&root, &interned(root.py(), name));
            let Some(descriptor) = descriptor else { return internal("parts of an exception") };
            let value = types::read(&descriptor, object);
            value.map(|value| (descriptor, value)).or_else(|error| internal(error.to_string()))
        };
        part("__traceback__")?
            .0
            .call_method1(name!("__set__"), (object, self.py.None()))
            .or_else(|error| internal(error.to_string()))?;
        let bases = bases(&class);
        let Some(mut attributes) = self.own_attributes(object)? else {
            return self.escape(id, format!("instance of {} with an unusual __dict__", types::name(&class)));
        };
        self.slots_of(object, &bases, &mut attributes);
        let (args_member, args_now) = part("args")?;
        let given = match group_arguments(object)? {
            Some(made_of) => {
                attributes.push((StateSlot::Descriptor(args_member.unbind()), self.absorb(args_now)));
                made_of
            }
            None => args_now,
        };
        if !self.members_of(object, &given, &bases, &mut attributes)? {
            return self.escape(id, format!("{} in a state that its constructor does not make", types::name(&class)));
        }
        let mut linked = Vec::new();
        for name in ["__context__", "__cause__"] {
            let value = part(name)?.1;
            linked.push((!value.is_none()).then(|| self.absorb(value)));
        }
        let (descriptor, suppressed) = part("__suppress_context__")?;
        if suppressed.is_truthy().unwrap_or(false) != linked[1].is_some() {
            attributes.push((StateSlot::Descriptor(descriptor.unbind()), self.absorb(suppressed)));
        }
        let args = self.absorb(given);
        let class = self.constant(class.into_any());
        let mut children: Vec<_> = attributes.iter().map(|(_, value)| *value).collect();
        children.extend([class, args]);
        children.extend(linked.iter().flatten());
        let passed = self.passed(id);
        let inlined = passed.iter().filter_map(|passed| passed.inlined.as_ref());
        children.extend(inlined.flat_map(InlinedFrame::held));
        self.set(id, New::Exception { class, args, attributes, context: linked[0], cause: linked[1], passed }, children)
    }

    /// Members and computed fields that a class of C defines, but for those that are rebuilt by themselves.
    pub(crate) fn members(&self, class: &Bound<'py, PyType>) -> Vec<Bound<'py, PyAny>> {
        let find = || {
            let fields = |(name, found): &(String, Bound<'py, PyAny>)| {
                !LINKS.contains(&name.as_str()) && matches!(kind(found), "member_descriptor" | "getset_descriptor")
            };
            descriptors(class).into_iter().filter(fields).map(|(_, found)| found.unbind()).collect()
        };
        self.state.shared_caches.members(class, find).iter().map(|member| member.bind(self.py).clone()).collect()
    }

    /// Members of C that differ from those of an exception freshly made from the same `args`; false if one cannot be set.
    pub(crate) fn members_of(
        &mut self,
        object: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        bases: &[Bound<'py, PyType>],
        attributes: &mut Attributes,
    ) -> Traced<bool> {
        let Some(base) = bases.iter().find(|base| is_c_type(base)) else {
            return internal("exception without a C base");
        };
        let members: Vec<_> = bases.iter().filter(|base| is_c_type(base)).flat_map(|base| self.members(base)).collect();
        if members.is_empty() && is_made_as_usual(base) {
            return Ok(true);
        }
        let fresh = self.with_callbacks(|| remade(base, args));
        if let Some(signal) = self.state.pending.take() {
            return Err(signal);
        }
        let Ok(fresh) = fresh else { return Ok(false) };
        for member in members {
            let (now, then) = (types::read(&member, object), types::read(&member, &fresh));
            match (now, then) {
                (Ok(now), Ok(then)) if same(&now, &then) => {}
                (Ok(now), _) => {
                    if member.call_method1(name!("__set__"), (&fresh, &now)).is_err() {
                        return Ok(false);
                    }
                    attributes.push((StateSlot::Descriptor(member.unbind()), self.absorb(now)));
                }
                (Err(_), Ok(_)) => return Ok(false),
                (Err(_), Err(_)) => {}
            }
        }
        Ok(true)
    }
}

/// A group is made of its message and the exceptions that it took then: `args` may hold a list that changed since.
pub(crate) fn group_arguments<'py>(object: &Bound<'py, PyAny>) -> Traced<Option<Bound<'py, PyAny>>> {
    if !object.is_instance_of::<PyBaseExceptionGroup>() {
        return Ok(None);
    }
    let root = object.py().get_type::<PyBaseExceptionGroup>();
    let part = |name: &str| root.getattr(interned(root.py(), name)).and_then(|member| types::read(&member, object));
    let parts = part("message").and_then(|message| Ok((message, part("exceptions")?)));
    let tuple = parts.and_then(|parts| parts.into_pyobject(object.py()));
    tuple.map(|tuple| Some(tuple.into_any())).or_else(|error| internal(error.to_string()))
}

/// Whether a class of exceptions makes and initialises its instances as `BaseException` does, whatever the arguments.
pub(crate) fn is_made_as_usual(class: &Bound<'_, PyType>) -> bool {
    let root = class.py().get_type::<PyBaseException>();
    [Slot::tp_new, Slot::tp_init].iter().all(|slot| types::slot(class, *slot) == types::slot(&root, *slot))
}

/// `base.__new__(base, *args)`, `base.__init__(it, *args)`: what emitted code does.
pub(crate) fn remade<'py>(base: &Bound<'py, PyType>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let args = args.cast::<PyTuple>()?;
    let with = |first: &Bound<'py, PyAny>| {
        PyTuple::new(base.py(), std::iter::once(first.clone()).chain(args.iter()).collect::<Vec<_>>())
    };
    let fresh = base.getattr(name!("__new__"))?.call1(with(base.as_any())?)?;
    base.getattr(name!("__init__"))?.call1(with(&fresh)?)?;
    Ok(fresh)
}
