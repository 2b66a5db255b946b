//! Calls a value: a Python function is inlined, a class instantiated, a C function run by tier.

use crate::domain::{Callee, Domain};
use crate::ffi::callable::{called_natively, is_suspended};
use crate::ffi::{callee, types};
use crate::guard::source::Source;
use crate::guard::{BoundMethod, Check};
use crate::names::{interned, name};
use crate::trace::call::kinds::is_of_c;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Frame, FrameExit};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::ENTERS;
use crate::trace::state::stop_points::CallOrigin;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, hints, internal, stop, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_of_one_object;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// `callable(*args, **kwargs)`.
    pub(crate) fn call(&mut self, callable: ValueId, args: Arguments) -> Traced<ValueId> {
        self.call_by(CallOrigin::Within, callable, args)
    }

    /// The same, and how it comes about.
    pub(crate) fn call_by(&mut self, origin: CallOrigin, callable: ValueId, args: Arguments) -> Traced<ValueId> {
        if let Value::New(New::Method { function, receiver }) = self.value(callable) {
            let (function, receiver) = (*function, *receiver);
            return self.call_by(origin, function, args.bound_to(receiver));
        }
        // CPython: `_PyWeakref_ProxyType` has no `tp_call`, whatever its object's class has by now.
        if self.real(callable).is_some_and(|proxy| types::is_named(&proxy.get_type(), "weakref.ProxyType")) {
            let class = self.class_of(callable)?;
            return self.raise_not_callable(callable, &class);
        }
        if let Some(referent) = self.behind_proxy(callable)? {
            return self.call_by(origin, referent, args);
        }
        if let Some(domain) = self.domain_call(callable)? {
            let args_copy = args.positional.clone();
            let function = match self.known(callable) {
                Some(function) => function,
                None => {
                    self.same_object(callable).map_or_else(|| unsupported("call of an operator", domain.name()), Ok)?
                }
            };
            if let Some(taken) = self.taken_by_method(&domain, &function, &args)? {
                return Ok(taken);
            }
            let args_copy = self.gone_through(&function, args_copy)?;
            return self.call_domain(&domain, Callee::Function(function), &args_copy, &args.keywords);
        }
        if let Some(result) = self.call_rehearsed(callable, &args)? {
            return Ok(result);
        }
        let class = self.class_of(callable)?;
        let Some(object) = self.at_hand(callable) else {
            return self.raise_not_callable(callable, &class);
        };
        match &*types::c_name(&class) {
            "function" => self.call_function(origin, callable, &object, args),
            "method" => {
                let (function, receiver) = self.parts_of_method(callable)?;
                self.call_by(origin, function, args.with_receiver(receiver))
            }
            // CPython: `sm_call`.
            "staticmethod" => {
                let function = self.get_attr(callable, "__func__")?;
                self.call_by(origin, function, args)
            }
            class if is_of_c(class) => {
                if let Some(other) = self.state.domains.iter().find_map(|domain| domain.in_place_of(&object)) {
                    self.known(callable);
                    let other = self.absorb_static(other);
                    return self.call_by(origin, other, args);
                }
                match self.unbind(callable, &object)? {
                    Some((method, receiver)) => {
                        self.rely_on_bound(callable, receiver, &object)?;
                        self.call_unbound(&method, args.with_receiver(receiver))
                    }
                    None => {
                        self.known(callable);
                        self.call_c_function(&object, args)
                    }
                }
            }
            _ if object.is_instance_of::<PyType>() => {
                let Some(class) = self.known(callable).and_then(|class| class.cast_into::<PyType>().ok()) else {
                    return unsupported("class made during the trace", "call");
                };
                self.call_class(callable, &class, args)
            }
            _ if crate::ffi::callable::is_compiled(&object) => self.call_compiled(origin, callable, &object, args),
            _ if let Some(target) = called_natively(&object) => stop(
                crate::graph_break::EXPLICIT,
                format!("slotrt.disable({})", callee::name_of(&target)),
                "the program asks to leave this alone, with all that it calls",
                hints::DISABLED,
            ),
            _ => self.call_instance(origin, callable, &object, &class, args),
        }
    }

    /// The method of a type and the receiver that a bound C method is made of.
    fn unbind(
        &mut self,
        callable: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Traced<Option<(Bound<'py, PyAny>, ValueId)>> {
        let Some(receiver) = callee::receiver_of(object) else { return Ok(None) };
        if receiver.is_instance_of::<pyo3::types::PyModule>() {
            return Ok(None);
        }
        // A proxy stands for it where C bound the method itself.
        let class = match self.value_of_proxy(&receiver) {
            Some(value) => self.class_of(value)?,
            None => receiver.get_type(),
        };
        let Some(method) = self.method_behind(&class, &receiver, object) else { return Ok(None) };
        let receiver = match self.source(callable) {
            Some(Source::Constant(_)) | None => self.absorb_static(receiver),
            Some(source) => self.sourced(receiver, Source::Attr(Arc::new(source), "__self__".into())),
        };
        Ok(Some((method, receiver)))
    }

    /// A method of C that the caller gave may be bound anew at each call, as those that end contexts are: it is known by what is bound, and its
    /// receiver by its class. Any other is known by its identity.
    fn rely_on_bound(&mut self, callable: ValueId, receiver: ValueId, object: &Bound<'py, PyAny>) -> Traced<()> {
        let source = self.source(callable).filter(|source| source.is_given() && is_of_one_object(object));
        let Some((source, method)) = source.zip(BoundMethod::of(object)) else {
            self.known(callable);
            return Ok(());
        };
        self.class_of(receiver)?;
        let check = Check::Domain(Box::new(method));
        self.guard_once(callable, GuardRequest::FUNCTION, source, check, "the trace called the method");
        Ok(())
    }

    /// The method of C that a bound one is made of: that of a base, too, where a class derived from it has its own.
    fn method_behind(
        &self,
        class: &Bound<'py, PyType>,
        receiver: &Bound<'py, PyAny>,
        bound: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, PyAny>> {
        let name = interned(self.py, &callee::name_of(bound));
        let classes = types::mro(class)?;
        let own = |class: Bound<'py, PyAny>| Some(self.unproxied(types::own(class.cast().ok()?, &name)?));
        let mut found = classes.iter().filter_map(own);
        found.find(|method| {
            if !matches!(&*types::c_name(&method.get_type()), "method_descriptor" | "wrapper_descriptor") {
                return false;
            }
            // `__get__` takes `None` for no object at all.
            let again = if receiver.is_none() {
                receiver.getattr(&name)
            } else {
                // Methods that are told their class (METH_METHOD) do not survive a __get__ without one.
                method.call_method1(intern!(self.py, "__get__"), (receiver, receiver.get_type()))
            };
            again.and_then(|again| again.eq(bound)).unwrap_or(false)
        })
    }

    /// The arguments of a class of tuples: it goes through a generator first of all.
    fn gone_through(&mut self, callable: &Bound<'py, PyAny>, args: Vec<ValueId>) -> Traced<Vec<ValueId>> {
        let makes_tuples =
            callable.cast::<PyType>().is_ok_and(|class| class.is_subclass_of::<PyTuple>().unwrap_or(false));
        match args.as_slice() {
            [items] if makes_tuples && self.state.generators.contains_key(items) => {
                Ok(vec![self.call_builtin("tuple", &[*items])?])
            }
            _ => Ok(args),
        }
    }

    /// What a function of a library gives of a value of another library, whose class has a method of Python for that.
    fn taken_by_method(
        &mut self,
        domain: &Arc<dyn Domain>,
        function: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let ([value], Some(method)) = (args.positional.as_slice(), domain.taken_by(function)) else { return Ok(None) };
        let class = self.class_of(*value)?;
        let is_other = self.domain_of(&class).is_some_and(|other| other.name() != domain.name());
        if !is_other || !args.keywords.is_empty() || !self.is_python(&class, method) {
            return Ok(None);
        }
        if let Some(through) = domain.taken_through(function) {
            let code = self.lookup(&class, method).and_then(|method| crate::ffi::inspect::function_code(&method));
            let names = code.and_then(|code| code.getattr(name!("co_varnames")).ok());
            // Such a method makes the copy itself.
            if names.is_none_or(|names| names.contains("copy").unwrap_or(true)) {
                return Ok(None);
            }
            let through = self.absorb_static(through);
            return self.call(through, args.clone()).map(Some);
        }
        let method = self.get_attr(*value, method)?;
        self.call(method, Arguments::positional(Vec::new())).map(Some)
    }

    /// A method of C that was bound.
    fn call_unbound(&mut self, method: &Bound<'py, PyAny>, args: Arguments) -> Traced<ValueId> {
        match self.state.domains.iter().find(|domain| domain.claims_callable(method)).cloned() {
            Some(domain) => {
                self.call_domain(&domain, Callee::Function(method.clone()), &args.positional, &args.keywords)
            }
            None => self.call_c_function(method, args),
        }
    }

    /// A callable that `slotrt.compile` made: its function is inlined.
    fn call_compiled(
        &mut self,
        origin: CallOrigin,
        callable: ValueId,
        object: &Bound<'py, PyAny>,
        args: Arguments,
    ) -> Traced<ValueId> {
        if let Some(source) = self.source(callable) {
            let check = Check::Is(object.clone().unbind());
            self.guard_once(callable, GuardRequest::IS, source, check, "the trace inlined the compiled function");
        }
        let wrapped = object.getattr(intern!(self.py, "__wrapped__")).or_else(|error| self.raise_error(error))?;
        let function = self.constant(wrapped);
        self.call_by(origin, function, args)
    }

    fn call_instance(
        &mut self,
        origin: CallOrigin,
        callable: ValueId,
        object: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
        args: Arguments,
    ) -> Traced<ValueId> {
        if args.positional.is_empty()
            && args.keywords.is_empty()
            && let Some(referent) = self.follow_outside(callable, class)?
        {
            return Ok(referent);
        }
        if crate::ffi::types::is_c_type(class) {
            let name = types::name(class);
            if types::is_c_class(class, "types.GenericAlias") {
                return self.call_alias(callable, args);
            }
            if self.owned(callable).is_some() && types::is_c_class(class, "functools.partial") {
                return self.call_partial(callable, args);
            }
            if self.owned(callable).is_some() {
                if let Some((referent, _)) = self.referent(object) {
                    self.check_alive(referent)?;
                }
                self.refuse_held_callables(object)?;
                return self.call_c_on(object, &args, false);
            }
            match &*types::c_name(class) {
                "functools._lru_cache_wrapper" => return self.call_cached(callable, object, &args),
                "functools.partial" => return self.call_partial(callable, args),
                _ if self.known(callable).is_some() && object.is_callable() => {
                    self.refuse_impure_call(object, &args)?;
                    self.refuse_held_callables(object)?;
                    return self.call_c_on(object, &args, false);
                }
                _ => {}
            }
            if !object.is_callable() {
                return self.raise_not_callable(callable, class);
            }
            return match self.twin(callable, class)? {
                Some(twin) => self.call_c_on(&twin, &args, false),
                None if is_suspended(object) => {
                    stop(ENTERS, "", "the frame runs on in the one that it calls", hints::COVERAGE)
                }
                None => unsupported("call of a C object", name),
            };
        }
        if let Some((referent, _)) = self.referent(object)
            && self
                .lookup(class, "__call__")
                .is_some_and(|call| callee::owner_of(&call).is_some_and(|of| crate::ffi::types::is_c_type(&of)))
        {
            self.check_alive(referent)?;
            return self.call_c_on(object, &args, false);
        }
        match self.special(callable, "__call__")? {
            // C calls the method and gives what it gives: a trace can stop in it.
            Some(method) => self.call_deeper_by(origin, method, args),
            None => self.raise_not_callable(callable, class),
        }
    }

    /// `PyMethod_Function` and `PyMethod_Self`.
    pub(crate) fn parts_of_method(&mut self, method: ValueId) -> Traced<(ValueId, ValueId)> {
        if let Value::New(New::Method { function, receiver }) = self.value(method) {
            return Ok((*function, *receiver));
        }
        let Some(object) = self.at_hand(method) else { return internal("no method") };
        let (Ok(function), Ok(receiver)) = (object.getattr(name!("__func__")), object.getattr(name!("__self__")))
        else {
            return internal("method without a function");
        };
        let Some(source) = self.source(method) else {
            return Ok((self.absorb(function), self.absorb(receiver)));
        };
        let function = self.sourced(function, Source::Attr(Arc::new(source.clone()), "__func__".into()));
        let receiver = self.sourced(receiver, Source::Attr(Arc::new(source), "__self__".into()));
        Ok((function, receiver))
    }

    pub(crate) fn enter_call(&mut self) -> Traced<()> {
        if self.state.depth >= self.state.max_depth {
            return stop(
                "calls nest too deeply",
                format!("{} frames", self.state.depth),
                "the tracer inlines a limited number of frames",
                hints::COVERAGE,
            );
        }
        self.state.depth += 1;
        Ok(())
    }

    /// A call that C code would make of its own accord, so that objects which call themselves end.
    pub(crate) fn call_deeper(&mut self, callable: ValueId, args: Arguments) -> Traced<ValueId> {
        self.call_deeper_by(CallOrigin::Within, callable, args)
    }

    fn call_deeper_by(&mut self, origin: CallOrigin, callable: ValueId, args: Arguments) -> Traced<ValueId> {
        self.enter_call()?;
        let result = self.call_by(origin, callable, args);
        self.state.depth -= 1;
        result
    }

    /// Runs the frame of a call, after which the caller handles what it handled before.
    pub(crate) fn run_called(&mut self, frame: &mut Frame) -> Traced<FrameExit> {
        self.enter_call()?;
        let handled = *self.state.exc_info;
        let rest = self.run(frame);
        self.state.depth -= 1;
        if *self.state.exc_info != handled {
            *self.state.exc_info = handled;
        }
        rest
    }

    /// Calls a builtin by name.
    pub(crate) fn call_builtin(&mut self, name: &str, args: &[ValueId]) -> Traced<ValueId> {
        let function = self.import("builtins", name)?;
        let function = self.constant(function);
        self.call(function, Arguments::positional(args.to_vec()))
    }

    pub(crate) fn bound_method(&mut self, function: ValueId, receiver: ValueId) -> ValueId {
        self.push(Value::New(New::Method { function, receiver }))
    }

    /// Whether the outermost interrupting signal is a Python exception of this builtin class.
    pub(crate) fn raised_is(&mut self, signal: &Unwind, class: &str) -> Traced<bool> {
        let Unwind::Raised(value) = signal else { return Ok(false) };
        let class = self.import("builtins", class)?;
        Ok(self.class_of(*value)?.is_subclass(&class).unwrap_or(false))
    }
}
