//! Compares the source front door with the binary one: `doors SOURCE LIBRARY INCLUDE [SYMBOLS]`.

use slotgen::binary::Reader;
use slotgen::diagnostics::Diagnostics;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use slotgen::{extract, prove};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, library, include, rest @ ..] = arguments.as_slice() else {
        return Err("usage: doors SOURCE LIBRARY INCLUDE [SYMBOLS]".into());
    };
    let tree = Tree::open(Path::new(source))?;
    let configuration = Configuration::named("release", tree.release())?;
    let mut diagnostics = Diagnostics::default();
    let facts = extract::extract(&tree, &configuration, &mut diagnostics).ok_or_else(|| diagnostics.to_string())?;
    let symbols = rest.first().map(std::fs::read).transpose()?;
    let headers = Tree::open(Path::new(include))?;
    let reader = Reader::new(&headers, &configuration)?;
    let library = reader.library(&std::fs::read(library)?, symbols.as_deref())?;
    let proof = prove::doors(&facts, &library);
    for found in &proof.differences {
        println!(
            "{}: {} {}: source {:?}, library {:?}",
            found.file, found.c_name, found.what, found.source, found.library
        );
    }
    println!("unknown to the sources: {:?}", proof.unknown);
    println!(
        "sources {} = library {}: {} types, {} own slots, {} methods, {} slotdefs, {} types not in the library, {} differences",
        proof.source,
        proof.library,
        proof.matched,
        proof.pairs,
        proof.methods,
        proof.slotdefs,
        proof.not_built.len(),
        proof.differences.len()
    );
    Ok(())
}
