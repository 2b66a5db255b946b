//! Translates the functions of a tree, again and again until what they say of one another no longer changes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::TokenStream;

use super::null_tests::tested;
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

/// The object-like macros of the headers: name to body.
fn object_macros(tree: &Tree) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for file in tree.files().iter().filter(|file| file.path().starts_with("Include/")) {
        let text = file.text().replace("\\\n", " ");
        for line in text.lines() {
            let Some(rest) =
                line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define "))
            else {
                continue;
            };
            let rest = rest.trim();
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, body) = rest.split_at(end);
            if body.starts_with(char::is_whitespace) && !body.trim_end().ends_with('\\') {
                let body = body.split("/*").next().unwrap_or(body).split("//").next().unwrap_or(body).trim();
                if !body.is_empty() {
                    out.entry(name.to_owned()).or_insert_with(|| body.to_owned());
                }
            }
        }
    }
    out
}

/// Tables such as `static PyObject *name_op[] = {&_Py_ID(__lt__), …}`.
fn identifier_tables(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for (start, _) in text.match_indices("static PyObject *") {
        let rest = &text[start + "static PyObject *".len()..];
        let Some(bracket) = rest.find("[]") else { continue };
        let name = rest[..bracket].trim();
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some((head, _)) = rest[bracket..].split_once("};") else { continue };
        let Some((_, items)) = head.split_once('{') else { continue };
        let ids: Option<Vec<_>> = items
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| item.strip_prefix("&_Py_ID(").and_then(|rest| rest.strip_suffix(')')).map(str::to_owned))
            .collect();
        if let Some(ids) = ids {
            out.insert(name.to_owned(), ids);
        }
    }
    out
}

/// Tables such as `int _Py_SwappedOp[] = {Py_GT, …}`.
fn integer_tables(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for line in text.split(';') {
        let Some((head, items)) = line.split_once("[] = {") else { continue };
        let mut words = head.split_whitespace().rev();
        let (Some(name), Some("int" | "const")) = (words.next(), words.next()) else { continue };
        let items = items.trim_end().trim_end_matches('}');
        out.insert(
            name.to_owned(),
            items.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect(),
        );
    }
    out
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
                    done.insert(key.clone(), paths.learnt.calls.clone());
                    let next = learn(&convention, &paths, &function.signature.returns);
                    for (target, index) in paths.learnt.nullable.iter().filter(|_| settled) {
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
                                calls: paths.learnt.calls,
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
                    done.insert(key.clone(), paths.learnt.calls.clone());
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

/// What an untyped pointer is, by what the body does with it.
fn untyped(function: &Function, name: &str) -> ParamKind {
    let text = format!("{:?}", function.body);
    let used = format!("kind: Name({name:?})");
    if !text.contains(&used) {
        return ParamKind::Nothing;
    }
    let is = |what: &str| {
        text.match_indices(&used).all(|(at, _)| {
            text[..at].rsplit("Cast(").next().is_some_and(|cast| cast.starts_with(what) && cast.len() < 90)
        })
    };
    if is("Function(") {
        return ParamKind::Function(String::new(), false);
    }
    if is("Object") { ParamKind::Object(false) } else { ParamKind::Unsupported("void*".to_owned()) }
}

/// Untyped pointers that are handed on are what the callee takes them for; the others are pointers to no known struct.
fn untyped_arguments(world: &World) {
    for last in [false, false, false, true] {
        let known = world.translated.borrow().clone();
        let mut translated = world.translated.borrow_mut();
        for (key, convention) in translated.iter_mut() {
            let Some(function) = world.defined.get(key) else { continue };
            for (kind, param) in convention.params.iter_mut().zip(&function.signature.params) {
                if !matches!(kind, ParamKind::Unsupported(text) if text == "void*") {
                    continue;
                }
                match crate::lower::handed_on(&function.body, &param.name) {
                    Some((callee, index)) => {
                        let theirs = known.get(&(key.0.clone(), callee)).and_then(|theirs| theirs.params.get(index));
                        if let Some(theirs @ (ParamKind::Function(..) | ParamKind::Object(_))) = theirs {
                            *kind = theirs.clone();
                        } else if last {
                            *kind = ParamKind::Object(true);
                        }
                    }
                    None if last => *kind = ParamKind::Object(true),
                    None => {}
                }
            }
        }
    }
}

/// The methods of the vocabulary with parameters that may be NULL.
fn nullable_methods(world: &World) -> BTreeSet<(String, usize)> {
    let vocabulary = world.vocabulary.borrow();
    let nullable =
        |convention: &Convention| convention.params.iter().filter(|kind| kind.nullable() == Some(true)).count();
    vocabulary
        .iter()
        .map(|(name, convention)| (name.clone(), nullable(convention)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Whether a pointer to objects is used as an array.
fn indexed(function: &Function, name: &str) -> bool {
    // What is indexed, or stepped over, or called like one, is an array; all else is an out parameter.
    let set = || {
        let mut assigned = BTreeSet::new();
        function.body.iter().for_each(|stmt| crate::lower::in_stmt(stmt, &mut assigned));
        assigned.contains(&format!("*{name}"))
    };
    crate::lower::indexed(&function.body, name) || crate::translate::world::ARRAY_NAMES.contains(&name) && !set()
}

fn widen(world: &World, target: &str, index: usize) -> bool {
    let Some((file, name)) = target.split_once(':') else { return false };
    let mut translated = world.translated.borrow_mut();
    let Some(convention) = translated.get_mut(&(file.to_owned(), name.to_owned())) else { return false };
    match convention.params.get_mut(index).and_then(ParamKind::nullable_mut) {
        Some(nullable) if !*nullable => {
            *nullable = true;
            true
        }
        _ => false,
    }
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
    let learnt = &paths.learnt;
    let mut next = old.clone();
    next.raises = learnt.raises;
    if learnt.errors.len() > 1 {
        let usual = convention("", &paths.function.signature, None).error;
        // Where -1 is not among them, 0 is the one that stands for failure.
        let usual = if learnt.errors.contains(&usual) { usual } else { Some(0) };
        if !learnt.errors.contains(&usual) || old.strict {
            return Err("different results with an exception set".to_owned());
        }
        return Ok(Convention { error: usual, strict: true, raises: true, ..next });
    }
    if let Some(error) = learnt.errors.iter().next() {
        next.error = *error;
    }
    let plain = convention(
        "",
        &crate::lower::Signature { params: Vec::new(), returns: returns.clone(), variadic: false },
        None,
    )
    .returns;
    next.returns = match plain {
        _ if learnt.raises && !learnt.returns => Returns::Error,
        Returns::Object if learnt.optional => Returns::Optional,
        Returns::Int(int, _) => Returns::Int(int, !learnt.negative),
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
