//! `eval` and `exec` of a known text: it is compiled once, and its code runs in a frame of the trace. CPython: `builtin_eval_impl`.
use crate::bytecode::flag;
use crate::ffi::{callee, types};
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Frame, FrameExit};
use crate::trace::state::namespaces::Namespace;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyModule, PyString};

impl<'py> Tracer<'py> {
    /// The result, if the callable is one of the two.
    pub(crate) fn evaluated(&mut self, frame: &Frame, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        let Some(function) = self.real(callable).filter(|function| function.is_exact_instance_of::<PyCFunction>())
        else {
            return Ok(None);
        };
        let name = callee::name_of(&function);
        if !matches!(&*name, "eval" | "exec") || !self.is_builtin(callable, &name)? {
            return Ok(None);
        }
        let mut given = [None; 3];
        if args.positional.len() > given.len() || args.positional.is_empty() {
            return Ok(None);
        }
        given.iter_mut().zip(&args.positional).for_each(|(slot, value)| *slot = Some(*value));
        for (keyword, value) in &args.keywords {
            let slot = match keyword.as_str() {
                "globals" => &mut given[1],
                "locals" => &mut given[2],
                _ => return unsupported("eval() or exec() with other arguments", keyword.clone()),
            };
            if slot.replace(*value).is_some() {
                return Ok(None);
            }
        }
        let [Some(source), globals, locals] = given else { return internal("arguments of eval") };
        let globals = self.unless_none(globals)?;
        let locals = self.unless_none(locals)?;
        self.refuse_no_mappings(globals, locals)?;
        let code = self.compiled_text(frame, source, &name)?;
        let (globals, namespace) = match globals {
            None => {
                let namespace = match locals {
                    Some(locals) => locals,
                    None => self.frame_locals(frame)?,
                };
                (frame.globals.bind(self.py).clone(), namespace)
            }
            Some(value) => (self.globals_to_run_in(frame, value)?, locals.unwrap_or(value)),
        };
        let result = self.run_evaluated(&code, &globals, namespace)?;
        Ok(Some(if name == "eval" { result } else { self.none() }))
    }

    /// C says that they are none before it compiles the text.
    fn refuse_no_mappings(&mut self, globals: Option<ValueId>, locals: Option<ValueId>) -> Traced<()> {
        const NONE: &str = "eval() or exec() in an object that is no plain dict";
        let class = globals.map(|globals| self.class_of(globals)).transpose()?;
        if class.is_some_and(|class| !types::is_subtype(&class, &self.py.get_type::<PyDict>())) {
            return unsupported(NONE, "globals");
        }
        match locals.map(|locals| self.class_of(locals)).transpose()? {
            Some(class) if self.slot_function(&class, Slot::mp_subscript)?.is_none() => unsupported(NONE, "locals"),
            _ => Ok(()),
        }
    }

    fn unless_none(&mut self, value: Option<ValueId>) -> Traced<Option<ValueId>> {
        Ok(match value {
            Some(value) if !self.is_none(value)? => Some(value),
            _ => None,
        })
    }

