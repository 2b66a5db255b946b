//! Contexts of decimal arithmetic: C works on private copies of contexts from outside, the thread's own context included.
//!
//! Guards ask for the state before; what the trace changed is a side effect. CPython: `Modules/_decimal/_decimal.c`.
use crate::ffi::{callee, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::process::{CurrentContext, DecimalContext};
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};

/// What `tp_name` of the classes of the module begins with.
const MODULE: &str = "decimal.";

/// Contexts that C copies where they are set.
const TEMPLATES: [&str; 3] = ["DefaultContext", "BasicContext", "ExtendedContext"];

/// The class of C, of the module `_decimal`, that lays out objects of the class.
fn base_of_module<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let named = |class: &Bound<'py, PyType>| types::is_named(class, MODULE) && crate::ffi::types::is_c_type(class);
    if crate::ffi::types::is_c_type(class) {
        return types::is_named(class, MODULE).then(|| class.clone());
    }
    types::mro(class)?.iter().filter_map(|base| base.cast_into::<PyType>().ok()).find(named)
}

/// The module of a class; there may be several copies of it.
fn module_of_class<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    let base = base_of_module(class)?;
    types::module(&base).or_else(|| crate::ffi::modules::import(class.py(), "_decimal").ok().map(Bound::into_any))
}

/// The module of one of its classes, functions or methods.
fn module_of_callable<'py>(callable: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if let Ok(class) = callable.cast::<PyType>() {
        return module_of_class(class);
    }
    if let Some(owner) = callee::owner_of(callable) {
        return module_of_class(&owner);
    }
    let receiver = callee::receiver_of(callable)?;
    match (receiver.cast::<PyType>(), receiver.cast::<PyModule>()) {
        (Ok(class), _) => module_of_class(class),
        (_, Ok(_)) => {
            let name = callee::module_name(callable)?;
            name.to_str().is_ok_and(|name| ["_decimal", "decimal"].contains(&name)).then(|| receiver.clone())
        }
        _ => module_of_class(&receiver.get_type()),
    }
}

/// The parts of a context, as `__reduce__` says them.
fn state<'py>(context: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    context.call_method0(intern!(context.py(), "__reduce__"))?.get_item(1)
}

