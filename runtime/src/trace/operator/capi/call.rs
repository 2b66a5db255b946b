//! Calls slot functions: the generated body, the domain, or the real function on private objects.
use crate::domain::Callee;
use crate::ffi::{callee, flag, types};
use crate::semantics::dispatch;
use crate::trace::operator::capi::SlotFunction;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use generated::capi::FunctionId;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyType};

/// Arguments of a slot function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operands {
    Unary(ValueId),
    Binary(ValueId, ValueId),
    Ternary(ValueId, ValueId, Option<ValueId>),
    Index(ValueId, isize),
    Compare(ValueId, ValueId, i32),
}

impl Operands {
    fn values(self) -> Vec<ValueId> {
        match self {
            Self::Unary(v) | Self::Index(v, _) => vec![v],
            Self::Binary(v, w) | Self::Compare(v, w, _) => vec![v, w],
            Self::Ternary(v, w, z) => [v, w].into_iter().chain(z).collect(),
        }
    }
}

impl<'py> Tracer<'py> {
    /// Calls the function in a slot.
    pub(crate) fn call_slot(&mut self, function: &SlotFunction, operands: Operands) -> Traced<ValueId> {
        if let Some(id) = function.body() {
            let translated = self.translated(id, operands);
            return translated.unwrap_or_else(|| unsupported("slot function without a translation", function.name));
        }
        self.state.route.push(function.name.to_owned().into());
        self.call_c_slot(function, operands)
    }

    /// What the function's translation gives; `None` where it has none.
    fn translated(&mut self, id: FunctionId, operands: Operands) -> Option<Traced<ValueId>> {
        match operands {
            Operands::Unary(v) => dispatch::unaryfunc(self, id, &v),
            Operands::Binary(v, w) => dispatch::binaryfunc(self, id, &v, &w),
            Operands::Ternary(v, w, z) => dispatch::ternaryfunc(self, id, &v, &w, z.as_ref()),
            Operands::Index(v, n) => dispatch::ssizeargfunc(self, id, &v, n),
            Operands::Compare(v, w, op) => dispatch::richcmpfunc(self, id, &v, &w, op),
        }
    }

    /// What the method that stands for a slot's function gives for objects that C cannot have: by the translation, if there is one.
    pub(crate) fn translated_method(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        const COMPARISONS: [&str; 6] = ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"];
        let Some(owner) =
            callee::owner_of(method).filter(|_| types::is_c_class(&method.get_type(), "wrapper_descriptor"))
        else {
            return Ok(None);
        };
        let compared = COMPARISONS.iter().position(|comparison| *comparison == name);
        let (slot, operands) = match (name, args, compared) {
            (_, [v, w], Some(which)) => (Slot::tp_richcompare, Operands::Compare(*v, *w, which as i32)),
            ("__repr__", [v], _) => (Slot::tp_repr, Operands::Unary(*v)),
            ("__str__", [v], _) => (Slot::tp_str, Operands::Unary(*v)),
            ("__iter__", [v], _) => (Slot::tp_iter, Operands::Unary(*v)),
            ("__get__", [descriptor, rest @ ..], _) => return self.translated_get(&owner, *descriptor, rest),
            _ => return Ok(None),
        };
        match self.slot_function(&owner, slot)?.and_then(|function| function.id) {
            Some(id) => self.translated(id, operands).transpose(),
            None => Ok(None),
        }
    }

    /// CPython: `wrap_descr_get`.
    fn translated_get(
        &mut self,
        owner: &Bound<'py, PyType>,
        descriptor: ValueId,
        rest: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let (object, class) = match rest {
            [object] => (*object, None),
            [object, class] => (*object, Some(*class)),
            _ => return Ok(None),
        };
        let object = if self.is_none(object)? { None } else { Some(object) };
        let class = match class {
            Some(class) if self.is_none(class)? => None,
            class => class,
        };
        if object.is_none() && class.is_none() {
            return self.raise("TypeError", "__get__(None, None) is invalid");
        }
        // Functions of C that look at the class take that of the object where there is none.
        let given = match (object, class) {
            (Some(object), None) => {
                let class = self.class_of(object)?.into_any();
                Some(self.constant(class))
            }
            _ => class,
        };
        let id = self.slot_function(owner, Slot::tp_descr_get)?.and_then(|function| function.id);
        let translated =
            id.and_then(|id| dispatch::descrgetfunc(self, id, &descriptor, object.as_ref(), given.as_ref()));
        match translated {
            Some(bound) => bound.map(Some),
            None => self.wrapped_method(owner, descriptor, given),
        }
    }

