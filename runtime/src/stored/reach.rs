//! Ways to objects: from a module, or from the code that was traced, by names and places.
use super::way::{ACCESSORS, Start, Step, Way, has_namespace};
use crate::ffi::{inspect, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyList, PyModule, PyString, PyTuple, PyType};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, hash_map::Entry};
use std::sync::Arc;

/// Objects that the search looks at.
const MOST: usize = 3_000_000;

/// Items of a container that the search looks at.
const ITEMS: usize = 4_096;

/// Finds ways to objects.
#[allow(missing_debug_implementations)]
pub struct Reach<'py> {
    py: Python<'py>,
    /// Modules that ways begin at.
    modules: BTreeSet<String>,
    /// Every object that was met, how it was reached from an earlier one; modules from nowhere.
    met: Option<Met<'py>>,
    /// What modules themselves hold, where nothing else is looked through.
    nearby: Option<Nearby>,
}

/// By address, the module and the name under which it holds an object. Addresses may be of others by now: who uses a way follows it.
#[derive(Debug, Default)]
pub struct Nearby {
    /// How many modules there were.
    modules: usize,
    places: FxHashMap<usize, (Arc<str>, Arc<str>)>,
    /// Modules by the file that their code comes from.
    files: FxHashMap<String, Arc<str>>,
}

#[derive(Debug, Default)]
struct Met<'py> {
    places: FxHashMap<usize, usize>,
    objects: Vec<(Bound<'py, PyAny>, Origin)>,
}

#[derive(Debug)]
enum Origin {
    Module(String),
    From(usize, Step),
}

impl<'py> Reach<'py> {
    /// Nothing was looked for yet.
    #[must_use]
    pub fn new(py: Python<'py>) -> Self {
        Self { py, modules: BTreeSet::new(), met: None, nearby: None }
    }

    /// The same, but it finds only what has a name of its own, or is held by a module itself: that takes no time.
    #[must_use]
    pub fn nearby(py: Python<'py>, nearby: Nearby) -> Self {
        Self { nearby: Some(nearby), ..Self::new(py) }
    }

    /// What is known of modules, for the next time.
    pub fn into_nearby(self) -> Nearby {
        self.nearby.unwrap_or_default()
    }

    /// The interpreter.
    #[must_use]
    pub fn py(&self) -> Python<'py> {
        self.py
    }

    /// The modules that ways begin at, so far.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(String::as_str)
    }

    /// A way to the object: by its own names, or else the shortest from a module.
    pub(super) fn way(&mut self, object: &Bound<'py, PyAny>, traced: &Bound<'py, PyAny>) -> Option<Way> {
        let way = self.found(object, traced)?;
        if let Start::Module(name) = &way.start {
            self.modules.insert(name.clone());
        }
        Some(way)
    }

    fn found(&mut self, object: &Bound<'py, PyAny>, traced: &Bound<'py, PyAny>) -> Option<Way> {
        if object.is(traced) {
            return Some(Way { start: Start::Traced, steps: Vec::new() });
        }
        if object.is_instance_of::<PyCode>()
            && let Some(steps) = within(traced, object)
        {
            return Some(Way { start: Start::Traced, steps });
        }
        if let Some(mut way) = by_name(object) {
            if way.follow(traced).is_some_and(|found| found.is(object)) {
                return Some(way);
            }
            // What has its name may be what it was compiled to.
            way.steps.push(Step::Compiled);
            if way.follow(traced).is_some_and(|found| found.is(object)) {
                return Some(way);
            }
        }
        if let Some(nearby) = &mut self.nearby {
            let way =
                if object.is_instance_of::<PyCode>() { nearby.way_to_code(object)? } else { nearby.way(object)? };
            return way.follow(traced).is_some_and(|found| found.is(object)).then_some(way);
        }
        let met = self.met.get_or_insert_with(|| search(self.py));
        let mut at = *met.places.get(&(object.as_ptr() as usize))?;
        let mut steps = Vec::new();
        loop {
            match &met.objects.get(at)?.1 {
                Origin::Module(name) => {
                    steps.reverse();
                    let way = Way { start: Start::Module(name.clone()), steps };
                    return way.follow(traced).is_some_and(|found| found.is(object)).then_some(way);
                }
                Origin::From(before, step) => {
                    steps.push(step.clone());
                    at = *before;
                }
            }
        }
    }
}

