//! Special methods that C calls on proxies.
use crate::ffi::{callee, containers, types};
use crate::trace::operator::capi::Operands;
use crate::trace::proxy::special_methods::is_operator;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use generated::slots::Slot;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyType};

impl<'py> Tracer<'py> {
    /// Whether a function is a `mro()`, whose result C looks into. CPython: `mro_invoke`.
    pub(crate) fn is_order(&self, function: ValueId) -> bool {
        let function = match self.value(function) {
            Value::New(New::Method { function, .. }) => *function,
            _ => function,
        };
        let function = self.at_hand(function);
        function
            .and_then(|function| function.getattr(intern!(self.py, "__name__")).ok())
            .is_some_and(|name| name.eq("mro").unwrap_or(false))
    }

    /// C tells by their classes whether, and in which order, two objects are asked for the result of an operator: an object of the
    /// trace's own is not of its relative's class where that one is a proxy. CPython: `binary_op1`.
    pub(crate) fn refuse_relative(&mut self, value: ValueId, name: &str, other: &Bound<'py, PyAny>) -> Traced<()> {
        let its_class = other.get_type();
        if other.is_instance_of::<Proxy>() || crate::ffi::types::is_c_type(&its_class) || !is_operator(name) {
            return Ok(());
        }
        let class = self.class_of(value)?;
        match types::is_subtype(&class, &its_class) || types::is_subtype(&its_class, &class) {
            true => unsupported("C operator on an object from outside and one of its class", types::name(&class)),
            false => Ok(()),
        }
    }

    /// A special method of a value's class, called by C on its proxy.
    pub(crate) fn call_special(&mut self, value: ValueId, name: &str, args: Arguments) -> Traced<ValueId> {
        if let ("__eq__" | "__ne__", [other]) = (name, args.positional.as_slice()) {
            self.rely_on_difference(value, *other);
        }
        if args.positional.is_empty()
            && let Some(item) = self.next_by_name(name, &[value])?
        {
            return Ok(item);
        }
        match (name, args.positional.as_slice()) {
            ("__hash__", []) if self.is_id(value) => return self.hash_for_c(value),
            ("__eq__" | "__ne__", [other]) if self.is_id(value) => {
                let same = self.same_id(value, *other)?;
                return Ok(self.boolean(same == (name == "__eq__")));
            }
            ("__call__", [first, ..]) => {
                self.refuse_address(value, *first)?;
                return self.call(value, args);
            }
            ("__call__", _) => return self.call(value, args),
            ("__get__", _) if !crate::ffi::types::is_c_type(&self.class_of(value)?) => {}
            ("__get__", [object, ..]) if !self.is_none(*object)? => {
                let class = self.class_of(*object)?;
                return self.bind(value, *object, &class);
            }
            ("__get__", _) => return Ok(value),
            _ => {}
        }
        let class = self.class_of(value)?;
        let of_numbers = is_operation(name) && self.is_of_numbers(&class);
        if let ([other], true) = (args.positional.as_slice(), of_numbers)
            && !self.is_of_derived_numbers(*other)?
        {
            // CPython: `long_richcompare`, `float_add` and the like. C goes on with the other's method, or says what it did not find.
            return Ok(self.constant(self.py.NotImplemented().into_bound(self.py)));
        }
        if of_numbers || self.domain_of(&class).is_some() {
            let made = self.operate_on_graph_value(value, &class, name, &args.positional)?;
            return if name == "__hash__" && self.is_id(made) { self.hash_for_c(made) } else { Ok(made) };
        }
        if let [other] = args.positional.as_slice()
            && let Some(compared) = self.compared_as_container(value, name, *other)?
        {
            return Ok(compared);
        }
        match self.special(value, name)? {
            Some(method) => self.call(method, args),
            None if is_operator(name) => Ok(self.constant(self.py.NotImplemented().into_bound(self.py))),
            None => unsupported("C code asks a symbolic value for a method that it does not have", name),
        }
    }

