//! Walks the syntax trees of a CPython tree and states facts; tree-sitter nodes never leave this module.

mod assignments;
mod before_3_13;
mod body;
mod body_filter;
mod ctype;
mod declare;
mod digest;
mod fields;
mod layout;
mod learn;
mod macros;
mod opcode_source;
mod opcodes;
mod reviewed;
mod rows;
mod specs;
mod syntax;
mod tables;
mod unit;
mod unit_facts;
mod value;

use rayon::prelude::*;

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Facts, FunctionType, Installed, Origin, SLOT_STRUCTS, Struct};
use crate::preprocess::{Configuration, Preprocessor};
use crate::source::Tree;
use ctype::CType;
use layout::Types;
pub use learn::learn;
pub(crate) use macros::{all as all_macros, constants, macros as api_macros, value as macro_value};
use unit_facts::UnitFacts;

/// Folders whose C files are read.
const FOLDERS: &[&str] = &["Objects", "Python", "Modules"];

/// Layouts that the runtime reads and writes.
pub const LAYOUTS: &[&str] = &[
    "_PyInterpreterFrame",
    "PyFrameObject",
    "PyCodeObject",
    "PyFunctionObject",
    "PyThreadState",
    "_pending_calls",
    "_ceval_state",
    "_ceval_runtime_state",
    "PyInterpreterState",
    "_PyRuntimeState",
];

/// From which minor version of Python 3 on, and up to which, the runtime needs a layout: `_PyInterpreterFrame` exists from 3.11
/// on, and from 3.13 on it is the thread that knows what it is to look at.
fn needed(layout: &str) -> std::ops::RangeInclusive<u32> {
    match layout {
        "_PyInterpreterFrame" => 11..=u32::MAX,
        "_pending_calls" | "_ceval_state" | "_ceval_runtime_state" | "PyInterpreterState" | "_PyRuntimeState" => {
            11..=12
        }
        _ => 0..=u32::MAX,
    }
}

/// The layouts that the runtime needs of a release.
fn layouts_of(tree: &Tree) -> Vec<&'static str> {
    LAYOUTS.iter().copied().filter(|name| needed(name).contains(&tree.release().minor)).collect()
}

/// Reads everything that is extracted from a tree; what is not understood goes to `diagnostics`.
pub fn extract(tree: &Tree, configuration: &Configuration, diagnostics: &mut Diagnostics) -> Option<Facts> {
    let preprocessor = match Preprocessor::new(tree, configuration) {
        Ok(preprocessor) => preprocessor,
        Err(found) => {
            diagnostics.extend(found);
            return None;
        }
    };
    let headers = read_all(&preprocessor, &headers(tree), diagnostics);
    let paths: Vec<&str> = FOLDERS.iter().flat_map(|folder| tree.units(folder)).collect();
    let mut units = read_all(&preprocessor, &paths, diagnostics);
    let body =
        |name: &str| preprocessor.api_macro(name).filter(|found| found.parameters.is_none()).map(|found| found.body);
    let types = Types::new(&headers, &body);
    let structs = layouts(&types, &[&SLOT_STRUCTS[..], &["wrapperbase"]].concat(), Severity::Error, diagnostics);
    let alias = |name: &str| alias(name, &body);
    let is_function = |ty: &str| types.is_function_pointer(ty);
    let (linked, slotdefs, found) = tables::Linker::new(&units, &structs, &is_function, &alias, &body).types();
    diagnostics.extend(found);
    let mut structs: Vec<Struct> = structs.into_iter().filter(|layout| layout.name != "wrapperbase").collect();
    structs.extend(layouts(&types, &layouts_of(tree), Severity::Gap, diagnostics));
    let opcodes = opcodes::extract(tree, &|name| types.number(name), diagnostics);
    let mut functions: Vec<_> = units.iter_mut().flat_map(|unit| std::mem::take(&mut unit.functions)).collect();
    functions.sort_by(|a, b| (a.unit(), &a.name, a.line).cmp(&(b.unit(), &b.name, b.line)));
    let inherits = units.iter_mut().flat_map(|unit| std::mem::take(&mut unit.inherits)).collect();
    let function_types = function_types(&headers);
    let mut prototypes: Vec<_> = headers.into_iter().flat_map(|header| header.prototypes).collect();
    prototypes.sort_by(|a, b| (&a.name, &a.file, a.line).cmp(&(&b.name, &b.file, b.line)));
    prototypes.dedup_by(|b, a| a.name == b.name);
    Some(Facts {
        release: tree.release().to_string(),
        source: Origin::C,
        configuration: configuration.name().to_owned(),
        digest: tree.digest(),
        structs,
        inherits,
        slotdefs,
        types: linked,
        functions,
        prototypes,
        function_types,
        opcodes: opcodes?,
        constants: macros::constants(&preprocessor),
        macros: macros::macros(&preprocessor),
        effects: Vec::new(),
        module_functions: Vec::new(),
        gaps: Vec::new(),
    })
}

