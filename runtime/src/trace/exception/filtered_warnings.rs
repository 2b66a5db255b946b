//! Warnings under filters that the trace itself has put in force: the trace follows what the filters say.
//!
//! CPython: `Python/_warnings.c`, `do_warn`, `warn_explicit`, `get_filter`, `already_warned`.
use crate::ffi::{callee, types};
use crate::names::name;
use crate::trace::exception::warnings::filters;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::state::warnings::WARNS;
use pyo3::exceptions::{PyUserWarning, PyWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyType};

/// Where a module keeps what it has warned of.
const REGISTRY: &str = "__warningregistry__";

/// What a trace knows of a registry that C has used: nothing.
pub(crate) const USED_REGISTRY: &str = "registry of warnings";

/// What compiled code does to the registry of a module that warned: C makes one, and empties it where filters have changed since.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct UsedRegistry;

#[pymethods]
impl UsedRegistry {
    /// Has C look into the registry, for a warning that is ignored.
    fn __call__(&self, globals: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = globals.py();
        let registry = match globals.get_item(REGISTRY)? {
            Some(registry) => registry,
            None => {
                let made = PyDict::new(py).into_any();
                globals.set_item(REGISTRY, &made)?;
                made
            }
        };
        let warnings = crate::ffi::modules::import(py, name!("_warnings"))?;
        let Some(filters) = filters(py) else { return Ok(()) };
        let category = py.get_type::<PyWarning>();
        filters.insert(0, ("ignore", py.None(), &category, py.None(), 0))?;
        let looked = warnings.call_method1(name!("warn_explicit"), ("", category, "", 1, "", registry));
        filters.del_item(0)?;
        looked.map(drop)
    }
}

/// Whether each context has filters of its own: `-X context_aware_warnings`.
fn are_of_context(py: Python<'_>) -> bool {
    let flags = crate::ffi::modules::import(py, name!("sys")).and_then(|sys| sys.getattr(name!("flags")));
    flags.is_ok_and(|flags| {
        flags.getattr(name!("context_aware_warnings")).is_ok_and(|flag| flag.is_truthy().unwrap_or(true))
    })
}

/// A warning, and the place that it is told of.
struct Warning<'py> {
    text: Bound<'py, PyString>,
    category: Bound<'py, PyType>,
    line: u32,
    file: String,
    module: String,
    globals: Bound<'py, PyDict>,
}

