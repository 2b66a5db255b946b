//! Ways to objects: from a module, or from the code that was traced, by names and places.
use super::bytes::{Damaged, Reader, Writer};
use crate::ffi::{inspect, modules, types};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyList, PyModule, PyString, PyTuple, PyType};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, hash_map::Entry};

/// Objects that the search looks at.
const MOST: usize = 3_000_000;

/// Items of a container that the search looks at.
const ITEMS: usize = 4_096;

/// One step of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The namespace of a module or instance.
    Namespace,
    /// The entry of a dict under a text.
    Entry(String),
    /// What a class itself has under a name.
    Own(String),
    /// A cell of a function's closure.
    Cell(usize),
    /// What a cell holds.
    Content,
    /// The code of a function.
    Code,
    /// A constant of a code object.
    Constant(usize),
    /// The defaults of a function.
    Defaults,
    /// Its keyword defaults.
    KeywordDefaults,
    /// An item of a tuple or list.
    Item(usize),
    /// What a static or class method, or a method, is made of.
    Function,
    /// One of the functions of a property.
    Accessor(usize),
    /// The class of an object.
    Class,
    /// The globals of a function: of a module, mostly, in whose place there may be another one.
    Globals,
}

/// Where a way begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The module that has this name in `sys.modules`.
    Module(String),
    /// The code that was traced.
    Traced,
}

/// A way to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub start: Start,
    pub steps: Vec<Step>,
}

const ACCESSORS: [&str; 3] = ["fget", "fset", "fdel"];

impl Step {
    fn follow<'py>(&self, from: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let py = from.py();
        match self {
            Self::Namespace => has_namespace(from).then(|| inspect::own_dict(from)),
            Self::Entry(key) => from.cast::<PyDict>().ok()?.get_item(interned(py, key)).ok()?,
            Self::Own(key) => types::own(from.cast::<PyType>().ok()?, &interned(py, key)),
            Self::Cell(index) => inspect::closure_cell(from, *index),
            Self::Content => inspect::cell_content(from),
            Self::Code => inspect::function_code(from),
            Self::Constant(index) => {
                from.cast::<PyCode>().ok()?;
                let constants = from.getattr(name!("co_consts")).ok()?.cast_into::<PyTuple>().ok()?;
                constants.get_item(*index).ok()
            }
            Self::Defaults => inspect::function_defaults(from),
            Self::KeywordDefaults => inspect::function_kwdefaults(from),
            Self::Item(index) => match from.cast_exact::<PyTuple>() {
                Ok(tuple) => tuple.get_item(*index).ok(),
                Err(_) => from.cast_exact::<PyList>().ok()?.get_item(*index).ok(),
            },
            Self::Function => is_around(from).then(|| from.getattr(name!("__func__")).ok())?,
            Self::Accessor(index) => {
                let property = types::c_name(&from.get_type()) == "property";
                property.then(|| from.getattr(*ACCESSORS.get(*index)?).ok())?
            }
            Self::Class => Some(from.get_type().into_any()),
            Self::Globals => inspect::globals(from),
        }
    }

    fn write(&self, out: &mut Writer) {
        let (tag, index, text): (u8, Option<usize>, Option<&str>) = match self {
            Self::Namespace => (0, None, None),
            Self::Entry(key) => (1, None, Some(key)),
            Self::Own(key) => (2, None, Some(key)),
            Self::Cell(index) => (3, Some(*index), None),
            Self::Content => (4, None, None),
            Self::Code => (5, None, None),
            Self::Constant(index) => (6, Some(*index), None),
            Self::Defaults => (7, None, None),
            Self::KeywordDefaults => (8, None, None),
            Self::Item(index) => (9, Some(*index), None),
            Self::Function => (10, None, None),
            Self::Accessor(index) => (11, Some(*index), None),
            Self::Class => (12, None, None),
            Self::Globals => (13, None, None),
        };
        out.0.push(tag);
        index.into_iter().for_each(|index| out.number(index as u64));
        text.into_iter().for_each(|text| out.text(text));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(match from.byte()? {
            0 => Self::Namespace,
            1 => Self::Entry(from.text()?.to_owned()),
            2 => Self::Own(from.text()?.to_owned()),
            3 => Self::Cell(from.index()?),
            4 => Self::Content,
            5 => Self::Code,
            6 => Self::Constant(from.index()?),
            7 => Self::Defaults,
            8 => Self::KeywordDefaults,
            9 => Self::Item(from.index()?),
            10 => Self::Function,
            11 => Self::Accessor(from.index()?),
            12 => Self::Class,
            13 => Self::Globals,
            _ => return Err(Damaged),
        })
    }
}

