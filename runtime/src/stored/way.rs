//! A way to an object: where it begins, and the steps from there.
use super::bytes::{Damaged, Reader, Writer};
use crate::ffi::{callable, inspect, modules, types};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyList, PyModule, PyTuple, PyType};

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
    /// The function that was compiled, of what `slotrt.compile` has given.
    Compiled,
    /// A class among those that a class is derived from, in the order in which they are searched.
    Base(usize),
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

pub(super) const ACCESSORS: [&str; 3] = ["fget", "fset", "fdel"];

impl Step {
    pub(super) fn follow<'py>(&self, from: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
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
                let property = types::is_c_class(&from.get_type(), "property");
                property.then(|| from.getattr(*ACCESSORS.get(*index)?).ok())?
            }
            Self::Class => Some(from.get_type().into_any()),
            Self::Globals => inspect::globals(from),
            Self::Compiled => callable::wrapped(from),
            Self::Base(index) => types::mro(from.cast::<PyType>().ok()?)?.get_item(*index).ok(),
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
            Self::Compiled => (14, None, None),
            Self::Base(index) => (15, Some(*index), None),
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
            14 => Self::Compiled,
            15 => Self::Base(from.index()?),
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

/// Whether it is a method, static method or class method.
fn is_around(object: &Bound<'_, PyAny>) -> bool {
    matches!(&*types::c_name(&object.get_type()), "method" | "staticmethod" | "classmethod")
}

/// Whether an object has a namespace that reading it does not make.
pub(super) fn has_namespace(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyModule>()
        || object.is_exact_instance_of::<PyFunction>()
        || types::c_name(&object.get_type()).is_empty()
}