    /// The hash that C gets of the `id()` of an object.
    fn hash_for_c(&mut self, id: ValueId) -> Traced<ValueId> {
        let hash = self.hash_of_id(id)?;
        let hash = pyo3::types::PyInt::new(self.py, hash).into_any();
        Ok(self.constant(hash))
    }

    /// Whether the value is an `int` or `float`, or of a class that derives from them.
    fn is_of_derived_numbers(&mut self, value: ValueId) -> Traced<bool> {
        let class = self.class_of(value)?;
        let (int, float) = (self.py.get_type::<PyInt>(), self.py.get_type::<PyFloat>());
        Ok(types::is_subtype(&class, &int) || types::is_subtype(&class, &float))
    }

    /// What a comparison of a container's C class gives for one that C has a proxy of; `None`: another method is asked.
    fn compared_as_container(&mut self, value: ValueId, name: &str, other: ValueId) -> Traced<Option<ValueId>> {
        const COMPARISONS: [&str; 6] = ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"];
        let Some(operator) = COMPARISONS.iter().position(|comparison| *comparison == name) else { return Ok(None) };
        let class = self.class_of(value)?;
        let found =
            self.lookup(&class, name).filter(|found| types::is_c_class(&found.get_type(), "wrapper_descriptor"));
        let owner = found.and_then(|found| callee::owner_of(&found));
        let Some(owner) = owner.filter(|owner| containers::of(owner).is_some()) else { return Ok(None) };
        match self.slot_function(&owner, Slot::tp_richcompare)? {
            Some(function) => self.call_slot(&function, Operands::Compare(value, other, operator as i32)).map(Some),
            None => Ok(None),
        }
    }

    /// What C gets for the result of a special method: a symbolic number stays one where C only passes it on, or asks it as any object.
    pub(crate) fn stored_result(&mut self, name: &str, result: ValueId) -> Traced<Bound<'py, PyAny>> {
        let passed_on = match name {
            "__next__" if self.is_unread(result) => self.state.numbers.passes_on,
            "__next__" | "__call__" => self.state.numbers.asked_by_slots && self.is_made_again(result),
            _ => is_operation(name) && self.is_number(result),
        };
        if passed_on { self.stored(result) } else { self.native(result) }
    }

    /// Operators, which a domain knows by their names in the module `operator`.
    pub(crate) fn operate_on_graph_value(
        &mut self,
        value: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
        args: &[ValueId],
    ) -> Traced<ValueId> {
        let plain = name.trim_matches('_');
        let mut operands = vec![value];
        operands.extend(args);
        match plain {
            "iter" => return self.get_iter(value),
            "len" => return self.call_builtin(plain, &[value]),
            "bool" => {
                let truth = self.is_true(value)?;
                return Ok(self.boolean(truth));
            }
            _ => {}
        }
        let exists = |name: &str| crate::trace::operator::by_name::arity(name) == Some(operands.len());
        let reserved = format!("{plain}_");
        let mirrored = plain.strip_prefix('r').map(|plain| [plain.to_owned(), format!("{plain}_")]);
        if exists(plain) || exists(&reserved) {
            return self.operator(if exists(plain) { plain } else { &reserved }, &operands);
        }
        match mirrored.iter().flatten().find(|name| exists(name)) {
            Some(operator) => {
                operands.reverse();
                self.operator(operator, &operands)
            }
            // Methods of tensors in Python.
            None if self.is_python(class, name) => match self.special(value, name)? {
                Some(method) => self.call(method, Arguments::positional(args.to_vec())),
                None => unsupported("method of a graph value called by C", name),
            },
            None => unsupported("method of a graph value called by C", name),
        }
    }
}

/// Whether a special method is an operator that gives a number, a comparison, or a truth.
fn is_operation(name: &str) -> bool {
    const OTHERS: [&str; 7] = ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__bool__"];
    is_operator(name) || OTHERS.contains(&name) || matches!(name, "__neg__" | "__pos__" | "__abs__" | "__invert__")
}
