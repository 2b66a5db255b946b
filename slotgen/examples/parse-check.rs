//! Preprocesses and parses every unit of a CPython tree and counts what the parser could not read.

use rayon::prelude::*;
use slotgen::preprocess::{Configuration, Preprocessor};
use slotgen::source::Tree;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use tree_sitter::{Node, Parser};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The files that a directory or a path stands for; headers are read one by one for `Include`.
fn units<'t>(tree: &'t Tree, wanted: &'t str) -> Vec<&'t str> {
    if tree.file(wanted).is_some() {
        return vec![wanted];
    }
    if wanted.starts_with("Include") {
        return tree.files().iter().map(|file| file.path()).filter(|path| path.starts_with(wanted)).collect();
    }
    tree.units(wanted)
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(root) = arguments.first() else {
        return Err("usage: parse-check TREE [CONFIGURATION [DIRECTORY | FILE]...]".into());
    };
    let tree = Tree::open(Path::new(root))?;
    let name = arguments.get(1).map_or("release", String::as_str);
    let configuration = Configuration::named(name, tree.release())?;
    let wanted: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    let wanted = if wanted.is_empty() { vec!["Objects", "Python"] } else { wanted };

    let start = Instant::now();
    let preprocessor = Preprocessor::new(&tree, &configuration)?;
    let mut faults = 0;
    for directory in wanted {
        let units = units(&tree, directory);
        let reports: Outcome<Vec<_>> = units.par_iter().map(|path| check(&preprocessor, path)).collect();
        let reports = reports?;
        for line in reports.iter().flatten() {
            println!("{line}");
        }
        let bad: usize = reports.iter().map(Vec::len).sum();
        println!("{directory}: {} units, {bad} ERROR/MISSING or diagnostics", units.len());
        faults += bad;
    }
    println!("CPython {} ({name}): {faults} faults, {:.2} s", tree.release(), start.elapsed().as_secs_f64());
    if faults == 0 { Ok(()) } else { Err(format!("{faults} faults").into()) }
}

fn check(preprocessor: &Preprocessor, path: &str) -> Outcome<Vec<String>> {
    let unit = match preprocessor.unit(path) {
        Ok(unit) => unit,
        Err(diagnostics) => return Ok(diagnostics.iter().map(ToString::to_string).collect()),
    };
    if std::env::var_os("PARSE_CHECK_TEXT").is_some() {
        println!("{}", unit.text);
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into())?;
    let parsed = parser.parse(&unit.text, None).ok_or("the parser gave up")?;
    let mut lines = Vec::new();
    let mut todo = vec![parsed.root_node()];
    while let Some(node) = todo.pop() {
        if node.is_error() || node.is_missing() {
            lines.push(report(&unit, node));
        } else if node.has_error() {
            let mut cursor = node.walk();
            todo.extend(node.children(&mut cursor));
        }
    }
    Ok(lines)
}

fn report(unit: &slotgen::preprocess::Unit, node: Node) -> String {
    let origin = unit.map.origin(node.start_byte());
    let kind = if node.is_missing() { "MISSING" } else { "ERROR" };
    let line = |at: usize| unit.text.get(..at).map_or(0, |t| t.rfind('\n').map_or(0, |n| n + 1));
    let from = line(node.start_byte());
    let excerpt: String = unit.text.get(from..).unwrap_or("").chars().take(160).collect();
    let through = origin.through_macro.map_or(String::new(), |name| format!(" (through {name})"));
    format!("{}:{}:{}{through}: {kind} {}: {excerpt:?}", origin.file, origin.line, origin.column, node.kind())
}
