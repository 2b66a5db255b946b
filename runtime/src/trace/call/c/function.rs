//! Calls C functions and methods: the domain first, then models, then the real function on private objects; else a graph break names it.
use crate::domain::Domain;
use crate::ffi::{callee, types};
use crate::graph_break::SETS_OBSERVERS;
use crate::semantics::slotdefs::SLOTDEFS;
use crate::trace::call::c::acting::Calls;
use crate::trace::call::effects::{allowed, observers};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;
use pyo3::exceptions::PyBaseExceptionGroup;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};
use std::sync::Arc;

/// Methods that store their arguments without looking at them.
pub(crate) const STORES: &[&str] =
    &["append", "insert", "appendleft", "setdefault", "__setitem__", "get", "pop", "fromkeys", "__init__", "__new__"];

/// Methods of sets that ask whether their argument is the set itself.
const SET_METHODS: [&str; 4] =
    ["intersection", "intersection_update", "difference_update", "symmetric_difference_update"];

/// Special methods without a slot that look at what C keeps alone.
const SIZES_AND_ITERATORS: [&str; 4] = ["__reversed__", "__length_hint__", "__missing__", "__class_getitem__"];

impl<'py> Tracer<'py> {
    /// The domain that claims a callable, if any.
    pub(crate) fn domain_call(&mut self, callable: ValueId) -> Traced<Option<Arc<dyn Domain>>> {
        let Some(object) = self.real(callable) else { return Ok(None) };
        Ok(self.state.domains.iter().find(|domain| domain.claims_callable(&object)).cloned())
    }

    pub(crate) fn call_c_function(&mut self, object: &Bound<'py, PyAny>, args: Arguments) -> Traced<ValueId> {
        let (name, owner, receiver) = (callee::name_of(object), callee::owner_of(object), callee::receiver_of(object));
        if name == "__call__"
            && let Some((callable, rest)) = self.called_by_slot(object, &args)?
        {
            return self.call(callable, rest);
        }
        self.refuse_memory_size(&name, owner.as_ref(), &args)?;
        if let Some(result) = self.call_on_outside(object, &name, owner.as_ref(), &args)? {
            return Ok(result);
        }
        if let Some(result) = self.call_modelled_c(object, &name, owner.as_ref(), receiver.as_ref(), &args)? {
            return Ok(result);
        }
        let own_first = args.positional.first().is_some_and(|first| self.owned(*first).is_some());
        let rest = if own_first { args.positional.get(1..).unwrap_or_default() } else { args.positional.as_slice() };
        let given = allowed::Given { own_first, plain: self.are_plain(rest, &args.keywords)? };
        self.refuse_impure(object, &name, owner.as_ref(), receiver.as_ref(), given)?;
        match owner {
            Some(owner) if types::is_subtype(&owner, &self.py.get_type::<PyBaseExceptionGroup>()) => {
                self.call_c_on_group(object, &args)
            }
            owner => self.call_c_on(object, &args, owner.is_some()),
        }
    }

    /// A method of groups of exceptions: what it makes of a group has its traceback.
    fn call_c_on_group(&mut self, object: &Bound<'py, PyAny>, args: &Arguments) -> Traced<ValueId> {
        let group = args.positional.first().and_then(|group| self.owned(*group));
        let marks = self.mark_tracebacks(group.as_slice())?;
        let result = self.call_c_on(object, args, true);
        let made = result.as_ref().ok().and_then(|made| self.owned(*made));
        self.unmark_tracebacks(marks, made.as_ref())?;
        result
    }

    /// `descriptor.__get__(receiver)` of a descriptor of C; `None`: it is not one of the receiver's class.
    pub(crate) fn read_member_of(&mut self, descriptor: ValueId, receiver: ValueId) -> Traced<Option<ValueId>> {
        let Some(descriptor) = self.known(descriptor) else { return Ok(None) };
        let (class, name) = (self.class_of(receiver)?, descriptor.getattr(intern!(self.py, "__name__")));
        let of = callee::owner_of(&descriptor).is_some_and(|owner| types::is_subtype(&class, &owner));
        let (true, Ok(name)) = (of, name) else { return Ok(None) };
        let name = types::text(&name);
        if let Some(Ok(of)) = self.known(receiver).map(|receiver| receiver.cast_into::<PyType>()) {
            let same = self.lookup(&class, &name).is_some_and(|found| found.is(&descriptor));
            return if same { self.type_get_attr(receiver, &of, &name).map(Some) } else { Ok(None) };
        }
        self.read_descriptor(descriptor, receiver, &class, &name).map(Some)
    }

