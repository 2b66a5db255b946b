//! `import`: a loaded module is what `sys.modules` holds, under a guard; another one is loaded at once if nothing has happened before.
use crate::bytecode::Op;
use crate::ffi::inspect::{is_exact_dict, own_attribute};
use crate::ffi::{random_numbers, types};
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PyString, PyTuple};
use std::sync::Arc;

/// What an `import` asks for.
struct Wanted<'py> {
    /// The whole name, relative ones resolved.
    name: String,
    /// The names after `import` in `from … import …`.
    from: Option<Bound<'py, PyTuple>>,
}

impl<'py> Tracer<'py> {
    pub(crate) fn import_name(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        /// Up to 3.14 all imports are made at once; later those that say so.
        const EAGER: u32 = 2;
        let shift = frame.code.isa().name_shift(Op::IMPORT_NAME);
        let name = frame.name(arg >> shift)?.to_owned();
        if shift > 0 && arg & EAGER == 0 {
            return unsupported("import that may be lazy", name);
        }
        let from = frame.pop()?;
        let level = frame.pop()?;
        self.plain_import(frame)?;
        let globals = frame.globals.bind(self.py).clone();
        let module = self.imported(&globals, &name, from, level)?;
        frame.push(module);
        Ok(Flow::Next)
    }

    /// Breaks where a name holds an import that is still to be made: reading the name makes it.
    pub(crate) fn refuse_lazy_import(&self, value: ValueId, name: &str) -> Traced<()> {
        let lazy = |object: Bound<'_, PyAny>| types::is_c_class(&object.get_type(), "lazy_import");
        match cfg!(Py_3_15) && self.real(value).is_some_and(lazy) {
            true => unsupported("import that is still to be made", name),
            false => Ok(()),
        }
    }

    fn imported(&mut self, globals: &Bound<'py, PyDict>, name: &str, from: ValueId, level: ValueId) -> Traced<ValueId> {
        let level = self.known(level).and_then(|level| level.extract::<usize>().ok());
        let from = match self.known(from) {
            Some(from) => from.cast_into::<PyTuple>().ok().filter(|from| !from.is_empty()),
            None => self.names_of(from, name)?,
        };
        let Some(level) = level else { return unsupported("import", name) };
        let wanted = Wanted { name: self.absolute(globals, name, level)?, from };
        let modules = self.import("sys", "modules")?;
        let Ok(modules) = modules.cast_into::<PyDict>() else { return unsupported("import", name) };
        if let Some(id) = self.state.identity.get(&(modules.as_ptr() as usize))
            && let Some(private_copy) =
                self.state.private_copies.of(*id).filter(|private_copy| private_copy.is_changed(self.py))
            && let Ok(copy) = private_copy.object.bind(self.py).clone().cast_into::<PyDict>()
        {
            return self.loaded_in(&copy, &wanted);
        }
        if !is_loaded(&modules, &wanted) {
            self.load(&wanted)?;
            if !is_loaded(&modules, &wanted) {
                return unsupported("import", wanted.name);
            }
        }
        self.loaded(&modules, &wanted.name)?;
        match wanted.from {
            Some(_) => self.loaded(&modules, &wanted.name),
            None => self.loaded(&modules, wanted.name.split('.').next().unwrap_or_default()),
        }
    }

