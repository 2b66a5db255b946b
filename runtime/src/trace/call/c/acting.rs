//! Callables of C that act on what is none of their arguments: what they are bound to, or what they stand for.
use crate::ffi::{callee, referents, types};
use crate::trace::call::effects::allowed;
use crate::trace::call::kinds::{called_on, forwards_calls, is_of_c};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// How many objects of those that one of C holds are looked at.
const HELD: usize = 100;

/// How many callables are followed that call another: a partial object may call itself.
const FOLLOWED: usize = 100;

/// The module whose builders and parsers of C call what they are given.
const ELEMENT_TREE: &str = "xml.etree.ElementTree.";

impl<'py> Tracer<'py> {
    /// Whether this is a C callable that C must not call by itself: it prints, changes an object from outside, asks the system, reads an
    /// attribute of what may be a module, or, as `type` does, sees the class of a proxy.
    pub(crate) fn acts_outside(&mut self, object: &Bound<'py, PyAny>) -> bool {
        let reads_attributes =
            matches!(&*types::c_name(&object.get_type()), "operator.attrgetter" | "operator.methodcaller");
        reads_attributes
            || object.is(self.py.get_type::<PyType>())
            || self.sees_addresses(object)
            || self.acts_when_called(object)
    }

    /// Whether a call of this C callable prints, changes an object from outside, or asks the system.
    pub(super) fn acts_when_called(&mut self, object: &Bound<'py, PyAny>) -> bool {
        let mut called = object.clone();
        for _ in 0..FOLLOWED {
            let class = called.get_type();
            let class = types::c_name(&class);
            called = match called_on(&class).map(|attribute| called.getattr(attribute)) {
                Some(Ok(next)) => next,
                Some(Err(_)) => return true,
                None => return is_of_c(&class) && self.acts_itself(&called),
            };
        }
        true
    }

    /// Whether a function or method of C does.
    fn acts_itself(&mut self, object: &Bound<'py, PyAny>) -> bool {
        let (name, owner, receiver) = (callee::name_of(object), callee::owner_of(object), callee::receiver_of(object));
        // A slot bound to its object goes by its class: what it is bound to is none of the arguments, for which proxies may stand.
        if owner.is_some()
            && let Some(receiver) = &receiver
            && !self.is_own_or_scalar(receiver)
        {
            return true;
        }
        let given = allowed::Given { own_first: true, plain: true };
        self.refuse_impure(object, &name, owner.as_ref(), receiver.as_ref(), given).is_err()
    }

    /// Whether what a callable of C gives depends on where its argument lies: proxies and what the trace made lie elsewhere.
    pub(crate) fn sees_addresses(&self, callable: &Bound<'py, PyAny>) -> bool {
        let is = |name: &str| self.import("builtins", name).is_ok_and(|found| found.is(callable));
        let plain = self.import("builtins", "object");
        let of_object =
            |name: &str| plain.as_ref().is_ok_and(|plain| plain.getattr(name).is_ok_and(|found| found.is(callable)));
        is("id") || is("hash") || of_object("__hash__") || of_object("__repr__")
    }

    /// What `__call__` of a function or method calls, and with what: its slot is what a call of the receiver comes to.
    /// CPython: `wrap_call`.
    pub(super) fn called_by_slot(
        &mut self,
        object: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<Option<(ValueId, Arguments)>> {
        let Some((&receiver, rest)) = args.positional.split_first() else { return Ok(None) };
        let class = self.class_of(receiver)?;
        let is_slot = forwards_calls(&types::c_name(&class))
            && self.lookup(&class, "__call__").is_some_and(|found| found.is(object));
        let rest = || Arguments { keywords: args.keywords.clone(), ..Arguments::positional(rest.to_vec()) };
        Ok(is_slot.then(|| (receiver, rest())))
    }

    /// C may call what its object holds, of which it was not told by an argument.
    pub(crate) fn refuse_held_callables(&mut self, object: &Bound<'py, PyAny>) -> Traced<()> {
        match referents::direct(object, HELD).iter().find(|held| self.acts_when_called(held)) {
            Some(held) => unsupported("C object that holds a C callable", callee::name_of(held)),
            None => Ok(()),
        }
    }

    /// A callable of C that is neither a function nor a class may run during the trace if its slot may.
    pub(crate) fn refuse_impure_call(&mut self, object: &Bound<'py, PyAny>, args: &Arguments) -> Traced<()> {
        let given = allowed::Given { own_first: false, plain: self.are_plain(&args.positional, &args.keywords)? };
        self.refuse_impure(object, "__call__", Some(&object.get_type()), None, given)
    }
}

/// Whether a callable of C calls what it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    Always,
    /// It keeps it, or nobody has looked.
    Perhaps,
    /// It compares it, stores it, tells what it is.
    Never,
}

impl Calls {
    pub(super) fn of(callable: &Bound<'_, PyAny>, name: &str) -> Self {
        if let Ok(class) = callable.cast::<PyType>() {
            let name = types::c_name(class);
            return match &*name {
                "map" | "filter" | "functools.partial" | "collections.defaultdict" => Self::Always,
                _ if name.starts_with("itertools.") || name.starts_with(ELEMENT_TREE) => Self::Always,
                "property" | "classmethod" | "staticmethod" => Self::Perhaps,
                _ if !allowed::of_builtins(class, "__new__") => Self::Perhaps,
                _ => Self::Never,
            };
        }
        let always = match name {
            "__init__" => callee::owner_of(callable).is_some_and(|of| types::c_name(&of).starts_with(ELEMENT_TREE)),
            "call" | "reduce" | "iter" | "cmp_to_key" | "sub" | "subn" | "merge" | "nlargest" | "nsmallest" => true,
            _ => false,
        };
        match always {
            true => Self::Always,
            false if forwards_calls(&types::c_name(&callable.get_type())) => Self::Never,
            false => Self::Perhaps,
        }
    }
}