impl Way {
    pub fn write(&self, out: &mut Writer) {
        match &self.start {
            Start::Module(name) => {
                out.0.push(0);
                out.text(name);
            }
            Start::Traced => out.0.push(1),
        }
        out.number(self.steps.len() as u64);
        self.steps.iter().for_each(|step| step.write(out));
    }

    pub fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let start = match from.byte()? {
            0 => Start::Module(from.text()?.to_owned()),
            1 => Start::Traced,
            _ => return Err(Damaged),
        };
        let steps = (0..from.count()?).map(|_| Step::read(from)).collect::<Result<_, _>>()?;
        Ok(Self { start, steps })
    }

    /// The object there; `None` where the way does not lead on. Nothing is imported, and no code of the program runs.
    pub fn follow<'py>(&self, traced: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let start = match &self.start {
            Start::Module(name) => modules::imported(&interned(traced.py(), name))?,
            Start::Traced => traced.clone(),
        };
        self.steps.iter().try_fold(start, |object, step| step.follow(&object))
    }

    /// The module that it begins at, where nobody has imported that.
    pub fn absent(&self, py: Python<'_>) -> Option<&str> {
        match &self.start {
            Start::Module(name) => modules::imported(&interned(py, name)).is_none().then_some(name),
            Start::Traced => None,
        }
    }

    /// In words, for reports.
    pub fn text(&self) -> String {
        let mut text = match &self.start {
            Start::Module(name) => name.clone(),
            Start::Traced => "the function".to_owned(),
        };
        for step in &self.steps {
            match step {
                Step::Entry(key) | Step::Own(key) => text.push_str(&format!(".{key}")),
                Step::Item(index) | Step::Constant(index) => text.push_str(&format!("[{index}]")),
                _ => {}
            }
        }
        text
    }
}

/// Finds ways to objects.
#[allow(missing_debug_implementations)]
pub struct Reach<'py> {
    py: Python<'py>,
    /// Modules that ways begin at.
    modules: BTreeSet<String>,
    /// Every object that was met, how it was reached from an earlier one; modules from nowhere.
    met: Option<Met<'py>>,
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
        Self { py, modules: BTreeSet::new(), met: None }
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
        if let Some(way) = by_name(object)
            && way.follow(traced).is_some_and(|found| found.is(object))
        {
            return Some(way);
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
        || matches!(&*kind, "builtin_function_or_method" | "builtin_method");
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

/// Whether it is a method, static method or class method.
fn is_around(object: &Bound<'_, PyAny>) -> bool {
    matches!(&*types::c_name(&object.get_type()), "method" | "staticmethod" | "classmethod")
}

/// Whether an object has a namespace that reading it does not make.
fn has_namespace(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyModule>()
        || object.is_exact_instance_of::<PyFunction>()
        || types::c_name(&object.get_type()).is_empty()
}

/// All that can be reached from modules, the nearest first.
fn search(py: Python<'_>) -> Met<'_> {
    let mut met = Met::default();
    let all = py.import("sys").and_then(|sys| sys.getattr(name!("modules"))).ok();
    let all = all.and_then(|all| all.cast_into::<PyDict>().ok());
    for (key, module) in all.into_iter().flatten() {
        if let Ok(key) = key.cast::<PyString>() {
            met.add(module, Origin::Module(key.to_string_lossy().into_owned()));
        }
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
            "method" | "staticmethod" | "classmethod" => add(Step::Function),
            "property" => (0..ACCESSORS.len()).for_each(|index| add(Step::Accessor(index))),
            _ if has_namespace(object) => [Step::Namespace, Step::Class].into_iter().for_each(add),
            _ => {}
        }
    }
    found
}
