//! Compares the tables of a source tree with a running interpreter: `--example prove -- SOURCE PYTHON`.

use std::path::Path;
use std::process::ExitCode;

use slotgen::diagnostics::Diagnostics;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;

fn run(source: &str, python: &str) -> Result<(), Box<dyn std::error::Error>> {
    let tree = Tree::open(Path::new(source))?;
    let configuration = Configuration::named("release", tree.release())?;
    let mut diagnostics = Diagnostics::default();
    let facts = slotgen::extract::extract(&tree, &configuration, &mut diagnostics);
    for diagnostic in diagnostics.iter() {
        println!("{diagnostic}");
    }
    let Some(mut facts) = facts else { return Err("no facts".into()) };
    slotgen::model::link(&mut facts);
    let proof = slotgen::prove::live(&facts, Path::new(python))?;
    for difference in &proof.differences {
        let live = difference.live.join("|");
        println!(
            "{}: {} ({}).{}: table {:?}, live {live}",
            difference.file, difference.c_name, difference.tp_name, difference.slot, difference.table
        );
    }
    for unknown in &proof.unknown {
        println!("live only: {unknown}");
    }
    for unseen in &proof.unseen {
        println!("table only: {unseen}");
    }
    for (module, why) in &proof.failed {
        println!("not importable: {module}: {why}");
    }
    println!(
        "CPython {} against the tables of {}: {} types, {} matched, {} pairs, {} own, {} inherited, {} differences",
        proof.release,
        facts.release,
        proof.types,
        proof.matched,
        proof.pairs,
        proof.own,
        proof.inherited,
        proof.differences.len()
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, python] = arguments.as_slice() else {
        eprintln!("usage: prove SOURCE PYTHON");
        return ExitCode::FAILURE;
    };
    match run(source, python) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
