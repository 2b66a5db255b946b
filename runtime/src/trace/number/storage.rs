//! Symbolic numbers in containers of the trace's own: C keeps proxies of them, and does not look at them.
use crate::ffi::{callee, types};
use crate::guard::is_number;
use crate::names::name;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_definition, is_scalar, scalar_base};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyComplex, PyFloat, PyList, PyModule, PyType};

/// How deep containers are looked into.
const DEPTH: usize = 6;

/// Classes of C whose methods ask what they hold by slots alone.
const CONTAINERS: &[&str] = &[
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "collections.deque",
    "collections.OrderedDict",
    "collections.defaultdict",
    "dict_keys",
    "dict_values",
    "dict_items",
    "mappingproxy",
    "slice",
    "zip",
    "enumerate",
    "map",
    "filter",
    "reversed",
    "object",
    "collections._tuplegetter",
    "_collections._tuplegetter",
];

/// Functions of `builtins` that do the same.
const BUILTINS: &[&str] = &["min", "max", "sorted", "any", "all", "iter", "next", "len", "isinstance", "callable"];

impl<'py> Tracer<'py> {
    /// What a container of the trace's own, or an attribute of an object of its own, holds for a value.
    pub(crate) fn stored(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        if self.is_unread_text(value) {
            self.state.numbers.texts_in_containers = true;
            return self.proxy(value);
        }
        if self.is_number_of_library(value)? {
            return self.proxy(value);
        }
        if !self.is_made_again(value) {
            return self.native(value);
        }
        self.state.numbers.in_containers = true;
        self.proxy(value)
    }

