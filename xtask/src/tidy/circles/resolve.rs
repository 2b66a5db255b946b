//! Finds the file that defines a mentioned name, and so the arrows between files.
use super::modules::{Mention, ModuleId, Modules};
use std::collections::{BTreeMap, BTreeSet};

/// Names that one file takes from another.
#[derive(Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: String,
    pub to: String,
    /// Each name with the first line that mentions it.
    pub names: BTreeMap<String, usize>,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(ModuleId),
    /// A name that the module defines.
    Item(ModuleId, String),
}

/// All arrows of a crate, in the order of their files.
pub fn arrows(modules: &Modules) -> Vec<Arrow> {
    let mut found: BTreeMap<(&str, &str), BTreeMap<String, usize>> = BTreeMap::new();
    for (id, module) in modules.all.iter().enumerate() {
        let imported = module.imports.iter().map(|import| &import.mention);
        for mention in imported.chain(&module.mentions) {
            for (definer, name) in definitions(modules, id, mention) {
                let to = modules.all[definer].file.as_str();
                if to != module.file {
                    let line = found.entry((&module.file, to)).or_default().entry(name).or_insert(mention.line);
                    *line = mention.line.min(*line);
                }
            }
        }
    }
    let arrow = |((from, to), names): ((&str, &str), _)| Arrow { from: from.into(), to: to.into(), names };
    found.into_iter().map(arrow).collect()
}

/// The items that a path leads to; a path to a module leads to none.
fn definitions(modules: &Modules, from: ModuleId, mention: &Mention) -> Vec<(ModuleId, String)> {
    let mut search = Search { modules, open: BTreeSet::new() };
    let mut targets = search.path(from, &mention.segments);
    if let ([name], true) = (mention.segments.as_slice(), targets.is_empty()) {
        targets.extend(macro_in_scope(modules, from, name));
    }
    let items = targets.into_iter().filter_map(|target| match target {
        Target::Item(module, name) => Some((module, name)),
        Target::Module(_) => None,
    });
    items.collect()
}

/// A `macro_rules!` of a module around this one is in scope without an import.
fn macro_in_scope(modules: &Modules, from: ModuleId, name: &str) -> Option<Target> {
    let mut outer = modules.all[from].parent;
    while let Some(id) = outer {
        if modules.all[id].macros.contains(name) {
            return Some(Target::Item(id, name.to_owned()));
        }
        outer = modules.all[id].parent;
    }
    None
}

/// One look-up; the names that are being looked up are kept so that circular imports end.
struct Search<'a> {
    modules: &'a Modules,
    open: BTreeSet<(ModuleId, String)>,
}

impl Search<'_> {
    fn path(&mut self, from: ModuleId, segments: &[String]) -> BTreeSet<Target> {
        let Some((first, rest)) = segments.split_first() else { return BTreeSet::new() };
        let start = match first.as_str() {
            "crate" => BTreeSet::from([Target::Module(0)]),
            "self" => BTreeSet::from([Target::Module(from)]),
            "super" => self.modules.all[from].parent.map(Target::Module).into_iter().collect(),
            name if rest.is_empty() && self.is_hidden(from, name) => BTreeSet::new(),
            name => self.name(from, name),
        };
        rest.iter().fold(start, |targets, segment| self.step(targets, segment))
    }

    /// The next segment of a path; where a module and a function have one name, only the module has members.
    fn step(&mut self, targets: BTreeSet<Target>, segment: &str) -> BTreeSet<Target> {
        let has_module = targets.iter().any(|target| matches!(target, Target::Module(_)));
        let mut reached = BTreeSet::new();
        for target in targets {
            match target {
                Target::Module(id) if segment == "super" => {
                    reached.extend(self.modules.all[id].parent.map(Target::Module));
                }
                Target::Module(id) if segment == "self" => reached.extend([Target::Module(id)]),
                Target::Module(id) => reached.extend(self.member(id, segment)),
                item @ Target::Item(..) if !has_module => reached.extend([item]),
                Target::Item(..) => {}
            }
        }
        reached
    }

    /// What a path finds in a module; a name that is nowhere comes from the module's own macros, if it has any.
    fn member(&mut self, module: ModuleId, name: &str) -> BTreeSet<Target> {
        let found = self.name(module, name);
        let here = &self.modules.all[module];
        let is_imported = here.imports.iter().any(|import| import.name.as_deref() == Some(name));
        if found.is_empty() && !is_imported && here.has_item_macros {
            return BTreeSet::from([Target::Item(module, name.to_owned())]);
        }
        found
    }

    /// Whether a local variable hides what a glob import would bring.
    fn is_hidden(&self, module: ModuleId, name: &str) -> bool {
        let module = &self.modules.all[module];
        module.variables.contains(name) && !module.items.contains(name)
    }

    /// What a name means in a module: what stands there, what is imported by name, then what globs bring.
    fn name(&mut self, module: ModuleId, name: &str) -> BTreeSet<Target> {
        let here = &self.modules.all[module];
        let mut found: BTreeSet<Target> =
            here.children.get(name).into_iter().flatten().copied().map(Target::Module).collect();
        if here.items.contains(name) {
            found.insert(Target::Item(module, name.to_owned()));
        }
        if !self.open.insert((module, name.to_owned())) {
            return found;
        }
        let mut is_imported = false;
        for import in here.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            is_imported = true;
            found.extend(self.path(module, &import.mention.segments));
        }
        if found.is_empty() && !is_imported {
            found = self.globs(module, name);
        }
        self.open.remove(&(module, name.to_owned()));
        found
    }

    fn globs(&mut self, module: ModuleId, name: &str) -> BTreeSet<Target> {
        let modules = self.modules;
        let globs = modules.all[module].imports.iter().filter(|import| import.name.is_none());
        let mut found = BTreeSet::new();
        for glob in globs {
            for target in self.path(module, &glob.mention.segments) {
                if let Target::Module(id) = target {
                    found.extend(self.name(id, name));
                }
            }
        }
        found
    }
}