    /// The names in a list of known names.
    fn names_of(&mut self, list: ValueId, name: &str) -> Traced<Option<Bound<'py, PyTuple>>> {
        if !self.class_of(list)?.is(self.py.get_type::<pyo3::types::PyList>()) {
            return unsupported("import", name);
        }
        let mut names = Vec::new();
        for item in self.list_of(list, None)? {
            match self.known(item).filter(|item| item.is_exact_instance_of::<PyString>()) {
                Some(item) => names.push(item),
                None => return unsupported("import", name),
            }
        }
        let names = PyTuple::new(self.py, names).or_else(|error| internal(error.to_string()))?;
        Ok(Some(names).filter(|names| !names.is_empty()))
    }

    /// `__import__(name, …)`, asked by the innermost frame.
    pub(crate) fn model_import(&mut self, args: &Arguments) -> Traced<ValueId> {
        const NAMES: [&str; 5] = ["name", "globals", "locals", "fromlist", "level"];
        let given = |index: usize| {
            let keyword = args.keywords.iter().find(|(name, _)| name == NAMES[index]).map(|(_, value)| *value);
            args.positional.get(index).copied().or(keyword)
        };
        let function = self.state.places.last().map(|place| place.function.bind(self.py).clone());
        let globals = function.and_then(|function| function.getattr(name!("__globals__")).ok());
        let Some(globals) = globals.and_then(|globals| globals.cast_into::<PyDict>().ok()) else {
            return unsupported("import", "__import__");
        };
        let name = given(0).and_then(|name| self.known_str(name)).filter(|name| !name.is_empty());
        let known = |name: &str| NAMES.iter().position(|known| *known == name);
        let unknown =
            args.keywords.iter().any(|(name, _)| known(name).is_none_or(|index| index < args.positional.len()));
        let Some(name) = name.filter(|_| !unknown && args.positional.len() <= NAMES.len()) else {
            return unsupported("import", "__import__");
        };
        let from = given(3).unwrap_or_else(|| self.none());
        let level = match given(4) {
            Some(level) => level,
            None => self.constant(pyo3::types::PyInt::new(self.py, 0).into_any()),
        };
        if self.known(level).is_none_or(|level| !level.eq(0).unwrap_or(false)) {
            return unsupported("import", "__import__ with a level");
        }
        self.imported(&globals, &name, from, level)
    }

    /// The frame's `__import__` must be CPython's own.
    fn plain_import(&mut self, frame: &Frame) -> Traced<()> {
        const NAME: &str = "__import__";
        const OTHER: &str = "__import__ is not the interpreter's own";
        if !is_exact_dict(frame.builtins.bind(self.py)) {
            return unsupported("import", OTHER);
        }
        let name = interned(self.py, NAME);
        let Some(found) = self.frame_builtin(frame, NAME, &name)? else { return unsupported("import", OTHER) };
        let of_c = |found: &Bound<'py, PyAny>| types::is_c_class(&found.get_type(), "builtin_function_or_method");
        let own = self.import("builtins", NAME)?;
        match self.known(found).filter(of_c).is_some_and(|found| found.is(&own)) {
            true => Ok(()),
            false => unsupported("import", OTHER),
        }
    }

    /// CPython: `resolve_name`.
    fn absolute(&mut self, globals: &Bound<'py, PyDict>, name: &str, level: usize) -> Traced<String> {
        if level == 0 {
            return Ok(name.to_owned());
        }
        let package = self.in_globals(globals, "__package__").and_then(|package| self.known_str(package));
        let parts: Vec<&str> = package.as_deref().unwrap_or_default().split('.').collect();
        match parts.len().checked_sub(level - 1) {
            Some(kept) if kept > 0 && !parts[0].is_empty() => {
                let base = parts[..kept].join(".");
                Ok(if name.is_empty() { base } else { format!("{base}.{name}") })
            }
            _ => unsupported("import", "relative import outside a package"),
        }
    }

    /// A loaded module, under a guard.
    fn loaded(&mut self, modules: &Bound<'py, PyDict>, name: &str) -> Traced<ValueId> {
        let Ok(Some(module)) = modules.get_item(name) else { return unsupported("import", name) };
        let dict = Source::constant(modules);
        let module = self.sourced(module, dict.entry(self.py, name));
        if self.same_object(module).is_none() {
            return unsupported("import", name);
        }
        Ok(module)
    }

    /// A module that is loaded, as the trace has left `sys.modules`.
    fn loaded_in(&mut self, modules: &Bound<'py, PyDict>, wanted: &Wanted<'py>) -> Traced<ValueId> {
        let all = std::iter::successors(Some(wanted.name.as_str()), |name| Some(name.rsplit_once('.')?.0));
        let is_module = |name: &str| {
            modules.get_item(name).is_ok_and(|found| found.is_some_and(|it| it.is_instance_of::<PyModule>()))
        };
        let first = wanted.name.split('.').next().unwrap_or_default();
        let name = if wanted.from.is_some() { &wanted.name } else { first };
        match modules.get_item(name) {
            Ok(Some(module)) if all.into_iter().all(is_module) && is_loaded(modules, wanted) => Ok(self.absorb(module)),
            _ => unsupported("import", "sys.modules has changed, and the module is not among it"),
        }
    }

    /// Whether loading the module runs C alone, and the trace has changed nothing that finding it depends on.
    fn runs_only_c(&mut self, name: &str) -> Traced<bool> {
        const FINDING: [&str; 5] = ["modules", "meta_path", "path", "path_hooks", "path_importer_cache"];
        let sys = crate::ffi::modules::import(self.py, "sys").or_else(|error| self.raise_error(error))?.dict();
        let changes_finding = self.state.effects.iter().any(|effect| match effect {
            Effect::SetGlobal { globals, name, .. } | Effect::DelGlobal { globals, name } => {
                FINDING.contains(&name.as_str()) && self.real(*globals).is_some_and(|globals| globals.is(&sys))
            }
            _ => false,
        });
        Ok(!changes_finding
            && !name.contains('.')
            && self.others_decline(name)?
            && is_c_module(self.py, name).unwrap_or(false))
    }

    /// Whether the finders that are not the interpreter's own, which the trace goes through, have nothing of that name and change nothing.
    fn others_decline(&mut self, name: &str) -> Traced<bool> {
        let finders = self.import("sys", "meta_path")?;
        let Ok(finders) = finders.cast_into::<PyList>() else { return Ok(false) };
        let base = Arc::new(Source::constant(&finders));
        let (wanted, none) = (self.constant(PyString::new(self.py, name).into_any()), self.none());
        let before = self.state.effects.len();
        for (index, finder) in finders.iter().enumerate() {
            if is_own_finder(&finder).unwrap_or(false) {
                continue;
            }
            let finder = self.sourced(finder, Source::Item(Arc::clone(&base), index));
            let find = self.get_attr(finder, "find_spec")?;
            let spec =
                self.call_deeper(find, Arguments { positional: vec![wanted, none, none], ..Arguments::default() })?;
            if !self.is_none(spec)? || self.state.effects.len() > before {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Loading runs the module's code, as it does in plain Python where the trace has changed nothing as yet.
    fn load(&mut self, wanted: &Wanted<'py>) -> Traced<()> {
        if self.has_changed_something() && !self.runs_only_c(&wanted.name)? {
            return unsupported("import", format!("{}, after changes that are still to be made", wanted.name));
        }
        let import = self.import("builtins", "__import__")?;
        let none = self.py.None();
        crate::trace::state::journal::changed();
        random_numbers::note_run();
        let loaded = import.call1((&wanted.name, &none, &none, wanted.from.as_ref(), 0));
        if loaded.is_err() {
            return unsupported("import", format!("{}, which fails", wanted.name));
        }
        Ok(())
    }
}

/// Whether the import would only look into `sys.modules`.
fn is_loaded(modules: &Bound<'_, PyDict>, wanted: &Wanted<'_>) -> bool {
    let loaded = |name: &str| {
        modules.get_item(name).ok().flatten().filter(|module| !module.is_none() && !is_initializing(module))
    };
    let parents: Vec<usize> = wanted.name.match_indices('.').map(|(at, _)| at).collect();
    if parents.into_iter().any(|at| loaded(&wanted.name[..at]).is_none()) {
        return false;
    }
    let Some(module) = loaded(&wanted.name) else { return false };
    let Some(from) = &wanted.from else { return true };
    // What the module answers through a function `__getattr__` of its own is the program's business.
    let has = |name: &Bound<'_, PyString>| own_attribute(&module, name).is_some();
    let is_package = has(intern!(module.py(), "__path__"));
    !is_package || from.iter().all(|name| name.cast::<PyString>().is_ok_and(has))
}

/// CPython: `import_ensure_initialized`.
fn is_initializing(module: &Bound<'_, PyAny>) -> bool {
    let spec = module.getattr(name!("__spec__")).and_then(|spec| spec.getattr(name!("_initializing")));
    spec.and_then(|initializing| initializing.is_truthy()).unwrap_or(false)
}

/// Whether a finder is one of the interpreter's own.
fn is_own_finder(finder: &Bound<'_, PyAny>) -> PyResult<bool> {
    const OWN: [&str; 3] = ["BuiltinImporter", "FrozenImporter", "PathFinder"];
    let machinery = crate::ffi::modules::import(finder.py(), "importlib.machinery")?;
    Ok(OWN.iter().any(|name| machinery.getattr(*name).is_ok_and(|own| own.is(finder))))
}

/// Whether what is found under the name is C.
fn is_c_module(py: Python<'_>, name: &str) -> PyResult<bool> {
    let machinery = crate::ffi::modules::import(py, "importlib.machinery")?;
    let loader = crate::ffi::modules::import(py, "importlib.util")?
        .call_method1(name!("find_spec"), (name,))?
        .getattr(name!("loader"))?;
    Ok(loader.is(machinery.getattr(name!("BuiltinImporter"))?)
        || loader.get_type().is(machinery.getattr(name!("ExtensionFileLoader"))?))
}
