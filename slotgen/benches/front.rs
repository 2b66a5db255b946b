//! The source front end on a whole CPython tree, beside tree-sitter's own time for the same files.
//!
//! `CPYTHON_SOURCE` names the tree; without it `target/cpython/3.13.5` is used, where `cargo xtask` keeps it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use rayon::prelude::*;
use slotgen::diagnostics::Diagnostics;
use slotgen::extract::extract;
use slotgen::preprocess::{Configuration, Preprocessor, Unit};
use slotgen::source::Tree;
use std::path::PathBuf;
use std::sync::LazyLock;
use tree_sitter::Parser;

const DIRECTORIES: [&str; 3] = ["Objects", "Python", "Modules"];

fn root() -> PathBuf {
    let cached = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/cpython/3.13.5");
    std::env::var_os("CPYTHON_SOURCE").map_or_else(cached, PathBuf::from)
}

static TREE: LazyLock<Tree> = LazyLock::new(|| Tree::open(&root()).expect("CPYTHON_SOURCE names a CPython tree"));

fn preprocess(tree: &Tree) -> Vec<Unit> {
    let configuration = Configuration::named("release", tree.release()).expect("a named configuration");
    let preprocessor = Preprocessor::new(tree, &configuration).expect("headers");
    let paths: Vec<&str> = DIRECTORIES.iter().flat_map(|directory| tree.units(directory)).collect();
    paths.par_iter().map(|path| preprocessor.unit(path).expect("a unit")).collect()
}

fn parse(text: &str) -> u32 {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).expect("the grammar");
    parser.parse(text, None).expect("a tree").root_node().child_count()
}

/// Reading and hashing all files.
#[divan::bench(sample_count = 5)]
fn open() -> Tree {
    Tree::open(&root()).expect("a tree")
}

/// All units, files in memory.
#[divan::bench(sample_count = 5)]
fn preprocess_all(bencher: divan::Bencher) {
    LazyLock::force(&TREE);
    bencher.bench(|| preprocess(&TREE).len());
}

/// What tree-sitter needs for the files as they are.
#[divan::bench(sample_count = 5)]
fn parse_raw(bencher: divan::Bencher) {
    let texts: Vec<&str> = DIRECTORIES
        .iter()
        .flat_map(|directory| TREE.units(directory))
        .filter_map(|path| TREE.file(path).map(|file| file.text()))
        .collect();
    bencher.bench(|| texts.par_iter().map(|text| parse(text)).sum::<u32>());
}

/// What tree-sitter needs for the preprocessed text.
#[divan::bench(sample_count = 5)]
fn parse_preprocessed(bencher: divan::Bencher) {
    let units = preprocess(&TREE);
    bencher.bench(|| units.par_iter().map(|unit| parse(&unit.text)).sum::<u32>());
}

/// Facts from cold: what the figure for `parse_raw` is to be compared with.
#[divan::bench(sample_count = 5)]
fn facts_from_cold() -> usize {
    let tree = Tree::open(&root()).expect("a tree");
    let configuration = Configuration::named("release", tree.release()).expect("a named configuration");
    let mut diagnostics = Diagnostics::default();
    extract(&tree, &configuration, &mut diagnostics).expect("facts").types.len()
}

fn main() {
    divan::main();
}