/// The layouts of structs from the headers alone, and whether a type is a function pointer typedef.
///
/// The tree may be the include folder of an installation.
pub fn structs(
    tree: &Tree,
    configuration: &Configuration,
    names: &[&str],
    diagnostics: &mut Diagnostics,
) -> Result<(Vec<Struct>, Vec<FunctionType>), Diagnostics> {
    let preprocessor = Preprocessor::new(tree, configuration)?;
    let headers = read_all(&preprocessor, &headers(tree), diagnostics);
    let body =
        |name: &str| preprocessor.api_macro(name).filter(|found| found.parameters.is_none()).map(|found| found.body);
    let types = Types::new(&headers, &body);
    Ok((layouts(&types, names, Severity::Error, diagnostics), function_types(&headers)))
}

/// What the preprocessor and the parser do not understand of a folder.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The configuration.
    pub configuration: &'static str,
    /// `Objects`, …
    pub folder: &'static str,
    /// Compiled files.
    pub units: usize,
    /// Files of the folder that a Linux build does not compile.
    pub left_out: usize,
    /// ERROR and MISSING nodes of the whole preprocessed text, and what stopped the preprocessor.
    pub diagnostics: Diagnostics,
}

/// Preprocesses and parses every unit of `Objects`, `Python` and `Modules` under each configuration that the release has.
pub fn parse_all(tree: &Tree) -> Result<Vec<Parsed>, Diagnostics> {
    let mut all = Vec::new();
    for name in Configuration::NAMES {
        let Ok(configuration) = Configuration::named(name, tree.release()) else { continue };
        let preprocessor = Preprocessor::new(tree, &configuration)?;
        for &folder in FOLDERS {
            let paths = tree.units(folder);
            let read = |path: &&str| preprocessor.unit(path).map_or_else(|found| found, |unit| unit::faults(&unit));
            let found: Vec<Diagnostics> = paths.par_iter().map(read).collect();
            let mut diagnostics = Diagnostics::default();
            found.into_iter().for_each(|found| diagnostics.extend(found));
            let (units, left_out) = (paths.len(), tree.not_units(folder).len());
            all.push(Parsed { configuration: name, folder, units, left_out, diagnostics });
        }
    }
    Ok(all)
}

/// What an installation's headers, with its `Lib/opcode.py`, say of code objects and frames.
pub fn installed(tree: &Tree, configuration: &Configuration, diagnostics: &mut Diagnostics) -> Option<Installed> {
    let (structs, function_types) = match structs(tree, configuration, &layouts_of(tree), diagnostics) {
        Ok(found) => found,
        Err(found) => {
            diagnostics.extend(found);
            return None;
        }
    };
    let opcodes = opcodes::extract(tree, &|_| None, diagnostics)?;
    Some(Installed { release: tree.release().to_string(), digest: tree.digest(), opcodes, structs, function_types })
}

fn headers(tree: &Tree) -> Vec<&str> {
    let files = tree.files().iter().map(|file| file.path());
    files.filter(|path| path.starts_with("Include/") && path.ends_with(".h") && !path.contains("mimalloc")).collect()
}

/// Reads files in parallel, in the order given; a file that fails is reported and left out.
fn read_all(preprocessor: &Preprocessor<'_>, paths: &[&str], diagnostics: &mut Diagnostics) -> Vec<UnitFacts> {
    let results: Vec<_> = paths.par_iter().map(|path| preprocessor.unit(path).map(|unit| unit::read(&unit))).collect();
    let mut units = Vec::new();
    for result in results {
        match result {
            Ok(mut unit) => {
                diagnostics.extend(std::mem::take(&mut unit.diagnostics));
                units.push(unit);
            }
            // The file is left out.
            Err(found) => diagnostics.extend(found.as_gaps()),
        }
    }
    units
}

fn layouts(types: &Types<'_>, names: &[&str], severity: Severity, diagnostics: &mut Diagnostics) -> Vec<Struct> {
    let mut found = Vec::new();
    for name in names {
        match types.layout(name) {
            Ok(layout) => found.push(layout),
            Err(reason) => diagnostics.push(Diagnostic {
                severity,
                code: "extract/layout",
                file: types.aggregate(name).map_or("Include", |(_, file, _)| file).to_owned(),
                line: types.aggregate(name).map_or(0, |(_, _, line)| line),
                column: 1,
                message: format!("the layout of `{name}` is not known: {reason}"),
                help: "teach slotgen/src/extract/layout.rs the type it names".to_owned(),
            }),
        }
    }
    found
}

/// Follows object-like macros that are another name: `PyObject_Del` is `PyObject_Free`.
fn alias(name: &str, body: &dyn Fn(&str) -> Option<String>) -> String {
    let mut name = name.to_owned();
    for _ in 0..8 {
        let next = body(&name).map(|body| body.trim_start_matches('&').trim().to_owned());
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match next.filter(|next| is_word(next) && !next.starts_with(|c: char| c.is_ascii_digit())) {
            Some(next) => name = next,
            None => break,
        }
    }
    name
}

fn function_types(headers: &[UnitFacts]) -> Vec<FunctionType> {
    let mut found: Vec<FunctionType> = headers
        .iter()
        .flat_map(|header| &header.typedefs)
        .filter_map(|typedef| {
            let CType::Pointer(inner) = &typedef.ty else { return None };
            let signature = unit::signature(inner)?;
            Some(FunctionType { name: typedef.name.clone(), file: typedef.file.clone(), line: typedef.line, signature })
        })
        .collect();
    found.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
    found.dedup_by(|b, a| a.name == b.name);
    found
}