/// The way from a code object to one among its constants, and theirs.
fn within(traced: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<Vec<Step>> {
    let constants = traced.getattr(name!("co_consts")).ok()?.cast_into::<PyTuple>().ok()?;
    for (index, constant) in constants.iter().enumerate().filter(|(_, constant)| constant.is_instance_of::<PyCode>()) {
        let mut steps = vec![Step::Constant(index)];
        if constant.is(code) {
            return Some(steps);
        }
        if let Some(rest) = within(&constant, code) {
            steps.extend(rest);
            return Some(steps);
        }
    }
    None
}

/// What an object says of where it is.
fn by_name(object: &Bound<'_, PyAny>) -> Option<Way> {
    let text = |object: &Bound<'_, PyAny>, name| {
        Some(object.getattr(name).ok()?.cast_into::<PyString>().ok()?.to_str().ok()?.to_owned())
    };
    if object.is_instance_of::<PyModule>() {
        return Some(Way { start: Start::Module(text(object, name!("__name__"))?), steps: Vec::new() });
    }
    let kind = types::c_name(&object.get_type()).into_owned();
    let named = object.is_instance_of::<PyType>()
        || object.is_exact_instance_of::<PyFunction>()
        || matches!(&*kind, "builtin_function_or_method" | "builtin_method" | "slotrt.CompiledFunction");
    if !named {
        if !matches!(
            &*kind,
            "method_descriptor"
                | "wrapper_descriptor"
                | "getset_descriptor"
                | "member_descriptor"
                | "classmethod_descriptor"
        ) {
            return by_text(object);
        }
        let mut way = by_name(&object.getattr(name!("__objclass__")).ok()?)?;
        way.steps.push(Step::Own(text(object, name!("__name__"))?));
        return Some(way);
    }
    let (module, path) = (text(object, name!("__module__"))?, text(object, name!("__qualname__"))?);
    let mut steps = vec![Step::Namespace];
    for (index, part) in path.split('.').enumerate() {
        steps.push(if index == 0 { Step::Entry(part.to_owned()) } else { Step::Own(part.to_owned()) });
    }
    Some(Way { start: Start::Module(module), steps })
}

/// What the text of an object of C says, such as `torch.float32`.
fn by_text(object: &Bound<'_, PyAny>) -> Option<Way> {
    let class = object.get_type();
    if types::c_name(&class).is_empty() || crate::ffi::containers::of(&class).is_some() {
        return None;
    }
    let text = object.get_type().getattr(name!("__repr__")).and_then(|repr| repr.call1((object,))).ok()?;
    let (module, name) = text.cast::<PyString>().ok()?.to_str().ok()?.rsplit_once('.')?;
    let named = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    (named(module) && named(name)).then(|| Way {
        start: Start::Module(module.to_owned()),
        steps: vec![Step::Namespace, Step::Entry(name.to_owned())],
    })
}

/// All modules, by name.
fn all_modules(py: Python<'_>) -> Vec<(String, Bound<'_, PyAny>)> {
    let all = crate::ffi::modules::import(py, "sys").and_then(|sys| sys.getattr(name!("modules"))).ok();
    let all = all.and_then(|all| all.cast_into::<PyDict>().ok());
    let named = |(key, module): (Bound<'_, PyAny>, _)| {
        Some((key.cast::<PyString>().ok()?.to_string_lossy().into_owned(), module))
    };
    all.into_iter().flatten().filter_map(named).collect()
}

impl Nearby {
    fn way(&mut self, object: &Bound<'_, PyAny>) -> Option<Way> {
        let address = object.as_ptr() as usize;
        if !self.places.contains_key(&address) {
            let all = all_modules(object.py());
            if all.len() != self.modules {
                self.look(all);
            }
        }
        let (module, name) = self.places.get(&address)?;
        let steps = vec![Step::Namespace, Step::Entry(name.to_string())];
        Some(Way { start: Start::Module(module.to_string()), steps })
    }

    /// The way to a code object by the names that it has itself, and the file that it comes from.
    fn way_to_code(&mut self, code: &Bound<'_, PyAny>) -> Option<Way> {
        let text = |name| Some(code.getattr(name).ok()?.cast_into::<PyString>().ok()?.to_string_lossy().into_owned());
        let (file, names) = (text(name!("co_filename"))?, text(name!("co_qualname"))?);
        if !self.files.contains_key(&file) {
            let all = all_modules(code.py());
            if all.len() != self.modules {
                self.look(all);
            }
        }
        let start = Start::Module(self.files.get(&file)?.to_string());
        let outer = names.split(".<locals>").next().unwrap_or(&names);
        let mut steps = vec![Step::Namespace];
        for (index, part) in outer.split('.').enumerate() {
            steps.push(if index == 0 { Step::Entry(part.to_owned()) } else { Step::Own(part.to_owned()) });
        }
        let mut way = Way { start, steps };
        let mut found = way.follow(code)?;
        for step in [Step::Function, Step::Accessor(0), Step::Compiled, Step::Code] {
            if let Some(next) = step.follow(&found) {
                way.steps.push(step);
                found = next;
            }
        }
        if !found.is(code) {
            way.steps.extend(within(&found, code)?);
        }
        Some(way)
    }