impl<'py> Tracer<'py> {
    /// C code warns, of the innermost frame; whether the trace has done what that means.
    pub(crate) fn warned_by_c(&mut self, text: &Bound<'py, PyAny>, category: &Bound<'py, PyAny>) -> Traced<bool> {
        let (Ok(text), Ok(category)) = (text.cast::<PyString>(), category.cast::<PyType>()) else { return Ok(false) };
        match self.warn_at(text, category, 0) {
            Ok(()) => Ok(true),
            // C goes on, where it cannot raise: it must not meet an interruption.
            Err(Unwind::Break(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// `warnings.warn(text, category, stacklevel)`; `None`: with other arguments.
    pub(crate) fn model_warn(&mut self, args: &Arguments) -> Traced<Option<ValueId>> {
        let mut given = [None; 3];
        given.iter_mut().zip(&args.positional).for_each(|(slot, value)| *slot = Some(*value));
        for (keyword, value) in &args.keywords {
            match ["message", "category", "stacklevel"].iter().position(|name| name == keyword) {
                Some(at) => given[at] = Some(*value),
                None => return Ok(None),
            }
        }
        let [Some(text), category, level] = given else { return Ok(None) };
        if args.positional.len() > given.len() || !self.has_own_filters() {
            return Ok(None);
        }
        let category = match category {
            Some(category) if !self.is_none(category)? => self.known(category).and_then(|known| known.cast_into().ok()),
            _ => Some(self.py.get_type::<PyUserWarning>()),
        };
        let level = level.map_or(Some(1), |level| self.known(level).and_then(|level| level.extract::<usize>().ok()));
        let text = self.known(text).and_then(|text| text.cast_into_exact::<PyString>().ok());
        let (Some(text), Some(category), Some(level @ 1..)) = (text, category, level) else { return Ok(None) };
        if !category.is_subclass_of::<PyWarning>().unwrap_or(false) {
            return Ok(None);
        }
        self.warn_at(&text, &category, level - 1)?;
        Ok(Some(self.none()))
    }

    /// Whether filters were changed within the trace: what modules have warned of before counts no more. Those of a context (3.14) are
    /// not looked at.
    fn has_own_filters(&self) -> bool {
        const CHANGED: [&str; 2] = ["_filters_mutated", "_filters_mutated_lock_held"];
        let changed = |(module, name): (&str, &str)| module == "_warnings" && CHANGED.contains(&name);
        self.state.settings.iter().any(|setting| changed(setting.names())) && !are_of_context(self.py)
    }

    fn warn_at(&mut self, text: &Bound<'py, PyString>, category: &Bound<'py, PyType>, above: usize) -> Traced<()> {
        if !self.has_own_filters() {
            return unsupported(WARNS, text.to_string());
        }
        let warning = self.placed(text, category, above)?;
        let registry = self.in_globals(&warning.globals, REGISTRY);
        let used = registry.is_some_and(|found| matches!(self.value(found), Value::New(New::Opaque(USED_REGISTRY))));
        let known = registry.filter(|_| !used).map(|registry| self.class_of(registry)).transpose()?;
        if known.is_some_and(|class| !class.is(self.py.get_type::<PyDict>())) {
            return unsupported(WARNS, text.to_string());
        }
        let action = self.action_for(&warning)?;
        self.use_registry(&warning.globals)?;
        match action.as_str() {
            "ignore" => Ok(()),
            "error" => {
                let exception = self.made_warning(&warning)?;
                self.raise_value(exception)
            }
            "always" => self.show(&warning),
            _ => unsupported("warning that is shown once", action),
        }
    }

    /// Where the warning is told of: the frame so far above the innermost one. CPython: `setup_context`.
    fn placed(
        &mut self,
        text: &Bound<'py, PyString>,
        category: &Bound<'py, PyType>,
        above: usize,
    ) -> Traced<Warning<'py>> {
        let mut frames = self.state.places.iter().rev().take(above + 1);
        let is_internal = |file: &str| file.contains("importlib") && file.contains("_bootstrap");
        if frames.any(|place| is_internal(&place.file)) {
            return unsupported(WARNS, "the import system");
        }
        let Some(place) = self.state.places.iter().rev().nth(above) else { return unsupported(WARNS, "a caller") };
        let (file, line, function) = (place.file.to_string(), place.line, place.function.bind(self.py).clone());
        let Some(globals) = crate::ffi::inspect::globals(&function).and_then(|found| found.cast_into::<PyDict>().ok())
        else {
            return internal("frame without globals");
        };
        if self.are_of_one_call(globals.as_any()) {
            return unsupported(WARNS, callee::qualname_of(&function));
        }
        let module = self.in_globals(&globals, "__name__").and_then(|module| self.known_str(module));
        let Some(module) = module else { return unsupported(WARNS, "a module without a name") };
        Ok(Warning { text: text.clone(), category: category.clone(), line, file, module, globals })
    }

    /// What the first filter that fits says. CPython: `get_filter`.
    fn action_for(&mut self, warning: &Warning<'py>) -> Traced<String> {
        let names = self.imported_names("warnings")?;
        let Some(filters) = self.in_globals(&names, "filters") else { return unsupported(WARNS, "no filters") };
        for filter in self.list_of(filters, None)? {
            let parts = self.list_of(filter, None)?;
            let [action, text, category, module, line] = parts[..] else { return unsupported(WARNS, "a filter") };
            let fits = self.pattern_fits(text, warning.text.as_any())?
                && self.pattern_fits(module, PyString::new(self.py, &warning.module).as_any())?
                && self.category_fits(category, &warning.category)?;
            let Some(line) = self.known(line).and_then(|line| line.extract::<u32>().ok()) else {
                return unsupported(WARNS, "a filter of a line that is not known");
            };
            if fits && (line == 0 || line == warning.line) {
                let action = self.known_str(action);
                return action.map_or_else(|| unsupported(WARNS, "a filter with an unknown action"), Ok);
            }
        }
        unsupported(WARNS, "no filter fits")
    }

    /// CPython: `check_matched`.
    fn pattern_fits(&mut self, pattern: ValueId, text: &Bound<'py, PyAny>) -> Traced<bool> {
        if self.is_none(pattern)? {
            return Ok(true);
        }
        let Some(pattern) = self.known(pattern) else { return unsupported(WARNS, "a filter with its own pattern") };
        if pattern.is_exact_instance_of::<PyString>() {
            return pattern.eq(text).or_else(|error| self.raise_error(error));
        }
        match &*types::c_name(&pattern.get_type()) {
            "re.Pattern" => pattern
                .call_method1(name!("match"), (text,))
                .and_then(|found| found.is_truthy())
                .or_else(|error| self.raise_error(error)),
            other => unsupported(WARNS, other),
        }
    }

    fn category_fits(&mut self, wanted: ValueId, category: &Bound<'py, PyType>) -> Traced<bool> {
        let wanted = self.known(wanted).and_then(|wanted| wanted.cast_into::<PyType>().ok());
        let plain = |class: &Bound<'py, PyType>| class.get_type().is(self.py.get_type::<PyType>());
        match wanted {
            Some(wanted) if plain(&wanted) && plain(category) => {
                self.rely_on_class(category);
                Ok(types::is_subtype(category, &wanted))
            }
            _ => unsupported(WARNS, "a filter with a category of its own"),
        }
    }

    fn made_warning(&mut self, warning: &Warning<'py>) -> Traced<ValueId> {
        let category = self.constant(warning.category.clone().into_any());
        let text = self.constant(warning.text.clone().into_any());
        self.call(category, Arguments::positional(vec![text]))
    }

    /// CPython: `call_show_warning`.
    fn show(&mut self, warning: &Warning<'py>) -> Traced<()> {
        let names = self.imported_names("warnings")?;
        let message = self.made_warning(warning)?;
        let (show, class) = (self.in_globals(&names, "_showwarnmsg"), self.in_globals(&names, "WarningMessage"));
        let (Some(show), Some(class)) = (show, class) else { return unsupported(WARNS, "warnings without its names") };
        let category = self.constant(warning.category.clone().into_any());
        let (file, none) = (self.string(&warning.file), self.none());
        let line = self.integer(warning.line as isize);
        let told = self.call(class, Arguments::positional(vec![message, category, file, line, none, none, none]))?;
        self.call(show, Arguments::positional(vec![told])).map(drop)
    }

    /// Compiled code has C use the registry where the program does. From here on the trace knows nothing of it.
    fn use_registry(&mut self, globals: &Bound<'py, PyDict>) -> Traced<()> {
        let used = Bound::new(self.py, UsedRegistry).or_else(|error| self.raise_error(error))?;
        let callable = self.constant(used.into_any());
        let args = vec![self.globals_value(globals)?];
        self.state.effects.push(Effect::Call { callable, args });
        let unknown = self.push(Value::New(New::Opaque(USED_REGISTRY)));
        self.overlay_global(globals, REGISTRY, unknown);
        Ok(())
    }

    /// The module whose names are asked, where it is a plain one.
    pub(crate) fn imported_names(&mut self, module: &str) -> Traced<Bound<'py, PyDict>> {
        let modules = crate::ffi::modules::import(self.py, name!("sys")).and_then(|sys| sys.getattr(name!("modules")));
        let found = modules.and_then(|modules| modules.get_item(module)).ok();
        match found.and_then(|module| module.cast_into_exact::<PyModule>().ok()) {
            Some(module) => Ok(module.dict()),
            None => unsupported("module that is not among those imported", module),
        }
    }
}