    fn compiled_text(&mut self, frame: &Frame, source: ValueId, name: &str) -> Traced<Bound<'py, PyAny>> {
        let Some(known) = self.known(source) else { return unsupported("eval() or exec() of an unknown text", name) };
        if known.is_exact_instance_of::<PyCode>() {
            let free = known.getattr(name!("co_freevars")).and_then(|names| names.len()).unwrap_or(1);
            return if free == 0 {
                Ok(known)
            } else {
                unsupported("eval() or exec() of code with free variables", name)
            };
        }
        let Ok(text) = known.cast_exact::<PyString>() else {
            return unsupported("eval() or exec() of something that is no text", name);
        };
        if frame.code.flags & flag::FUTURES != 0 {
            return unsupported("eval() or exec() under a __future__ import", name);
        }
        let text = match name {
            "eval" => text.call_method1(name!("lstrip"), (" \t",)).or_else(|error| internal(error.to_string()))?,
            _ => known,
        };
        let compile = self.import("builtins", "compile")?;
        let (code, warned) = self.with_warnings_as_errors(|| compile.call1((text, "<string>", name, 0, true)));
        if warned {
            return unsupported("eval() or exec() of a text that gives a warning", name);
        }
        code.or_else(|error| self.raise_error(error))
    }

    /// The dict to run in; like C, gives it `__builtins__` if it has none.
    fn globals_to_run_in(&mut self, frame: &Frame, globals: ValueId) -> Traced<Bound<'py, PyDict>> {
        let owned = self.owned(globals);
        let dict = owned.clone().or_else(|| self.real(globals)).and_then(|dict| dict.cast_into_exact::<PyDict>().ok());
        match dict {
            Some(dict) if owned.is_some() => self.own_globals(frame, dict),
            Some(dict) => self.globals_from_outside(frame, globals, dict),
            None => unsupported("eval() or exec() in an object that is no plain dict", "globals"),
        }
    }

    /// A dict from outside is seen through its names from here on, unless the trace has its copy.
    fn globals_from_outside(
        &mut self,
        frame: &Frame,
        globals: ValueId,
        dict: Bound<'py, PyDict>,
    ) -> Traced<Bound<'py, PyDict>> {
        if !self.is_namespace(globals) {
            self.class_of(globals)?;
            if self.same_object(globals).is_none() {
                if self.has_other_names_for(globals, &dict) {
                    return unsupported("eval() or exec() in a dict that no guard may hold", "globals");
                }
                self.state.given_globals.insert(dict.as_ptr() as usize, globals);
            }
            if self.state.private_copies.of(globals).is_none() {
                self.state.namespaces.insert(globals, Namespace::Globals(dict.clone().unbind()));
            }
        }
        match self.in_globals(&dict, "__builtins__") {
            None => {
                let builtins = self.constant(frame.builtins.bind(self.py).clone());
                self.set_in_globals(dict.clone(), "__builtins__", builtins)?;
            }
            // CPython: `_PyEval_BuiltinsFromGlobals`.
            // Those of the interpreter live on, whoever keeps them alive.
            Some(builtins) if self.real(builtins).is_some_and(|found| found.is(frame.builtins.bind(self.py))) => {
                let own = frame.builtins.bind(self.py).clone();
                self.rely_on_identity(builtins, own);
            }
            Some(builtins) if !self.same_object(builtins).is_some_and(|builtins| is_builtins(&builtins)) => {
                return unsupported("eval() or exec() with builtins that are no dict", "globals");
            }
            Some(_) => {}
        }
        Ok(dict)
    }

    /// Whether a dict that the caller gave is known to the trace by another way as well: as the globals of a function, or of a module.
    fn has_other_names_for(&self, globals: ValueId, dict: &Bound<'py, PyDict>) -> bool {
        let of_frame = |place: &crate::trace::state::tracer::FramePosition| {
            crate::ffi::inspect::globals(place.function.bind(self.py)).is_some_and(|found| found.is(dict))
        };
        let modules = crate::ffi::modules::import(self.py, "sys")
            .and_then(|sys| sys.getattr("modules"))
            .and_then(|all| all.call_method0("values"));
        let of_module =
            |module: &Bound<'py, PyAny>| module.cast::<PyModule>().is_ok_and(|module| module.dict().is(dict));
        self.state.identity.get(&(dict.as_ptr() as usize)) != Some(&globals)
            || self.state.places.iter().any(of_frame)
            || modules
                .and_then(|all| all.try_iter())
                .map_or(true, |mut all| all.any(|one| one.is_ok_and(|one| of_module(&one))))
    }

    /// A dict that the trace made.
    fn own_globals(&mut self, frame: &Frame, dict: Bound<'py, PyDict>) -> Traced<Bound<'py, PyDict>> {
        let found = dict.contains("__builtins__").or_else(|error| internal(error.to_string()))?;
        if !found {
            let builtins = frame.builtins.bind(self.py).clone();
            self.constant(builtins.clone());
            crate::trace::state::journal::changed();
            dict.set_item("__builtins__", builtins).or_else(|error| internal(error.to_string()))?;
        }
        let builtins = dict.get_item("__builtins__").ok().flatten();
        if !builtins.as_ref().is_some_and(is_builtins) {
            return unsupported("eval() or exec() with builtins that are no dict", "globals");
        }
        Ok(dict)
    }

    fn run_evaluated(
        &mut self,
        code: &Bound<'py, PyAny>,
        globals: &Bound<'py, PyDict>,
        namespace: ValueId,
    ) -> Traced<ValueId> {
        let function = crate::ffi::function::new(code, globals).or_else(|error| internal(error.to_string()))?;
        let code = self.decode(code)?;
        if code.flags & flag::GENERATOR_LIKE != 0 {
            return unsupported("eval() or exec() of code that awaits", code.name.as_str());
        }
        let mut inner = self.frame_of(&function, code, Vec::new())?;
        inner.namespace = Some(namespace);
        match self.run_called(&mut inner)? {
            FrameExit::Returned(value) => Ok(value),
            _ => internal("evaluated code yielded"),
        }
    }
}

fn is_builtins(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyDict>() || object.is_exact_instance_of::<PyModule>()
}