    pub(super) fn are_plain(&mut self, positional: &[ValueId], keywords: &[(String, ValueId)]) -> Traced<bool> {
        let mut plain = true;
        for value in positional.iter().chain(keywords.iter().map(|(_, value)| value)) {
            plain &= crate::trace::value::kinds::is_plain(&self.class_of(*value)?);
        }
        Ok(plain)
    }

    /// A C function may run during the trace only if it touches nothing but its arguments.
    pub(super) fn refuse_impure(
        &mut self,
        object: &Bound<'py, PyAny>,
        name: &str,
        owner: Option<&Bound<'py, PyType>>,
        receiver: Option<&Bound<'py, PyAny>>,
        given: allowed::Given,
    ) -> Traced<()> {
        if let Some(owner) = owner {
            let class = types::c_name(owner);
            if observers::sets_observers(&class, name) {
                return unsupported(SETS_OBSERVERS, format!("{class}.{name}"));
            }
            if class == "module" && name == "__dir__" && !given.own_first {
                return unsupported("names of a module", name);
            }
            let why = match crate::trace::value::state_copies::has_state_copies(&class) {
                true => Ok(()),
                false => allowed::confined(&class, name, given)
                    .or_else(|why| allowed::of_builtins(owner, name).then_some(()).ok_or(why)),
            };
            return match why {
                Ok(()) if class != "type" || name == "mro" => Ok(()),
                Ok(()) => unsupported("call to a C method", format!("type.{name}")),
                Err(why) => unsupported("call to a C method", format!("{}.{name}: {why}", types::name(owner))),
            };
        }
        let Some(receiver) = receiver else {
            return unsupported("call to a C function", name);
        };
        if let Ok(class) = receiver.cast::<PyType>() {
            let owner = types::c_name(class);
            let own = matches!(name, "__new__" | "__class_getitem__") || crate::ffi::types::is_c_type(class);
            let makes = name == "__new__" && crate::trace::call::classes::class::is_made_here(class, &owner);
            if own && makes {
                return Ok(());
            }
            let why = allowed::confined(&owner, name, given);
            return match why.or_else(|why| allowed::of_builtins(class, name).then_some(()).ok_or(why)) {
                Ok(()) if own => Ok(()),
                Ok(()) => unsupported("call to a C class method", format!("{}.{name}", types::name(class))),
                Err(why) => {
                    let text = format!("{}.{name}: {why}", types::name(class));
                    unsupported("call to a C class method", text)
                }
            };
        }
        if receiver.is_instance_of::<PyModule>() {
            let module = callee::module_of(object);
            if observers::sets_observers(&module, name) {
                return unsupported(SETS_OBSERVERS, format!("{module}.{name}"));
            }
            return match allowed::confined(&module, name, given) {
                Ok(()) => Ok(()),
                // It writes to the class alone.
                Err(_) if module == "_abc" && name == "_abc_init" && given.own_first => Ok(()),
                Err(why) => unsupported("call to a C function", format!("{module}.{name}: {why}")),
            };
        }
        if self.is_own_or_scalar(receiver) {
            return Ok(());
        }
        unsupported("call to a bound C method", format!("{}.{name}", types::name(&receiver.get_type())))
    }

    /// Whether nobody but the trace can change the object, or nobody at all.
    pub(super) fn is_own_or_scalar(&self, object: &Bound<'py, PyAny>) -> bool {
        self.is_private(object) || crate::trace::value::kinds::is_scalar(object)
    }

    /// What C gets for a value that it may call.
    pub(crate) fn called_back(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        // What a domain records does not know proxies.
        let is_traced =
            self.domain_call(value)?.is_some() || self.at_hand(value).is_some_and(|object| self.acts_outside(&object));
        if is_traced { self.proxy(value) } else { self.native(value) }
    }

