//! All functions that are read, what their names mean in each file, and what is known of them so far.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::leaves::{Leaf, Leaves};
use super::member_functions::MemberFunctions;
use super::origin::Origin;
use super::summary::Summary;
use super::value::{Class, class_of};
use crate::lower::{CType, Declarations, Expr, Function, Kind};
use crate::preprocess::SourceMap;

/// A file that was read.
pub struct Unit {
    /// Its path.
    pub path: String,
    /// Where its text came from; macros of headers have none.
    pub map: Option<SourceMap>,
}

/// A function and the file it is compiled in.
pub struct Defined {
    /// Index into the units.
    pub unit: usize,
    /// The function.
    pub function: Function,
}

/// What a name means when it is called.
pub enum Callee<'p> {
    /// A function of the program.
    Function(usize),
    /// A row of the reviewed table.
    Leaf(&'p Leaf),
    /// Neither.
    Unknown,
}

/// What is known of a member name over all structures.
#[derive(Clone, PartialEq)]
pub(super) struct Member {
    pub class: Class,
    pub number: bool,
    /// The structure that it is, or points to.
    pub structure: Option<Rc<str>>,
}

/// Everything that was read, with the state of the fixpoint.
pub struct Program {
    /// The reviewed table.
    pub leaves: Leaves,
    pub(super) units: Vec<Unit>,
    pub(super) functions: Vec<Defined>,
    /// The functions of each unit, by name.
    local: Vec<FxHashMap<String, usize>>,
    public: FxHashMap<String, usize>,
    aliases: FxHashMap<String, String>,
    members: FxHashMap<String, Member>,
    /// The same by structure.
    typed: FxHashMap<String, FxHashMap<String, Member>>,
    /// Names of integer types that a `typedef` makes.
    integers: FxHashSet<String>,
    pub(super) held: MemberFunctions,
    globals: FxHashMap<String, Class>,
    /// File-level objects, by name: `PyTypeObject` or another structure that begins like an object.
    objects: FxHashMap<String, Origin>,
    state: FxHashSet<String>,
    slots: BTreeSet<String>,
    types: BTreeMap<String, BTreeMap<String, String>>,
    /// What is known so far, for callers.
    pub(super) summaries: RefCell<Vec<Rc<Summary>>>,
    /// The functions of each name.
    by_name: FxHashMap<String, Vec<usize>>,
    pub(super) asked: RefCell<FxHashSet<(usize, usize)>>,
    pub(super) walking: RefCell<usize>,
}

impl Program {
    /// A program of nothing; slots are the names of the slots of types, types their filled slots by C variable.
    pub fn new(leaves: Leaves, slots: BTreeSet<String>, types: BTreeMap<String, BTreeMap<String, String>>) -> Self {
        Self {
            leaves,
            units: Vec::new(),
            functions: Vec::new(),
            local: Vec::new(),
            public: FxHashMap::default(),
            aliases: FxHashMap::default(),
            members: FxHashMap::default(),
            typed: FxHashMap::default(),
            integers: FxHashSet::default(),
            held: MemberFunctions::default(),
            globals: FxHashMap::default(),
            objects: FxHashMap::default(),
            state: FxHashSet::default(),
            slots,
            types,
            summaries: RefCell::default(),
            by_name: FxHashMap::default(),
            asked: RefCell::default(),
            walking: RefCell::default(),
        }
    }

    /// Adds a file's functions; definitions in `.c` files win over those of headers and macros.
    pub fn add(&mut self, unit: Unit, functions: Vec<Function>) {
        let index = self.units.len();
        self.units.push(unit);
        self.local.push(FxHashMap::default());
        for function in functions {
            let id = self.functions.len();
            self.local[index].entry(function.name.clone()).or_insert(id);
            if !function.is_static || self.units[index].path.ends_with(".h") || self.units[index].map.is_none() {
                self.public.entry(function.name.clone()).or_insert(id);
            }
            self.by_name.entry(function.name.clone()).or_default().push(id);
            super::state::written(&function, &mut self.state);
            self.functions.push(Defined { unit: index, function });
        }
    }