    /// CPython: `sm_descr_get`, and `cm_descr_get` of a function; `None`: the descriptor is another.
    fn wrapped_method(
        &mut self,
        owner: &Bound<'py, PyType>,
        descriptor: ValueId,
        class: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let kind = types::c_name(owner);
        if !matches!(&*kind, "staticmethod" | "classmethod") {
            return Ok(None);
        }
        let wrapped = self.get_attr(descriptor, "__func__")?;
        match class {
            _ if kind == "staticmethod" => Ok(Some(wrapped)),
            Some(class) if types::is_c_class(&self.class_of(wrapped)?, "function") => {
                self.bind_inner(wrapped, class).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What `tp_repr` or `tp_str` says of an object that C cannot have; `None` where it can.
    pub(crate) fn text_of_token(&mut self, value: ValueId, slot: Slot) -> Traced<Option<ValueId>> {
        let class = self.class_of(value)?;
        if self.domain_of(&class).is_some() {
            return Ok(None);
        }
        let receiver = self.receiver(value)?;
        if !receiver.is_instance_of::<crate::trace::state::proxy::Proxy>() {
            // Where C would get a proxy, which asks the trace again, the object itself says it.
            if self.owned(value).is_none_or(|object| !self.runs_python(&object)) {
                return Ok(None);
            }
            let says = self.import("builtins", if slot == Slot::tp_str { "str" } else { "repr" })?;
            return self.run_native(&says, &[receiver], &[]).map(Some);
        }
        let function = self.slot_function(&class, slot)?;
        match function.and_then(|function| self.translated(function.id?, Operands::Unary(value))) {
            Some(text) => text.map(Some),
            None => unsupported("text of an object that C cannot have", types::name(&class)),
        }
    }

    fn call_c_slot(&mut self, function: &SlotFunction, operands: Operands) -> Traced<ValueId> {
        let values = operands.values();
        if let (Operands::Binary(..), Some(generated::slots::Slot::mp_subscript)) = (operands, function.slot)
            && let Some(found) = self.context_operator("getitem", &values)?
        {
            return Ok(found);
        }
        let slot = function.slot.map_or("", generated::slots::Slot::name);
        for value in values.iter().take(2) {
            let class = self.class_of(*value)?;
            let Some(domain) = self.domain_of(&class) else { continue };
            let own = function.slot.map(|slot| self.slot_function(&class, slot)).transpose()?.flatten();
            if own.is_none_or(|own| own.pointer != function.pointer) {
                continue;
            }
            let mut args = values.clone();
            match operands {
                Operands::Index(_, n) => args.push(self.integer(n)),
                Operands::Compare(_, _, op) => args.push(self.integer(op as isize)),
                _ => {}
            }
            return self.call_domain(&domain, Callee::Slot(slot), &args, &[]);
        }
        self.call_real_slot(function, operands, &values)
    }

    /// Whether a metaclass leaves it to `type` how classes are compared and hashed.
    fn compares_as_classes_do(&mut self, meta: &Bound<'py, PyType>) -> Traced<bool> {
        let plain = self.py.get_type::<PyType>();
        if !types::is_subtype(meta, &plain) {
            return Ok(false);
        }
        for slot in [Slot::tp_richcompare, Slot::tp_hash] {
            let pointer = |found: Option<SlotFunction>| found.map(|found| found.pointer);
            if pointer(self.slot_function(meta, slot)?) != pointer(self.slot_function(&plain, slot)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn integer(&mut self, value: isize) -> ValueId {
        let object = pyo3::types::PyInt::new(self.py, value).into_any();
        self.constant(object)
    }

    /// The real C function on private objects.
    fn call_real_slot(&mut self, function: &SlotFunction, operands: Operands, values: &[ValueId]) -> Traced<ValueId> {
        if function.name.starts_with("slot_") || function.pointer == 0 {
            return unsupported("slot function without a translation", function.name);
        }
        if matches!(operands, Operands::Binary(..) | Operands::Ternary(..))
            && let Some(result) = self.number_slot(function, values)?
        {
            return Ok(result);
        }
        if let Some(item) = self.item_of_container(function, operands)? {
            return Ok(item);
        }
        if let Operands::Binary(..) = operands
            && let Some(Slot::nb_and | Slot::nb_inplace_and | Slot::nb_inplace_subtract | Slot::nb_inplace_xor) =
                function.slot
        {
            self.rely_on_two_sets(values);
        }
        if let Operands::Binary(left, right) = operands
            && let Some([left, right]) = self.views_for_c([left, right])?
        {
            return self.call_slot(function, Operands::Binary(left, right));
        }
        if matches!(operands, Operands::Binary(..) | Operands::Compare(..)) {
            values.iter().try_for_each(|value| self.copy_with_hashes(*value))?;
        }
        let mut natives = Vec::new();
        let weak = self.any_weak(values);
        for value in values {
            let class = self.class_of(*value)?;
            if let Some(context) = self.context_for_c(*value)? {
                natives.push(context);
                continue;
            }
            let native = match self.container_operand(function, *value, &class)? {
                Some(copy) => copy,
                None if self.is_number_of_library(*value)? && self.is_of_integers(function)? => self.proxy(*value)?,
                None if weak || self.known(*value).is_some() || self.owned(*value).is_none() => self.native(*value)?,
                None => self.receiver(*value)?,
            };
            let proxy = native.is_instance_of::<crate::trace::state::proxy::Proxy>();
            // What C tells by flags of the class, or by its bases, a proxy is not.
            let told = types::has(&class, flag::DATA_SUBCLASS)
                || class.is_subclass_of::<PySet>().unwrap_or(false)
                || class.is_subclass_of::<PyFrozenSet>().unwrap_or(false);
            if proxy && told {
                natives.push(self.unchanging_operand(function, *value, &class)?);
                continue;
            }
            if proxy && self.domain_of(&class).is_none() {
                let holder = function.slot.map(|slot| self.slot_function(&class, slot)).transpose()?.flatten();
                if function.name == "_Py_union_type_or"
                    && self.compares_as_classes_do(&class)?
                    && let Some(known) = self.known(*value)
                {
                    // It asks no class anything, but compares the parts: by identity, where no metaclass has a say.
                    natives.push(known);
                    continue;
                }
                if holder.is_some_and(|held| held.pointer == function.pointer) {
                    if let Some(result) = function.id.and_then(|id| self.translated(id, operands)) {
                        return result;
                    }
                    return unsupported(
                        "C function on an object from outside",
                        format!("{} of {}", function.name, types::name(&class)),
                    );
                }
            }
            // C code asks for such an object's memory, or for its class, past the slots that a proxy has.
            if proxy && self.domain_of(&class).is_none() && self.slot_function(&class, Slot::bf_getbuffer)?.is_some() {
                return unsupported(
                    "C function on an object of a C class from outside",
                    format!("{} on {}", function.name, types::name(&class)),
                );
            }
            natives.push(native);
        }
        let has_it = |native: &Bound<'py, PyAny>, slot: Slot| {
            types::slot_pointer(&native.get_type(), slot.suite(), slot.offset()) == Some(function.pointer)
        };
        if self.state.numbers.in_containers
            && let Some(slot) = function.slot
            && natives.iter().any(|native| has_it(native, slot))
            && let Some(part) = self.part_of_sizes(slot, &natives)?
        {
            return Ok(part);
        }
        self.fix_numbers_for_slot(function.name, &natives)?;
        self.refuse_frozen_dicts(&natives)?;
        let scalars = natives.iter().all(crate::trace::value::kinds::is_scalar);
        if !scalars && self.meets_decimals(None, &natives)? {
            let given = natives.iter().map(|native| self.as_they_are(native)).collect::<PyResult<_>>();
            natives = given.or_else(|error| crate::trace::state::unwind::internal(error.to_string()))?;
        }
        let pointer = function.pointer;
        let call = || {
            crate::ffi::slot_call::call(
                pointer,
                &natives,
                match operands {
                    Operands::Unary(_) => crate::ffi::slot_call::Signature::Unary,
                    Operands::Binary(..) => crate::ffi::slot_call::Signature::Binary,
                    Operands::Ternary(..) => crate::ffi::slot_call::Signature::Ternary,
                    Operands::Index(_, n) => crate::ffi::slot_call::Signature::Index(n),
                    Operands::Compare(_, _, op) => crate::ffi::slot_call::Signature::Compare(op),
                },
            )
        };
        let result = match scalars {
            true => self.with_callbacks_on_scalars(call),
            false => self.with_callbacks(call),
        };
        self.after_native(result, &natives)
    }

    /// What a slot that gives an item, or makes another container, gives on one from outside of which the trace has no copy.
    fn item_of_container(&mut self, function: &SlotFunction, operands: Operands) -> Traced<Option<ValueId>> {
        let (container, key) = match (function.slot, operands) {
            (Some(slot), Operands::Binary(left, right)) if slot != Slot::mp_subscript => {
                return self.whole_by_operator(slot, &[left, right]);
            }
            (Some(Slot::tp_richcompare), Operands::Compare(left, right, op)) => {
                return self.whole_by_comparison(op, [left, right]);
            }
            (Some(Slot::mp_subscript), Operands::Binary(container, key)) => (container, key),
            // The caller has added the length to an index from the end.
            (Some(Slot::sq_item), Operands::Index(container, index)) if index >= 0 => (container, self.integer(index)),
            _ => return Ok(None),
        };
        if self.real(container).is_some() { self.read_container("getitem", &[container, key]) } else { Ok(None) }
    }

    /// The copy of a container from outside that is an operand: as a receiver, where the function is its own class's.
    fn container_operand(
        &mut self,
        function: &SlotFunction,
        value: ValueId,
        class: &Bound<'py, PyType>,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        if self.real(value).is_none() {
            return Ok(None);
        }
        let holder = function.slot.map(|slot| self.slot_function(class, slot)).transpose()?.flatten();
        match holder.is_some_and(|held| held.pointer == function.pointer) {
            true => self.container_copy(value),
            false => self.container_argument(value),
        }
    }

    /// Whether it is a function of `int`, to which a number of any other class is no operand.
    fn is_of_integers(&mut self, function: &SlotFunction) -> Traced<bool> {
        let integer = self.py.get_type::<pyo3::types::PyInt>();
        let of_integers = function.slot.map(|slot| self.slot_function(&integer, slot)).transpose()?.flatten();
        Ok(of_integers.is_some_and(|of_integers| of_integers.pointer == function.pointer))
    }

    /// An operand from outside of a class that derives from a builtin: C may have it if nothing of it changes.
    pub(crate) fn unchanging_operand(
        &mut self,
        function: &SlotFunction,
        value: ValueId,
        class: &Bound<'py, pyo3::types::PyType>,
    ) -> Traced<Bound<'py, PyAny>> {
        let base = crate::trace::value::kinds::scalar_base(class);
        let of_base = match (base, function.slot) {
            (Some(base), Some(slot)) => self.slot_function(&base, slot)?,
            _ => None,
        };
        if of_base.is_some_and(|of_base| of_base.pointer == function.pointer)
            && let Some(object) = self.unchanging(value)?
        {
            return Ok(object);
        }
        unsupported("C function on an object from outside", format!("{} of {}", function.name, types::name(class)))
    }
}
