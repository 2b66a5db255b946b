//! All that is known beside the function under translation: headers, contracts, slots, and the conventions of the others.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::contracts::{Contracts, Convention};
use super::vocabulary::Elsewhere;
use crate::lower::{CType, Declarations, Function, Known, suite_field};

/// A slot of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotInfo {
    /// `PyTypeObject`, or the field of the suite.
    pub suite: &'static str,
    /// The typedef of its function.
    pub function: String,
}

/// What CPython calls pointers to several objects.
pub(crate) const ARRAY_NAMES: [&str; 6] = ["args", "stack", "items", "array", "fastargs", "src"];

/// What CPython calls the keywords of a call, which are NULL where there are none.
pub(crate) const KEYWORDS: [&str; 4] = ["kwds", "kwargs", "kwnames", "kw"];

/// Looks up an object-like macro.
pub type Macros = Box<dyn Fn(&str) -> Option<String>>;

/// What translations ask.
pub struct World {
    pub(crate) contracts: Contracts,
    /// What newer releases ask of their worlds.
    pub(crate) elsewhere: Elsewhere,
    pub(crate) declarations: Declarations,
    /// File-level variables with their types.
    pub(crate) variables: BTreeMap<(String, String), CType>,
    /// Object-like macros of the headers.
    pub(crate) macros: Macros,
    /// Macros of the headers that take arguments: parameters and body.
    pub(crate) function_macros: BTreeMap<String, (Vec<String>, String)>,
    /// Conventions of the functions that are translated, by file and name.
    pub(crate) translated: RefCell<BTreeMap<(String, String), Convention>>,
    /// Functions defined in each file.
    pub(crate) defined: BTreeMap<(String, String), Rc<Function>>,
    /// Methods of `CApi` that were asked for.
    pub(crate) vocabulary: RefCell<BTreeMap<String, Convention>>,
    /// Members of structs that those methods read or set: struct and path, by the reading method.
    pub(crate) fields: RefCell<BTreeMap<String, (String, Vec<String>)>>,
    /// Globals that were asked for.
    pub(crate) globals: RefCell<BTreeSet<String>>,
    /// Functions used as values or reachable through slots.
    pub(crate) ids: RefCell<BTreeMap<String, (String, String)>>,
    /// File-level tables of identifiers.
    pub(crate) tables: BTreeMap<(String, String), Vec<String>>,
    /// File-level tables of integers, as their items are written.
    pub(crate) numbers: BTreeMap<String, Vec<String>>,
}

/// The module of a C file.
pub fn module(file: &str) -> String {
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".c").trim_end_matches(".h");
    match stem {
        "abstract" => "abstract_".to_owned(),
        stem => stem.replace(['.', '-'], "_"),
    }
}

/// The suite that a member of a type points to.
pub fn suite_of(member: &str) -> Option<&'static str> {
    ["PyNumberMethods", "PySequenceMethods", "PyMappingMethods", "PyAsyncMethods", "PyBufferProcs"]
        .into_iter()
        .filter_map(suite_field)
        .find(|field| *field == member)
}

impl World {
    /// The slot of a name.
    pub(crate) fn slot(&self, name: &str) -> Option<SlotInfo> {
        let structs = [
            ("PyTypeObject", "PyTypeObject"),
            ("PyNumberMethods", "tp_as_number"),
            ("PySequenceMethods", "tp_as_sequence"),
            ("PyMappingMethods", "tp_as_mapping"),
            ("PyAsyncMethods", "tp_as_async"),
            ("PyBufferProcs", "tp_as_buffer"),
        ];
        for (structure, suite) in structs {
            if let Some(CType::Function(function)) =
                self.declarations.members.get(&(structure.to_owned(), name.to_owned()))
            {
                return Some(SlotInfo { suite, function: function.clone() });
            }
        }
        None
    }

    /// All slots, in the order of their structs.
    pub fn slots(&self) -> Vec<(String, SlotInfo, usize)> {
        let structs = [
            "PyTypeObject",
            "PyAsyncMethods",
            "PyNumberMethods",
            "PySequenceMethods",
            "PyMappingMethods",
            "PyBufferProcs",
        ];
        let mut out = Vec::new();
        for structure in structs {
            let Some(members) = self.declarations.structs.get(structure) else { continue };
            for (index, name) in members.iter().enumerate() {
                if let Some(slot) = self.slot(name) {
                    out.push((name.clone(), slot, index * 8));
                }
            }
        }
        out
    }

