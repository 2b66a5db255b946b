//! The modules of a crate as data: what each defines, imports and mentions.
use std::collections::{BTreeMap, BTreeSet};

/// The text of each file by its path from the workspace root.
pub type Sources<'a> = BTreeMap<&'a str, &'a str>;

/// Index of a module in [`Modules::all`].
pub type ModuleId = usize;

/// The modules of one crate; the first is its root.
#[derive(Debug, Default)]
pub struct Modules {
    /// In the order in which they were found.
    pub all: Vec<Module>,
}

/// What one module defines, imports and mentions.
#[derive(Debug, Default)]
pub struct Module {
    /// The file that it stands in; an inline module shares its parent's.
    pub file: String,
    pub parent: Option<ModuleId>,
    /// More than one module has the same name where `#[cfg]` chooses.
    pub children: BTreeMap<String, Vec<ModuleId>>,
    /// Names that are defined here.
    pub items: BTreeSet<String>,
    /// Those of them that `macro_rules!` defines.
    pub macros: BTreeSet<String>,
    /// Whether a macro can define more names.
    pub has_item_macros: bool,
    pub imports: Vec<Import>,
    pub mentions: Vec<Mention>,
    /// Names of local variables, which hide names of glob imports.
    pub variables: BTreeSet<String>,
}

/// One name that a `use` brings into scope; without a name it brings all.
#[derive(Debug)]
pub struct Import {
    pub name: Option<String>,
    pub mention: Mention,
}

/// A path in the text.
#[derive(Debug, Clone)]
pub struct Mention {
    pub segments: Vec<String>,
    pub line: usize,
}

/// A `mod x;` whose file is still to be read.
#[derive(Debug)]
pub struct Pending {
    pub parent: ModuleId,
    pub name: String,
    /// The files that it can stand in, by path.
    pub candidates: Vec<String>,
}

impl Modules {
    /// Adds an empty module.
    pub fn add(&mut self, file: &str, parent: Option<ModuleId>) -> ModuleId {
        self.all.push(Module { file: file.to_owned(), parent, ..Module::default() });
        self.all.len() - 1
    }
}

/// The folder of a path, `""` for one without.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folder in which the child modules of `file` stand.
pub fn children_folder(file: &str) -> String {
    match file.rsplit('/').next() {
        Some("mod.rs" | "lib.rs" | "main.rs") => folder(file).to_owned(),
        _ => file.trim_end_matches(".rs").to_owned(),
    }
}