    /// Runs a C callable; `method` says that the first argument is the receiver.
    pub(crate) fn call_c_on(&mut self, object: &Bound<'py, PyAny>, args: &Arguments, method: bool) -> Traced<ValueId> {
        let name = callee::name_of(object);
        if let Some(args) = self.gone_through_behind(object, args)? {
            return self.call_c_on(object, &args, method);
        }
        self.rely_on_handlers(object, &name, args)?;
        self.rely_on_codec(object, &name, args)?;
        if name == "__class_getitem__" {
            self.refuse_generic_classes(&args.positional)?;
        }
        if method
            && args.keywords.is_empty()
            && let Some(read) = self.read_by_method(object, &name, &args.positional)?
        {
            return Ok(read);
        }
        if let Some(whole) = self.whole_by_call(object, &name, args, method)? {
            return Ok(whole);
        }
        let is_of_container = |owner: &Bound<'py, PyType>| crate::ffi::containers::of(owner).is_some();
        if method && callee::owner_of(object).as_ref().is_some_and(is_of_container) {
            for (index, value) in args.positional.iter().enumerate() {
                if index == 0
                    || !STORES.contains(&&*name) && !self.is_only_gone_through(object, &args.positional, index)
                {
                    self.copy_with_hashes(*value)?;
                }
            }
        }
        if method && SET_METHODS.contains(&&*name) {
            self.rely_on_two_sets(&args.positional);
        }
        let first_is_class = name == "__new__";
        let class = args.positional.first().filter(|_| first_is_class).and_then(|class| self.known(*class));
        let calls = Calls::of(class.as_ref().unwrap_or(object), &name);
        let always = calls == Calls::Always;
        let mut positional = Vec::new();
        let args = &self.names_for(object, args)?;
        let looks = self.looks_at(object, args);
        for (index, value) in args.positional.iter().enumerate() {
            let native = match index {
                0 if method => self.receiver_of(object, looks, &args.positional)?,
                0 if first_is_class => match self.known(*value) {
                    Some(class) => class,
                    None => self.native(*value)?,
                },
                _ if index > 0 && STORES.contains(&&*name) && !always && stores_at(&name, index) => {
                    self.stored(*value)?
                }
                _ if index > 0 && STORES.contains(&&*name) && !always && name != "__init__" => self.native(*value)?,
                _ if self.reads_bytes(object, *value) => self.receiver(*value)?,
                _ => self.argument_of(looks, calls, *value)?,
            };
            if !self.is_only_called(object, always, *value)?
                && !self.is_only_gone_through(object, &args.positional, index)
                && !self.is_sequence_gone_through(object, &args.positional, index)
            {
                self.refuse_disguise(&native, &name, index, *value)?;
            }
            positional.push(native);
        }
        if method {
            self.note_use(&args.positional);
        }
        let makes_dict = object.is(self.py.get_type::<pyo3::types::PyDict>());
        let mut keywords = Vec::new();
        for (keyword, value) in &args.keywords {
            let calls = if keyword == "key" { Calls::Always } else { calls };
            let native = match makes_dict && self.is_made_again(*value) {
                true => self.stored(*value)?,
                false => self.argument_of(looks, calls, *value)?,
            };
            if !makes_dict && !self.is_only_called(object, calls == Calls::Always, *value)? {
                self.refuse_disguise(&native, &name, positional.len(), *value)?;
            }
            keywords.push((keyword.clone(), native));
        }
        let given = positional.iter().chain(keywords.iter().map(|(_, value)| value));
        self.refuse_disguises_inside(object, &name, given)?;
        let mut given = positional.iter().skip(usize::from(method)).chain(keywords.iter().map(|(_, value)| value));
        if given.any(|given| given.is_instance_of::<Proxy>()) && opens_a_layer(object, &name) {
            return unsupported("file over an object of Python code, or from outside", name);
        }
        if method && positional.first().is_some_and(|first| first.is_instance_of::<Proxy>()) {
            if args.keywords.is_empty()
                && let Some(result) = self.translated_method(object, &name, &args.positional)?
            {
                return Ok(result);
            }
            return unsupported("C method of an object from outside", name);
        }
        self.run_native_as(object, args.bound && method, &positional, &keywords)
    }

