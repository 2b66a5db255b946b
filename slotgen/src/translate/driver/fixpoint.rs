//! Translates the functions of a tree, again and again until what they say of one another no longer changes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::rounds::Rounds;
use super::tables::{identifier_tables, integer_tables, object_macros};
use super::translated::{Left, Translated};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::lower::{Declarations, Text, declarations, parse};
use crate::preprocess::{Preprocessor, Unit};
use crate::source::Tree;
use crate::translate::world::{Contracts, Elsewhere, World};

/// What became of a tree's functions.
pub struct Translation {
    pub(crate) world: Rc<World>,
    /// Translated functions by file, in the order of the file.
    pub translated: BTreeMap<String, Vec<Translated>>,
    /// Functions left out.
    pub left: Vec<Left>,
    rounds: Option<Rounds>,
}

impl Translation {
    fn of(mut rounds: Rounds) -> Self {
        rounds.settle(0);
        Self::now(rounds)
    }

    /// What the rounds have come to.
    fn now(mut rounds: Rounds) -> Self {
        let mut translated: BTreeMap<String, Vec<Translated>> = BTreeMap::new();
        for (key, one) in std::mem::take(&mut rounds.results) {
            translated.entry(key.0).or_default().push(one);
        }
        for list in translated.values_mut() {
            list.sort_by_key(|one| one.function.range.start);
        }
        let left = rounds.left.values().cloned().collect();
        Self { world: rounds.world.clone(), translated, left, rounds: Some(rounds) }
    }

    /// Without these functions, each with its reason; what calls them asks the world.
    #[must_use]
    pub(crate) fn without(self, refused: Vec<((String, String), String)>) -> Self {
        let Self { world, translated, left, rounds } = self;
        let Some(mut rounds) = rounds else { return Self { world, translated, left, rounds } };
        let each = translated.into_values().flatten();
        rounds.results = each.map(|one| ((one.function.file.clone(), one.function.name.clone()), one)).collect();
        rounds.leave_out(refused);
        Self::now(rounds)
    }

    /// The names of all functions of the C files.
    pub fn defined(&self) -> impl Iterator<Item = &str> {
        self.world.defined.keys().map(|key| key.1.as_str())
    }

    /// The methods that read a member of a struct.
    pub fn members(&self) -> BTreeSet<String> {
        self.world.fields.borrow().keys().cloned().collect()
    }
}

/// Says where a file is that the tree has elsewhere.
fn moved(path: &str, unit: &Unit) -> Option<Diagnostic> {
    (unit.path != path).then(|| Diagnostic {
        severity: Severity::Warning,
        code: "translate/moved-file",
        file: unit.path.clone(),
        line: 0,
        column: 0,
        message: format!("this is read for {path}, which the tree does not have"),
        help:
            "nothing is to be done; a release that is held for good gets the new path in slotgen/src/translate/units.rs"
                .to_owned(),
    })
}

/// Translates the functions of the given C files.
pub fn translate(
    tree: &Tree,
    pre: &Preprocessor,
    files: &[&str],
    elsewhere: Elsewhere,
    diagnostics: &mut Diagnostics,
) -> Result<Translation, String> {
    let mut known = Declarations::default();
    let mut headers = Vec::new();
    let mut function_macros = BTreeMap::new();
    for file in tree.files().iter() {
        let path = file.path();
        if path.starts_with("Include/")
            && path.ends_with(".h")
            && !path.contains("mimalloc")
            && let Ok(unit) = pre.unit(path)
        {
            for (name, params, body) in crate::lower::function_macros(file.text()) {
                function_macros.entry(name).or_insert((params, body));
            }
            headers.push(unit.text);
        }
    }
    let mut units: Vec<Unit> = Vec::new();
    for path in files {
        match pre.unit(path) {
            Ok(unit) => {
                diagnostics.0.extend(moved(path, &unit));
                units.push(unit);
            }
            Err(found) => diagnostics.0.extend(found.0),
        }
    }
    for _ in 0..3 {
        headers.iter().for_each(|text| declarations(text, &mut known));
    }
    for made in pre.api_macros() {
        if let Some(params) = made.parameters {
            function_macros.insert(made.name, (params, made.body));
        }
    }
    let contracts = Contracts::load()?;
    declarations(&contracts.prototypes(), &mut known);
    let mut variables = BTreeMap::new();
    for unit in &units {
        let mut own = Declarations::default();
        std::mem::swap(&mut own.prototypes, &mut known.prototypes);
        let globals = std::mem::take(&mut known.globals);
        declarations(&unit.text, &mut known);
        known.prototypes = own.prototypes;
        let own = std::mem::replace(&mut known.globals, globals);
        variables.extend(own.into_iter().map(|(name, ctype)| ((unit.path.clone(), name), ctype)));
    }
    let mut defined = BTreeMap::new();
    let mut tables = BTreeMap::new();
    for unit in &units {
        let Some(parsed) = parse(&unit.text) else { continue };
        for function in Text::new(&unit.text, &known).functions(parsed.root_node(), &unit.path) {
            defined.insert((unit.path.clone(), function.name.clone()), Rc::new(function));
        }
        tables.extend(identifier_tables(&unit.text).into_iter().map(|(name, ids)| ((unit.path.clone(), name), ids)));
    }
    let numbers = units.iter().flat_map(|unit| integer_tables(&unit.text)).collect();
    let macros = object_macros(tree);
    let world = Rc::new(World {
        contracts,
        elsewhere,
        declarations: known,
        macros: Box::new(move |name| macros.get(name).cloned()),
        function_macros,
        variables,
        translated: RefCell::default(),
        defined,
        vocabulary: RefCell::default(),
        fields: RefCell::default(),
        globals: RefCell::default(),
        ids: RefCell::default(),
        tables,
        numbers,
    });
    Ok(Translation::of(Rounds::new(world, units)))
}

/// The translation of a text that is its own tree.
#[cfg(test)]
pub(crate) fn of_text(headers: &str, text: &str, elsewhere: Elsewhere) -> Result<Translation, String> {
    let contracts = Contracts::load()?;
    let mut known = Declarations::default();
    for _ in 0..3 {
        declarations(headers, &mut known);
        declarations(&contracts.prototypes(), &mut known);
    }
    for (name, number) in [("Py_LT", 0), ("Py_LE", 1), ("Py_EQ", 2), ("Py_NE", 3), ("Py_GT", 4), ("Py_GE", 5)] {
        known.constants.insert(name.to_owned(), number);
    }
    let parsed = parse(text).ok_or("no tree")?;
    let file = "Objects/small.c".to_owned();
    let functions = Text::new(text, &known).functions(parsed.root_node(), &file);
    let defined = functions.into_iter().map(|one| ((file.clone(), one.name.clone()), Rc::new(one))).collect();
    let world = Rc::new(World {
        contracts,
        elsewhere,
        declarations: known,
        macros: Box::new(|_| None),
        function_macros: BTreeMap::new(),
        variables: BTreeMap::new(),
        translated: RefCell::default(),
        defined,
        vocabulary: RefCell::default(),
        fields: RefCell::default(),
        globals: RefCell::default(),
        ids: RefCell::default(),
        tables: identifier_tables(text).into_iter().map(|(name, ids)| ((file.clone(), name), ids)).collect(),
        numbers: integer_tables(text),
    });
    Ok(Translation::of(Rounds::new(world, Vec::new())))
}