    /// Another name of a function.
    pub fn alias(&mut self, name: String, of: String) {
        self.aliases.insert(name, of);
    }

    /// Whether something of this name is known.
    pub fn has(&self, name: &str) -> bool {
        self.public.contains_key(name) || self.leaves.find(name).is_some() || self.aliases.contains_key(name)
    }

    /// Notes what a text declares: members of structures and file-level variables.
    pub fn declare(&mut self, known: &Declarations) {
        for ((structure, member), ctype) in &known.members {
            let class = self.class_of(ctype);
            let number = matches!(ctype, CType::Int(_) | CType::Double)
                || (class == Class::Data && matches!(ctype, CType::Opaque(_)));
            let points_to = match ctype {
                CType::Opaque(text) if class == Class::Struct => Some(Rc::from(text.trim_end_matches('*'))),
                _ => None,
            };
            let seen = Member { class, number, structure: points_to };
            let members = self.typed.entry(structure.clone()).or_default();
            match members.get_mut(member) {
                None => drop(members.insert(member.clone(), seen.clone())),
                // Two structures of one name.
                Some(known) if *known != seen => {
                    *known = Member { class: Class::Unknown, number: false, structure: None }
                }
                Some(_) => {}
            }
            let entry = self.members.entry(member.clone()).or_insert(seen.clone());
            if *entry != seen {
                entry.structure = None;
                entry.class = if entry.class == class { class } else { Class::Unknown };
                entry.number &= number;
            }
        }
        for (name, ctype) in &known.globals {
            match ctype {
                CType::Opaque(text) if text == "PyTypeObject" => {
                    self.objects.insert(name.clone(), Origin::BUILTIN);
                }
                CType::Opaque(text) if text == "PyObject" || known.objects.contains(text) => {
                    self.objects.insert(name.clone(), Origin::CONSTANT);
                }
                _ => {}
            }
            let class = self.class_of(ctype);
            self.globals.entry(name.clone()).or_insert(class);
        }
    }