    /// C compares containers with one another where it gets several objects that are neither plain nor definitions.
    fn looks_at(&mut self, callable: &Bound<'py, PyAny>, args: &Arguments) -> Looks {
        // What keeps its argument may be compared with another later: `partial`, `repeat`.
        if callable.cast::<PyType>().is_ok_and(|class| !allowed::of_builtins(class, "__new__")) {
            return Looks::AtAll;
        }
        let given = args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value));
        match given.filter(|value| !self.is_made_again(**value) && self.known(**value).is_none()).count() {
            0 | 1 => Looks::AtOne,
            _ => Looks::AtAll,
        }
    }

    /// What C gets for an argument: a container from outside as it is laid out, where C may look into it.
    fn argument_of(&mut self, looks: Looks, calls: Calls, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        match self.container_of(looks, value)? {
            Some(copy) => Ok(copy),
            None => match calls {
                Calls::Always => self.called_back(value),
                Calls::Perhaps if self.at_hand(value).is_some_and(|held| self.acts_when_called(&held)) => {
                    self.proxy(value)
                }
                _ if self.is_outside_module(value) => self.proxy(value),
                Calls::Perhaps | Calls::Never => self.native(value),
            },
        }
    }

    /// Whether C would read the namespace of a module without a guard.
    fn is_outside_module(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| object.is_instance_of::<PyModule>())
    }

    fn container_of(&mut self, looks: Looks, value: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        match looks {
            Looks::AtOne => self.only_container_argument(value),
            Looks::AtAll => self.container_argument(value),
        }
    }

    /// Whether C calls the object and asks it for nothing else: a proxy will do, whatever class of C it is of.
    fn is_only_called(&mut self, callable: &Bound<'py, PyAny>, calls: bool, value: ValueId) -> Traced<bool> {
        // `partial` takes a partial function apart.
        if !calls || callable.cast::<PyType>().is_ok_and(|class| types::is_c_class(class, "functools.partial")) {
            return Ok(false);
        }
        let class = self.class_of(value)?;
        Ok(self.real(value).is_some()
            && types::is_c_type(&class)
            && self.slot_function(&class, Slot::tp_call)?.is_some()
            && self.slot_function(&class, Slot::tp_iter)?.is_none())
    }

    /// The receiver of a method: methods of `int`, `str` and the like work on instances of subclasses from outside as they are.
    fn receiver_of(&mut self, method: &Bound<'py, PyAny>, looks: Looks, args: &[ValueId]) -> Traced<Bound<'py, PyAny>> {
        let [value, rest @ ..] = args else { return internal("a method without a receiver") };
        let value = *value;
        if let Some(copy) = self.copy_of(method, value, rest)? {
            return Ok(copy);
        }
        let native = match self.real(value).is_some() && looks_at_attributes(&callee::name_of(method)) {
            true => match (self.container_of(looks, value)?, self.instance_copy(value)?) {
                (Some(copy), _) | (None, Some(copy)) => copy,
                (None, None) => self.native(value)?,
            },
            false => self.receiver(value)?,
        };
        if native.is_instance_of::<Proxy>()
            && let Some(owner) = callee::owner_of(method)
            && let Some(base) = crate::trace::value::kinds::scalar_base(&self.class_of(value)?)
            && base.is(&owner)
            && let Some(object) = self.unchanging(value)?
        {
            return Ok(object);
        }
        Ok(native)
    }
}

/// Whether the method keeps this argument as it is.
fn stores_at(name: &str, index: usize) -> bool {
    match name {
        "append" | "appendleft" => index == 1,
        "insert" | "setdefault" | "__setitem__" => index == 2,
        _ => false,
    }
}

/// How many arguments C may look into and compare with one another.
#[derive(Clone, Copy)]
enum Looks {
    AtOne,
    AtAll,
}

/// Whether it makes a file of another one, which it closes at its end.
fn opens_a_layer(callable: &Bound<'_, PyAny>, name: &str) -> bool {
    const LAYERS: [&str; 5] =
        ["_io.TextIOWrapper", "_io.BufferedReader", "_io.BufferedWriter", "_io.BufferedRandom", "_io.BufferedRWPair"];
    let class = match callable.cast::<PyType>() {
        Ok(class) => Some(class.clone()),
        Err(_) => callee::owner_of(callable).filter(|_| name == "__init__"),
    };
    class.is_some_and(|class| LAYERS.contains(&&*types::c_name(&class)))
}

/// Whether a method looks at attributes of its receiver: `__reduce_ex__`, `__getstate__`, `__copy__` and others that fill no slot.
fn looks_at_attributes(name: &str) -> bool {
    let special = name.starts_with("__") && name.ends_with("__");
    special && !SLOTDEFS.iter().any(|slot| slot.name == name) && !SIZES_AND_ITERATORS.contains(&name)
}