    /// The type of a member, through embedded structs.
    pub(crate) fn member_type(&self, structure: &str, path: &[String]) -> Option<CType> {
        let mut structure = structure.to_owned();
        for (index, member) in path.iter().enumerate() {
            let structure_name = structure.trim_start_matches("struct ");
            if self.contracts.meaning(&format!("{structure_name}_{member}")) == "function" {
                return Some(CType::Function(String::new()));
            }
            let ctype = self.declarations.members.get(&(structure_name.to_owned(), member.clone()))?;
            if index + 1 == path.len() {
                return Some(ctype.clone());
            }
            match ctype {
                CType::Opaque(text) => {
                    structure = text.trim_end_matches('*').trim_start_matches("struct ").to_owned();
                }
                _ => return None,
            }
        }
        None
    }

    /// The struct of a file-level variable.
    pub(crate) fn variable_struct(&self, file: &str, name: &str) -> Option<String> {
        let ctype =
            self.variables.get(&(file.to_owned(), name.to_owned())).or_else(|| self.declarations.globals.get(name))?;
        let CType::Opaque(text) = ctype else { return None };
        let structure = text.trim_end_matches('*').trim_start_matches("struct ").to_owned();
        self.declarations.structs.contains_key(&structure).then_some(structure)
    }

    /// The struct that a member belongs to, if only one has a member of that name.
    pub(crate) fn only_struct(&self, member: &str) -> Option<String> {
        if member.starts_with("tp_") {
            return Some("PyTypeObject".to_owned());
        }
        let mut found =
            self.declarations.members.keys().filter(|(_, name)| name == member).map(|(structure, _)| structure);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }

    /// The identity of a function that is used as a value.
    pub(crate) fn function_id(&self, file: &str, name: &str) -> Option<String> {
        let here = (file.to_owned(), name.to_owned());
        let key = if self.defined.contains_key(&here) {
            here
        } else {
            match self.defined.iter().find(|((_, other), function)| other == name && !function.is_static) {
                Some((key, _)) => key.clone(),
                None if self.declarations.prototypes.contains_key(name) => (String::new(), name.to_owned()),
                None => return None,
            }
        };
        Some(self.note_id(key))
    }

    /// Notes a function that has an identity and gives the name of it.
    pub(crate) fn note_id(&self, key: (String, String)) -> String {
        let mut ids = self.ids.borrow_mut();
        let plain = key.1.clone();
        match ids.get(&plain).or_else(|| self.elsewhere.newer.functions.get(&plain)) {
            Some(known) if *known != key => {
                let long = format!("{}_{}", module(&key.0), key.1);
                ids.insert(long.clone(), key);
                long
            }
            _ => {
                ids.insert(plain.clone(), key);
                plain
            }
        }
    }

    /// The method that stands for a function that is asked of the world: static functions of several files are told apart.
    pub(crate) fn method_name(&self, file: &str, name: &str) -> String {
        let own = self.defined.get(&(file.to_owned(), name.to_owned())).is_some_and(|function| function.is_static);
        let several = || self.defined.keys().filter(|(_, other)| other == name).nth(1).is_some();
        if own && several() { format!("{}_{name}", module(file)) } else { name.to_owned() }
    }

    /// Notes a member of a struct and gives the name of the method that reads it.
    pub(crate) fn note_field(&self, structure: &str, path: &[String]) -> String {
        let name = format!("{}_{}", structure.replace(' ', "_"), path.join("_"));
        self.fields.borrow_mut().entry(name.clone()).or_insert_with(|| (structure.to_owned(), path.to_vec()));
        name
    }

    /// Notes a method of `CApi`.
    pub(crate) fn note(&self, name: &str, convention: &Convention) {
        let mut vocabulary = self.vocabulary.borrow_mut();
        match vocabulary.get_mut(name) {
            Some(known) => {
                known.params.iter_mut().zip(&convention.params).for_each(|(mine, theirs)| mine.widen(theirs));
            }
            None => {
                vocabulary.insert(name.to_owned(), convention.clone());
            }
        }
    }
}

impl Known for World {
    fn is_object(&self, name: &str) -> bool {
        self.declarations.is_object(name)
    }
    fn is_function(&self, name: &str) -> bool {
        self.declarations.is_function(name)
    }
    fn integer(&self, name: &str) -> Option<&'static str> {
        self.declarations.integer(name)
    }
}