    fn look(&mut self, all: Vec<(String, Bound<'_, PyAny>)>) {
        *self = Self { modules: all.len(), ..Self::default() };
        for (name, module) in &all {
            let Ok(module) = module.cast::<PyModule>() else { continue };
            let name: Arc<str> = Arc::from(&**name);
            if let Ok(Some(file)) = module.dict().get_item(name!("__file__"))
                && let Ok(file) = file.cast::<PyString>()
            {
                self.files.entry(file.to_string_lossy().into_owned()).or_insert_with(|| Arc::clone(&name));
            }
            for (key, value) in module.dict().iter().take(ITEMS) {
                if let Ok(key) = key.cast_exact::<PyString>()
                    && !super::fingerprint::is_plain(&value)
                {
                    let place = self.places.entry(value.as_ptr() as usize);
                    place.or_insert_with(|| (Arc::clone(&name), Arc::from(&*key.to_string_lossy())));
                }
            }
        }
    }
}

/// All that can be reached from modules, the nearest first.
fn search(py: Python<'_>) -> Met<'_> {
    let mut met = Met::default();
    for (name, module) in all_modules(py) {
        met.add(module, Origin::Module(name));
    }
    let mut next = 0;
    while next < met.objects.len() && met.objects.len() < MOST {
        let object = met.objects[next].0.clone();
        for (step, found) in children(&object) {
            met.add(found, Origin::From(next, step));
        }
        next += 1;
    }
    met
}

impl<'py> Met<'py> {
    fn add(&mut self, object: Bound<'py, PyAny>, origin: Origin) {
        if super::fingerprint::is_plain(&object) {
            return;
        }
        if let Entry::Vacant(place) = self.places.entry(object.as_ptr() as usize) {
            place.insert(self.objects.len());
            self.objects.push((object, origin));
        }
    }
}

/// What an object leads to.
fn children<'py>(object: &Bound<'py, PyAny>) -> Vec<(Step, Bound<'py, PyAny>)> {
    let mut found = Vec::new();
    let mut add = |step: Step| {
        let next = step.follow(object);
        found.extend(next.map(|next| (step, next)));
    };
    if object.is_exact_instance_of::<PyFunction>() {
        let closure = inspect::function_closure(object).and_then(|closure| closure.cast_into::<PyTuple>().ok());
        (0..closure.map_or(0, |closure| closure.len())).for_each(|index| add(Step::Cell(index)));
        [Step::Code, Step::Defaults, Step::KeywordDefaults, Step::Namespace, Step::Globals].into_iter().for_each(add);
    } else if object.is_instance_of::<PyCode>() {
        let constants = object.getattr(name!("co_consts")).ok().and_then(|all| all.cast_into::<PyTuple>().ok());
        let codes = constants.into_iter().flatten().enumerate().filter(|(_, item)| item.is_instance_of::<PyCode>());
        codes.for_each(|(index, _)| add(Step::Constant(index)));
    } else if let Ok(class) = object.cast::<PyType>() {
        let bases = types::mro(class).into_iter().flatten().enumerate();
        found.extend(bases.map(|(index, base)| (Step::Base(index), base)));
        for (key, value) in types::namespace(class).into_iter().flatten() {
            if let Ok(key) = key.cast_exact::<PyString>() {
                found.push((Step::Own(key.to_string_lossy().into_owned()), value));
            }
        }
    } else if let Ok(dict) = object.cast_exact::<PyDict>() {
        for (key, value) in dict.iter().take(ITEMS) {
            if let Ok(key) = key.cast_exact::<PyString>() {
                found.push((Step::Entry(key.to_string_lossy().into_owned()), value));
            }
        }
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        found.extend(tuple.iter().take(ITEMS).enumerate().map(|(index, item)| (Step::Item(index), item)));
    } else if let Ok(list) = object.cast_exact::<PyList>() {
        found.extend(list.iter().take(ITEMS).enumerate().map(|(index, item)| (Step::Item(index), item)));
    } else {
        let kind = types::c_name(&object.get_type()).into_owned();
        match &*kind {
            "cell" => add(Step::Content),
            "slotrt.CompiledFunction" => add(Step::Compiled),
            "method" | "staticmethod" | "classmethod" => add(Step::Function),
            "property" => (0..ACCESSORS.len()).for_each(|index| add(Step::Accessor(index))),
            _ if has_namespace(object) => [Step::Namespace, Step::Class].into_iter().for_each(add),
            _ => {}
        }
    }
    found
}
