//! All functions that are read, what their names mean in each file, and what is known of them so far.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::leaves::{Leaf, Leaves};
use super::summary::Summary;
use super::value::{Class, class_of};
use super::walk::{Known, Walker};
use crate::preprocess::SourceMap;
use crate::translate::ctype::CType;
use crate::translate::ir::{Expr, Function, Kind};
use crate::translate::lower::Declarations;

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
#[derive(Clone, Copy, PartialEq)]
struct Member {
    class: Class,
    number: bool,
}

/// Everything that was read, with the state of the fixpoint.
pub struct Program {
    /// The reviewed table.
    pub leaves: Leaves,
    pub(super) units: Vec<Unit>,
    pub(super) functions: Vec<Defined>,
    local: FxHashMap<(usize, String), usize>,
    public: FxHashMap<String, usize>,
    aliases: BTreeMap<String, String>,
    members: FxHashMap<String, Member>,
    globals: FxHashMap<String, Class>,
    state: FxHashSet<String>,
    slots: BTreeSet<String>,
    types: BTreeMap<String, BTreeMap<String, String>>,
    known: RefCell<Vec<Known>>,
    asked: RefCell<FxHashSet<(usize, usize)>>,
    walking: RefCell<usize>,
}

impl Program {
    /// A program of nothing; slots are the names of the slots of types, types their filled slots by C variable.
    pub fn new(leaves: Leaves, slots: BTreeSet<String>, types: BTreeMap<String, BTreeMap<String, String>>) -> Self {
        Self {
            leaves,
            units: Vec::new(),
            functions: Vec::new(),
            local: FxHashMap::default(),
            public: FxHashMap::default(),
            aliases: BTreeMap::new(),
            members: FxHashMap::default(),
            globals: FxHashMap::default(),
            state: FxHashSet::default(),
            slots,
            types,
            known: RefCell::default(),
            asked: RefCell::default(),
            walking: RefCell::default(),
        }
    }

    /// Adds a file's functions; definitions in `.c` files win over those of headers and macros.
    pub fn add(&mut self, unit: Unit, functions: Vec<Function>) {
        let index = self.units.len();
        self.units.push(unit);
        for function in functions {
            let id = self.functions.len();
            self.local.entry((index, function.name.clone())).or_insert(id);
            if !function.is_static || self.units[index].path.ends_with(".h") || self.units[index].map.is_none() {
                self.public.entry(function.name.clone()).or_insert(id);
            }
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
        for ((_, member), ctype) in &known.members {
            let class = class_of(ctype);
            let number = matches!(ctype, CType::Int(_) | CType::Double);
            let seen = Member { class, number };
            let entry = self.members.entry(member.clone()).or_insert(seen);
            if *entry != seen {
                entry.class = if entry.class == class { class } else { Class::Unknown };
                entry.number &= number;
            }
        }
        for (name, ctype) in &known.globals {
            self.globals.entry(name.clone()).or_insert(class_of(ctype));
        }
    }

    /// What a name means in a file.
    pub fn resolve(&self, unit: usize, name: &str) -> Callee<'_> {
        if let Some(leaf) = self.leaves.find(name) {
            return Callee::Leaf(leaf);
        }
        match self.local.get(&(unit, name.to_owned())) {
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
        self.local.get(&(unit, name.to_owned())).copied()
    }

    /// Every function of that name.
    pub fn named(&self, name: &str) -> Vec<usize> {
        (0..self.functions.len()).filter(|id| self.functions[*id].function.name == name).collect()
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

    pub(super) fn is_state(&self, name: &str) -> bool {
        self.state.contains(name) && self.globals.contains_key(name)
    }

    pub(super) fn global_class(&self, name: &str) -> Class {
        self.globals.get(name).copied().unwrap_or(Class::Struct)
    }

    pub(super) fn member_class(&self, member: &str) -> Class {
        self.members.get(member).map_or(Class::Unknown, |member| member.class)
    }

    pub(super) fn is_number(&self, member: &str) -> bool {
        self.members.get(member).is_some_and(|member| member.number)
    }

    pub(super) fn returns(&self, id: usize) -> Class {
        self.functions.get(id).map_or(Class::Unknown, |defined| class_of(&defined.function.signature.returns))
    }

    /// What is known of a function now; the walk under way is told when that changes.
    pub(super) fn summary(&self, id: usize) -> Summary {
        self.asked.borrow_mut().insert((id, *self.walking.borrow()));
        self.known.borrow().get(id).map(|known| known.summary.clone()).unwrap_or_default()
    }

    /// Walks every function until nothing changes.
    pub fn solve(&self) -> Vec<Known> {
        let count = self.functions.len();
        *self.known.borrow_mut() = vec![Known::default(); count];
        let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        let mut waiting: BTreeSet<usize> = (0..count).collect();
        while let Some(id) = waiting.pop_first() {
            *self.walking.borrow_mut() = id;
            let before = self.known.borrow()[id].clone();
            let defined = &self.functions[id];
            let after = Walker::run(self, defined.unit, &defined.function, before.clone());
            for (callee, caller) in self.asked.borrow_mut().drain() {
                callers[callee].insert(caller);
            }
            if after.summary != before.summary {
                waiting.extend(&callers[id]);
            }
            self.known.borrow_mut()[id] = after;
        }
        self.known.take()
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