    /// Whether it is a number from outside of a library's own class derived from `float` or `complex`: it may differ from call to call, and the
    /// graph takes it as it is.
    pub(crate) fn is_number_of_library(&mut self, value: ValueId) -> Traced<bool> {
        let base = self.real(value).and_then(|object| scalar_base(&object.get_type()));
        let is_number = |base: &Bound<'py, PyType>| {
            base.is(self.py.get_type::<PyFloat>()) || base.is(self.py.get_type::<PyComplex>())
        };
        if !base.as_ref().is_some_and(is_number) {
            return Ok(false);
        }
        let class = self.class_of(value)?;
        Ok(self.domain_of(&class).is_some())
    }

    /// Functions of C that look at numbers within containers, past the slots of proxies, get them as they are: the trace is made again.
    pub(crate) fn fix_numbers_for(&mut self, callable: &Bound<'py, PyAny>, args: &[Bound<'py, PyAny>]) -> Traced<()> {
        if self.state.numbers.texts_in_containers && !asks_by_slots(callable) {
            self.refuse_texts_in(args)?;
        }
        self.state.numbers.will_pass_on = passes_on(callable);
        if !self.state.numbers.any_changes() {
            return Ok(());
        }
        let by_slots = asks_by_slots(callable) && !args.iter().any(adds_exactly);
        self.state.numbers.will_ask_by_slots = by_slots;
        if !self.state.numbers.in_containers || by_slots {
            return Ok(());
        }
        self.fix_numbers_in(args)
    }

    /// Lets an iterator of C that is about to make a step get such numbers, where it passes on what it goes through.
    pub(crate) fn pass_on_through(&mut self, class: &Bound<'py, PyType>) {
        self.state.numbers.will_pass_on = asks_by_slots(class.as_any());
    }

    /// The same for a slot's function.
    pub(crate) fn fix_numbers_for_slot(&mut self, function: &str, operands: &[Bound<'py, PyAny>]) -> Traced<()> {
        let of_text = ["unicode_", "bytes_", "bytearray_"].iter().any(|class| function.starts_with(class));
        if self.state.numbers.texts_in_containers && of_text {
            self.refuse_texts_in(operands)?;
        }
        if !self.state.numbers.in_containers || !of_text {
            return Ok(());
        }
        self.fix_numbers_in(operands)
    }

    /// Breaks where C would look at texts that contents decide.
    fn refuse_texts_in(&mut self, args: &[Bound<'py, PyAny>]) -> Traced<()> {
        if !args.iter().any(|arg| self.holds(arg, DEPTH, &|value| self.is_unread_text(value))) {
            return Ok(());
        }
        let text = self.state.proxies.keys().copied().find(|value| self.is_unread_text(*value));
        text.map_or(Ok(()), |text| self.refuse_unread(text))
    }

    fn fix_numbers_in(&mut self, args: &[Bound<'py, PyAny>]) -> Traced<()> {
        if !args.iter().any(|arg| self.holds_number(arg, DEPTH)) {
            return Ok(());
        }
        let is_open = |value: &ValueId| self.is_made_again(*value);
        let numbers: Vec<_> = self.state.proxies.keys().copied().filter(is_open).collect();
        if numbers.is_empty() { Ok(()) } else { self.fix_numbers(numbers) }
    }

    /// Whether an object is a symbolic number, or a text of one, or holds one so deep.
    pub(crate) fn holds_number(&self, object: &Bound<'py, PyAny>, depth: usize) -> bool {
        self.holds(object, depth, &|value| self.is_made_again(value))
    }

    /// The same of numbers that the trace knows, too, for which C gets proxies.
    pub(crate) fn holds_proxy_of_number(&self, object: &Bound<'py, PyAny>, depth: usize) -> bool {
        let is_known = |value| self.real(value).is_some_and(|object| is_number(&object));
        self.holds(object, depth, &|value| self.is_made_again(value) || is_known(value))
    }

    fn holds(&self, object: &Bound<'py, PyAny>, depth: usize, is: &dyn Fn(ValueId) -> bool) -> bool {
        if object.is_instance_of::<Proxy>() {
            return self.value_of_proxy(object).is_some_and(is);
        }
        if is_scalar(object) || is_definition(object) || object.is_instance_of::<PyType>() {
            return false;
        }
        if depth == 0 {
            return true;
        }
        let held = crate::ffi::modules::import(self.py, "gc")
            .and_then(|gc| gc.call_method1(name!("get_referents"), (object,)));
        let Ok(Ok(held)) = held.map(|held| held.cast_into::<PyList>()) else { return true };
        held.iter().any(|held| self.holds(&held, depth - 1, is))
    }
}

/// Whether it is a function that adds floats up more exactly than `+` does, where it sees that they are some.
fn adds_exactly(callable: &Bound<'_, PyAny>) -> bool {
    let is_of_module = || callee::receiver_of(callable).is_some_and(|module| module.is_instance_of::<PyModule>());
    callable.is_instance_of::<PyCFunction>()
        && is_of_module()
        && matches!(&*callee::name_of(callable), "sum" | "sumprod")
}

/// Whether a function of C keeps what it goes through, or passes it on, and does no more than ask it for its order.
fn passes_on(callable: &Bound<'_, PyAny>) -> bool {
    const PASS_ON: &[&str] = &["iter", "next"];
    let module = callee::receiver_of(callable).filter(|module| module.is_instance_of::<PyModule>());
    match module {
        Some(_) if *callee::module_of(callable) == *"builtins" => PASS_ON.contains(&&*callee::name_of(callable)),
        Some(_) => false,
        None => asks_by_slots(callable),
    }
}

fn asks_by_slots(callable: &Bound<'_, PyAny>) -> bool {
    if let Ok(class) = callable.cast::<PyType>() {
        let name = types::c_name(class);
        return CONTAINERS.contains(&&*name) || name.starts_with("itertools.");
    }
    if let Some(owner) = callee::owner_of(callable) {
        return CONTAINERS.contains(&&*types::c_name(&owner));
    }
    match callee::receiver_of(callable) {
        Some(module) if module.is_instance_of::<PyModule>() => match &*callee::module_of(callable) {
            "builtins" => BUILTINS.contains(&&*callee::name_of(callable)),
            "math" => *callee::name_of(callable) == *"prod",
            // It calls the function, which is traced.
            "_functools" => *callee::name_of(callable) == *"reduce",
            module => matches!(module, "_operator" | "itertools"),
        },
        Some(receiver) => match receiver.cast::<PyType>() {
            Ok(class) => CONTAINERS.contains(&&*types::c_name(class)),
            Err(_) => CONTAINERS.contains(&&*types::c_name(&receiver.get_type())),
        },
        None => false,
    }
}
