//! Translates the functions of a tree, again and again until what they say of one another no longer changes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::TokenStream;

use super::null_tests::tested;
use super::parameters::{indexed, nullable_methods, untyped, untyped_arguments, widen};
use super::tables::{identifier_tables, integer_tables, object_macros};
use crate::diagnostics::Diagnostics;
use crate::lower::{Declarations, Function, Text, declarations, parse};
use crate::preprocess::{Preprocessor, Unit};
use crate::source::Tree;
use crate::translate::block::{body, clean, inline, prune, safe};
use crate::translate::paths::Paths;
use crate::translate::world::{Contracts, Convention, Elsewhere, ParamKind, Returns, World, convention};

/// How many blocks of Rust a statement of C may become on average, and how many a function may have in any case.
const GROWTH: usize = 12;
const LEAST_LIMIT: usize = 250;

/// A function left out.
#[derive(Debug, Clone)]
pub struct Left {
    /// Its name.
    pub name: String,
    /// The C file whose function it is.
    pub unit: String,
    /// File of the construct.
    pub file: String,
    /// One-based line of the construct.
    pub line: u32,
    /// The construct.
    pub construct: String,
}

/// A translated function.
pub struct Translated {
    pub(crate) function: Rc<Function>,
    pub(crate) convention: Convention,
    pub(crate) body: TokenStream,
    pub(crate) params: Vec<String>,
    /// Functions that it calls.
    pub calls: BTreeSet<String>,
}

impl Translated {
    /// Its C name.
    pub fn name(&self) -> &str {
        &self.function.name
    }
    /// Its C file.
    pub fn file(&self) -> &str {
        &self.function.file
    }
}

/// What became of a tree's functions.
pub struct Translation {
    pub(crate) world: Rc<World>,
    /// Translated functions by file, in the order of the file.
    pub translated: BTreeMap<String, Vec<Translated>>,
    /// Functions left out.
    pub left: Vec<Left>,
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
            Ok(unit) => units.push(unit),
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
    Ok(rounds(world, &units))
}

fn rounds(world: Rc<World>, units: &[Unit]) -> Translation {
    for (key, function) in &world.defined {
        if world.contracts.kept(&function.name) {
            continue;
        }
        let mut first = convention(&function.name, &function.signature, None);
        first.raises = false;
        if let Some(row) = world.contracts.get(&function.name) {
            // What a row says of the parameters holds for the function's own head, too.
            first.params = convention(&function.name, &function.signature, Some(row)).params;
        }
        let tested = tested(&function.body, &world.contracts);
        let mut assigned = BTreeSet::new();
        function.body.iter().for_each(|stmt| crate::lower::in_stmt(stmt, &mut assigned));
        for (kind, param) in first.params.iter_mut().zip(&function.signature.params) {
            if let (
                ParamKind::Object(nullable)
                | ParamKind::Function(_, nullable)
                | ParamKind::OutObject(nullable)
                | ParamKind::OutInt(_, nullable),
                true,
            ) = (
                &mut *kind,
                tested.contains(&param.name) || crate::translate::world::KEYWORDS.contains(&param.name.as_str()),
            ) {
                *nullable = true;
            }
            if matches!(kind, ParamKind::Unsupported(text) if text == "void*") {
                *kind = untyped(function, &param.name);
            }
            if let ParamKind::OutInt(int @ ("isize" | "i32"), _) = kind
                && crate::lower::indexed(&function.body, &param.name)
                && !assigned.contains(&param.name)
            {
                *kind = ParamKind::Ints(int);
            }
            if matches!(kind, ParamKind::OutObject(_)) && (param.array || indexed(function, &param.name)) {
                *kind = ParamKind::Slice;
            }
        }
        world.translated.borrow_mut().insert(key.clone(), first);
    }
    untyped_arguments(&world);
    let mut left: BTreeMap<(String, String), Left> = BTreeMap::new();
    let mut results: BTreeMap<(String, String), Translated> = BTreeMap::new();
    let mut dirty: BTreeSet<String> = BTreeSet::new();
    let mut done: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for round in 0..20 {
        // The first rounds only find out conventions; what they refuse or widen may rest on a wrong guess.
        let settled = round >= 4;
        let mut changed = false;
        let stale = std::mem::take(&mut dirty);
        let nullable = nullable_methods(&world);
        let todo: Vec<_> =
            world.translated.borrow().iter().map(|(key, convention)| (key.clone(), convention.clone())).collect();
        for (key, convention) in todo {
            let Some(function) = world.defined.get(&key) else { continue };
            if round != 4 && done.get(&key).is_some_and(|calls| !stale.contains(&key.1) && calls.is_disjoint(&stale)) {
                continue;
            }
            let mut paths = Paths::new(world.clone(), function.clone(), convention.clone());
            match one(&mut paths) {
                Ok((params, body)) => {
                    done.insert(key.clone(), paths.summary.calls.clone());
                    let next = learn(&convention, &paths, &function.signature.returns);
                    for (target, index) in paths.summary.nullable.iter().filter(|_| settled) {
                        if widen(&world, target, *index) {
                            changed = true;
                            dirty.insert(target.rsplit(':').next().unwrap_or(target).to_owned());
                        }
                    }
                    match next {
                        Ok(next) => {
                            if next != convention {
                                changed = true;
                                dirty.insert(key.1.clone());
                                let mut translated = world.translated.borrow_mut();
                                if let Some(slot) = translated.get_mut(&key) {
                                    let params = slot.params.clone();
                                    *slot = Convention { params, ..next };
                                }
                            }
                            let translated = Translated {
                                function: function.clone(),
                                convention: convention.clone(),
                                body,
                                params,
                                calls: paths.summary.calls,
                            };
                            results.insert(key, translated);
                        }
                        Err(_) if !settled => changed = true,
                        Err(construct) => {
                            refuse(&world, units, &key, construct, function.range.start, &mut left);
                            results.remove(&key);
                            dirty.insert(key.1.clone());
                            changed = true;
                        }
                    }
                }
                Err(_) if !settled => {
                    // Until it is known better, the prototype's word stands.
                    let mut plain = crate::translate::world::convention(&function.name, &function.signature, None);
                    plain.params = convention.params.clone();
                    if plain != convention {
                        dirty.insert(key.1.clone());
                    }
                    done.insert(key.clone(), paths.summary.calls.clone());
                    world.translated.borrow_mut().insert(key, plain);
                    changed = true;
                }
                Err(refusal) => {
                    refuse(&world, units, &key, refusal.construct, refusal.at, &mut left);
                    results.remove(&key);
                    dirty.insert(key.1.clone());
                    changed = true;
                }
            }
        }
        for (name, _) in nullable_methods(&world).difference(&nullable) {
            dirty.insert(name.clone());
            changed = true;
        }
        if settled && !changed || round == 19 {
            break;
        }
    }
    results.retain(|key, _| world.translated.borrow().contains_key(key));
    let mut translated: BTreeMap<String, Vec<Translated>> = BTreeMap::new();
    for ((file, _), one) in results {
        translated.entry(file).or_default().push(one);
    }
    for list in translated.values_mut() {
        list.sort_by_key(|one| one.function.range.start);
    }
    Translation { world, translated, left: left.into_values().collect() }
}