    /// What a name means in a file.
    pub fn resolve(&self, unit: usize, name: &str) -> Callee<'_> {
        if let Some(leaf) = self.leaves.find(name) {
            return Callee::Leaf(leaf);
        }
        match self.local.get(unit).and_then(|local| local.get(name)) {
            Some(id) => Callee::Function(*id),
            None => self.resolve_anywhere(name),
        }
    }

    /// What a name means outside its own file.
    pub fn resolve_anywhere(&self, name: &str) -> Callee<'_> {
        let mut name = name;
        for _ in 0..8 {
            if let Some(leaf) = self.leaves.find(name) {
                return Callee::Leaf(leaf);
            }
            if let Some(id) = self.public.get(name) {
                return Callee::Function(*id);
            }
            match self.aliases.get(name) {
                Some(of) => name = of,
                None => break,
            }
        }
        Callee::Unknown
    }

    /// The function of a file by name.
    pub fn find(&self, path: &str, name: &str) -> Option<usize> {
        let unit = self.units.iter().position(|unit| unit.path == path)?;
        self.local.get(unit)?.get(name).copied()
    }

    /// Every function of that name.
    pub fn named(&self, name: &str) -> Vec<usize> {
        self.by_name.get(name).cloned().unwrap_or_default()
    }

    /// The name of a function.
    pub fn name(&self, id: usize) -> &str {
        self.functions.get(id).map_or("", |defined| &defined.function.name)
    }

    /// The file of a function.
    pub fn path(&self, id: usize) -> &str {
        self.functions.get(id).and_then(|defined| self.units.get(defined.unit)).map_or("", |unit| &unit.path)
    }

    /// File and line of a place in a function's text.
    pub fn place(&self, id: usize, at: usize) -> (String, u32) {
        let unit = self.functions.get(id).and_then(|defined| self.units.get(defined.unit));
        match unit.and_then(|unit| unit.map.as_ref()).map(|map| map.origin(at)) {
            Some(origin) => (origin.file.to_owned(), origin.line),
            None => (unit.map_or(String::new(), |unit| unit.path.clone()), 0),
        }
    }

    pub(super) fn is_slot(&self, member: &str) -> bool {
        self.slots.contains(member)
    }

    /// The function in a slot of a type known by its C variable.
    pub(super) fn slot_of(&self, ty: &str, slot: &str) -> Option<String> {
        self.types.get(ty)?.get(slot).cloned()
    }

    /// The variable that a macro without parameters is another name of.
    pub(super) fn unaliased<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        for _ in 0..8 {
            match self.aliases.get(name) {
                Some(of) => name = of,
                None => break,
            }
        }
        name
    }

    /// What kind of memory a file-level variable is.
    pub(super) fn global_origin(&self, name: &str) -> Origin {
        if name.starts_with("PyExc_") || self.types.contains_key(name) {
            return Origin::BUILTIN;
        }
        self.objects.get(name).copied().unwrap_or(Origin::GLOBAL)
    }

    pub(super) fn is_state(&self, name: &str) -> bool {
        self.state.contains(name) && self.globals.contains_key(name)
    }

    pub(super) fn global_class(&self, name: &str) -> Class {
        self.globals.get(name).copied().unwrap_or(Class::Struct)
    }

    /// A member of a structure; of any structure that has one of that name if it cannot be told which.
    pub(super) fn typed(&self, structure: Option<&str>, member: &str) -> Member {
        let name = structure.map(|name| name.strip_prefix("struct ").unwrap_or(name));
        let typed = name.and_then(|name| self.typed.get(name)?.get(member));
        typed.or_else(|| self.members.get(member)).cloned().unwrap_or(Member {
            class: Class::Unknown,
            number: false,
            structure: None,
        })
    }

    /// The class of a declared type.
    pub(super) fn class_of(&self, ctype: &CType) -> Class {
        match ctype {
            CType::Opaque(text) if self.integers.contains(text) => Class::Data,
            CType::Opaque(text) if text.strip_suffix('*').is_some_and(|text| self.integers.contains(text)) => {
                Class::Numbers
            }
            _ => class_of(ctype),
        }
    }

    /// Notes the integer types that a text defines, and the functions that its tables hold.
    pub(super) fn scan(&mut self, text: &str) {
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("typedef ")) {
            let Some((ty, name)) = line.trim_end_matches(';').rsplit_once(' ') else { continue };
            if crate::lower::integer(ty.trim()).is_some() || self.integers.contains(ty.trim()) {
                self.integers.insert(name.to_owned());
            }
        }
    }

    /// What the members of that name may hold; `None` if that cannot be told.
    pub(super) fn held(&self, member: &str) -> Option<&super::member_functions::Functions> {
        self.held.get(member)
    }

    pub(super) fn returns(&self, id: usize) -> Class {
        self.functions.get(id).map_or(Class::Unknown, |defined| self.class_of(&defined.function.signature.returns))
    }

    /// What is known of a function now; the walk under way is told when that changes.
    pub(super) fn summary(&self, id: usize) -> Rc<Summary> {
        self.asked.borrow_mut().insert((id, *self.walking.borrow()));
        self.summaries.borrow().get(id).cloned().unwrap_or_default()
    }
}

/// The name at the end of `a`, `a.b` or `a->b`.
pub(super) fn last_name(expr: &Expr) -> String {
    match &expr.kind {
        Kind::Name(name) | Kind::Member(_, name) => name.clone(),
        Kind::Cast(_, _, inner) | Kind::AddressOf(inner) => last_name(inner),
        _ => String::new(),
    }
}
