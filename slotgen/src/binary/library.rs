//! What a compiled CPython says about its types, and the facts that this makes.

use std::collections::{BTreeMap, BTreeSet};

use super::neighbours;
use crate::facts::{
    Facts, FunctionType, Macro, Method, Opcodes, Origin, SLOT_STRUCTS, Slotdef, Struct, Type, TypeKind,
};

/// What a compiled CPython says about its types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The release that the headers name.
    pub release: String,
    /// The slot structs, as the headers lay them out.
    pub structs: Vec<Struct>,
    /// `slotdefs[]`, in its order.
    pub slotdefs: Vec<Slotdef>,
    /// Static types and type specs by file and name; slots are those of the tables, nothing is inherited.
    pub types: Vec<Type>,
    /// Pointer types of the headers, by name.
    pub function_types: Vec<FunctionType>,
    /// Names of data as large as a type or a spec that were not read as one.
    pub unread: BTreeSet<String>,
    /// The methods of every struct sequence.
    pub sequence_methods: Vec<Method>,
    /// The instruction set, where headers and `opcode.py` tell it.
    pub opcodes: Option<Opcodes>,
    /// Code objects, frames, functions and threads, as the headers lay them out.
    pub layouts: Vec<Struct>,
    /// SHA-256 of the library.
    pub digest: String,
    /// Numbers of the macros that stand in flags.
    pub constants: BTreeMap<String, i64>,
    /// The macros of the API.
    pub macros: Vec<Macro>,
    pub(super) aliases: BTreeMap<String, BTreeSet<String>>,
}

impl Library {
    /// Whether two names stand for one function.
    pub fn same(&self, one: &str, other: &str) -> bool {
        one == other || self.aliases.get(one).is_some_and(|names| names.contains(other))
    }

    /// The library as facts, which have no functions and prototypes then.
    ///
    /// What code alone says (bases given to `PyType_FromModuleAndSpec`, which slots a base hands down) stands in no table: it is
    /// taken from the facts of `neighbours`, releases read from sources, the nearest first.
    pub fn facts(&self, configuration: &str, neighbours: &[&Facts]) -> Facts {
        let is_slots = |layout: &&Struct| SLOT_STRUCTS.contains(&layout.name.as_str());
        let mut facts = Facts {
            release: self.release.clone(),
            source: Origin::Binary,
            configuration: configuration.to_owned(),
            digest: self.digest.clone(),
            structs: self.structs.iter().filter(is_slots).chain(&self.layouts).cloned().collect(),
            inherits: neighbours.first().map_or(Vec::new(), |facts| facts.inherits.clone()),
            slotdefs: self.slotdefs.clone(),
            types: self.types.clone(),
            functions: Vec::new(),
            prototypes: Vec::new(),
            function_types: self.function_types.clone(),
            opcodes: self.opcodes.clone().unwrap_or(Opcodes { have_argument: 0, opcodes: Vec::new() }),
            constants: self.constants.clone(),
            macros: self.macros.clone(),
            effects: Vec::new(),
            module_functions: Vec::new(),
            gaps: Vec::new(),
        };
        for ty in facts.types.iter_mut().filter(|ty| ty.kind == TypeKind::StructSequence) {
            ty.methods = self.sequence_methods.clone();
        }
        neighbours::supplement(&mut facts.types, neighbours);
        facts.types.sort_by(|a, b| (a.unit(), &a.c_name, &a.tp_name).cmp(&(b.unit(), &b.c_name, &b.tp_name)));
        facts
    }

    /// Adds what an extension module of the same build says.
    pub fn add(&mut self, module: Library) {
        self.types.extend(module.types);
        self.unread.extend(module.unread);
        for (name, others) in module.aliases {
            self.aliases.entry(name).or_default().extend(others);
        }
    }
}