fn one(paths: &mut Paths) -> Result<(Vec<String>, TokenStream), crate::translate::paths::Refusal> {
    let (params, mut block) = paths.run()?;
    for _ in 0..3 {
        prune(&mut block);
        inline(&mut block);
        clean(&mut block);
    }
    let code = body(&block, &paths.hints, &params);
    if block.size() > LEAST_LIMIT.max(GROWTH * crate::lower::statements(&paths.function.body)) {
        return Err(crate::translate::paths::Refusal {
            construct: "paths explode: far more Rust than C".to_owned(),
            at: paths.function.range.start,
        });
    }
    if let Err(error) = syn::parse2::<syn::Block>(quote::quote!({ #code })) {
        return Err(crate::translate::paths::Refusal {
            construct: format!("code that Rust does not parse: {error}"),
            at: paths.function.range.start,
        });
    }
    let names = params.iter().flatten().map(|var| safe(&paths.hints[*var])).collect();
    Ok((names, code))
}

/// The convention that a translation has shown.
fn learn(old: &Convention, paths: &Paths, returns: &crate::lower::CType) -> Result<Convention, String> {
    let summary = &paths.summary;
    let mut next = old.clone();
    next.raises = summary.raises;
    if summary.errors.len() > 1 {
        let usual = convention("", &paths.function.signature, None).error;
        // Where -1 is not among them, 0 is the one that stands for failure.
        let usual = if summary.errors.contains(&usual) { usual } else { Some(0) };
        if !summary.errors.contains(&usual) || old.strict {
            return Err("different results with an exception set".to_owned());
        }
        return Ok(Convention { error: usual, strict: true, raises: true, ..next });
    }
    if let Some(error) = summary.errors.iter().next() {
        next.error = *error;
    }
    let plain = convention(
        "",
        &crate::lower::Signature { params: Vec::new(), returns: returns.clone(), variadic: false },
        None,
    )
    .returns;
    next.returns = match plain {
        _ if summary.raises && !summary.returns => Returns::Error,
        Returns::Object if summary.optional => Returns::Optional,
        Returns::Int(int, _) => Returns::Int(int, !summary.negative),
        other => other,
    };
    Ok(next)
}

fn refuse(
    world: &World,
    units: &[Unit],
    key: &(String, String),
    construct: String,
    at: usize,
    left: &mut BTreeMap<(String, String), Left>,
) {
    world.translated.borrow_mut().remove(key);
    let unit = units.iter().find(|unit| unit.path == key.0);
    let origin = unit.map(|unit| unit.map.origin(at));
    let (file, line) = origin.map_or((key.0.clone(), 0), |origin| (origin.file.to_owned(), origin.line));
    left.insert(key.clone(), Left { name: key.1.clone(), unit: key.0.clone(), file, line, construct });
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
    Ok(rounds(world, &[]))
}