impl<'py> Tracer<'py> {
    /// Notes the context where C has to do with decimal arithmetic when it calls this, or a slot's function, with these. Whether the module
    /// itself is called.
    pub(crate) fn meets_decimals(
        &mut self,
        callable: Option<&Bound<'py, PyAny>>,
        natives: &[Bound<'py, PyAny>],
    ) -> Traced<bool> {
        let mut modules: Vec<_> = callable.and_then(module_of_callable).into_iter().collect();
        let mut own = !modules.is_empty();
        for (index, native) in natives.iter().enumerate() {
            let class = native.get_type();
            if !crate::trace::value::kinds::is_plain(&class)
                && !native.is_instance_of::<Proxy>()
                && let Some(module) = module_of_class(&class)
            {
                own |= index == 0;
                modules.push(module);
            }
        }
        for module in modules {
            self.note_context(&module)?;
        }
        Ok(own)
    }

    /// The trace relies on the context of the thread.
    fn note_context(&mut self, module: &Bound<'py, PyAny>) -> Traced<()> {
        /// New contexts get what the template has.
        const SAME: &std::ffi::CStr = c"lambda context, template, *states: lambda get: get() is context and \
            states == (context.__reduce__()[1], template.__reduce__()[1])";
        if self.state.decimals.in_force.iter().any(|in_force| in_force.module.is(module)) {
            return Ok(());
        }
        let part = |name: &str| module.getattr(name).or_else(|error| internal(error.to_string()));
        let (get, set, template) = (part("getcontext")?, part("setcontext")?, part(TEMPLATES[0])?);
        let outside = get.call0().or_else(|error| internal(error.to_string()))?;
        let check = state(&outside).and_then(|now| {
            let given = (&outside, &template, now, state(&template)?);
            self.py.eval(SAME, None, None)?.call1(given)
        });
        let check = Check::Call(check.or_else(|error| internal(error.to_string()))?.unbind());
        self.guard(Source::constant(&get), check, "the trace used the decimal context of the thread");
        let value = self.constant(outside.clone());
        let copy = match self.adopt_context(value)? {
            true => self.owned(value),
            false => None,
        };
        let Some(copy) = copy else { return internal("decimal context of another class") };
        if self.state.nesting > 0 {
            set.call1((&copy,)).or_else(|error| internal(error.to_string()))?;
        }
        let (first, now) = (copy.clone().unbind(), copy.unbind());
        let (get, set, outside) = (get.unbind(), set.unbind(), outside.unbind());
        let module = module.clone().unbind();
        self.state.decimals.in_force.push(CurrentContext { module, get, set, outside, first, now });
        Ok(())
    }

    /// C gets a copy of a context from outside; whether the value is such a context.
    pub(crate) fn adopt_context(&mut self, value: ValueId) -> Traced<bool> {
        const SAME: &std::ffi::CStr = c"lambda then: lambda context: context.__reduce__()[1] == then";
        if self.state.decimals.adopted.iter().any(|adopted| adopted.value == value) {
            return Ok(true);
        }
        let Some(original) = self.real(value) else { return Ok(false) };
        let named = types::name(&original.get_type()) == "decimal.Context";
        if !named || !crate::ffi::types::is_c_type(&original.get_type()) {
            return Ok(false);
        }
        for name in TEMPLATES {
            let module = module_of_class(&original.get_type());
            if module.and_then(|module| module.getattr(name).ok()).is_none_or(|template| template.is(&original)) {
                return unsupported("template of decimal contexts", name);
            }
        }
        self.class_of(value)?;
        let made = state(&original).and_then(|before| {
            let check = self.py.eval(SAME, None, None)?.call1((&before,))?;
            Ok((before, original.call_method0("copy")?, check))
        });
        let (before, copy, check) = made.or_else(|error| internal(error.to_string()))?;
        let Some(path) = self.source(value) else { return internal("context without a source") };
        for index in 0..self.state.decimals.adopted.len() {
            let other = &self.state.decimals.adopted[index];
            let other = other.source.clone().unwrap_or_else(|| Source::constant(other.original.bind(self.py)));
            self.guard(path.clone(), Check::NotSameAs(other), "the trace changes one of two contexts");
        }
        self.guard_once(
            value,
            GuardRequest::STATE,
            path,
            Check::Call(check.unbind()),
            "the trace used the decimal context",
        );
        crate::trace::state::journal::changed();
        self.state.identity.insert(copy.as_ptr() as usize, value);
        let new = Value::New(New::Owned(copy.clone().unbind()));
        let Value::Real { object, source } = std::mem::replace(&mut self.state.values[value.0 as usize], new) else {
            return internal("context that is no object");
        };
        let adopted = DecimalContext { value, original: object, source, copy: copy.unbind(), before: before.unbind() };
        self.state.decimals.adopted.push(adopted);
        Ok(true)
    }

    /// The trace's context is in force while C runs for it.
    pub(crate) fn enter_context(&mut self) {
        if self.state.decimals.in_force.is_empty() {
            return;
        }
        crate::trace::state::journal::changed();
        if self.state.nesting == 0 {
            let py = self.py;
            let mut contexts = self.state.decimals.in_force.iter();
            let set = contexts.try_for_each(|in_force| in_force.set.bind(py).call1((&in_force.now,)).map(drop));
            self.note_failure(set);
        }
    }

    /// The thread's is again; which one C has left for the trace is remembered.
    pub(crate) fn leave_context(&mut self) {
        if self.state.nesting > 0 {
            return;
        }
        let py = self.py;
        let left = self.state.decimals.in_force.iter_mut().try_for_each(|in_force| {
            in_force.now = in_force.get.bind(py).call0()?.unbind();
            in_force.set.bind(py).call1((&in_force.outside,)).map(drop)
        });
        self.note_failure(left);
    }

    fn note_failure(&mut self, done: PyResult<()>) {
        if let Err(error) = done {
            self.state.pending.get_or_insert_with(|| Unwind::internal(error.to_string()));
        }
    }

    /// At the end, the value of an adopted context is what it was.
    pub(crate) fn release_context(&mut self, value: ValueId) -> bool {
        let adopted = &self.state.decimals.adopted;
        let Some(adopted) = adopted.iter().find(|adopted| adopted.value == value) else { return false };
        let original = Value::Real { object: adopted.original.clone_ref(self.py), source: adopted.source.clone() };
        let described = std::mem::replace(&mut self.state.values[value.0 as usize], original);
        self.state.described.push(described);
        true
    }

    /// Contexts that have changed become effects on those outside, and so does which one is in force.
    pub(crate) fn compare_contexts(&mut self) -> Traced<()> {
        for index in 0..self.state.decimals.adopted.len() {
            let adopted = &self.state.decimals.adopted[index];
            let (value, copy, before) = (adopted.value, adopted.copy.bind(self.py), adopted.before.bind(self.py));
            let compared = state(copy).and_then(|now| Ok((now.eq(before)?, now)));
            let (same, now) = compared.or_else(|error| internal(error.to_string()))?;
            if !same {
                let give = self.import("slotrt._decimals", "give")?;
                let (callable, now) = (self.constant(give), self.constant(now));
                self.state.effects.push(Effect::Call { callable, args: vec![value, now] });
            }
        }
        for index in 0..self.state.decimals.in_force.len() {
            let in_force = &self.state.decimals.in_force[index];
            if !in_force.now.is(&in_force.first) {
                let (set, now) = (in_force.set.bind(self.py).clone(), in_force.now.bind(self.py).clone());
                let (callable, now) = (self.constant(set), self.absorb(now));
                self.state.effects.push(Effect::Call { callable, args: vec![now] });
            }
        }
        Ok(())
    }

    /// Whether the trace has to do with contexts.
    pub(crate) fn has_contexts(&self) -> bool {
        !self.state.decimals.adopted.is_empty()
    }
}
