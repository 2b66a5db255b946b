//! Functions that ask the interpreter: the handled exception, settings, the code of a text.
use crate::bytecode::flag;
use crate::ffi::types;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyType};

/// Larger syntax trees are left to C.
const MOST_NODES: usize = 100_000;

impl<'py> Tracer<'py> {
    /// Functions of `sys`; `None`: no model.
    pub(crate) fn call_sys(
        &mut self,
        function: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        match (name, args.positional.as_slice()) {
            // Hooks are told by compiled code.
            ("audit", events) => {
                let callable = self.constant(function.clone());
                let args = events.to_vec();
                self.state.effects.push(crate::trace::state::outcome::Effect::Call { callable, args });
                Ok(Some(self.none()))
            }
            ("displayhook" | "__displayhook__", [value]) => self.display_by_default(*value).map(Some),
            ("exit", []) => self.exit(None),
            ("exit", [status]) => self.exit(Some(*status)),
            ("exc_info", []) => self.exc_info().map(Some),
            ("exception", []) => self.handled_exception().map(Some),
            ("getsizeof", [value, default @ ..]) if default.len() < 2 => self.memory_size(function, *value, default),
            ("intern", [text]) => self.intern(function, *text),
            ("_getframe", []) => self.frame_above(0),
            ("_getframe", [depth]) => match self.known(*depth).and_then(|depth| depth.extract().ok()) {
                Some(depth) => self.frame_above(depth),
                None => Ok(None),
            },
            ("_getframemodulename", []) => self.frame_module(0),
            ("_getframemodulename", [depth]) => match self.known(*depth).and_then(|depth| depth.extract().ok()) {
                Some(depth) => self.frame_module(depth),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `breakpoint(…)`: the hook of the program. CPython: `builtin_breakpoint`.
    pub(crate) fn model_breakpoint(&mut self, args: &Arguments) -> Traced<ValueId> {
        let names = self.imported_names("sys")?;
        let Some(hook) = self.in_globals(&names, "breakpointhook") else {
            return self.raise("RuntimeError", "lost sys.breakpointhook");
        };
        // Hooks of audits are told by compiled code.
        let audit = self.import("sys", "audit")?;
        let (callable, event) = (self.constant(audit), self.string("builtins.breakpoint"));
        self.state.effects.push(crate::trace::state::outcome::Effect::Call { callable, args: vec![event, hook] });
        self.call(hook, args.clone())
    }

    /// `sys.exit(status)`. CPython: `sys_exit_impl`, `_PyErr_CreateException`.
    fn exit<T>(&mut self, status: Option<ValueId>) -> Traced<T> {
        let class = self.import("builtins", "SystemExit")?;
        let mut args = Vec::new();
        if let Some(status) = status.filter(|status| !matches!(self.is_none(*status), Ok(true))) {
            let of = self.class_of(status)?;
            if of.is_subclass(&class).or_else(|error| self.raise_error(error))? {
                return self.raise_value(status);
            }
            if of.is_subclass_of::<pyo3::types::PyTuple>().or_else(|error| self.raise_error(error))? {
                return unsupported("sys.exit() with several arguments", "tuple");
            }
            args.push(status);
        }
        let class = self.constant(class);
        let exception = self.call(class, Arguments::positional(args))?;
        self.raise_value(exception)
    }

    /// `sys._getframemodulename(depth)` within the trace; who called it is not known.
    fn frame_module(&mut self, depth: usize) -> Traced<Option<ValueId>> {
        let Some(place) = self.state.places.iter().rev().nth(depth) else { return Ok(None) };
        let module =
            place.function.bind(self.py).getattr(name!("__module__")).or_else(|error| self.raise_error(error))?;
        Ok(Some(self.absorb_static(module)))
    }

    /// `sys.exc_info()`.
    fn exc_info(&mut self) -> Traced<ValueId> {
        let handled = self.handled_exception()?;
        if self.is_none(handled)? {
            return self.tuple(&[handled; 3]);
        }
        let class = self.class_of(handled)?.into_any();
        let (class, traceback) = (self.constant(class), self.traceback_of(handled)?);
        self.tuple(&[class, handled, traceback])
    }

    /// `sys.exception()`: what the trace handles, else what the caller handles, which a guard asks again.
    pub(crate) fn handled_exception(&mut self) -> Traced<ValueId> {
        if let Some(handled) = self.state.handled() {
            return Ok(handled);
        }
        self.rely_on_nothing_handled("sys.exception()")?;
        Ok(self.none())
    }

    /// Breaks where the caller handles an exception: it is not known which one the next time.
    pub(crate) fn rely_on_nothing_handled(&mut self, what: &str) -> Traced<()> {
        if crate::ffi::inspect::is_handling(self.py) {
            return unsupported("exception that a caller handles", what);
        }
        let none = self.none();
        let source = Source::constant(self.py.None().bind(self.py));
        self.guard_once(
            none,
            GuardRequest::HANDLED,
            source,
            Check::NothingHandled,
            "exceptions of the trace have no outer context",
        );
        Ok(())
    }

    /// `dir(value)`. CPython: `_dir_object`.
    pub(crate) fn model_dir(&mut self, value: ValueId) -> Traced<ValueId> {
        let Some(method) = self.special(value, "__dir__")? else {
            return self.raise("TypeError", "object does not provide __dir__");
        };
        let names = self.call(method, Arguments::default())?;
        let sorted = self.import("builtins", "sorted")?;
        let sorted = self.constant(sorted);
        self.call(sorted, Arguments::positional(vec![names]))
    }

    /// `object.__dir__` of an object from outside; `None`: its class says in Python what it has. CPython: `object___dir___impl`,
    /// `merge_class_dict`.
    pub(crate) fn names_of_object(&mut self, object: ValueId) -> Traced<Option<ValueId>> {
        let plain = self.py.get_type::<PyType>();
        let exact = self.py.get_type::<PyDict>();
        let mut dict = self.optional_attr(object, "__dict__")?;
        if let Some(held) = dict {
            let of = self.class_of(held)?;
            if !of.is(&exact) && types::is_subtype(&of, &exact) {
                return Ok(None);
            }
            dict = dict.filter(|_| of.is(&exact));
        }
        let class = self.get_attr(object, "__class__")?;
        let class = self.known(class).and_then(|class| class.cast_into::<PyType>().ok());
        let (Some(class), Some(of_class)) = (class, types::lookup(&plain, &interned(self.py, "__dir__"))) else {
            return Ok(None);
        };
        if !class.get_type().is(&plain) {
            return Ok(None);
        }
        self.rely_on_class(&class);
        let names = of_class.call1((&class,));
        let mut names = self.after_native(names, &[])?;
        if let Some(dict) = dict {
            let own = self.call_builtin("list", &[dict])?;
            names = self.operator("add", &[own, names])?;
        }
        let unique = exact.getattr(name!("fromkeys")).or_else(|error| self.raise_error(error))?;
        let unique = self.constant(unique);
        let unique = self.call(unique, Arguments::positional(vec![names]))?;
        self.call_builtin("list", &[unique]).map(Some)
    }

    /// `compile()` of a known text without a warning: the same code every time, or a syntax tree of the trace's own.
    pub(crate) fn model_compile(&mut self, args: &Arguments) -> Traced<ValueId> {
        const COMPILE: &std::ffi::CStr = c"lambda given, named: (compile(*given, **named),)";
        let mut given = Vec::new();
        for value in &args.positional {
            let known = self.known(*value).filter(crate::trace::value::kinds::is_scalar);
            match known.or_else(|| self.own_tree(*value)) {
                Some(known) => given.push(known),
                None => return unsupported("compile() of an unknown text", "builtin_compile"),
            }
        }
        let named = pyo3::types::PyDict::new(self.py);
        for (name, value) in &args.keywords {
            match self.known(*value).filter(crate::trace::value::kinds::is_scalar) {
                Some(known) => named.set_item(name, known).or_else(|error| internal(error.to_string()))?,
                None => return unsupported("compile() of an unknown text", "builtin_compile"),
            }
        }
        let text = given.first().is_some_and(|source| source.is_exact_instance_of::<PyString>());
        if !text && args.positional.first().is_none_or(|source| self.own_tree(*source).is_none()) {
            return unsupported("compile() of something that is no text", "builtin_compile");
        }
        self.rely_on_no_futures()?;
        let compile = self.py.eval(COMPILE, None, None).or_else(|error| internal(error.to_string()))?;
        let given = pyo3::types::PyTuple::new(self.py, given).or_else(|error| internal(error.to_string()))?;
        let (made, warned) = self.with_warnings_as_errors(|| compile.call1((given, named)));
        if warned {
            return unsupported("compile() of a text that gives a warning", "builtin_compile");
        }
        let made = made.and_then(|made| made.get_item(0)).or_else(|error| self.raise_error(error))?;
        if made.is_exact_instance_of::<pyo3::types::PyCode>() { Ok(self.constant(made)) } else { Ok(self.own(made)) }
    }

    /// A syntax tree of the trace's own, in which C finds no proxies.
    fn own_tree(&self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        let tree = self.owned(value)?;
        let of = crate::ffi::modules::imported(&crate::names::interned(self.py, "_ast"))?.getattr(name!("AST")).ok()?;
        let (mut nodes, mut seen) = (vec![tree.clone()], 0);
        if !tree.is_instance(&of).ok()? {
            return None;
        }
        while let Some(node) = nodes.pop() {
            seen += 1;
            let plain = crate::trace::value::kinds::is_scalar(&node);
            if seen > MOST_NODES || !plain && !node.is_instance(&of).ok()? && !node.is_exact_instance_of::<PyList>() {
                return None;
            }
            if let Ok(list) = node.cast_exact::<PyList>() {
                nodes.extend(list.iter());
            } else if !plain {
                nodes.extend(node.getattr(name!("__dict__")).ok()?.cast::<pyo3::types::PyDict>().ok()?.values().iter());
            }
        }
        Some(tree)
    }

    /// What is compiled inherits the `__future__` statements of the code that asks.
    fn rely_on_no_futures(&mut self) -> Traced<()> {
        let function = self.state.places.last().map(|place| place.function.bind(self.py).clone());
        let flags =
            function.and_then(|function| function.getattr(name!("__code__")).ok()?.getattr(name!("co_flags")).ok());
        match flags.and_then(|flags| flags.extract::<u32>().ok()) {
            Some(flags) if flags & flag::FUTURES == 0 => Ok(()),
            _ => unsupported("compile() under a __future__ import", "builtin_compile"),
        }
    }
}
